#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>

#include <uit/support/clock.hpp>

#include "side.hpp"
#include "team.hpp"

/// Jobs for two threads, over any competitor of which each has a side.
namespace bench {

/// The sides of both threads.
template <Side S>
struct SidePair {
  std::unique_ptr<S> first;
  std::unique_ptr<S> second;
};

/// ns per message: member 0 sends `count` as fast as it can, member 1 takes them all.
template <Side S>
double StreamTime(Crew& crew, const SidePair<S>& sides, std::uint64_t count) {
  uit::TimePoint start;
  uit::TimePoint end;
  std::uint64_t sum = 0;
  crew.Run([&](std::size_t member) {
    if (member == 0) {
      start = uit::Now();
      for (std::uint64_t i = 1; i <= count; ++i) Persist([&] { return sides.first->TrySend(static_cast<std::uint32_t>(i)); });
      Persist([&] { return sides.first->TryFlush(); });
    } else if (member == 1) {
      std::uint64_t taken = 0;
      for (std::uint64_t i = 0; i < count; ++i) Persist([&] { return sides.second->TryTake(taken); });
      end = uit::Now();
      sum = taken;
    }
  });
  if (sum != count * (count + 1)) std::abort();
  return std::chrono::duration<double, std::nano>(end - start).count() / static_cast<double>(count);
}

/// ns per half round trip: member 0 sends one and awaits the answer.
template <Side S>
double HalfRoundTripTime(Crew& crew, const SidePair<S>& sides, std::uint64_t count) {
  uit::TimePoint start;
  uit::TimePoint end;
  std::uint64_t sums[2] = {};
  crew.Run([&](std::size_t member) {
    if (member > 1) return;
    S& side = member == 0 ? *sides.first : *sides.second;
    std::uint64_t sum = 0;
    const auto send = [&](std::uint64_t i) { Persist([&] { return side.TrySend(static_cast<std::uint32_t>(i)); }); };
    if (member == 0) start = uit::Now();
    for (std::uint64_t i = 1; i <= count; ++i) {
      if (member == 0) send(i);
      Persist([&] { return side.TryTake(sum); });
      if (member == 1) send(i);
    }
    if (member == 0) end = uit::Now();
    Persist([&] { return side.TryFlush(); });
    sums[member] = sum;
  });
  for (const std::uint64_t sum : sums)
    if (sum != count * (count + 1)) std::abort();
  return std::chrono::duration<double, std::nano>(end - start).count() / static_cast<double>(2 * count);
}

}  // namespace bench
