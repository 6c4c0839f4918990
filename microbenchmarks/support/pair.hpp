#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include <uit/duct/ring_duct.hpp>

#include "baselines.hpp"
#include "message.hpp"
#include "peers.hpp"
#include "team.hpp"

/// Jobs for two threads, over any competitor with TryPush(value) and TryPop(use).
namespace bench {

/// RingDuct as such a competitor.
template <typename T, std::size_t capacity>
struct RingQueue {
  bool TryPush(const T& value) { return ring.TryPut(value); }
  template <typename Use>
  bool TryPop(Use&& use) {
    if (ring.TryStep(1) == 0) return false;
    use(ring.Get());
    return true;
  }

  uit::RingDuct<T, uit::Spsc> ring{capacity};
};

/// ns per message: member 0 sends `count` as fast as it can, member 1 takes them all.
template <typename T, typename Queue>
double StreamTime(Crew& crew, Queue& queue, std::uint64_t count) {
  uit::TimePoint start;
  uit::TimePoint end;
  bool is_intact = true;
  crew.Run([&](std::size_t member) {
    if (member == 0) {
      T message{};
      start = uit::Now();
      for (std::uint64_t i = 1; i <= count; ++i) {
        Mark(message, static_cast<std::uint32_t>(i));
        while (!queue.TryPush(message)) uit::Pause();
      }
      if constexpr (requires { queue.Publish(); }) queue.Publish();
    } else if (member == 1) {
      std::uint64_t sum = 0;
      for (std::uint64_t i = 0; i < count; ++i)
        while (!queue.TryPop([&](const T& message) { sum += Check(message); })) uit::Pause();
      end = uit::Now();
      is_intact = sum == count * (count + 1);
    }
  });
  if (!is_intact) std::abort();
  return std::chrono::duration<double, std::nano>(end - start).count() / static_cast<double>(count);
}

/// The work of StreamTime by one thread, which sends and takes eight messages in turns.
template <typename T, typename Queue>
void StreamAlone(Queue& queue, std::uint64_t count) {
  T message{};
  std::uint64_t sum = 0;
  for (std::uint64_t i = 0; i < count; i += 8) {
    for (std::uint64_t j = i + 1; j <= i + 8; ++j) {
      Mark(message, static_cast<std::uint32_t>(j));
      if (!queue.TryPush(message)) std::abort();
    }
    for (int j = 0; j < 8; ++j)
      if (!queue.TryPop([&](const T& taken) { sum += Check(taken); })) std::abort();
  }
  Keep(sum);
}

/// ns per round trip: member 0 sends one and awaits the answer.
template <typename T, typename Queue>
double RoundTripTime(Crew& crew, Queue& there, Queue& back, std::uint64_t count) {
  uit::TimePoint start;
  uit::TimePoint end;
  std::atomic<bool> is_intact{true};
  crew.Run([&](std::size_t member) {
    if (member > 1) return;
    Queue& out = member == 0 ? there : back;
    Queue& in = member == 0 ? back : there;
    T message{};
    std::uint64_t sum = 0;
    const auto send = [&](std::uint64_t number) {
      Mark(message, static_cast<std::uint32_t>(number));
      while (!out.TryPush(message)) uit::Pause();
      if constexpr (requires { out.Publish(); }) out.Publish();
    };
    const auto receive = [&] {
      while (!in.TryPop([&](const T& answer) { sum += Check(answer); })) uit::Pause();
    };
    if (member == 0) start = uit::Now();
    for (std::uint64_t i = 1; i <= count; ++i) {
      if (member == 0) send(i);
      receive();
      if (member == 1) send(i);
    }
    if (member == 0) end = uit::Now();
    if (sum != count * (count + 1)) is_intact = false;
  });
  if (!is_intact) std::abort();
  return std::chrono::duration<double, std::nano>(end - start).count() / static_cast<double>(count);
}

}  // namespace bench
