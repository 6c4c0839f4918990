// Which checkpoints a run of digital_evolution leaves.
#include "demos/digital_evolution/evolution.hpp"

#include <unistd.h>

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <map>
#include <netuit/checkpoint/checkpoint.hpp>
#include <netuit/graph/topologies.hpp>
#include <netuit/placement/placement.hpp>
#include <netuit/run/run_options.hpp>
#include <netuit/run/schedules.hpp>
#include <stdexcept>
#include <string>
#include <uit/team/team.hpp>

#include "tests/demos/digital_evolution/world/worlds.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/thrown.hpp"

using namespace digital_evolution;
using netuit::StopReason;

namespace {

constexpr std::uint64_t side = 6;
constexpr std::uint64_t seed = 3;

/// A run that writes a checkpoint. The destructor removes it.
struct Run {
  Run() { options.checkpoint = path; }
  ~Run() { std::filesystem::remove_all(path); }
  bool HasCheckpoint() const { return netuit::HasCheckpoint({}, path); }
  netuit::CheckpointInfo Info() const { return netuit::ReadCheckpointInfo({}, path); }
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
  looks.on_progress = [&](const netuit::Progress&) { num_found += run.HasCheckpoint() ? 1 : 0; };
  run.options.record = run.path + ".folder";
  CHECK(run({.updates = 40'000}, looks).report.workers.at(0).num_updates == 40'000);
  CHECK(num_found == 0);  // although workers have met
  CHECK(run.Info().num_updates == 40'000);
}

TEST_CASE("an update that throws leaves the last checkpoint unchanged", "[digital_evolution]") {
  Run run;
  run(in_step);
  netuit::RunOptions throws;
  throws.progress_interval = std::chrono::milliseconds{1};
  throws.on_progress = [](const netuit::Progress&) { throw std::runtime_error("it threw"); };
  CHECK(run({}, throws).report.stopped_by == StopReason::thrown);  // otherwise it would never end
  CHECK(run.Info().num_updates == in_step.updates);
}

TEST_CASE("a world that goes on from a checkpoint equals one that never stopped, also in its records", "[digital_evolution]") {
  Run whole;
  const Outcome expected = whole({.updates = 2 * in_step.updates});
  Run run;
  run(in_step);
  run.options.resume = run.path;
  run.beginning.notes = ParseWorldNotes(run.Info().notes, run.path);
  CHECK(run.beginning.notes->side == side);
  CHECK(run.beginning.notes->width == side);
  CHECK(run.beginning.notes->seed == seed);
  CHECK(run.beginning.notes->rules == HashOf(Rules{}));
  CHECK(run.beginning.notes->rules != HashOf(digital_evolution::testing::BusyRules()));
  const Outcome outcome = run(in_step);
  CHECK(outcome.state_hash == expected.state_hash);
  CHECK(outcome.is_conserved);
  CHECK(outcome.sums.ledger == expected.sums.ledger);
  CHECK(outcome.sums.counters == expected.sums.counters);
  CHECK(run.Info().num_updates == 2 * in_step.updates);
}

TEST_CASE("notes of another program or version, or that are damaged, are refused", "[digital_evolution]") {
  const auto good = ToText(WorldNotes{.side = 3, .width = 4});
  const auto complaint = [](const std::map<std::string, std::string>& notes) {
    return uit::testing::WordsThrownBy([&] { ParseWorldNotes(notes, "name"); });
  };
  const auto with = [&good](const char* key, const std::string& text) {
    auto notes = good;
    notes[key] = text;
    return notes;
  };
  CHECK(complaint(good).empty());
  CHECK(complaint({}) == "name: is not a checkpoint of digital_evolution");
  CHECK(complaint(with("digital_evolution", "3")) == "name: is of another version of digital_evolution");
  for (const char* key : {"side", "width", "seed", "rules", "ledger", "counters"}) {
    for (const char* text : {"", "-1", "1 ", " 1", "x", "18446744073709551616"}) {
      CAPTURE(key, text);
      CHECK(complaint(with(key, text)) == "name: is damaged");
    }
  }
  CHECK(complaint(with("ledger", good.at("ledger") + " 0")) == "name: is damaged");
  CHECK(complaint(with("ledger", "576460752303423489" + good.at("ledger").substr(1))) == "name: is damaged");  // beyond 2^59
  CHECK(complaint(with("side", "2")) == "name: is damaged");
  CHECK(complaint(with("width", "16777216")) == "name: is damaged");
}

TEST_CASE("a world whose resource does not balance ends and leaves the last checkpoint "
          "unchanged", "[digital_evolution]") {
  Run run;
  REQUIRE(run(in_step).is_conserved);
  run.beginning.notes = ParseWorldNotes(run.Info().notes, run.path);
  ++run.beginning.notes->ledger.inflow;
  run.options.resume = run.path;
  run.options.checkpoint_every = 16;
  const Outcome outcome = run(in_step);
  CHECK_FALSE(outcome.is_conserved);
  CHECK(outcome.report.workers.at(0).num_updates == 16);
  CHECK(run.Info().num_updates == in_step.updates);
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
