// A process falls silent in a run with checkpoints. This is a program of its own, because its processes do not communicate
// afterwards.
#include <chrono>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <thread>

#include <netuit/checkpoint/run_with_checkpoints.hpp>
#include <netuit/graph/topologies.hpp>
#include <netuit/run/run.hpp>

#include "tests/netuit/run/workers.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/mpi_world.hpp"

using namespace netuit;
using namespace std::chrono_literals;
using netuit::testing::TeamWith;
using uit::testing::MpiTestWorld;

TEST_CASE("If a process is lost, the message names the last checkpoint, and it is whole") {
  const int number = MpiTestWorld()
                         .AllGatherValue(static_cast<int>(std::chrono::system_clock::now().time_since_epoch().count() % 1'000'000))
                         .front();
  const auto folder = std::filesystem::temp_directory_path() / ("conduit_test_lost_" + std::to_string(number));
  Mesh mesh{TeamWith(1), MakeTorus(4, 4)};
  const auto value = mesh.AddPublishedField<int>();
  const bool is_free = MpiTestWorld().Size() == 3;
  const RunPlan plan = is_free ? Free{.updates = 40}.MakePlan() : Dataflow{.updates = 40}.MakePlan();
  const bool is_silent = MpiTestWorld().Rank() == 1;
  const RunReport report = RunWithCheckpoints(mesh, plan, [&](Node& node) {
    if (is_silent && node.Update() == 25) std::this_thread::sleep_for(300ms);
    ++value[node];
  }, {.to = folder, .every_updates = 10}, {.peer_timeout = 100ms});
  CHECK(report.stopped_by == StopReason::peer_lost);
  CHECK(report.message.ends_with("; the last checkpoint is " + folder.string() + ", of update 20"));
  if (!is_silent) return;  // it has slept, so the others do not need the folder any more
  std::ifstream file(folder / "checkpoint.json");
  CHECK(std::string(std::istreambuf_iterator<char>(file), {}).find("\"updates\": 20,") != std::string::npos);
  std::filesystem::remove_all(folder);
}
