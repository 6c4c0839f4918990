// Checkpoints of runs by Dataflow whose edges have delays above 1: what edges still show of earlier updates is saved, too.
#include <chrono>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include <netuit/checkpoint/checkpoint.hpp>
#include <netuit/checkpoint/run_with_checkpoints.hpp>
#include <netuit/graph/edge_delays.hpp>
#include <netuit/graph/random_stream.hpp>
#include <netuit/graph/small_world.hpp>
#include <netuit/graph/topologies.hpp>
#include <netuit/mesh/mesh.hpp>
#include <netuit/placement/placement.hpp>
#include <netuit/run/run.hpp>
#include <netuit/run/schedules.hpp>
#include <uit/team/team.hpp>

#include "tests/netuit/checkpoint/model.hpp"
#include "tests/netuit/run/odd_graph.hpp"
#include "tests/netuit/run/random_delays.hpp"
#include "tests/netuit/run/workers.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/mpi_world.hpp"
#include "tests/support/shared_folder.hpp"
#include "tests/support/thrown.hpp"
#include "tests/uit/core/support/sanitized.hpp"

using namespace netuit;
using namespace std::chrono_literals;
using netuit::testing::Folder;
using netuit::testing::MakeOddGraph;
using netuit::testing::Pair;
using netuit::testing::RandomDelays;
using netuit::testing::TeamWith;
using netuit::testing::WorkersWith;
using uit::testing::CheckThrows;
using uit::testing::MpiTestWorld;
using uit::testing::is_slow_build;

namespace {

constexpr NodeId num_nodes = 40;
constexpr std::uint64_t num_before = 17;
constexpr std::uint64_t num_after = 23;

/// A team of this process alone.
uit::Team TeamAlone(std::uint32_t threads) { return uit::Team{uit::World{}, {.threads = threads}}; }

/// Delays by network.
struct Delays {
  EdgeDelays random{};
  EdgeDelays grid{};
};
Delays DelaysOf(std::uint64_t seed) {
  const EdgeDelays far = [](NodeId source, NodeId target) { return 2 + (source + 2 * target) % 5; };
  if (seed % 2 == 0) return {far, far};
  return {RandomDelays(seed, 6), RandomDelays(seed, seed % 5)};
}

/// Two networks with delays, a field that is published in both, and one in the second only. Some nodes are silent at times.
class Model {
 public:
  Model(const uit::Team& team, std::uint64_t seed, const Delays& delays)
      : mesh_(team,
              std::vector<NamedNetwork>{{"random", MakeOddGraph(num_nodes, seed), {.delays = delays.random}},
                                        {"grid", MakeGrid(5, 8), {.delays = delays.grid}}},
              {.placement = PlaceRandom(MakeGrid(5, 8), {.processes = team.NumProcesses(), .threads = team.NumThreads()}, seed)}),
        grid_(mesh_.GetNetwork("grid")),
        value_(mesh_.AddPublishedField<std::uint64_t>([](NodeId id) { return MixBits(id); })),
        pair_(mesh_.AddPublishedField<Pair>(Pair{1, 2}, {grid_})) {
    mesh_.SetName(value_, "value");
  }
  Model(const uit::Team& team, std::uint64_t seed) : Model(team, seed, DelaysOf(seed)) {}

  void Update(Node& node) {
    std::uint64_t h = value_[node];
    const auto add = [&h](std::uint64_t value) { h = MixBits(h ^ value) + 1; };
    for (std::uint32_t network = 0; network < 2; ++network)
      for (const auto edge : node.In(Network{network})) add(value_[edge]);
    for (const auto edge : node.In(grid_)) add(static_cast<std::uint64_t>(pair_[edge].second));
    if (node.Random().Below(6) == 0) return node.StaySilent();
    value_[node] = h;
    pair_[node].second = static_cast<std::int32_t>(h % 1000);
  }
  auto Updates() {
    return [this](Node& node) { Update(node); };
  }
  /// Goes on for so many updates.
  void GoOn(std::uint64_t num_updates) {
    mesh_.Run(Dataflow{.updates = num_updates}, Updates(), {.first_update = mesh_.NumUpdates()});
  }
  void GoOnWithCheckpoints(std::uint64_t num_updates, const Folder& folder, std::uint64_t every) {
    RunWithCheckpoints(mesh_, Dataflow{.updates = num_updates}, Updates(), {.to = folder.Path(), .every_updates = every});
  }
  void Save(const Folder& folder) { SaveCheckpoint(mesh_, folder.Path()); }
  void Load(const Folder& folder) { LoadCheckpoint(mesh_, folder.Path()); }
  /// Returns a digest of all values, the same on every process.
  std::uint64_t Hash() {
    std::uint64_t sum = 0;
    mesh_.Visit([&](Node& node) {
      sum += MixBits(value_[node] ^ MixBits(node.Id()));
      sum += MixBits(static_cast<std::uint64_t>(pair_[node].second) ^ node.Id());
    });
    std::uint64_t all = 0;
    for (const std::uint64_t theirs : mesh_.GetWorld().AllGatherValue(sum)) all += theirs;
    return all;
  }
  Mesh& GetMesh() { return mesh_; }

 private:
  Mesh mesh_;
  Network grid_;
  PublishedField<std::uint64_t> value_;
  PublishedField<Pair> pair_;
};

std::uint64_t HashWithout(std::uint64_t seed) {
  Model model{TeamAlone(1), seed};
  model.GoOn(num_before + num_after);
  return model.Hash();
}

const std::uint64_t num_seeds = is_slow_build ? 2 : 6;

}  // namespace

TEST_CASE("With delays above 1, runs with checkpoints on the way equal one run, however short the parts are") {
  for (std::uint64_t seed = 1; seed <= num_seeds; ++seed) {
    const std::uint64_t expected = HashWithout(seed);
    for (const std::uint32_t threads_before : {1U, 2U}) {
      for (const std::uint64_t every : {1U, 4U}) {
        CAPTURE(seed, threads_before, every);
        Folder folder;
        Model first{TeamWith(threads_before), seed};
        first.GoOnWithCheckpoints(num_before, folder, every);
        Model second{TeamWith(3 - threads_before), seed};
        second.Load(folder);
        second.GoOnWithCheckpoints(num_after, folder, 5);
        CHECK(second.Hash() == expected);
        first.GoOn(num_after);
        CHECK(first.Hash() == expected);
      }
    }
  }
}

TEST_CASE("With delays above 1, a checkpoint saved by one process is continued by all, and one saved by all is continued by one") {
  for (std::uint64_t seed = 1; seed <= num_seeds; ++seed) {
    const std::uint64_t expected = HashWithout(seed);
    for (const std::uint32_t threads : {1U, 2U}) {
      CAPTURE(seed, threads);
      Folder folder;
      if (MpiTestWorld().IsRoot()) {
        Model alone{TeamAlone(3 - threads), seed};
        alone.GoOn(num_before);
        alone.Save(folder);
      }
      MpiTestWorld().Agree("");
      Model all{TeamWith(threads), seed};
      all.Load(folder);
      all.GoOn(num_after - 9);
      all.Save(folder);
      if (MpiTestWorld().IsRoot()) {
        Model alone{TeamAlone(threads), seed};
        alone.Load(folder);
        alone.GoOn(9);
        CHECK(alone.Hash() == expected);
      }
      all.GoOn(9);
      CHECK(all.Hash() == expected);
    }
  }
}

TEST_CASE("With delays above 1, a run after loading equals a second run on the mesh that was saved, whether it goes on or not") {
  const auto numbers_go_on = [](Model& model) { model.GoOn(num_after); };
  const auto numbers_begin = [](Model& model) { model.GetMesh().Run(Dataflow{.updates = num_after}, model.Updates()); };
  const auto by_dataflow = [](Model& model) { model.GoOn(num_before); };
  const auto by_dataflow_and_refused = [](Model& model) {
    model.GoOn(num_before);
    CHECK_THROWS(model.GetMesh().Run(Free{.updates = 1}, model.Updates(), {.peer_timeout = 0s}));
  };
  const auto in_mode_0 = [](Model& model) { model.GetMesh().Run(EveryUpdate{.updates = num_before}, model.Updates()); };
  const auto not_at_all = [](Model&) {};
  const auto hash_after = [&](const std::function<void(Model&)>& before, const std::function<void(Model&)>& after) {
    Folder folder;
    Model first{TeamWith(2), 1};
    before(first);
    first.Save(folder);
    after(first);
    Model second{TeamWith(1), 1};
    second.GoOn(5);  // whose older values are forgotten
    second.Load(folder);
    after(second);
    CHECK(second.Hash() == first.Hash());
    return first.Hash();
  };
  const std::uint64_t going_on = hash_after(by_dataflow, numbers_go_on);
  CHECK(going_on == HashWithout(1));
  CHECK(going_on == hash_after(by_dataflow_and_refused, numbers_go_on));
  CHECK(going_on != hash_after(by_dataflow, numbers_begin));
  hash_after(in_mode_0, numbers_go_on);
  hash_after(in_mode_0, numbers_begin);
  hash_after(not_at_all, numbers_go_on);
}

TEST_CASE("A checkpoint is refused if its older values are those of other delays, unless the mesh needs none") {
  Folder folder;
  const Delays delays{[](NodeId, NodeId) { return 3; }, [](NodeId source, NodeId) { return source / 4 == 0 ? 5 : 1; }};
  {
    Model model{TeamWith(2), 1, delays};
    model.GoOn(num_before);
    model.Save(folder);
  }
  const auto refuses = [&](const Delays& other, const std::string& words) {
    Model model{TeamWith(1), 1, other};
    CheckThrows([&] { model.Load(folder); }, words);
  };
  refuses({[](NodeId, NodeId) { return 4; }, delays.grid},
          "is of other edge delays: 'value' has 78 older values, and this mesh needs 109");
  refuses({delays.random, [](NodeId source, NodeId) { return source / 4 == 1 ? 5 : 1; }},
          "is of other edge delays: 'value' has older values of other nodes");
  {
    Model model{TeamWith(1), 1, {}};
    model.Load(folder);
    const std::uint64_t before = model.Hash();
    Model same{TeamWith(1), 1, delays};
    same.Load(folder);
    CHECK(same.Hash() == before);
    same.GetMesh().Run(EveryUpdate{.updates = 3}, same.Updates(), {.first_update = num_before});  // needs none either
    model.GoOn(3);
    CHECK(model.Hash() == same.Hash());
  }
  Folder without;
  {
    Model model{TeamWith(2), 1, {delays.random, {}}};  // only the field of both networks has older values
    model.GoOn(num_before);
    model.Save(without);
  }
  Model model{TeamWith(1), 1, delays};
  CheckThrows([&] { LoadCheckpoint(model.GetMesh(), without.Path()); },
              "is of other edge delays: 'field1' has no older values, and this mesh needs some");
}
