#pragma once

#include <cstddef>

#include <uit/duct/duct.hpp>

#include "tests/support/schedule_explorer.hpp"
#include "tests/support/watched.hpp"

/// What two threads do with a duct while the explorer watches; for every kind of duct.
namespace uit::testing {

/// One thread puts 1, 2, 3 … and the other steps; then it drains and counts. After each step, the message must be the number
/// of messages passed.
template <typename D, int num_puts, int num_steps, bool in_batches = false>
struct EveryScenario {
  void Run(std::size_t thread) {
    if (thread == 0) {
      for (int i = 0; i < num_puts; ++i) {
        if constexpr (in_batches) {
          num_accepted += duct.TryStage(Watched{num_accepted + 1});
          if (i % 2 == 1) duct.TryFlush();
        } else {
          num_accepted += duct.TryPut(Watched{num_accepted + 1});
        }
      }
    } else {
      // A lease outlives the attempts that fail.
      for (int i = 0; i < num_steps; ++i) Step(i % 3 == 2 ? uit::no_limit : 1);
    }
  }

  void Finish() {
    duct.TryFlush();
    while (Step(1)) {
    }
    Explorer::Expect(num_passed == num_accepted, "a message was lost or made up");
  }

  bool Step(std::size_t limit) {
    const std::size_t count = duct.TryStep(limit);
    Explorer::Expect(count <= limit, "a step went too far");
    num_passed += static_cast<int>(count);
    Explorer::Expect(duct.Get().Value() == num_passed, "a message is out of order");
    return count > 0;
  }

  D duct{1 + num_puts / 4};
  int num_accepted = 0;
  int num_passed = 0;
};

template <typename D, int num_puts, int num_steps>
struct LatestScenario {
  void Run(std::size_t thread) {
    if (thread == 0) {
      for (int i = 1; i <= num_puts; ++i) duct.TryPut(Watched{i});
    } else {
      for (int i = 0; i < num_steps; ++i) Step();
    }
  }

  void Finish() {
    Step();
    Explorer::Expect(newest == num_puts, "the newest message was lost");
    Explorer::Expect(num_stepped + static_cast<int>(duct.NumPreempted()) == num_puts,
                     "the counts do not add up");
  }

  void Step() {
    const bool is_new = duct.TryStep(1) == 1;
    const int value = duct.Get().Value();
    Explorer::Expect(is_new ? value > newest : value == newest, "a message is out of order");
    newest = value;
    num_stepped += is_new;
  }

  D duct{};
  int newest = 0;
  int num_stepped = 0;
};

/// An amount that reports unordered reads and writes.
struct WatchedAmount {
  Watched amount;
  bool TryFold(const WatchedAmount& other) {
    const int sum = amount.Value() + other.amount.Value();
    if (sum > most) return false;
    amount = Watched{sum};
    return true;
  }
  static constexpr int most = 1 + 2 + 4 + 8;
};

/// Puts 1, 2, 4 …, so that a sum shows which puts it contains. No put is counted twice, every accepted put arrives, and a
/// step takes all that was put before. There may be more puts than a sum can hold.
template <typename D, int num_puts, int num_steps>
struct AccumulateScenario {
  void Run(std::size_t thread) {
    if (thread == 0) {
      for (int i = 0; i < num_puts; ++i) accepted += duct.TryPut(WatchedAmount{1 << i}) ? 1 << i : 0;
    } else {
      for (int i = 0; i < num_steps; ++i) Step();
    }
  }

  void Finish() {
    Step();
    Explorer::Expect(seen == accepted, "an amount was lost");
    Step();
    Explorer::Expect(duct.NumFolded() + duct.NumPassed() == duct.NumAccepted(), "the counts do not add up");
    Explorer::Expect(duct.NumUnread() == 0, "something is left");
  }

  void Step() {
    const std::size_t count = duct.TryStep(1);
    const int sum = duct.Get().amount.Value();
    Explorer::Expect((count == 0) == (sum == 0), "a sum was shown twice");
    Explorer::Expect((seen & sum) == 0, "an amount came twice");
    seen += sum;
  }

  D duct{};
  int accepted = 0;
  int seen = 0;
};

}  // namespace uit::testing
