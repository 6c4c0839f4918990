#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <thread>

#include <uit/duct/duct.hpp>
#include <uit/policy.hpp>
#include <uit/support/pause.hpp>
#include <uit/tally.hpp>

#include "tests/support/accumulate_laws.hpp"
#include "tests/support/catch.hpp"

namespace uit::testing {

/// Words that fill a cache line and all follow from one number, so that a torn message is noticed.
struct Parcel {
  std::array<std::uint64_t, 8> words{};

  static Parcel Number(std::uint64_t number) {
    Parcel parcel;
    for (std::size_t i = 0; i < parcel.words.size(); ++i) parcel.words[i] = Word(number, i);
    return parcel;
  }
  bool IsWhole() const {
    for (std::size_t i = 1; i < words.size(); ++i)
      if (words[i] != Word(words[0], i)) return false;
    return true;
  }

 private:
  static std::uint64_t Word(std::uint64_t number, std::size_t i) {
    return i == 0 ? number : (number + i) * 0x9E3779B97F4A7C15U;
  }
};

/// One thread puts `num_messages` without a pause, and another steps with limits of every kind. No message is lost, repeated,
/// reordered or torn, and both equations hold. For a subject whose ends may be in two threads.
template <typename S>
void CheckOrderedStress(std::size_t depth, std::uint64_t num_messages) {
  typename S::template Pair<Parcel> pair{depth};

  std::string trouble;
  std::thread reader{[&]() noexcept {  // noexcept: what either side throws ends the test, which says what it was
    std::uint64_t passed = 0;
    std::uint64_t num_steps = 0;
    while (passed < num_messages && trouble.empty()) {
      const std::size_t limit = ++num_steps % 64 == 0 ? no_limit : 1 + num_steps % 3;
      std::size_t count = 0;
      WaitUntil([&] { return (count = pair.TryStep(limit)) > 0; });
      const Parcel parcel = pair.Get();
      if (!parcel.IsWhole()) trouble = "a torn message";
      if (parcel.words[0] <= passed) trouble = "a message that came twice or too late";
      if (S::retain == Retain::every && parcel.words[0] != passed + count)
        trouble = "a gap in the sequence";
      passed = parcel.words[0];
    }
  }};

  std::uint64_t num_refused = 0;
  [&]() noexcept {
    for (std::uint64_t number = 1; number <= num_messages; ++number) {
      const Parcel parcel = Parcel::Number(number);
      WaitUntil([&] {
        const bool is_accepted = pair.TryPut(parcel);
        num_refused += !is_accepted;
        return is_accepted;
      });
    }
    if constexpr (requires { pair.TryFlushAll(); }) WaitUntil([&] { return pair.TryFlushAll(); });
  }();
  reader.join();

  CHECK(trouble == "");
  const Tally tally = pair.Tally();
  CHECK(tally.put.Accepted() == num_messages);
  CHECK(tally.put.dropped == num_refused);
  CHECK(tally.Balanced());
}

/// The same for any Retain.
template <typename S>
void CheckStress(std::size_t depth, std::uint64_t num_messages) {
  if constexpr (S::retain == Retain::accumulate) CheckAccumulateStress<S>(depth, num_messages);
  else CheckOrderedStress<S>(depth, num_messages);
}

}  // namespace uit::testing
