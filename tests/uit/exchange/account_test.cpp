// What conduits between processes count, over loopback links and shared memory, against known numbers.
#include <cstddef>
#include <cstdint>
#include <memory>
#include <tuple>
#include <utility>

#include <uit/exchange/fabric.hpp>
#include <uit/uit.hpp>

#include "tests/support/account_laws.hpp"
#include "tests/support/catch.hpp"
#include "tests/uit/exchange/support/subjects.hpp"

using namespace uit;
using namespace uit::testing;

namespace {

template <Policy p, typename Where>
struct Across {
  static constexpr Policy policy = p;
  static constexpr bool replaces_before_arrival = false;  // some messages are replaced where they have arrived
  using W = TransportSet<Thread, Process>;

  Across() : network(2, Where::processes_per_host) {
    for (std::size_t rank = 0; rank < 2; ++rank)
      fabrics[rank] = std::make_unique<Fabric>(network.World(rank), FabricOptions{.num_slots = 8});
    inlet.Rebind(typename Inlet<std::uint64_t, policy, W>::End{Reach(0).template OpenInlet<std::uint64_t, policy>()});
    outlet.Rebind(typename Outlet<std::uint64_t, policy, W>::End{Reach(1).template OpenOutlet<std::uint64_t, policy>(0)});
    network.Together([this](std::size_t rank) { fabrics[rank]->Connect(); });
  }
  ~Across() { Close(); }

  void Settle(std::uint64_t) {
    for (int i = 0; i < 20; ++i) {
      inlet.TryFlush();
      outlet.Bound().Visit([]<typename D>([[maybe_unused]] D* duct) {
        if constexpr (requires { duct->Exchange(); }) {
          duct->Exchange()->Pull();
          duct->Exchange()->TryFlush();
        }
      });
      for (auto& fabric : fabrics) fabric->Poll();
    }
  }
  void Close() {
    bool is_clean[2] = {};
    network.Together([&](std::size_t rank) { is_clean[rank] = fabrics[rank]->Close(); });
    CHECK((is_clean[0] && is_clean[1]));
  }
  AccountSums Sum(const AccountSums& value) const { return value; }

  Process Reach(std::size_t rank) { return {.fabric = fabrics[rank].get(), .peer = 1 - rank, .depth = 4}; }

  LoopbackNetwork network;
  std::unique_ptr<Fabric> fabrics[2];
  Inlet<std::uint64_t, policy, W> inlet;
  Outlet<std::uint64_t, policy, W> outlet;
};

template <typename Where>
using Over = std::tuple<Across<every, Where>, Across<latest, Where>, Across<accumulate, Where>, Across<every_pooled, Where>,
                        Across<latest_pooled, Where>, Across<accumulate_pooled, Where>, Across<every_aggregated, Where>,
                        Across<latest_aggregated, Where>>;
using Conduits = decltype(std::tuple_cat(std::declval<Over<ToOther>>(), std::declval<Over<ToNear>>()));

}  // namespace

TEMPLATE_LIST_TEST_CASE("Every counter of a conduit between two processes has its known value", "", Conduits) {
  TestType ends;
  CheckAccount<TestType::policy>(ends);
}
