// A state that moves to another mesh: a run that goes on there equals one that was never interrupted.
#include <cstdint>
#include <vector>

#include <netuit/checkpoint/move_state.hpp>
#include <netuit/graph/edge_delays.hpp>
#include <netuit/graph/topologies.hpp>
#include <netuit/placement/placement.hpp>
#include <netuit/run/modes.hpp>
#include <netuit/run/run.hpp>

#include "tests/netuit/checkpoint/model.hpp"
#include "tests/netuit/run/random_delays.hpp"
#include "tests/netuit/run/workers.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/mpi_world.hpp"
#include "tests/support/thrown.hpp"

using namespace netuit;
using netuit::testing::CheckpointModel;
using netuit::testing::RandomDelays;
using netuit::testing::TeamWith;
using netuit::testing::WorkersWith;
using uit::testing::CheckThrows;
using uit::testing::MpiTestWorld;

TEST_CASE("A run that goes on in a mesh with another placement and number of threads equals one that was never interrupted") {
  struct Rules {
    AsyncMode mode = AsyncMode::every_update;
    EdgeDelays delays{};
  };
  for (const Rules& rules : std::vector<Rules>{{}, {AsyncMode::dataflow}, {AsyncMode::dataflow, RandomDelays(3, 6)}}) {
    const auto schedule = [&](std::uint64_t updates) { return ScheduleOf(rules.mode, {.updates = updates}); };
    CheckpointModel whole{TeamWith(1), CheckpointModel::WithDepth(3), rules.delays};
    whole.Run(schedule(44));
    const std::uint64_t expected = whole.Hash();
    for (const std::uint32_t threads : {1U, 2U}) {
      CheckpointModel first{TeamWith(threads), CheckpointModel::WithDepth(3), rules.delays};
      first.Run(schedule(26));
      MeshOptions options = CheckpointModel::WithDepth(3);
      options.placement = PlaceRandom(MakeEmpty(CheckpointModel::num_nodes), WorkersWith(3 - threads), 5);
      CheckpointModel second{TeamWith(3 - threads), options, rules.delays};
      const std::uint64_t num_bytes = MoveState(first.mesh, second.mesh);
      std::uint64_t all_bytes = 0;
      for (const std::uint64_t theirs : MpiTestWorld().AllGatherValue(num_bytes)) all_bytes += theirs;
      CHECK(all_bytes > CheckpointModel::num_nodes * 24);
      CHECK(second.mesh.NumUpdates() == 26);
      const RunReport report = second.Run(schedule(18));
      CAPTURE(rules.mode, threads);
      CHECK(second.Hash() == expected);
      CHECK((!MpiTestWorld().IsRoot() || report.Balanced()));
      first.Run(schedule(18));
      CHECK(first.Hash() == expected);  // moving a state does not change the mesh that it comes from
    }
  }
}

TEST_CASE("A mesh of another graph or program refuses a state, in words that say why") {
  const uit::Team team = TeamWith(1);
  Mesh first{team, MakeTorus(4, 5)};
  first.AddPublishedField<double>();
  Mesh other_graph{team, MakeTorus(5, 4)};
  other_graph.AddPublishedField<double>();
  CheckThrows([&] { MoveState(first, other_graph); }, "the mesh whose state is moved: is of another graph");
  Mesh other_program{team, MakeTorus(4, 5)};
  other_program.AddPublishedField<float>();
  CheckThrows([&] { MoveState(first, other_program); }, "the mesh whose state is moved: is of another program");
}
