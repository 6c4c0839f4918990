// Nodes pass amounts along their edges, in sums where they are not fetched in time. What there is in all never changes.
#include <netuit/netuit.hpp>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <type_traits>
#include <vector>

#include "tests/netuit/run/chaos.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/mpi_world.hpp"
#include "tests/uit/core/support/sanitized.hpp"

using namespace netuit;
using namespace std::chrono_literals;
using netuit::testing::MakeOddGraph;
using uit::testing::is_sanitized;
using uit::testing::MpiTestWorld;
using uit::testing::SumOverRanks;

namespace {

using Amount = std::int64_t;
constexpr uit::Policy solo{.retain = uit::Retain::accumulate};
constexpr uit::Policy pooled{.retain = uit::Retain::accumulate, .consolidate = uit::Consolidate::pooled};

struct Solo : Unicast<Amount, solo> {};
struct Pooled : Unicast<Amount, pooled> {};
struct Seldom : Unicast<Amount, pooled, LayerOptions{.period = 3}> {};
/// Which overflows all the time, so that many puts are refused.
struct Narrow : Unicast<std::int8_t, pooled> {};

/// Messages of which each counts.
struct Coin : Unicast<Amount, uit::Policy{.consolidate = uit::Consolidate::pooled}> {};
/// Likewise, with a size of their own, and seldom.
struct Purse : Unicast<std::vector<Amount>, uit::Policy{.consolidate = uit::Consolidate::aggregated}, LayerOptions{.period = 3}> {};

constexpr Amount first_stock = 1'000;

template <Layer L>
constexpr bool is_sum = L::policy.retain == uit::Retain::accumulate;

Amount Worth(Amount amount) { return amount; }
Amount Worth(const std::vector<Amount>& amounts) { return std::accumulate(amounts.begin(), amounts.end(), Amount{0}); }

/// A message that is worth so much.
template <Layer L>
typename L::Message Make(int amount) {
  using Message = typename L::Message;
  if constexpr (std::is_integral_v<Message>) return static_cast<Message>(amount);
  else return amount % 2 == 0 ? Message{amount} : Message{amount - 1, 0, 1};
}

template <Layer L>
void Fetch(auto& node, Amount& stock) {
  for (auto& outlet : node.template In<L>()) {
    if constexpr (is_sum<L>) {
      stock += outlet.JumpGet();
    } else {
      while (outlet.TryStep() != 0) stock += Worth(outlet.Get());
    }
  }
}

/// Gives away, or takes on credit, some of a node's stock.
template <Layer L>
void Give(auto& node, auto& random, Amount& stock) {
  for (auto& inlet : node.template Out<L>()) {
    for (auto zeal = random() % 3; zeal != 0; --zeal) {
      const auto amount = Make<L>(static_cast<int>(random() % 200) - 90);
      if (inlet.TryPut(amount)) stock -= Worth(amount);
    }
  }
}

template <Layer... Ls>
class Economy {
 public:
  Economy(const Topology& topology, std::size_t threads)
      : mesh_{topology, PlaceRandom(topology, {.processes = MpiTestWorld().Size(), .threads = threads}, 1), MpiTestWorld()},
        stocks_(mesh_.NumLocalNodes(), first_stock),
        num_updates_(mesh_.NumLocalNodes()),
        num_collected_(mesh_.NumLocalNodes()),
        num_faults_(mesh_.NumLocalNodes()) {}

  RunReport Trade(RunOptions options) {
    return Run(mesh_, options, [this](auto& node) { this->Deal(node); });
  }
  /// What was left to be read is so before the run ends: every node collects once, after all of its updates.
  RunReport TradeAndCollect(RunOptions options) {
    std::ranges::fill(num_updates_, 0U);
    std::ranges::fill(num_collected_, 0U);
    const RunReport report = Run(
        mesh_, options,
        [this](auto& node) {
          const std::size_t i = node.Index();
          num_faults_[i] += node.Update() != num_updates_[i]++ || num_collected_[i] != 0;
          this->Deal(node);
        },
        [this](auto& node) {
          const std::size_t i = node.Index();
          num_faults_[i] += node.Update() != num_updates_[i];
          ++num_collected_[i];
          (Fetch<Ls>(node, stocks_[i]), ...);
        });
    CHECK(std::ranges::count(num_collected_, 1U) == static_cast<std::ptrdiff_t>(num_collected_.size()));
    CHECK(std::ranges::count(num_faults_, 0U) == static_cast<std::ptrdiff_t>(num_faults_.size()));
    return report;
  }
  /// What was left to be read is so in the next run: one update without communication.
  RunReport FetchTheRest() {
    return Run(mesh_, {.mode = AsyncMode::no_communication, .num_updates = 1}, [this](auto& node) {
      Amount& stock = stocks_[node.Index()];
      const auto fetch = [&]<Layer L>() {
        for (auto& outlet : node.template In<L>()) {
          while (outlet.TryStep() != 0) stock += outlet.Get();
        }
      };
      (fetch.template operator()<Ls>(), ...);
    });
  }
  /// Over all ranks.
  Amount Total() const {
    Amount sum = 0;
    for (const Amount stock : stocks_) sum += stock;
    return SumOverRanks(sum);
  }
  Amount TotalAtFirst() const { return static_cast<Amount>(mesh_.NumNodes()) * first_stock; }

 private:
  void Deal(auto& node) {
    auto random = node.Random();
    Amount& stock = stocks_[node.Index()];
    if (random() % 4 == 0) (Fetch<Ls>(node, stock), ...);
    (Give<Ls>(node, random, stock), ...);
  }

  TaggedMesh<Ls...> mesh_;
  std::vector<Amount> stocks_;
  // By local node, of the run.
  std::vector<std::uint64_t> num_updates_;
  std::vector<std::uint64_t> num_collected_;
  std::vector<std::uint64_t> num_faults_;  // calls at another update than it should be
};

const std::vector<RunOptions> runs{{.mode = AsyncMode::no_barrier, .num_updates = 100},
                                   {.mode = AsyncMode::every_update, .num_updates = 32},
                                   {.mode = AsyncMode::rolling, .duration = 20ms, .rolling_span = 3ms},
                                   {.mode = AsyncMode::no_communication, .num_updates = 20},
                                   {.mode = AsyncMode::fixed, .num_updates = 100, .fixed_period = 2ms},
                                   {.mode = AsyncMode::no_barrier, .duration = 20ms},
                                   {.mode = AsyncMode::every_update, .num_updates = 1}};

template <Layer... Ls>
void CheckConserved() {
  const Topology topology = MakeOddGraph(is_sanitized ? 40 : 120, 1);
  for (const std::size_t threads : {1U, 2U}) {
    for (const bool fetches_between : {false, true}) {
      Economy<Ls...> economy{topology, threads};
      std::uint64_t num_unread = 0;
      for (std::size_t i = 0; i < runs.size(); ++i) {
        INFO(threads << " threads, run " << i << ", mode " << static_cast<int>(runs[i].mode));
        RunOptions options = runs[i];
        options.seed = i;
        const RunReport report = economy.Trade(options);
        CHECK(report.ExitCode() == 0);
        CHECK((report.Balanced() || !MpiTestWorld().IsRoot()));
        num_unread += report.Tally().get.unread;
        if (!fetches_between) continue;
        CHECK((economy.FetchTheRest().Balanced() || !MpiTestWorld().IsRoot()));
        CHECK(economy.Total() == economy.TotalAtFirst());
      }
      const RunReport report = economy.FetchTheRest();
      CHECK(economy.Total() == economy.TotalAtFirst());
      if (!MpiTestWorld().IsRoot()) continue;
      CHECK(report.Balanced());
      CHECK(report.Tally().get.unread == 0);
      CHECK((num_unread != 0 || report.workers.size() == 1));  // there was something to be missed
    }
  }
}

template <Layer... Ls>
void CheckCollected() {
  const Topology topology = MakeOddGraph(is_sanitized ? 40 : 120, 1);
  for (const std::size_t threads : {1U, 2U}) {
    Economy<Ls...> economy{topology, threads};
    for (std::size_t i = 0; i < runs.size(); ++i) {
      INFO(threads << " threads, run " << i << ", mode " << static_cast<int>(runs[i].mode));
      RunOptions options = runs[i];
      options.seed = i;
      const RunReport report = economy.TradeAndCollect(options);
      CHECK(report.ExitCode() == 0);
      CHECK(economy.Total() == economy.TotalAtFirst());
      if (!MpiTestWorld().IsRoot()) continue;
      CHECK(report.Balanced());
      CHECK(report.Tally().get.unread == 0);
    }
  }
}

}  // namespace

TEST_CASE("Messages under way at the end of a run are collected once by each node after its last update") {
  CheckCollected<Coin>();
  CheckCollected<Purse>();
  CheckCollected<Coin, Purse, Solo, Pooled>();
}

TEST_CASE("Amounts in frames of their own are conserved in every mode") { CheckConserved<Solo>(); }

TEST_CASE("Amounts that share frames are conserved in every mode") { CheckConserved<Pooled>(); }

TEST_CASE("Amounts of layers with other periods, and of several at once, are conserved") {
  CheckConserved<Seldom, Pooled, Solo>();
}

TEST_CASE("Amounts of which few have room are conserved") { CheckConserved<Narrow>(); }
