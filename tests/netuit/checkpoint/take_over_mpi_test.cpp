// What processes have of a mesh goes to another on a world of their own. Here no process has ended.
#include <netuit/checkpoint/take_over.hpp>

#include <chrono>
#include <cstdint>
#include <map>

#include <netuit/checkpoint/checkpoint.hpp>
#include <netuit/graph/topologies.hpp>
#include <netuit/run/modes.hpp>
#include <netuit/run/run.hpp>
#include <uit/support/clock.hpp>

#include "tests/netuit/checkpoint/model.hpp"
#include "tests/netuit/run/workers.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/mpi_world.hpp"
#include "tests/support/shared_folder.hpp"
#include "tests/support/thrown.hpp"

using namespace netuit;
using namespace std::chrono_literals;
using netuit::testing::CheckpointModel;
using netuit::testing::Folder;
using netuit::testing::TeamWith;
using uit::testing::CheckThrows;
using uit::testing::MpiTestWorld;

TEST_CASE("What all processes have goes to another mesh, whatever the checkpoint has, or the checkpoint does") {
  const Folder folder;
  const uit::World all = MpiTestWorld().Duplicate();
  const auto survivors = all.FindSurvivors(uit::After(10s));
  REQUIRE(survivors);
  for (const AsyncMode mode : {AsyncMode::every_update, AsyncMode::dataflow}) {
    const auto schedule = [&](std::uint64_t updates) { return ScheduleOf(mode, {.updates = updates}); };
    CheckpointModel whole{TeamWith(1)};
    whole.Run(schedule(44));
    const std::uint64_t expected = whole.Hash();
    CheckpointModel first{TeamWith(2)};
    first.Run(schedule(10));
    SaveCheckpoint(first.mesh, folder.Path());
    first.Run(schedule(16));
    {
      CheckpointModel second{TeamWith(1).On(survivors->world)};
      const TakeOverResult result = TakeOver(first.mesh, second.mesh, folder.Path());
      CHECK(result.num_nodes == 0);
      CHECK(result.num_messages != 0);
      CHECK(result.num_messages < 5000);  // few wait in each channel
      CHECK(second.mesh.NumUpdates() == 26);
      second.Run(schedule(18));
      CHECK(second.Hash() == expected);
    }
    CheckpointModel third{TeamWith(1).On(survivors->world)};
    const TakeOverResult result = GoBack(third.mesh, folder.Path());
    CHECK(result.num_nodes == CheckpointModel::num_nodes);
    CHECK(result.num_messages != 0);
    CHECK(result.num_messages < 5000);
    CHECK(third.mesh.NumUpdates() == 10);
    third.Run(schedule(34));
    CHECK(third.Hash() == expected);
  }
  CHECK(survivors->world.Release());
  CHECK(all.Release());
}

TEST_CASE("What no process has comes from the checkpoint, and is counted") {
  const Folder folder;
  CheckpointModel first{TeamWith(2)};
  first.Run(EveryUpdate{.updates = 10});
  SaveCheckpoint(first.mesh, folder.Path());
  first.Run(EveryUpdate{.updates = 6});
  std::map<NodeId, std::uint64_t> present;  // of this process's nodes, the newest values
  first.mesh.Visit([&](Node& node) { present.emplace(node.Id(), first.state[node]); });
  CheckpointModel alone{TeamWith(1).On(uit::World{})};  // as if all other processes had ended
  const TakeOverResult result = TakeOver(first.mesh, alone.mesh, folder.Path());
  CHECK(result.num_nodes == CheckpointModel::num_nodes - present.size());
  CHECK(alone.mesh.NumUpdates() == 16);
  CheckpointModel saved{TeamWith(1).On(uit::World{})};
  LoadCheckpoint(saved.mesh, folder.Path());
  const auto before = saved.mesh.Gather(saved.state);
  const auto after = alone.mesh.Gather(alone.state);
  for (NodeId id = 0; id < CheckpointModel::num_nodes; ++id) {
    const auto own = present.find(id);
    CHECK(after[id] == (own != present.end() ? own->second : before[id]));
  }
  MpiTestWorld().Agree("");
}

TEST_CASE("Nothing is taken over without a checkpoint of the same program") {
  const Folder folder;
  Mesh first{TeamWith(1), MakeTorus(4, 5)};
  Mesh second{TeamWith(1), MakeTorus(4, 5)};
  for (Mesh* mesh : {&first, &second}) mesh->AddField<double>();
  CheckThrows([&] { TakeOver(first, second, folder.Path()); },
              MpiTestWorld().IsRoot() ? folder.Path() + ": has no checkpoint" : "rank 0 failed");
  Mesh other{TeamWith(1), MakeTorus(5, 4)};
  other.AddField<double>();
  SaveCheckpoint(other, folder.Path());
  CheckThrows([&] { TakeOver(first, second, folder.Path()); }, folder.Path() + ": is of another graph");
}
