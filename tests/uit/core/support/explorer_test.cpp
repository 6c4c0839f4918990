#include <unistd.h>

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "tests/support/catch.hpp"
#include "tests/support/explored_atomic.hpp"
#include "tests/support/explored_memory.hpp"
#include "tests/support/memory_orders.hpp"
#include "tests/support/order_sweep.hpp"
#include "tests/support/schedule_count.hpp"
#include "tests/support/schedule_explorer.hpp"
#include "tests/support/watched.hpp"

namespace {

using uit::testing::Explored;
using uit::testing::ExploredMemory;
using uit::testing::ExploredRef;
using uit::testing::ExploredStructure;
using uit::testing::Explorer;
using uit::testing::MemoryOrders;
using uit::testing::OrderOf;
using uit::testing::OrderSite;
using uit::testing::UnmetOrders;
using uit::testing::Watched;

using Atomic = Explored::Atomic<int>;
using Outcomes = std::set<std::pair<int, int>>;

constexpr auto relaxed = std::memory_order_relaxed;
constexpr auto acquire = std::memory_order_acquire;
constexpr auto release = std::memory_order_release;

/// Collects the pairs of results of two threads.
template <typename Litmus>
struct Observed : Litmus {
  void Finish() { All().insert({this->first, this->second}); }
  static Outcomes& All() {
    static Outcomes all;
    return all;
  }
  static Outcomes Explore(int bound) {
    All().clear();
    const auto result = Explorer::Explore<Observed>(bound);
    REQUIRE(result.failure.empty());
    REQUIRE(result.is_exhausted);
    return All();
  }
};

struct StoreBuffering {
  Atomic x{0}, y{0};
  int first = -1, second = -1;
  void Run(std::size_t thread) {
    if (thread == 0) {
      x.store(1, release);
      first = y.load(acquire);
    } else {
      y.store(1, release);
      second = x.load(acquire);
    }
  }
};

template <std::memory_order publish, std::memory_order observe>
struct MessagePassing {
  Atomic data{0}, flag{0};
  int first = -1, second = -1;
  void Run(std::size_t thread) {
    if (thread == 0) {
      data.store(1, relaxed);
      flag.store(1, publish);
    } else {
      first = flag.load(observe);
      second = data.load(relaxed);
    }
  }
};

struct Coherence {
  Atomic x{0};
  int first = -1, second = -1;
  void Run(std::size_t thread) {
    if (thread == 0) {
      x.store(1, relaxed);
      x.store(2, relaxed);
    } else {
      first = x.load(relaxed);
      second = x.load(relaxed);
    }
  }
};

struct TwoIncrements {
  Atomic x{0};
  int first = -1, second = -1;
  void Run(std::size_t thread) { (thread == 0 ? first : second) = x.fetch_add(1, relaxed); }
};

/// After a release, an acquire of a later read-modify-write still synchronises with the release.
struct ReleaseSequence {
  Atomic data{0}, flag{0};
  int first = -1, second = -1;
  void Run(std::size_t thread) {
    if (thread == 0) {
      data.store(1, relaxed);
      flag.store(1, release);
      flag.fetch_add(1, relaxed);
    } else {
      first = flag.load(acquire);
      second = data.load(relaxed);
    }
  }
};

template <std::memory_order publish>
struct Handover {
  Watched message{0};
  Atomic flag{0};
  void Run(std::size_t thread) {
    if (thread == 0) {
      message = Watched{1};
      flag.store(1, publish);
    } else if (flag.load(acquire) == 1) {
      Explorer::Expect(message.Value() == 1, "the message is another");
    }
  }
  void Finish() { Explorer::Expect(message.Value() == 1, "the message is another"); }
};

/// Each thread takes a number.
struct Queueing {
  static constexpr std::size_t num_threads = 3;
  Atomic x{0};
  int first = -1, second = -1, third = -1;
  void Run(std::size_t thread) { (thread == 0 ? first : thread == 1 ? second : third) = x.fetch_add(1, relaxed); }
};

/// One thread waits once for the other.
struct Waiting {
  Atomic x{0};
  int first = -1, second = -1;
  void Run(std::size_t thread) {
    if (thread == 0) {
      first = x.load(relaxed);
      Explorer::Yield();
      second = x.load(relaxed);
    } else {
      x.store(1, relaxed);
    }
  }
};

/// A word is written plainly, and read after another word says so.
template <std::memory_order publish>
struct PlainHandover {
  std::array<std::uint64_t, 2> words{};
  ExploredMemory memory{words};
  void Run(std::size_t thread) {
    const ExploredRef<std::uint64_t> flag{words[1]};
    if (thread == 0) {
      words[0] = 7;
      flag.store(1, publish);
    } else if (flag.load(acquire) == 1) {
      ExploredMemory::NoteRead(std::as_bytes(std::span{words}.first(1)));
    }
  }
  void Finish() { Explorer::Expect(words[0] == 7, "a word is another"); }
};

/// A word is read plainly, then written by a thread that was told of the read.
template <std::memory_order publish>
struct PlainReturn {
  std::array<std::uint64_t, 2> words{};
  ExploredMemory memory{words};
  void Run(std::size_t thread) {
    const ExploredRef<std::uint64_t> flag{words[1]};
    if (thread == 0) {
      ExploredMemory::NoteRead(std::as_bytes(std::span{words}.first(1)));
      flag.store(1, publish);
    } else if (flag.load(acquire) == 1) {
      words[0] = 7;
    }
  }
  void Finish() {}
};

}  // namespace

TEST_CASE("The explorer lets stores pass later loads") {
  CHECK(Observed<StoreBuffering>::Explore(2) == Outcomes{{0, 0}, {0, 1}, {1, 0}, {1, 1}});
}

TEST_CASE("The explorer lets data lag behind a flag unless it is released and acquired") {
  const Outcomes ordered{{0, 0}, {0, 1}, {1, 1}};
  const Outcomes all{{0, 0}, {0, 1}, {1, 0}, {1, 1}};
  CHECK(Observed<MessagePassing<release, acquire>>::Explore(2) == ordered);
  CHECK(Observed<MessagePassing<relaxed, acquire>>::Explore(2) == all);
  CHECK(Observed<MessagePassing<release, relaxed>>::Explore(2) == all);
}

TEST_CASE("The explorer never lets a thread see an atomic go back") {
  CHECK(Observed<Coherence>::Explore(2) ==
        Outcomes{{0, 0}, {0, 1}, {0, 2}, {1, 1}, {1, 2}, {2, 2}});
}

TEST_CASE("The explorer keeps read-modify-writes atomic") {
  CHECK(Observed<TwoIncrements>::Explore(2) == Outcomes{{0, 1}, {1, 0}});
}

TEST_CASE("The explorer follows release sequences") {
  CHECK(Observed<ReleaseSequence>::Explore(2) == Outcomes{{0, 0}, {0, 1}, {1, 1}, {2, 1}});
}

TEST_CASE("The explorer reports a message that is read without an order") {
  CHECK(Explorer::Explore<Handover<release>>(2).failure.empty());
  CHECK(Explorer::Explore<Handover<relaxed>>(2).failure == "a message was read while it was written");
}

TEST_CASE("A larger preemption bound explores more") {
  const auto none = Explorer::Explore<Handover<release>>(0);
  const auto one = Explorer::Explore<Handover<release>>(1);
  CHECK(none.is_exhausted);
  CHECK(one.is_exhausted);
  CHECK(none.num_executions < one.num_executions);
}

TEST_CASE("The explorer runs three threads in every order") {
  using All = std::set<std::array<int, 3>>;
  static All seen;
  struct Collected : Queueing {
    void Finish() { seen.insert({first, second, third}); }
  };
  CHECK(Explorer::Explore<Collected>(0).is_exhausted);
  CHECK(seen == All{{0, 1, 2}, {0, 2, 1}, {1, 0, 2}, {1, 2, 0}, {2, 0, 1}, {2, 1, 0}});
}

TEST_CASE("A waiting thread lets another run, which is not a preemption") {
  CHECK(Observed<Waiting>::Explore(0) == Outcomes{{0, 0}, {0, 1}, {1, 1}});
}

TEST_CASE("The explorer reports shared memory that is used plainly without an order") {
  CHECK(Explorer::Explore<PlainHandover<release>>(2).failure.empty());
  CHECK(Explorer::Explore<PlainHandover<relaxed>>(2).failure == "shared memory was read while it was written");
  CHECK(Explorer::Explore<PlainReturn<release>>(2).failure.empty());
  CHECK(Explorer::Explore<PlainReturn<relaxed>>(2).failure == "shared memory was written while it was read");
}

TEST_CASE("The explorer tells which memory orders it met, and weakens one of them") {
  const auto result = Explorer::Explore<Handover<release>>(2);
  REQUIRE(result.orders.size() == 2);  // that of the store and that of the load
  for (const OrderSite& site : result.orders) {
    const MemoryOrders::Weakened weakened{site, relaxed};
    CHECK(Explorer::Explore<Handover<release>>(2).failure == "a message was read while it was written");
  }
  CHECK(Explorer::Explore<Handover<release>>(2).failure.empty());
}

TEST_CASE("A memory order that no scenario uses is reported in any header, unless it is an exception that is needed") {
  namespace fs = std::filesystem;
  const fs::path include = fs::temp_directory_path() / ("explorer_test." + std::to_string(getpid())) / "include";
  fs::create_directories(include / "uit");
  std::ofstream{include / "uit/used.hpp"} << "x.load(std::memory_order_acquire);\n";
  std::ofstream{include / "uit/unused.hpp"} << "// memory_order_acquire\nx.load(std::memory_order_relaxed);\n"
                                            << "x.exchange(1, std::memory_order_acq_rel);  // as above\n";
  const OrderSite site{.file = (include / "uit/used.hpp").string(), .line = 1, .column = 1, .of = OrderOf::load, .order = acquire};
  const std::vector<ExploredStructure> structures{{.name = "used", .num_schedules = 1, .orders = {site}, .explore_again = {}}};
  using Lines = std::vector<std::string>;
  CHECK(UnmetOrders(structures, include, {}) == Lines{"uit/unused.hpp:3"});
  CHECK(UnmetOrders(structures, include, {{"uit/unused.hpp", "a reason"}}) == Lines{});
  CHECK(UnmetOrders(structures, include, {{"uit/unused.hpp", "a reason"}, {"uit/used.hpp", "a reason"}}) ==
        Lines{"uit/used.hpp: needs no exception"});
  fs::remove_all(include.parent_path());
}
