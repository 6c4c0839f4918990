// The counts of conduits within a process equal known numbers.
#include <cstdint>
#include <tuple>
#include <utility>

#include <uit/uit.hpp>

#include "tests/support/account_laws.hpp"
#include "tests/support/catch.hpp"

using namespace uit;
using namespace uit::testing;

namespace {

template <Policy p, typename Transport>
struct Within {
  static constexpr Policy policy = p;
  static constexpr bool replaces_before_arrival = true;

  void Settle(std::uint64_t) {}
  void Close() {}
  AccountSums Sum(const AccountSums& value) const { return value; }

  Conduit<std::uint64_t, policy> conduit{Transport{.depth = 4}};
  Inlet<std::uint64_t, policy> inlet{std::move(conduit.inlet)};
  Outlet<std::uint64_t, policy> outlet{std::move(conduit.outlet)};
};

constexpr Policy accumulate{.retain = Retain::accumulate};

using Conduits = std::tuple<Within<every, Intra>, Within<latest, Intra>, Within<accumulate, Intra>, Within<every, Thread>,
                            Within<latest, Thread>, Within<accumulate, Thread>>;

}  // namespace

TEMPLATE_LIST_TEST_CASE("Every counter of a conduit in a process has its known value", "", Conduits) {
  TestType ends;
  CheckAccount<TestType::policy>(ends);
}

TEST_CASE("A buffer that grows refuses at its cap, and counts that") {
  constexpr Policy growing{.backlog = Backlog::grow};
  auto [inlet, outlet] = Conduit<std::uint64_t, growing>{Thread{.depth = 2, .max_bytes = 4096}};
  std::uint64_t num_accepted = 0;
  for (int i = 0; i < 2000; ++i) num_accepted += inlet.TryPut(1) ? 1 : 0;
  CHECK(num_accepted > 100);
  CHECK(num_accepted < 600);
  CHECK(inlet.Tally() == PutTally{.attempted = 2000, .dropped = 2000 - num_accepted});
  CHECK(outlet.TryStep(10) == 10);
  outlet.DiscardUnread();
  CHECK(outlet.Tally() == GetTally{.stepped = 1, .skipped = 9, .unread = num_accepted - 10});
}

TEST_CASE("A splice counts the messages that it leaves behind as unread") {
  auto [inlet, outlet] = Conduit<std::uint64_t>{Thread{.depth = 8}};
  for (int i = 0; i < 8; ++i) inlet.TryPut(1);
  CHECK(outlet.TryStep(2) == 2);
  Splice(inlet, outlet, Thread{.depth = 4});
  const Tally tally = (Tally{} += inlet.Tally()) += outlet.Tally();
  CHECK(tally.put == PutTally{.attempted = 8});
  CHECK(tally.get == GetTally{.stepped = 1, .skipped = 1, .unread = 2});
  CHECK(tally.InFlight() == 4);
}
