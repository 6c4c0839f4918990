// Nodes pass amounts along their edges. If they are not fetched in time, they are added up. The total never changes.
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <netuit/graph/topology.hpp>
#include <netuit/mesh/mesh.hpp>
#include <netuit/mesh/node_random.hpp>
#include <netuit/placement/placement.hpp>
#include <netuit/run/modes.hpp>
#include <netuit/run/run.hpp>
#include <numeric>
#include <type_traits>
#include <uit/policy.hpp>
#include <utility>
#include <vector>

#include "tests/netuit/run/odd_graph.hpp"
#include "tests/netuit/run/policies.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/mpi_world.hpp"
#include "tests/uit/core/support/sanitized.hpp"

using namespace netuit;
using namespace std::chrono_literals;
using netuit::testing::MakeOddGraph;
using netuit::testing::pooled;
using netuit::testing::aggregated;
using uit::testing::is_sanitized;
using uit::testing::MpiTestWorld;
using uit::testing::SumOverRanks;

namespace {

using Amount = std::int64_t;
constexpr uit::Policy summed_pooled{.retain = uit::Retain::accumulate, .consolidate = uit::Consolidate::pooled};

constexpr Amount first_stock = 1'000;

Amount Worth(Amount amount) { return amount; }
Amount Worth(const std::vector<Amount>& amounts) { return std::accumulate(amounts.begin(), amounts.end(), Amount{0}); }

/// A message that is worth that much.
template <typename T>
T Make(int amount) {
  if constexpr (std::is_integral_v<T>) return static_cast<T>(amount);
  else return amount % 2 == 0 ? T{amount} : T{amount - 1, 0, 1};
}

/// What nodes do with one kind of channels. Each function changes a node's stock.
struct Trade {
  std::function<void(Node&, Amount&)> fetch;               // fetches everything that has come
  std::function<void(Node&, NodeRandom&, Amount&)> give;   // gives amounts away, or takes them on credit
};

template <typename T, uit::Policy policy>
Trade AddTrade(Mesh& mesh, Network network) {
  const auto channels = mesh.AddChannels<T, policy>(network);
  return {.fetch = [=](Node& node, Amount& stock) {
            for (const auto edge : node.In(network)) {
              auto& outlet = channels[edge];
              if constexpr (policy.retain == uit::Retain::accumulate) stock += outlet.JumpGet();
              while (outlet.TryStep() != 0) stock += Worth(outlet.Get());  // of a sum, what the stock has no room for stays
            }
          },
          .give = [=](Node& node, NodeRandom& random, Amount& stock) {
            for (const auto edge : node.Out(network)) {
              for (auto zeal = random() % 3; zeal != 0; --zeal) {
                const T amount = Make<T>(static_cast<int>(random() % 200) - 90);
                if (channels[edge].TryPut(amount)) stock -= Worth(amount);
              }
            }
          }};
}

/// One kind of channels, along a network with some period.
struct Kind {
  Trade (*add)(Mesh&, Network);
  std::uint64_t period = 1;
};

class Economy {
 public:
  Economy(const Topology& topology, std::uint32_t threads, const std::vector<Kind>& kinds)
      : team_{MpiTestWorld(), {.threads = threads}},
        mesh_{team_, NetworksOf(topology, kinds),
              {.placement = PlaceRandom(topology, {.processes = MpiTestWorld().Size(), .threads = threads}, 1)}},
        stock_(mesh_.AddField<Amount>(first_stock)) {
    for (std::uint32_t i = 0; i < kinds.size(); ++i) trades_.push_back(kinds[i].add(mesh_, Network{i}));
  }

  RunReport Run(const RunPlan& schedule, std::uint64_t seed) {
    return mesh_.Run(schedule, [this](Node& node) {
      auto random = node.Random();
      if (random() % 4 == 0) Fetch(node);
      for (const Trade& trade : trades_) trade.give(node, random, stock_[node]);
    }, {.seed = seed});
  }
  /// Collect and CollectInRun fetch what was left unread: between two runs, or by an update that sends nothing.
  void Collect() { mesh_.Visit([this](Node& node) { Fetch(node); }); }
  RunReport CollectInRun() {
    return mesh_.Run(Isolated{.updates = 1}, [this](Node& node) { Fetch(node); });
  }
  /// Over all ranks.
  Amount Total() {
    Amount sum = 0;
    mesh_.Visit([&](Node& node) { sum += stock_[node]; });
    return SumOverRanks(sum);
  }
  Amount TotalAtFirst() const { return static_cast<Amount>(mesh_.NumNodes()) * first_stock; }

 private:
  /// One network for each kind.
  static std::vector<NamedNetwork> NetworksOf(const Topology& topology, const std::vector<Kind>& kinds) {
    std::vector<NamedNetwork> networks;
    for (const Kind& kind : kinds) networks.push_back({"", topology, {.period = kind.period}});
    return networks;
  }
  void Fetch(Node& node) {
    for (const Trade& trade : trades_) trade.fetch(node, stock_[node]);
  }

  uit::Team team_;
  Mesh mesh_;
  Field<Amount> stock_;
  std::vector<Trade> trades_;
};

const std::vector<std::pair<AsyncMode, ModeSettings>> runs{{AsyncMode::no_barrier, {.updates = 100}},
                                                           {AsyncMode::every_update, {.updates = 32}},
                                                           {AsyncMode::rolling, {.duration = 20ms, .span = 3ms}},
                                                           {AsyncMode::no_communication, {.updates = 20}},
                                                           {AsyncMode::fixed, {.updates = 100, .period = 2ms}},
                                                           {AsyncMode::no_barrier, {.duration = 20ms}},
                                                           {AsyncMode::dataflow, {.updates = 32}},
                                                           {AsyncMode::every_update, {.updates = 1}}};

enum class Collecting { at_last, between_runs, in_runs };

void CheckConserved(const std::vector<Kind>& kinds) {
  const Topology topology = MakeOddGraph(is_sanitized ? 40 : 120, 1);
  for (const std::uint32_t threads : {1U, 2U}) {
    for (const Collecting collecting : {Collecting::at_last, Collecting::between_runs, Collecting::in_runs}) {
      Economy economy{topology, threads, kinds};
      std::uint64_t num_unread = 0;
      for (std::size_t i = 0; i < runs.size(); ++i) {
        const auto& [mode, settings] = runs[i];
        INFO(threads << " threads, run " << i << ", mode " << static_cast<int>(mode));
        const RunReport report = economy.Run(ScheduleOf(mode, settings), i);
        CHECK(report.ExitCode() == 0);
        CHECK((report.Balanced() || !MpiTestWorld().IsRoot()));
        num_unread += report.Tally().get.unread;
        if (collecting == Collecting::at_last) continue;
        if (collecting == Collecting::between_runs) economy.Collect();
        else CHECK((economy.CollectInRun().Balanced() || !MpiTestWorld().IsRoot()));
        CHECK(economy.Total() == economy.TotalAtFirst());
      }
      const RunReport report = economy.CollectInRun();
      CHECK(economy.Total() == economy.TotalAtFirst());
      if (!MpiTestWorld().IsRoot()) continue;
      CHECK(report.Balanced());
      CHECK(report.Tally().get.unread == 0);
      CHECK((num_unread != 0 || report.workers.size() == 1));  // otherwise nothing could have been missed
    }
  }
}

const Kind solo{&AddTrade<Amount, uit::summed>};
const Kind pool{&AddTrade<Amount, summed_pooled>};
const Kind seldom{&AddTrade<Amount, summed_pooled>, 3};
/// Overflows all the time, so that many puts are refused.
const Kind narrow{&AddTrade<std::int8_t, summed_pooled>};
/// Messages that are counted one by one.
const Kind coins{&AddTrade<Amount, pooled>};
/// The same with messages of various sizes, sent rarely.
const Kind purses{&AddTrade<std::vector<Amount>, aggregated>, 3};

}  // namespace

TEST_CASE("Messages in flight at the end of a run arrive before it returns, and are read once, then or in the next run") {
  CheckConserved({coins});
  CheckConserved({purses});
  CheckConserved({coins, purses, solo, pool});
}

TEST_CASE("Amounts in frames of their own are conserved in every mode") { CheckConserved({solo}); }

TEST_CASE("Amounts that share frames are conserved in every mode") { CheckConserved({pool}); }

TEST_CASE("Amounts of layers with other periods, and of several at once, are conserved") { CheckConserved({seldom, pool, solo}); }

TEST_CASE("Amounts are conserved when few fit") { CheckConserved({narrow}); }
