#pragma once

#include <mpi.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include <uit/support/clock.hpp>

#include "ranks.hpp"
#include "side.hpp"

/// Jobs for two ranks, over any competitor that both can send by and take from.
namespace bench {

/// ns from the first rank's start to the last one's end. The ranks read one clock.
[[nodiscard]] inline double Span(uit::TimePoint start, uit::TimePoint end) {
  const auto count = [](uit::TimePoint time) { return static_cast<double>(time.time_since_epoch() / std::chrono::nanoseconds{1}); };
  double times[2] = {-count(start), count(end)};
  MPI_Allreduce(MPI_IN_PLACE, times, 2, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
  return times[0] + times[1];
}

/// ns per message: rank 0 sends `count` as fast as it can, rank 1 takes them all.
template <Side S>
double StreamTime(const Ranks& ranks, S& side, std::uint64_t count) {
  std::uint64_t sum = 0;
  MPI_Barrier(MPI_COMM_WORLD);
  const uit::TimePoint start = uit::Now();
  if (ranks.Rank() == 0) {
    for (std::uint64_t i = 1; i <= count; ++i) Persist([&] { return side.TrySend(static_cast<std::uint32_t>(i)); });
    Persist([&] { return side.TryFlush(); });
  } else {
    for (std::uint64_t i = 0; i < count; ++i) Persist([&] { return side.TryTake(sum); });
  }
  const double time = Span(start, uit::Now());
  if (ranks.Rank() == 1 && sum != count * (count + 1)) std::abort();
  return time / static_cast<double>(count);
}

/// ns per message in windows: rank 0 sends a window of messages, and awaits an answer before the next.
template <std::size_t window, Side S>
double WindowTime(const Ranks& ranks, S& side, std::uint64_t count) {
  const std::uint64_t num_windows = (count + window - 1) / window;
  std::uint64_t sum = 0;
  const auto send = [&](std::uint64_t i) { Persist([&] { return side.TrySend(static_cast<std::uint32_t>(i)); }); };
  const auto take = [&] { Persist([&] { return side.TryTake(sum); }); };
  MPI_Barrier(MPI_COMM_WORLD);
  const uit::TimePoint start = uit::Now();
  for (std::uint64_t i = 1; i <= num_windows; ++i) {
    for (std::size_t j = 0; j < window; ++j) {
      if (ranks.Rank() == 0) send(i);
      if (ranks.Rank() == 1) take();
    }
    if (ranks.Rank() == 1) send(i);
    Persist([&] { return side.TryFlush(); });
    if (ranks.Rank() == 0) take();
  }
  const double time = Span(start, uit::Now());
  const std::uint64_t num_taken = ranks.Rank() == 1 ? window : 1;  // of each number
  if (sum != num_taken * num_windows * (num_windows + 1)) std::abort();
  return time / static_cast<double>(num_windows * window);
}

/// ns per half round trip: rank 0 sends one and awaits the answer.
template <Side S>
double HalfRoundTripTime(const Ranks& ranks, S& side, std::uint64_t count) {
  std::uint64_t sum = 0;
  const auto send = [&](std::uint64_t i) {
    Persist([&] { return side.TrySend(static_cast<std::uint32_t>(i)); });
  };
  const auto take = [&] { Persist([&] { return side.TryTake(sum); }); };
  MPI_Barrier(MPI_COMM_WORLD);
  const uit::TimePoint start = uit::Now();
  for (std::uint64_t i = 1; i <= count; ++i) {
    if (ranks.Rank() == 0) send(i);
    take();
    if (ranks.Rank() == 1) send(i);
  }
  Persist([&] { return side.TryFlush(); });
  const double time = Span(start, uit::Now());
  if (sum != count * (count + 1)) std::abort();
  return time / static_cast<double>(2 * count);
}

}  // namespace bench
