// The counts of conduits between processes in a ring equal known numbers, summed over all processes.
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <tuple>

#include <uit/uit.hpp>

#include "tests/support/account_laws.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/mpi_world.hpp"
#include "tests/uit/exchange/support/policies.hpp"
#include "tests/uit/mpi/support/ring.hpp"

using namespace uit;
using namespace uit::testing;
using namespace std::chrono_literals;

namespace {

template <Policy p>
struct AroundTheRing {
  static constexpr Policy policy = p;
  static constexpr bool replaces_before_arrival = false;
  using W = TransportSet<Thread, Process>;
  using In = Inlet<std::uint64_t, policy, W>;
  using Out = Outlet<std::uint64_t, policy, W>;

  AroundTheRing() {
    const RingPlace place{world};
    const auto reach = [&](std::size_t peer, std::size_t source, std::size_t destination) {
      return Process{.fabric = &fabric,
                     .peer = peer,
                     .key = {.source = static_cast<std::uint32_t>(source), .destination = static_cast<std::uint32_t>(destination)},
                     .depth = 4};
    };
    inlet.Rebind(typename In::End{reach(place.next, place.rank, place.next).template OpenInlet<std::uint64_t, policy>()});
    outlet.Rebind(
        typename Out::End{reach(place.previous, place.previous, place.rank).template OpenOutlet<std::uint64_t, policy>(0)});
    fabric.Connect();
  }
  ~AroundTheRing() { Close(); }

  /// All processes do the same, so as many messages come from the previous process as are put here.
  void Settle(std::uint64_t num_waiting) {
    std::uint64_t num_here = 0;
    const auto is_settled = [&] {
      inlet.TryFlush();
      num_here = outlet.Bound().Visit([]<typename D>([[maybe_unused]] D* duct) -> std::uint64_t {
        if constexpr (requires { duct->Exchange(); }) {
          duct->Exchange()->Pull();
          duct->Exchange()->TryFlush();
          return duct->NumUnread();
        } else {
          return 0;
        }
      });
      return num_here == num_waiting;
    };
    // A process keeps moving frames until all have settled, because others may need what it holds.
    for (int num_tries = 0; CountRanks(is_settled()) != world.Size(); ++num_tries) {
      REQUIRE(num_tries < 100'000);
      fabric.Poll();
    }
  }
  void Close() { CHECK(fabric.Close(After(60s))); }
  AccountSums Sum(const AccountSums& value) const { return SumOverRanks(value); }

  World world = MpiTestWorld();
  Fabric fabric{world, {.num_slots = 8}};
  In inlet;
  Out outlet;
};

using Conduits = std::tuple<AroundTheRing<every>, AroundTheRing<latest>, AroundTheRing<accumulate>, AroundTheRing<every_pooled>,
                            AroundTheRing<latest_pooled>, AroundTheRing<accumulate_pooled>, AroundTheRing<every_aggregated>,
                            AroundTheRing<latest_aggregated>>;

}  // namespace

TEMPLATE_LIST_TEST_CASE("Every counter of conduits between ranks has its known value", "", Conduits) {
  TestType ends;
  CheckAccount<TestType::policy>(ends);
}
