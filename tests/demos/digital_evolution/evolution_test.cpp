// Which checkpoints a run of digital_evolution leaves.
#include "demos/digital_evolution/evolution.hpp"

#include <unistd.h>

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <netuit/graph/topologies.hpp>
#include <netuit/placement/placement.hpp>
#include <netuit/run/run_options.hpp>
#include <netuit/run/schedules.hpp>
#include <stdexcept>
#include <string>
#include <uit/team/team.hpp>
#include <vector>

#include "tests/demos/digital_evolution/world/worlds.hpp"
#include "tests/support/catch.hpp"

using namespace digital_evolution;
using netuit::StopReason;

namespace {

constexpr std::uint64_t side = 6;
constexpr std::uint64_t seed = 3;

/// A run that writes a checkpoint. The destructor removes the file.
struct Run {
  Run() { options.checkpoint = path; }
  ~Run() { std::filesystem::remove(path); }
  void Write(const std::string& text) const { std::ofstream{path, std::ios::binary | std::ios::trunc} << text; }
  std::string Read() const {
    std::ifstream stream{path, std::ios::binary};
    return {std::istreambuf_iterator<char>{stream}, std::istreambuf_iterator<char>{}};
  }
  Outcome operator()(const netuit::EveryUpdate& schedule, const netuit::RunOptions& run = {}) {
    demo::Problem problem{.name = "torus", .graph = netuit::MakeTorus(side, side), .placement = {}};
    problem.placement = netuit::PlaceContiguous(problem.graph, {.processes = 1, .threads = 1});
    beginning.side = beginning.width = side;
    beginning.founding.ancestor = digital_evolution::testing::BusyGenome();
    Evolution evolution{options, problem, beginning, uit::Team{}, seed};
    return evolution.Run(schedule.MakePlan(), run);
  }

  std::string path = (std::filesystem::temp_directory_path() / ("evolution_test." + std::to_string(getpid()))).string();
  Options options;
  Beginning beginning;
};

constexpr netuit::EveryUpdate in_step{.updates = 64};

}  // namespace

TEST_CASE("workers meet for each checkpoint, and often enough to let extinct lines go", "[digital_evolution]") {
  CHECK(UpdatesToMeeting(0, 0, false) == 0);
  CHECK(UpdatesToMeeting(0, 0, true) == 16'384);
  CHECK(UpdatesToMeeting(64, 160, false) == 96);
  CHECK(UpdatesToMeeting(320, 160, true) == 160);
  CHECK(UpdatesToMeeting(0, 16'000'000, true) == 16'384);
  CHECK(UpdatesToMeeting(16'384, 20'000, true) == 3'616);
}

TEST_CASE("with records a checkpoint is written when it was asked for, and at the end", "[digital_evolution]") {
  Run run;
  std::uint64_t num_found = 0;
  netuit::RunOptions looks;
  looks.progress_interval = std::chrono::milliseconds{1};
  looks.on_progress = [&](const netuit::Progress&) { num_found += std::filesystem::exists(run.path) ? 1 : 0; };
  run.options.record = run.path + ".folder";
  CHECK(run({.updates = 40'000}, looks).report.workers.at(0).num_updates == 40'000);
  CHECK(num_found == 0);  // although workers have met
  CHECK(ReadCheckpoint(run.path).header.age == 40'000);
}

TEST_CASE("an update that throws leaves the last checkpoint unchanged", "[digital_evolution]") {
  Run run;
  run.Write("of before");
  netuit::RunOptions throws;
  throws.progress_interval = std::chrono::milliseconds{1};
  throws.on_progress = [](const netuit::Progress&) { throw std::runtime_error("it threw"); };
  CHECK(run({}, throws).report.stopped_by == StopReason::thrown);  // otherwise it would never end
  CHECK(run.Read() == "of before");
}

TEST_CASE("a world whose resource does not balance ends and leaves the last checkpoint "
          "unchanged", "[digital_evolution]") {
  Run run;
  REQUIRE(run(in_step).is_conserved);
  run.beginning.checkpoint = ReadCheckpoint(run.path);
  ++run.beginning.checkpoint->header.ledger.inflow;
  run.options.resume = run.path;
  run.options.checkpoint_every = 16;
  run.Write("of before");
  const Outcome outcome = run(in_step);
  CHECK_FALSE(outcome.is_conserved);
  CHECK(outcome.report.workers.at(0).num_updates == 16);
  CHECK(run.Read() == "of before");
}

TEST_CASE("a checkpoint that cannot be written ends the run and the other results are written", "[digital_evolution]") {
  Run run;
  run.options.checkpoint = "/dev/full";
  run.options.checkpoint_every = 16;
  const Outcome outcome = run(in_step);
  CHECK(outcome.unwritten != nullptr);
  CHECK(outcome.report.workers.at(0).num_updates == 16);
  CHECK(outcome.is_conserved);
  CHECK(outcome.sums.num_cells > 0);
}
