#include <set>
#include <stdexcept>
#include <tuple>
#include <utility>
#include <vector>

#include <uit/duct/mailbox_duct.hpp>

#include "tests/support/catch.hpp"

using uit::MailboxDuct;
using uit::Spsc;
using uit::Unsynchronized;

using Syncs = std::tuple<Unsynchronized, Spsc>;

namespace {

/// A buffer whose move assignment swaps, so that the other side's old buffer comes back.
struct Swapped {
  Swapped() = default;
  explicit Swapped(int value) : words(100, value) {}
  Swapped(Swapped&& other) noexcept { words.swap(other.words); }
  Swapped& operator=(Swapped&& other) noexcept {
    words.swap(other.words);
    return *this;
  }
  std::vector<int> words;
};

/// Trivially copyable, but can only be moved.
struct Handle {
  Handle() = default;
  explicit Handle(int n) : number(n) {}
  Handle(Handle&&) = default;
  Handle& operator=(Handle&&) = default;
  int number = 0;
};

/// Its copy assignment may throw after it has copied a part.
struct Fragile {
  Fragile() = default;
  explicit Fragile(int v) : value(v) {}
  Fragile(const Fragile& other) { *this = other; }
  Fragile(Fragile&& other) noexcept : value(other.value) {}
  Fragile& operator=(const Fragile& other) {
    value = other.value;
    if (value < 0) throw std::runtime_error("negative");
    return *this;
  }
  Fragile& operator=(Fragile&& other) noexcept {
    value = other.value;
    return *this;
  }
  int value = 0;
};

}  // namespace

TEMPLATE_LIST_TEST_CASE("A mailbox accepts messages that can only be moved", "", Syncs) {
  MailboxDuct<Handle, TestType> mailbox;
  CHECK(mailbox.TryPut(Handle{3}));
  CHECK(mailbox.TryStep(1) == 1);
  CHECK(mailbox.Get().number == 3);
}

TEMPLATE_LIST_TEST_CASE("A staged message survives a copy that throws", "", Syncs) {
  const Fragile bad{-1};
  for (const bool hold : {false, true}) {
    MailboxDuct<Fragile, TestType> mailbox;
    if constexpr (requires { mailbox.HoldInlet(hold); }) mailbox.HoldInlet(hold);
    else if (hold) continue;
    CHECK(mailbox.TryStage(Fragile{1}));
    CHECK_THROWS_AS(mailbox.TryPut(bad), std::runtime_error);
    CHECK_THROWS_AS(mailbox.TryStage(bad), std::runtime_error);
    CHECK(mailbox.TryFlush());
    CHECK(mailbox.TryStep(1) == (hold ? 0U : 1U));  // while held, only a refresh publishes
    if constexpr (requires { mailbox.RefreshInlet(); }) mailbox.RefreshInlet();
    CHECK(mailbox.TryStep(1) == (hold ? 1U : 0U));
    CHECK(mailbox.Get().value == 1);
    CHECK(mailbox.NumAccepted() == 1);
    CHECK(mailbox.NumPreempted() == 0);
  }
}

TEMPLATE_LIST_TEST_CASE("A copy that could throw and does not replaces a staged message", "", Syncs) {
  MailboxDuct<Fragile, TestType> mailbox;
  const Fragile second{2};
  CHECK(mailbox.TryStage(Fragile{1}));
  CHECK(mailbox.TryPut(second));
  CHECK(mailbox.TryStep(1) == 1);
  CHECK(mailbox.Get().value == 2);
  CHECK(mailbox.NumAccepted() == 2);
  CHECK(mailbox.NumPreempted() == 1);
}

TEMPLATE_LIST_TEST_CASE("A mailbox counts messages that were replaced before they were read", "", Syncs) {
  MailboxDuct<int, TestType> mailbox{5};
  CHECK(mailbox.Get() == 5);
  CHECK_FALSE(mailbox.Pending());
  CHECK(mailbox.TryPut(6));
  CHECK(mailbox.Pending());
  CHECK(mailbox.NumPreempted() == 0);
  CHECK(mailbox.TryPut(7));
  CHECK(mailbox.TryPut(8));
  CHECK(mailbox.NumPreempted() == 2);
  CHECK(mailbox.Get() == 5);
  CHECK(mailbox.TryStep(1) == 1);
  CHECK_FALSE(mailbox.Pending());
  CHECK(mailbox.Get() == 8);
  CHECK(mailbox.TryPut(9));
  CHECK(mailbox.NumPreempted() == 2);
}

TEMPLATE_LIST_TEST_CASE("A mailbox hands buffers round instead of allocating", "", Syncs) {
  MailboxDuct<Swapped, TestType> mailbox;
  Swapped message{0};
  std::set<const int*> buffers;
  for (int i = 1; i < 40; ++i) {
    if (message.words.empty()) message = Swapped{i};
    for (int& word : message.words) word = i;
    buffers.insert(message.words.data());
    REQUIRE(mailbox.TryPut(std::move(message)));
    if (i % 3 != 0) {
      REQUIRE(mailbox.TryStep(1) == 1);
      REQUIRE(mailbox.Get().words == std::vector<int>(100, i));
    }
  }
  CHECK(buffers.size() <= 4);
}

TEST_CASE("A held mailbox publishes at the refresh") {
  MailboxDuct<int, Unsynchronized> mailbox;
  mailbox.HoldInlet(true);
  CHECK(mailbox.TryPut(1));
  CHECK(mailbox.TryStep(1) == 0);
  mailbox.RefreshInlet();
  CHECK(mailbox.TryPut(2));
  CHECK(mailbox.TryPut(3));
  CHECK(mailbox.NumPreempted() == 1);
  CHECK(mailbox.TryStep(1) == 1);
  CHECK(mailbox.Get() == 1);
  CHECK(mailbox.TryStep(1) == 0);
  mailbox.HoldInlet(false);
  CHECK(mailbox.TryStep(1) == 1);
  CHECK(mailbox.Get() == 3);
}

TEMPLATE_LIST_TEST_CASE("A mailbox shows a staged message after its flush", "", Syncs) {
  MailboxDuct<int, TestType> mailbox;
  CHECK(mailbox.TryFlush());
  CHECK_FALSE(mailbox.Pending());
  CHECK(mailbox.TryStage(1));
  CHECK(mailbox.TryStage(2));
  CHECK(mailbox.TryStep(1) == 0);
  CHECK(mailbox.TryFlush());
  CHECK(mailbox.TryStep(1) == 1);
  CHECK(mailbox.Get() == 2);
  CHECK(mailbox.NumPreempted() == 1);
}
