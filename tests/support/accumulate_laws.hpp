#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include <uit/duct/duct.hpp>
#include <uit/policy.hpp>
#include <uit/support/pause.hpp>
#include <uit/tally.hpp>

#include "tests/support/catch.hpp"
#include "tests/support/number_pair.hpp"

/// The laws of ducts under Retain::accumulate: all amounts that were put come out, in exact sums. Subjects are those of
/// duct_laws.hpp. More than 300 lines, because it is the list of all laws of sums, with the messages that they need.
namespace uit::testing {

__extension__ using Wide = unsigned __int128;

/// Pseudorandom bits.
class Dice {
 public:
  explicit Dice(std::uint64_t seed) : state_{seed * 0x9E3779B97F4A7C15U + 1} {}
  std::uint64_t operator()() {
    state_ ^= state_ << 13;
    state_ ^= state_ >> 7;
    return state_ ^= state_ << 17;
  }

 private:
  std::uint64_t state_;
};

/// A pair of ends of any subject, and the sums of what was put and what came out.
struct Ledger {
  explicit Ledger(const NumberSubject& subject, std::size_t depth, std::uint64_t initial = 0)
      : pair{subject.Open(depth, initial)} {}

  bool TryPut(std::uint64_t amount) {
    const bool is_accepted = pair->TryPut(amount);
    ++num_attempted;
    num_accepted += is_accepted;
    if (is_accepted) put += amount;
    return is_accepted;
  }
  bool TryStep(std::size_t limit = 1) {
    const std::size_t count = pair->TryStep(limit);
    REQUIRE(count <= 1);
    if (count == 0) REQUIRE(pair->Get() == 0);  // otherwise it would be counted twice
    got += pair->Get();
    num_stepped += count;
    return count == 1;
  }
  void Drain() {
    do pair->Settle();
    while (TryStep());
  }
  /// Called when nothing is in flight: checks both equations, and the totals.
  void Check() {
    Drain();
    CHECK((put == got));
    const Tally tally = pair->Tally();
    CHECK(tally.put.attempted == num_attempted);
    CHECK(tally.put.Accepted() == num_accepted);
    CHECK(tally.get.stepped == num_stepped);
    CHECK(tally.get.folded == num_accepted - num_stepped);
    CHECK(tally.Balanced());
  }

  std::unique_ptr<NumberPair> pair;
  Wide put = 0, got = 0;
  std::uint64_t num_attempted = 0, num_accepted = 0, num_stepped = 0;
};

inline void CheckSumOfBatches(const NumberSubject& subject, std::size_t depth) {
  Ledger ledger{subject, depth};
  for (std::uint64_t batch = 1; batch < 40; ++batch) {
    for (std::uint64_t i = 0; i < batch; ++i) REQUIRE(ledger.TryPut(batch + i));
    ledger.pair->Settle();
    REQUIRE(ledger.TryStep(batch % 3 + 1));
    REQUIRE((ledger.put == ledger.got));
    REQUIRE_FALSE(ledger.TryStep(no_limit));
    ledger.pair->Settle();
  }
  CHECK(ledger.num_accepted == ledger.num_attempted);
  ledger.Check();
}

inline void CheckSumLease(const NumberSubject& subject) {
  Ledger ledger{subject, 2, 7};
  const auto use = [&](std::uint64_t value) {
    const std::uint64_t* const current = &ledger.pair->Get();
    for (int i = 0; i < 6; ++i) {
      ledger.TryPut(5);
      REQUIRE(&ledger.pair->Get() == current);
      REQUIRE(*current == value);
    }
    ledger.pair->Settle();
    REQUIRE(*current == value);
  };
  use(7);
  REQUIRE(ledger.TryStep());
  use(30);
  ledger.Check();
}

inline void CheckSumMixture(const NumberSubject& subject, std::size_t depth, std::uint64_t seed, std::uint64_t largest) {
  Ledger ledger{subject, depth};
  Dice dice{seed};
  for (int i = 0; i < 4000; ++i) {
    const std::uint64_t choice = dice() % 16;
    if (choice < 8) ledger.TryPut(1 + dice() % largest);
    else if (choice < 13) ledger.TryStep(choice == 8 ? no_limit : choice);
    else if (choice < 15) ledger.pair->Settle();
  }
  if (largest < 1000) CHECK(ledger.num_accepted == ledger.num_attempted);
  ledger.Check();
}

/// Puts without a reader. In the end a put is refused, so no sum overflows, and all accepted amounts arrive.
inline void CheckSumOverflow(const NumberSubject& subject, std::size_t depth) {
  constexpr std::uint64_t most = std::numeric_limits<std::uint64_t>::max();
  Ledger ledger{subject, depth};
  for (int round = 0; round < 3; ++round) {
    std::uint64_t num_refused = 0;
    for (int i = 0; i < 200; ++i) {
      num_refused += ledger.TryPut(most - 5) ? 0U : 1U;
      if (i % 8 == 7) ledger.pair->Settle();
    }
    CHECK(num_refused > 100);
    ledger.Drain();
    ledger.pair->Settle();
    CHECK(ledger.TryPut(most));
    CHECK(ledger.TryPut(0));
  }
  ledger.Check();
}

/// While ends are held, neither acceptance nor what is seen depends on which side runs first between refreshes, even if sums
/// are about to overflow.
inline void CheckHeldSums(const NumberSubject& subject, std::uint64_t largest) {
  std::array<std::vector<std::uint64_t>, 2> seen;
  std::array<std::vector<bool>, 2> accepted;
  for (std::size_t order = 0; order < 2; ++order) {
    Ledger ledger{subject, 2};
    ledger.pair->HoldInlet(true);
    ledger.pair->HoldOutlet(true);
    Dice amounts{1}, choices{2};
    for (int update = 0; update < 300; ++update) {
      const auto num_puts = choices() % 4, num_steps = choices() % 3;
      const auto put = [&] {
        for (std::uint64_t i = 0; i < num_puts; ++i) accepted[order].push_back(ledger.TryPut(amounts() % largest));
      };
      const auto step = [&] {
        for (std::uint64_t i = 0; i < num_steps; ++i) {
          ledger.TryStep();
          seen[order].push_back(ledger.pair->Get());
        }
      };
      if (order == 0) put();
      step();
      if (order == 1) put();
      ledger.pair->Settle();
      ledger.pair->Refresh();
    }
    ledger.pair->HoldInlet(false);
    ledger.pair->HoldOutlet(false);
    ledger.Check();
  }
  CHECK(seen[0] == seen[1]);
  CHECK(accepted[0] == accepted[1]);
}

/// Throws from one of its copies, which the test chooses.
struct BrittleSum {
  BrittleSum() = default;
  explicit BrittleSum(int v) : value{v} {}
  BrittleSum(const BrittleSum& other) : value{other.Checked()} {}
  BrittleSum& operator=(const BrittleSum& other) {
    value = other.Checked();
    return *this;
  }
  BrittleSum& operator+=(const BrittleSum& other) {
    value += other.Checked();
    return *this;
  }
  int Checked() const {
    if (breaks) throw std::runtime_error{"brittle"};
    return value;
  }

  int value = 0;
  bool breaks = false;
};

template <typename S>
void CheckSumStrongGuarantee() {
  typename S::template Pair<BrittleSum> pair{2};
  BrittleSum bad{66};
  bad.breaks = true;
  for (int round = 1; round < 8; ++round) {
    REQUIRE_THROWS_AS(pair.TryPut(bad), std::runtime_error);
    REQUIRE(pair.TryPut(BrittleSum{round}));
    REQUIRE_THROWS_AS(pair.TryPut(bad), std::runtime_error);
    REQUIRE(pair.TryPut(BrittleSum{1}));
    REQUIRE(pair.TryStep(no_limit) == 1);
    REQUIRE(pair.Get().value == round + 1);
  }
  CHECK(pair.TryStep(1) == 0);
  CHECK(pair.Tally().put.attempted == 14);
  CHECK(pair.Tally().Balanced());
}

/// All laws that apply to the subject, each a section of the test case.
template <typename S>
void CheckAccumulateLaws() {
  const NumberSubject subject = NumbersOf<S>();
  const auto depths = {std::size_t{1}, std::size_t{2}, std::size_t{7}};

  SECTION("nothing comes before the first put, and Get is the initial value until the first step") {
    Ledger ledger{subject, 3, 42};
    CHECK(ledger.pair->Get() == 42);
    CHECK_FALSE(ledger.TryStep());
    CHECK(ledger.pair->Get() == 0);
    ledger.Check();
  }
  SECTION("a step takes the sum of all that has arrived") {
    for (const std::size_t depth : depths) CheckSumOfBatches(subject, depth);
  }
  SECTION("the current sum stays put until the next step") { CheckSumLease(subject); }
  SECTION("any mixture of puts and steps keeps the total and accounts") {
    for (const std::size_t depth : depths)
      for (std::uint64_t seed = 1; seed <= 4; ++seed) CheckSumMixture(subject, depth, seed, 999);
  }
  SECTION("so it does where most sums would overflow") {
    for (const std::size_t depth : depths)
      for (std::uint64_t seed = 1; seed <= 4; ++seed)
        CheckSumMixture(subject, depth, seed, std::numeric_limits<std::uint64_t>::max());
  }
  SECTION("a put is refused before a sum overflows") {
    for (const std::size_t depth : depths) CheckSumOverflow(subject, depth);
  }
  if constexpr (S::carries_values) {
    SECTION("a copy that throws changes nothing") { CheckSumStrongGuarantee<S>(); }
  }
  if (subject.can_hold) {
    SECTION("while held, the order of the two sides does not matter") {
      CheckHeldSums(subject, 100);
      CheckHeldSums(subject, std::numeric_limits<std::uint64_t>::max() / 2);
    }
  }
}

/// Amounts in a fixed proportion that fill a cache line. A sum keeps the proportion, so a torn one is noticed. The first
/// amount counts messages.
struct Amounts {
  std::array<std::uint64_t, 8> words{};

  static Amounts Number(std::uint64_t number) {
    Amounts amounts;
    amounts.words[0] = 1;
    for (std::size_t i = 1; i < amounts.words.size(); ++i) amounts.words[i] = number * (2 * i + 1);
    return amounts;
  }
  bool IsWhole() const {
    for (std::size_t i = 2; i < words.size(); ++i)
      if (words[i] * 3 != words[1] * (2 * i + 1)) return false;
    return true;
  }
  Amounts& operator+=(const Amounts& other) {
    for (std::size_t i = 0; i < words.size(); ++i) words[i] += other.words[i];
    return *this;
  }
};

/// One thread puts `num_messages` without a pause, and another steps. No amount is lost, counted twice or torn.
template <typename S>
void CheckAccumulateStress(std::size_t depth, std::uint64_t num_messages) {
  typename S::template Pair<Amounts> pair{depth};
  std::string trouble;
  std::atomic<bool> is_over{false};
  Amounts total;
  std::thread reader{[&]() noexcept {  // noexcept: what either side throws ends the test, which says what it was
    while (total.words[0] < num_messages && trouble.empty()) {
      WaitUntil([&] { return pair.TryStep(1) > 0; });
      if (!pair.Get().IsWhole()) trouble = "a torn sum";
      total += pair.Get();
    }
    is_over.store(true, std::memory_order_relaxed);
  }};
  std::uint64_t num_refused = 0;
  [&]() noexcept {
    for (std::uint64_t number = 1; number <= num_messages; ++number)
      num_refused += pair.TryPut(Amounts::Number(number)) ? 0U : 1U;
    // A flush sends amounts for which there was no room.
    if constexpr (requires { pair.TryFlush(); })
      WaitUntil([&] {
        pair.TryFlush();
        return is_over.load(std::memory_order_relaxed);
      });
  }();
  reader.join();
  CHECK(trouble == "");
  CHECK(num_refused == 0);
  CHECK(total.words[0] == num_messages);
  CHECK(total.words[1] == num_messages * (num_messages + 1) / 2 * 3);
  const Tally tally = pair.Tally();
  CHECK(tally.put.Accepted() == num_messages);
  CHECK(tally.Balanced());
}

}  // namespace uit::testing
