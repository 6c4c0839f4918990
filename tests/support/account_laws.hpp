#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>

#include <uit/config.hpp>
#include <uit/duct/duct.hpp>
#include <uit/policy.hpp>
#include <uit/support/clock.hpp>
#include <uit/tally.hpp>

#include "tests/support/catch.hpp"

/// Compares the account of a conduit with counts that the test keeps, category by category.
namespace uit::testing {

/// What happened to the messages of a conduit, as its user counts it.
struct AccountBook {
  std::uint64_t attempted = 0;
  std::uint64_t refused = 0;
  std::uint64_t muted = 0;
  std::uint64_t steps = 0;   // steps that found something
  std::uint64_t passed = 0;  // messages that steps moved past; of a sum, the messages in it
  std::uint64_t unread = 0;  // messages that waited when the outlet discarded what waits

  std::uint64_t Accepted() const { return attempted - refused; }
};
/// The tallies of the ends, and the counts of their users, summed over all processes that do the same.
struct AccountSums {
  Tally tally;
  AccountBook book;

  AccountSums& operator+=(const AccountSums& other) {
    tally += other.tally;
    book.attempted += other.book.attempted;
    book.refused += other.book.refused;
    book.muted += other.book.muted;
    book.steps += other.book.steps;
    book.passed += other.book.passed;
    book.unread += other.book.unread;
    return *this;
  }
};

/// A conduit, and its user's counts. `Ends` has an `inlet` and an `outlet` for numbers. They belong to one conduit, or to two
/// whose other ends belong to processes that do the same:
///
///     void Settle(std::uint64_t num_waiting);  // returns when that many messages can be stepped to, perhaps as one sum
///     void Close();                            // the same; afterwards no put is possible
///     AccountSums Sum(const AccountSums&);     // over all processes that do the same
///
/// Every message is a 1, so a sum tells how many messages it holds.
template <Policy policy, typename Ends>
class Account {
 public:
  explicit Account(Ends& ends) : ends_(ends) {}

  /// Puts messages, and waits for room until `deadline`, if one is given.
  void Put(std::size_t num_messages, std::optional<Deadline> deadline = std::nullopt) {
    for (std::size_t i = 0; i < num_messages; ++i) {
      ++book_.attempted;
      const bool is_accepted = deadline ? ends_.inlet.Put(1, *deadline) : ends_.inlet.TryPut(1);
      ++(is_accepted ? num_waiting_ : book_.refused);
      ends_.inlet.TryFlush();
    }
    ends_.Settle(num_waiting_);
  }
  void PutMuted(std::size_t num_messages) {
    auto end = ends_.inlet.Rebind({});
    for (std::size_t i = 0; i < num_messages; ++i) {
      ++book_.muted;
      CHECK_FALSE(ends_.inlet.TryPut(1));
    }
    ends_.inlet.Rebind(std::move(end));
  }
  /// Returns the number of messages that the step moved past, or that are in the sum that it found.
  std::uint64_t Step(std::size_t limit) {
    const std::size_t count = ends_.outlet.TryStep(limit);
    if (count == 0) return 0;
    CHECK(count <= limit);
    const std::uint64_t passed = policy.retain == Retain::accumulate ? ends_.outlet.Get() : count;
    ++book_.steps;
    book_.passed += passed;
    num_waiting_ -= policy.retain == Retain::latest ? num_waiting_ : passed;
    return passed;
  }
  /// Discards what waits. If only the newest message is kept, that is one.
  void DiscardUnread() {
    const std::uint64_t num_given_up = policy.retain == Retain::latest ? (num_waiting_ == 0 ? 0 : 1) : num_waiting_;
    ends_.outlet.DiscardUnread();
    book_.unread += num_given_up;
    num_waiting_ = 0;
  }

  /// Compares each category with the test's counts.
  void Check() {
    AccountSums sums;
    sums.tally += ends_.inlet.Tally();
    sums.tally += ends_.outlet.Tally();
    sums.book = book_;
    const auto [tally, book] = ends_.Sum(sums);
    CHECK(tally.put.attempted == book.attempted);
    CHECK(tally.put.dropped == book.refused);
    CHECK(tally.put.muted == book.muted);
    CHECK(tally.put.Accepted() == book.Accepted());
    CHECK(tally.get.stepped == book.steps);
    CHECK(tally.get.unread == book.unread);
    if constexpr (policy.retain == Retain::every) {
      CHECK(tally.get.skipped == book.passed - book.steps);
      CHECK(tally.get.folded == 0);
      CHECK(tally.put.preempted == 0);
      CHECK(tally.InFlight() == static_cast<std::int64_t>(book.Accepted() - book.passed - book.unread));
    } else if constexpr (policy.retain == Retain::accumulate) {
      CHECK(tally.get.skipped == 0);
      CHECK(tally.get.folded == book.passed - book.steps);
      CHECK(tally.put.preempted == 0);
      CHECK(tally.InFlight() == static_cast<std::int64_t>(book.Accepted() - book.passed - book.unread));
    } else {
      CHECK(tally.get.folded == 0);
      // A message that was replaced after it arrived counts as in flight until a step notices it.
      if (Ends::replaces_before_arrival || num_waiting_ == 0) {
        const std::uint64_t waiting = ends_.Sum({.tally = {}, .book = {.unread = num_waiting_ == 0 ? 0U : 1U}}).book.unread;
        CHECK(tally.InFlight() == static_cast<std::int64_t>(waiting));
        CHECK(tally.put.preempted + tally.get.skipped == book.Accepted() - book.steps - book.unread - waiting);
        CHECK((Ends::replaces_before_arrival ? tally.get.skipped : tally.put.preempted) == 0);
      }
    }
  }
  const AccountBook& Book() const { return book_; }

 private:
  Ends& ends_;
  AccountBook book_;
  std::uint64_t num_waiting_ = 0;  // put and not stepped to
};

/// Puts, steps and losses with numbers known in advance, on a conduit of depth 4.
template <Policy policy, typename Ends>
void CheckAccount(Ends& ends) {
  constexpr bool keeps_every = policy.retain == Retain::every;
  constexpr bool keeps_latest = policy.retain == Retain::latest;
  Account<policy, Ends> account{ends};
  account.Check();  // nothing has happened yet
  account.PutMuted(3);
  account.Check();
  account.Put(6);
  CHECK(account.Book().refused == (keeps_every ? 2 : 0));
  account.Check();
  CHECK(account.Step(1) == (keeps_every || keeps_latest ? 1 : 6));
  account.Check();
  CHECK(account.Step(2) == (keeps_every ? 2 : 0));
  account.Check();
  CHECK(account.Step(1) == (keeps_every ? 1 : 0));
  CHECK(account.Step(no_limit) == 0);
  account.Check();
  ends.Settle(0);
  account.Put(3, After(std::chrono::seconds(60)));  // as soon as the inlet has been told of room
  CHECK(account.Book().refused == (keeps_every ? 2 : 0));
  account.PutMuted(1);
  ends.Close();
  account.Check();
  if constexpr (keeps_every) CHECK(account.Step(1) == 1);  // two are left; of the others, one message in three
  account.Check();
  account.DiscardUnread();
  CHECK(account.Step(no_limit) == 0);
  account.Check();
  CHECK(account.Book().unread == (keeps_every ? 2U : keeps_latest ? 1U : 3U));
}

}  // namespace uit::testing
