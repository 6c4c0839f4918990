// Updates of whole parts, against the same updates node by node.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <stdexcept>
#include <utility>
#include <vector>

#include <netuit/graph/edge_delays.hpp>
#include <netuit/mesh/mesh.hpp>
#include <netuit/mesh/part.hpp>
#include <netuit/run/modes.hpp>
#include <netuit/run/run.hpp>
#include <uit/team/team.hpp>

#include "tests/netuit/run/odd_graph.hpp"
#include "tests/netuit/run/random_delays.hpp"
#include "tests/netuit/run/workers.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/mpi_world.hpp"
#include "tests/support/steals.hpp"

using namespace netuit;
using netuit::testing::MakeOddGraph;
using netuit::testing::MakeWeightedOddGraph;
using netuit::testing::Mix;
using netuit::testing::RandomDelays;
using netuit::testing::StealsIf;
using netuit::testing::TeamWith;
using uit::testing::MpiTestWorld;

namespace {

using Word = std::uint64_t;

std::vector<std::uint32_t> ThreadCounts() {
  return MpiTestWorld().Size() == 1 ? std::vector<std::uint32_t>{1, 2, 4} : std::vector<std::uint32_t>{1, 2};
}

/// Two networks over the same nodes, and a model that uses all that a part has. Some nodes are silent in some updates.
struct Model {
  uit::Team team;
  Mesh mesh;
  Network often = mesh.GetNetwork("often");
  Network seldom = mesh.GetNetwork("seldom");
  PublishedField<Word> value = mesh.AddPublishedField<Word>([](NodeId id) { return Mix(3, id); });
  Field<Word> total = mesh.AddField<Word>();
  EdgeField<Word> age = mesh.AddEdgeField<Word>(1, seldom);
  EdgeWeights weight = mesh.GetEdgeWeights(often);

  Model(std::uint32_t threads, EdgeDelays delays, Word period)
      : team(TeamWith(threads)),
        mesh(team, {{"often", MakeWeightedOddGraph(60, 1), {.delays = std::move(delays)}}, {"seldom", MakeOddGraph(60, 2), {.period = period}}}) {}

  static Word WithEdge(Word sum, Word neighbor, double by) { return Mix(Mix(sum, neighbor), static_cast<Word>(4 * by)); }
  static bool IsSilent(NodeId id, Word update) { return Mix(id, update) % 3 == 0; }

  void UpdateNode(Node& node) const {
    Word sum = value[node];
    for (const auto edge : node.In(often)) sum = WithEdge(sum, value[edge], weight[edge]) + edge.Source();
    for (const auto edge : node.In(seldom)) sum = Mix(Mix(sum, value[edge]), node.IsDue(seldom) ? ++age[edge] : age[edge]);
    value[node] = Mix(sum, node.Random()());
    total[node] += sum;
    if (IsSilent(node.Id(), node.Update())) node.StaySilent();
  }
  void UpdatePart(Part& part) const {
    const PartInputs in = part.In(often);
    const PartInputs others = part.In(seldom);
    const std::span<const Word> shown = value.Shown();
    std::vector<Word> next(part[value].begin(), part[value].end());
    for (std::size_t i = 0; i < part.size(); ++i) {
      for (std::size_t edge = in.First()[i] - in.First()[0]; edge < in.First()[i + 1] - in.First()[0]; ++edge)
        next[i] = WithEdge(next[i], shown[in.Slots()[edge]], in[weight][edge]) + in.Sources()[edge];
      const std::size_t begin = others.First()[i] - others.First()[0];
      for (std::size_t k = 0; k < others.Slots(i).size(); ++k) {
        Word& old = others[age][begin + k];
        next[i] = Mix(Mix(next[i], shown[others.Slots(i)[k]]), part.IsDue(seldom) ? ++old : old);
      }
      part[total][i] += next[i];
      if (part.Index() + i != part.At(i).Index()) throw std::logic_error("a part begins elsewhere");
      next[i] = Mix(next[i], part.At(i).Random()());
    }
    for (std::size_t i = part.size(); i-- > 0;) {  // any order
      if (IsSilent(part.Ids()[i], part.Update())) part.At(i).StaySilent();
    }
    std::ranges::copy(next, part[value].begin());
  }
  /// Returns the fields after a run, by node, and checks that it has made all updates.
  template <typename F>
  std::vector<Word> Run(AsyncMode mode, bool steals, F&& update) {
    const RunReport report = mesh.Run(ScheduleOf(mode, {.updates = 25, .steals = StealsIf(steals)}), update, {.seed = 7});
    CHECK(report.message.empty());
    CHECK(report.ExitCode() == 0);
    if (report.is_root) CHECK(report.Balanced());
    std::vector<Word> values = mesh.Gather(value);
    for (const Word word : mesh.Gather(total)) values.push_back(word);
    return values;
  }
  std::vector<Word> RunByNode(AsyncMode mode) {
    return Run(mode, false, [this](Node& node) { UpdateNode(node); });
  }
  std::vector<Word> RunByPart(AsyncMode mode, bool steals) {
    return Run(mode, steals, [this](Part& part) { UpdatePart(part); });
  }
};

}  // namespace

TEST_CASE("A run that updates parts gives the values of one that updates nodes, on any layout, with steals and with delays") {
  const bool has_delays = GENERATE(false, true);
  const EdgeDelays delays = has_delays ? RandomDelays(5, 2) : EdgeDelays{};
  const Word period = has_delays ? 1 : 3;
  for (const AsyncMode mode : {AsyncMode::every_update, AsyncMode::dataflow}) {
    if (has_delays && mode == AsyncMode::every_update) continue;  // it ignores delays
    for (const std::uint32_t threads : ThreadCounts()) {
      CAPTURE(has_delays, mode, threads);
      const std::vector<Word> wanted = Model(threads, delays, period).RunByNode(mode);
      for (const bool steals : {false, true}) CHECK(Model(threads, delays, period).RunByPart(mode, steals) == wanted);
    }
  }
}

TEST_CASE("Without barriers a part has all nodes of its worker, and what they publish arrives") {
  for (const std::uint32_t threads : ThreadCounts()) {
    Mesh mesh{TeamWith(threads), MakeOddGraph(60, 4)};
    const auto newest = mesh.AddPublishedField<Word>();
    const auto seen = mesh.AddField<Word>();
    std::vector<Word> num_nodes(threads);
    const RunReport report = mesh.Run(Free{.updates = 40}, [&](Part& part) {
      const std::uint32_t thread = part.Worker() % threads;
      num_nodes[thread] = part.size();
      for (std::size_t i = 0; i < part.size(); ++i) {
        part[newest][i] = part.Update() + 1;
        for (const std::uint32_t slot : part.In().Slots(i)) part[seen][i] = std::max(part[seen][i], newest.Shown()[slot]);
      }
    });
    CHECK(report.ExitCode() == 0);
    CHECK(report.MaxUpdates() == 40);
    Word sum = 0;
    for (const Word number : num_nodes) sum += number;
    CHECK(sum == mesh.NumLocalNodes());
    mesh.Visit([&](Node& node) {
      CHECK(newest[node] == 40);
      for (const auto edge : node.In()) CHECK(newest[edge] == 40);  // the last values have arrived
    });
  }
}

TEST_CASE("A part can ask for the end of a run, and one that throws ends it and publishes nothing") {
  for (const std::uint32_t threads : ThreadCounts()) {
    Mesh mesh{TeamWith(threads), MakeOddGraph(60, 4)};
    const auto value = mesh.AddPublishedField<Word>();
    const auto num_put = [](const RunReport& report) {
      uit::Tally sum = report.Tally();
      for (const WorkerReport& worker : report.workers) sum += worker.inside;
      return sum.put.attempted;
    };
    const RunReport asked = mesh.Run(EveryUpdate{}, [](Part& part) {
      if (part.Update() == 4) part.RequestStop();
    });
    CHECK(asked.stopped_by == StopReason::asked);
    CHECK(asked.MaxUpdates() == 5);
    const RunReport thrown = mesh.Run(EveryUpdate{}, [&](Part& part) {
      std::ranges::fill(part[value], part.Update());
      if (part.Update() != 3) return;
      for (std::size_t i = part.size(); i-- > 0;) part.At(i).StaySilent();
      throw std::runtime_error("out of food");
    });
    CHECK(thrown.stopped_by == StopReason::thrown);
    CHECK(thrown.MaxUpdates() == 4);
    CHECK(num_put(thrown) * 5 == num_put(asked) * 8);  // they count from the first update of the mesh on
    if (!thrown.is_root) continue;
    CHECK(thrown.message.starts_with("the update of the part that begins with node "));
    CHECK(thrown.message.ends_with(" threw: out of food"));
    CHECK(thrown.Balanced());
  }
}
