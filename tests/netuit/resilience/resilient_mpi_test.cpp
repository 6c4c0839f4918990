// Programs that would go on if processes ended; here none does. For those that do, see resilient_test.py.
#include <netuit/resilience/resilient.hpp>

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>

#include <netuit/checkpoint/checkpoint.hpp>
#include <netuit/run/mesh_program.hpp>
#include <netuit/run/modes.hpp>
#include <netuit/run/run.hpp>

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

namespace {

static_assert(!MeshProgram<Resilient<CheckpointModel>>, "a resilient program cannot be balanced, too");

std::unique_ptr<CheckpointModel> MakeModel(const uit::Team& team) { return std::make_unique<CheckpointModel>(team); }

}  // namespace

TEST_CASE("A resilient program that loses no process computes what it does without, and saves checkpoints") {
  const Folder folder;
  CheckpointModel whole{TeamWith(2)};
  whole.Run(EveryUpdate{.updates = 44});
  const std::uint64_t expected = whole.Hash();
  Resilient<CheckpointModel> program(TeamWith(2), MakeModel,
                                     {.to = folder.Path(), .every_updates = 8, .notes = {{"about", "test"}}});
  CHECK(program.Run(EveryUpdate{.updates = 26}).stopped_by == StopReason::count);
  const RunReport report = program.Run(EveryUpdate{.updates = 18});
  CHECK(report.ExitCode() == 0);
  CHECK(report.lost_peers.empty());
  CHECK((!MpiTestWorld().IsRoot() || report.Balanced()));
  CHECK(program->mesh.NumUpdates() == 44);
  CHECK(program->Hash() == expected);
  CHECK(program.Losses().empty());
  CHECK(program.GetTeam().NumProcesses() == MpiTestWorld().Size());
  CHECK(program.GetTeam().NumThreads() == 2);
  const CheckpointInfo info = ReadCheckpointInfo(MpiTestWorld(), folder.Path());
  CHECK(info.num_updates == 44);
  CHECK(info.notes.at("about") == "test");
}

TEST_CASE("Invalid options of a resilient program, and what would stay behind, are refused") {
  const Folder folder;
  CheckThrows([&] { Resilient<CheckpointModel>(TeamWith(1), MakeModel, {.every = 1s}); }, "a resilient program needs a folder");
  CheckThrows([&] { Resilient<CheckpointModel>(TeamWith(1), MakeModel, {.to = folder.Path()}); },
              "a resilient program needs checkpoints during a run");
  CheckThrows([&] { Resilient<CheckpointModel>(TeamWith(1), MakeModel, {.to = folder.Path(), .every = -1s}); },
              "CheckpointOptions::every must not be negative");
  Resilient<CheckpointModel> program(TeamWith(1), MakeModel, {.to = folder.Path(), .every = 1s});
  CheckThrows([&] { program.Run(EveryUpdate{.updates = 1}, {.record = "folder"}); },
              "a resilient run cannot be recorded or replayed");
  const std::string refusal = "a resilient mesh can have neither captures nor objects that nodes share";
  program->mesh.Capture(program->place);
  CheckThrows([&] { program.Run(EveryUpdate{.updates = 1}); }, refusal);
  Resilient<CheckpointModel> sharing(TeamWith(1), MakeModel, {.to = folder.Path(), .every = 1s});
  sharing->mesh.AddShared<int, Order::exclusive>(0);
  CheckThrows([&] { sharing.Run(EveryUpdate{.updates = 1}); }, refusal);
}
