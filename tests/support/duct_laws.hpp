#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <stdexcept>
#include <utility>
#include <vector>

#include <uit/duct/duct.hpp>
#include <uit/policy.hpp>
#include <uit/tally.hpp>

#include "tests/support/accumulate_laws.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/number_pair.hpp"
#include "tests/uit/core/support/sanitized.hpp"

/// The laws that every duct keeps, over every exchange and link. More than 300 lines, because it is the list of all laws, each a short
/// function.
///
/// A subject is one kind of duct, and how to create a pair of its ends. To test another kind, add its subject to a list of
/// types:
///
///     struct MySubject {
///       static constexpr uit::Retain retain = uit::Retain::every;
///       static constexpr uit::Backlog backlog = uit::Backlog::drop;
///       static constexpr bool carries_values = true;  // of any type, not as bytes
///       static constexpr bool has_threads = true;     // the ends may be in two
///       template <typename T>
///       struct Pair {
///         explicit Pair(std::size_t depth, T initial = T{});
///         bool TryPut(const T&), TryPut(T&&);
///         std::size_t TryStep(std::size_t limit);
///         const T& Get() const;
///       void Settle();          // lets all messages and reports in flight arrive
///       uit::Tally Tally();     // the counts of both ends
///         // optional: TryStage, TryFlush; HoldInlet, HoldOutlet, Refresh (both sides)
///       };
///     };
///     TEMPLATE_LIST_TEST_CASE("My ducts keep the laws", "", (std::tuple<MySubject>)) {
///       uit::testing::CheckLaws<TestType>();
///     }
namespace uit::testing {

/// Counts its living instances, and throws from one of its copies, which the test chooses.
struct Brittle {
  Brittle() = default;
  explicit Brittle(int v) : value{v} {}
  Brittle(const Brittle& other) : value{other.value} { Break(other); }
  Brittle& operator=(const Brittle& other) {
    Break(other);
    value = other.value;
    return *this;
  }

  int value = 0;
  bool breaks = false;

 private:
  static void Break(const Brittle& other) {
    if (other.breaks) throw std::runtime_error{"brittle"};
  }
};

inline void CheckBeginning(const NumberSubject& subject) {
  const auto pair = subject.Open(3, 42);
  pair->Settle();
  CHECK(pair->Get() == 42);
  CHECK(pair->TryStep(1) == 0);
  CHECK(pair->TryStep(no_limit) == 0);
  CHECK(pair->Get() == 42);
  CHECK(pair->Tally() == Tally{});
}

inline void CheckOrder(const NumberSubject& subject, std::size_t depth) {
  const auto pair = subject.Open(depth);
  std::uint64_t num_put = 0;
  std::uint64_t num_stepped = 0;
  // Batches of every size up to the depth, many times around the ring.
  for (std::size_t round = 0; round < 8 * depth + 16; ++round) {
    const std::size_t batch = 1 + round % depth;
    for (std::size_t i = 0; i < batch; ++i) REQUIRE(pair->TryPut(++num_put));
    pair->Settle();
    if (subject.retain == Retain::every) {
      for (std::size_t i = 0; i < batch; ++i) {
        REQUIRE(pair->TryStep(1) == 1);
        REQUIRE(pair->Get() == ++num_stepped);
      }
    } else {
      REQUIRE(pair->TryStep(1) == 1);
      REQUIRE(pair->Get() == num_put);
    }
    REQUIRE(pair->TryStep(1) == 0);
    pair->Settle();
  }
  const Tally tally = pair->Tally();
  CHECK(tally.put.attempted == num_put);
  CHECK(tally.put.dropped == 0);
  CHECK(tally.Balanced());
}

/// Exactly `depth` messages are accepted and not stepped to; each step makes room for one.
inline void CheckCapacity(const NumberSubject& subject, std::size_t depth) {
  const auto pair = subject.Open(depth);
  std::uint64_t num_put = 0;
  while (num_put < depth && pair->TryPut(num_put + 1)) ++num_put;
  CHECK(num_put == depth);
  for (int i = 0; i < 3; ++i) CHECK_FALSE(pair->TryPut(99));
  pair->Settle();
  CHECK_FALSE(pair->TryPut(99));
  for (std::uint64_t next = 1; next <= 2 * depth; ++next) {
    REQUIRE(pair->TryStep(1) == 1);
    REQUIRE(pair->Get() == next);
    pair->Settle();
    REQUIRE(pair->TryPut(++num_put));
    REQUIRE_FALSE(pair->TryPut(99));
    pair->Settle();
  }
  const Tally tally = pair->Tally();
  CHECK(tally.put.attempted == tally.put.Accepted() + tally.put.dropped);
  CHECK(tally.put.Accepted() == num_put);
  CHECK(tally.InFlight() == static_cast<std::int64_t>(depth));
}

/// With any number of puts without a step, no put fails, and the newest message arrives in the end.
inline void CheckNewestSurvives(const NumberSubject& subject) {
  const auto pair = subject.Open(2);
  std::uint64_t num_put = 0;
  for (std::uint64_t batch = 1; batch < 40; ++batch) {
    for (std::uint64_t i = 0; i < batch; ++i) REQUIRE(pair->TryPut(++num_put));
    pair->Settle();
    REQUIRE(pair->TryStep(1 + batch % 3) >= 1);
    REQUIRE(pair->Get() == num_put);
    REQUIRE(pair->TryStep(1) == 0);
  }
  const Tally tally = pair->Tally();
  CHECK(tally.put.dropped == 0);
  CHECK(tally.get.stepped == 39);
  CHECK(tally.Balanced());
}

/// The object that Get returns neither moves nor changes until the next step that succeeds.
inline void CheckLease(const NumberSubject& subject, std::size_t depth) {
  const auto pair = subject.Open(depth, 7);
  std::uint64_t num_put = 100;
  const std::uint64_t* current = &pair->Get();
  std::uint64_t value = 7;
  for (int round = 0; round < 50; ++round) {
    for (std::size_t i = 0; i < 2 * depth + 2; ++i) {
      pair->TryPut(++num_put);
      REQUIRE(&pair->Get() == current);
      REQUIRE(*current == value);
    }
    pair->Settle();
    REQUIRE(&pair->Get() == current);
    REQUIRE(*current == value);
    REQUIRE(pair->TryStep(1 + static_cast<std::size_t>(round) % 3) > 0);
    current = &pair->Get();
    value = *current;
  }
  while (pair->TryStep(no_limit) > 0) {
  }
  current = &pair->Get();
  value = *current;
  REQUIRE(pair->TryStep(1) == 0);
  CHECK(&pair->Get() == current);
  CHECK(*current == value);
}

/// A step of k passes min(k, waiting) messages. A jump passes all.
inline void CheckJump(const NumberSubject& subject, std::size_t depth) {
  const auto pair = subject.Open(depth);
  std::uint64_t num_put = 0;
  std::uint64_t num_passed = 0;
  for (std::size_t round = 0; round < 60; ++round) {
    while (num_put - num_passed < depth) REQUIRE(pair->TryPut(++num_put));
    pair->Settle();
    const std::size_t limit = round % 4 == 3 ? no_limit : 1 + round % (depth + 2);
    const std::size_t expected = std::min<std::size_t>(limit, num_put - num_passed);
    REQUIRE(pair->TryStep(limit) == expected);
    num_passed += expected;
    REQUIRE(pair->Get() == num_passed);
    pair->Settle();
  }
  while (const std::size_t count = pair->TryStep(no_limit)) num_passed += count;
  CHECK(num_passed == num_put);
  CHECK(pair->Get() == num_put);
  const Tally tally = pair->Tally();
  CHECK(tally.get.stepped + tally.get.skipped == num_put);
  CHECK(tally.Balanced());
}

/// Any mixture of puts, steps and pauses keeps order and both equations.
inline void CheckMixture(const NumberSubject& subject, std::size_t depth, std::uint64_t seed) {
  const auto pair = subject.Open(depth);
  std::uint64_t state = seed * 0x9E3779B97F4A7C15U + 1;
  const auto draw = [&](std::uint64_t bound) {
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return state % bound;
  };
  Tally expected;
  std::deque<std::uint64_t> sent;  // accepted and not stepped to, oldest first
  for (int i = 0; i < (is_slow_build ? 1000 : 4000); ++i) {
    const std::uint64_t choice = draw(16);
    if (choice < 7) {
      const auto number = static_cast<std::uint64_t>(i) + 1;
      ++expected.put.attempted;
      if (pair->TryPut(number)) {
        sent.push_back(number);
      } else {
        ++expected.put.dropped;
        REQUIRE(subject.retain == Retain::every);
      }
    } else if (choice < 14) {
      const std::size_t limit = choice == 13 ? no_limit : 1 + draw(3);
      const std::uint64_t before = pair->Get();
      if (pair->TryStep(limit) == 0) {
        REQUIRE(pair->Get() == before);
      } else {
        ++expected.get.stepped;
        const std::uint64_t message = pair->Get();
        std::size_t num_passed = 1;
        while (!sent.empty() && sent.front() != message) {
          sent.pop_front();
          ++num_passed;
        }
        REQUIRE(!sent.empty());  // otherwise it was never sent, or came twice or too late
        sent.pop_front();
        if (subject.retain == Retain::every) REQUIRE(num_passed <= limit);
      }
    } else {
      pair->Settle();
    }
  }
  pair->Settle();
  while (pair->TryStep(no_limit) > 0) {
    ++expected.get.stepped;
    pair->Settle();
  }
  REQUIRE((sent.empty() || pair->Get() == sent.back()));
  const Tally tally = pair->Tally();
  CHECK(tally.put.attempted == expected.put.attempted);
  CHECK(tally.put.dropped == expected.put.dropped);
  CHECK(tally.get.stepped == expected.get.stepped);
  CHECK(tally.Balanced());
}

/// A put that throws while copying leaves the duct unchanged.
template <typename S>
void CheckStrongGuarantee() {
  typename S::template Pair<Brittle> pair{2};
  Brittle bad{66};
  bad.breaks = true;
  for (int round = 1; round < 8; ++round) {
    REQUIRE_THROWS_AS(pair.TryPut(bad), std::runtime_error);
    REQUIRE(pair.TryPut(Brittle{round}));
    REQUIRE_THROWS_AS(pair.TryPut(bad), std::runtime_error);
    REQUIRE_THROWS_AS(pair.TryPut(bad), std::runtime_error);
    pair.Settle();
    REQUIRE(pair.TryStep(no_limit) == 1);
    REQUIRE(pair.Get().value == round);
  }
  CHECK(pair.TryStep(1) == 0);
  CHECK(pair.Tally().put.attempted == 7);
  CHECK(pair.Tally().Balanced());
}

/// Messages that can only be moved arrive. A refused message has not been moved from.
template <typename S>
void CheckMoveOnly() {
  typename S::template Pair<std::unique_ptr<int>> pair{2};
  CHECK(pair.Get() == nullptr);
  int num_accepted = 0;
  for (int i = 1; i <= 5; ++i) {
    auto message = std::make_unique<int>(i);
    const bool is_accepted = pair.TryPut(std::move(message));
    num_accepted += is_accepted;
    REQUIRE((message == nullptr) == is_accepted);
  }
  pair.Settle();
  REQUIRE(pair.TryStep(no_limit) > 0);
  REQUIRE(pair.Get() != nullptr);
  CHECK(*pair.Get() == num_accepted);
}

/// If the duct supports staging, no message of a batch is visible before its flush or a plain put. Then all are, in order.
inline void CheckBatches(const NumberSubject& subject) {
  const auto pair = subject.Open(4);
  std::uint64_t next = 1;
  for (int round = 0; round < 20; ++round) {
    for (std::uint64_t i = 0; i < 3; ++i) REQUIRE(pair->TryStage(next + i));
    pair->TryFlush();
    pair->Settle();
    if (subject.retain == Retain::every) {
      for (std::uint64_t i = 0; i < 3; ++i) {
        REQUIRE(pair->TryStep(1) == 1);
        REQUIRE(pair->Get() == next + i);
      }
    } else {
      REQUIRE(pair->TryStep(1) == 1);
      REQUIRE(pair->Get() == next + 2);
    }
    REQUIRE(pair->TryStep(1) == 0);
    next += 3;
    pair->Settle();
  }
  REQUIRE(pair->TryStage(next));
  REQUIRE(pair->TryPut(next + 1));
  pair->Settle();
  REQUIRE(pair->TryStep(no_limit) >= 1);
  CHECK(pair->Get() == next + 1);
  CHECK(pair->Tally().Balanced());
}

/// While ends are held, neither acceptance nor what is seen depends on which side runs first between refreshes.
inline void CheckHold(const NumberSubject& subject) {
  constexpr std::size_t depth = 2;
  std::array<std::vector<std::uint64_t>, 2> seen;
  std::array<std::vector<bool>, 2> accepted;
  for (std::size_t order = 0; order < 2; ++order) {
    const auto pair = subject.Open(depth);
    pair->HoldInlet(true);
    pair->HoldOutlet(true);
    std::uint64_t next = 0;
    for (std::uint64_t update = 0; update < 30; ++update) {
      const auto put = [&] {
        for (std::uint64_t i = 0; i < update % 4; ++i) accepted[order].push_back(pair->TryPut(++next));
      };
      const auto step = [&] {
        for (std::uint64_t i = 0; i < update % 3; ++i)
          seen[order].push_back(pair->TryStep(1) > 0 ? pair->Get() : 0);
      };
      if (order == 0) {
        put();
        step();
      } else {
        step();
        put();
      }
      pair->Settle();
      pair->Refresh();
    }
    pair->HoldInlet(false);
    pair->HoldOutlet(false);
    pair->Settle();
    while (pair->TryStep(no_limit) > 0) pair->Settle();
    CHECK(pair->Tally().Balanced());
  }
  CHECK(seen[0] == seen[1]);
  CHECK(accepted[0] == accepted[1]);
}

/// All laws of policies that keep messages apart.
template <typename S>
void CheckOrderedLaws() {
  const NumberSubject subject = NumbersOf<S>();
  const auto depths = {std::size_t{1}, std::size_t{2}, std::size_t{3}, std::size_t{7}};

  SECTION("nothing comes before the first put, and Get is the initial value") {
    CheckBeginning(subject);
  }
  SECTION("messages come in order, once each, and are counted") {
    for (const std::size_t depth : depths) CheckOrder(subject, depth);
  }
  SECTION("the current message stays put until the next step") {
    for (const std::size_t depth : depths) CheckLease(subject, depth);
  }
  SECTION("any mixture of puts and steps keeps order and accounts") {
    for (const std::size_t depth : depths)
      for (std::uint64_t seed = 1; seed <= (is_slow_build ? 1U : 4U); ++seed) CheckMixture(subject, depth, seed);
  }
  if constexpr (S::retain == Retain::latest) {
    SECTION("the newest message survives any number of puts") { CheckNewestSurvives(subject); }
  } else {
    SECTION("a step passes as many as it was told, and a jump all") {
      for (const std::size_t depth : depths) CheckJump(subject, depth);
    }
    if constexpr (S::backlog == Backlog::drop) {
      SECTION("as many messages wait as the depth says") {
        for (const std::size_t depth : depths) CheckCapacity(subject, depth);
      }
    }
  }
  if constexpr (S::carries_values) {
    SECTION("a copy that throws changes nothing") { CheckStrongGuarantee<S>(); }
    SECTION("move-only messages pass, and stay with who could not put them") {
      CheckMoveOnly<S>();
    }
  }
  if (subject.can_stage) {
    SECTION("a batch arrives whole and in order") { CheckBatches(subject); }
  }
  if (subject.can_hold) {
    SECTION("while held, the order of the two sides does not matter") { CheckHold(subject); }
  }
}

/// All laws that apply to the subject, each a section of the test case.
template <typename S>
void CheckLaws() {
  if constexpr (S::retain == Retain::accumulate) CheckAccumulateLaws<S>();
  else CheckOrderedLaws<S>();
}

}  // namespace uit::testing
