// However a run ends, all workers leave it together, report the reason, and account for every message.
#include <netuit/graph/topologies.hpp>
#include <netuit/run/modes.hpp>
#include <netuit/run/run.hpp>

#include <sys/types.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <csignal>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <functional>
#include <stdexcept>
#include <thread>

#include "tests/support/catch.hpp"
#include "tests/support/mpi_world.hpp"

using namespace netuit;
using namespace std::chrono_literals;
using uit::testing::MpiTestWorld;

namespace {

constexpr NodeId victim = 37;

struct Fixture {
  Topology topology = MakeTorus(8, 8);
  uit::Team team{MpiTestWorld(), {.threads = 2}};
  Mesh mesh{team, topology};
  PublishedField<std::uint64_t> value = mesh.AddPublishedField<std::uint64_t>();
  Channels<std::uint64_t, uit::every> parcels = mesh.AddChannels<std::uint64_t>();

  /// Makes a run of `mode` that only `meddle(node)` can end within the time of the test.
  RunReport Run(int mode, const std::function<void(Node&)>& meddle, std::chrono::nanoseconds span = 1ms) {
    const RunPlan plan = ScheduleOf(static_cast<AsyncMode>(mode), {.duration = 1h, .span = span, .period = 2 * span});
    return mesh.Run(plan, [&](Node& node) {
      for (const auto edge : node.In()) parcels[edge].Jump();
      value[node] = node.Update();
      for (const auto edge : node.Out()) parcels[edge].TryPut(node.Update());
      meddle(node);
    });
  }
};

/// The longest time of a run that ends at once, on a slow machine. It is far below the hour that the run is planned for.
std::chrono::duration<double> Patience() {
  const char* text = std::getenv("UIT_TEST_TIMEOUT");
  return std::chrono::duration<double>(text == nullptr ? 60.0 : std::atof(text) / 8);
}

void CheckWhole(const RunReport& report, int mode) {
  if (!MpiTestWorld().IsRoot()) return;
  CHECK(report.Balanced());
  CHECK(report.workers.size() == 2 * MpiTestWorld().Size());
  for (const WorkerReport& worker : report.workers) {
    CHECK(worker.elapsed < Patience());
    if (mode == 0 || mode == 5) CHECK(worker.num_updates == report.workers.front().num_updates);
    if (mode < 3 || mode == 5) CHECK(worker.num_barriers == report.workers.front().num_barriers);
  }
}

}  // namespace

TEST_CASE("An update that throws ends the run on every worker and the report names the node") {
  Fixture fixture;
  for (int mode = 0; mode <= 5; ++mode) {
    CAPTURE(mode);
    const RunReport report = fixture.Run(mode, [](Node& node) {
      if (node.Id() == victim && node.Update() == 10) throw std::runtime_error("out of\nfood");
    });
    CHECK(report.stopped_by == StopReason::thrown);
    CHECK(report.ExitCode() == 4);
    CheckWhole(report, mode);
    if (MpiTestWorld().IsRoot()) CHECK(report.message == "the update of node 37 threw: out of food");
  }
}

TEST_CASE("If nodes throw, the report names one of them, whatever they throw") {
  Fixture fixture;
  for (int mode = 0; mode <= 5; ++mode) {
    CAPTURE(mode);
    const RunReport report = fixture.Run(mode, [](Node& node) {
      if (node.Update() == 3) throw 42;
    });
    CHECK(report.stopped_by == StopReason::thrown);
    CheckWhole(report, mode);
    if (!MpiTestWorld().IsRoot()) continue;
    CHECK(report.message.starts_with("the update of node "));
    CHECK(report.message.ends_with(" threw: something that is not a std::exception"));
  }
}

TEST_CASE("A signal to one process ends the run on every worker") {
  Fixture fixture;
  const pid_t process = getpid();
  for (int mode = 0; mode <= 5; ++mode) {
    const int signal = std::array{SIGINT, SIGTERM, SIGUSR1}[static_cast<std::size_t>(mode) % 3];
    CAPTURE(mode, signal);
    const RunReport report = fixture.Run(mode, [&](Node& node) {
      if (node.Id() == victim && node.Update() == 10) kill(process, signal);
    });
    CHECK(report.stopped_by == StopReason::signal);
    CHECK(report.signal == signal);
    CHECK(report.ExitCode() == 128 + signal);
    CheckWhole(report, mode);
  }
}

TEST_CASE("A signal is noticed even if the first workers have finished their updates") {
  Fixture fixture;
  const pid_t process = getpid();
  const std::size_t last = 2 * MpiTestWorld().Size() - 1;
  const Placement slow_last = PlaceContiguous(fixture.topology, {.processes = MpiTestWorld().Size(), .threads = 2});
  Mesh mesh{fixture.team, fixture.topology, {.placement = slow_last}};
  mesh.AddPublishedField<std::uint64_t>();
  for (const int mode : {3, 4}) {
    const RunReport report = mesh.Run(ScheduleOf(static_cast<AsyncMode>(mode), {.updates = 100}), [&](Node& node) {
      if (node.Id() != 63) return;  // on the last worker
      if (node.Update() == 20) kill(process, SIGTERM);
      std::this_thread::sleep_for(5ms);
    });
    CHECK(report.stopped_by == StopReason::signal);
    CHECK(report.ExitCode() == 128 + SIGTERM);
    if (!MpiTestWorld().IsRoot()) continue;
    CHECK(report.workers[0].num_updates == 100);
    CHECK(report.workers[last].num_updates < 100);
  }
}

TEST_CASE("A stop does not wait for the next barrier, however late that is") {
  Fixture fixture;
  for (const int mode : {1, 2}) {
    CAPTURE(mode);
    const auto throw_once = [](Node& node) {
      if (node.Id() == victim && node.Update() == 10) throw std::runtime_error("out of food");
    };
    const RunReport report = fixture.Run(mode, throw_once, 1h);
    CHECK(report.stopped_by == StopReason::thrown);
    CheckWhole(report, mode);
  }
}

TEST_CASE("The longest of durations ends a run no sooner") {
  Fixture fixture;
  constexpr auto longest = std::chrono::nanoseconds::max();
  for (const int mode : {1, 2, 3}) {
    const ModeSettings settings{.updates = 5, .duration = longest, .span = longest, .period = longest};
    const RunReport report = fixture.mesh.Run(ScheduleOf(static_cast<AsyncMode>(mode), settings), [](Node&) {});
    CHECK(report.stopped_by == StopReason::count);
    for (const WorkerReport& worker : report.workers) CHECK(worker.num_updates == 5);
  }
}

TEST_CASE("A mesh runs on after it was stopped") {
  Fixture fixture;
  for (int mode = 0; mode <= 5; ++mode) {
    CAPTURE(mode);
    fixture.Run(mode, [](Node& node) {
      if (node.Id() == victim && node.Update() == 5) throw std::runtime_error("once");
    });
    const RunPlan plan = ScheduleOf(static_cast<AsyncMode>(mode), {.updates = 10, .span = 1ms, .period = 2ms});
    const RunReport report = fixture.mesh.Run(plan, [&](Node& node) { fixture.value[node] = 1; });
    CHECK(report.stopped_by == StopReason::count);
    CHECK(report.ExitCode() == 0);
    CheckWhole(report, mode);
  }
}
