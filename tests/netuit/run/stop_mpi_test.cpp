// However a run ends, all workers leave it together, say why, and leave every message accounted for.
#include <netuit/netuit.hpp>

#include <sys/types.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <csignal>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <stdexcept>
#include <string>
#include <thread>

#include "tests/support/catch.hpp"
#include "tests/support/mpi_world.hpp"

using namespace netuit;
using namespace std::chrono_literals;
using uit::testing::MpiTestWorld;

namespace {

struct Value : Multicast<std::uint64_t> {};
struct Parcel : Unicast<std::uint64_t> {};

constexpr NodeId victim = 37;

struct Fixture {
  Topology topology = MakeTorus(8, 8);
  TaggedMesh<Value, Parcel> mesh{topology, PlaceByMetis(topology, {.processes = MpiTestWorld().Size(), .threads = 2}),
                           MpiTestWorld()};

  /// A run of `mode` that nothing ends within the test's time but what `meddle(node)` does.
  template <typename F>
  RunReport Run(int mode, F meddle, std::chrono::nanoseconds span = 1ms) {
    return netuit::Run(mesh, {.mode = static_cast<AsyncMode>(mode), .duration = 1h, .rolling_span = span, .fixed_period = 2 * span},
                       [&](auto& node) {
                         for (auto& outlet : node.template In<Parcel>()) outlet.Jump();
                         node.template Out<Value>().TryPut(node.Update());
                         for (auto& inlet : node.template Out<Parcel>()) inlet.TryPut(node.Update());
                         meddle(node);
                       });
  }
};

/// How long a run may take that ends at once, on whatever machine; the test itself ends before an hour has passed.
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
    if (mode == 0) CHECK(worker.num_updates == report.workers.front().num_updates);
    if (mode < 3) CHECK(worker.num_barriers == report.workers.front().num_barriers);
  }
}

}  // namespace

TEST_CASE("An update that throws ends the run on every worker and the report names the node") {
  Fixture fixture;
  for (int mode = 0; mode <= 4; ++mode) {
    CAPTURE(mode);
    const RunReport report = fixture.Run(mode, [](auto& node) {
      if (node.Id() == victim && node.Update() == 10) throw std::runtime_error("out of\nfood");
    });
    CHECK(report.stopped_by == StopReason::thrown);
    CHECK(report.ExitCode() == 4);
    CheckWhole(report, mode);
    if (MpiTestWorld().IsRoot()) CHECK(report.message == "the update of node 37 threw: out of food");
  }
}

TEST_CASE("Whatever is thrown, and by as many nodes as may be, one is named") {
  Fixture fixture;
  for (int mode = 0; mode <= 4; ++mode) {
    CAPTURE(mode);
    const RunReport report = fixture.Run(mode, [](auto& node) {
      if (node.Update() == 3) throw 42;
    });
    CHECK(report.stopped_by == StopReason::thrown);
    CheckWhole(report, mode);
    if (!MpiTestWorld().IsRoot()) continue;
    CHECK(report.message.starts_with("the update of node "));
    CHECK(report.message.ends_with(" threw: something that is no std::exception"));
  }
}

TEST_CASE("A signal to one process ends the run on every worker") {
  Fixture fixture;
  const pid_t process = getpid();
  for (int mode = 0; mode <= 4; ++mode) {
    const int signal = std::array{SIGINT, SIGTERM, SIGUSR1}[static_cast<std::size_t>(mode) % 3];
    CAPTURE(mode, signal);
    const RunReport report = fixture.Run(mode, [&](auto& node) {
      if (node.Id() == victim && node.Update() == 10) kill(process, signal);
    });
    CHECK(report.stopped_by == StopReason::signal);
    CHECK(report.signal == signal);
    CHECK(report.ExitCode() == 128 + signal);
    CheckWhole(report, mode);
  }
}

TEST_CASE("A signal is heard even if the first workers have done their updates") {
  Fixture fixture;
  const pid_t process = getpid();
  const std::size_t last = 2 * MpiTestWorld().Size() - 1;
  const Placement slow_last = PlaceContiguous(fixture.topology, {.processes = MpiTestWorld().Size(), .threads = 2});
  TaggedMesh<Value> mesh{fixture.topology, slow_last, MpiTestWorld()};
  for (const int mode : {3, 4}) {
    const RunReport report = Run(mesh, {.mode = static_cast<AsyncMode>(mode), .num_updates = 100}, [&](auto& node) {
      if (node.Id() != 63) return;  // of the last worker
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

TEST_CASE("A stop does not wait for the next barrier, however far off that is") {
  Fixture fixture;
  for (const int mode : {1, 2}) {
    CAPTURE(mode);
    const auto throw_once = [](auto& node) {
      if (node.Id() == victim && node.Update() == 10) throw std::runtime_error("out of food");
    };
    const RunReport report = fixture.Run(mode, throw_once, 1h);
    CHECK(report.stopped_by == StopReason::thrown);
    CheckWhole(report, mode);
  }
}

TEST_CASE("The longest of durations ends a run no sooner") {
  Fixture fixture;
  for (const int mode : {1, 2, 3}) {
    const RunReport report = Run(fixture.mesh, {.mode = static_cast<AsyncMode>(mode),
                                                .duration = std::chrono::nanoseconds::max(),
                                                .num_updates = 5,
                                                .rolling_span = std::chrono::nanoseconds::max(),
                                                .fixed_period = std::chrono::nanoseconds::max()},
                                 [](auto&) {});
    CHECK(report.stopped_by == StopReason::count);
    for (const WorkerReport& worker : report.workers) CHECK(worker.num_updates == 5);
  }
}

TEST_CASE("A mesh runs on after it was stopped") {
  Fixture fixture;
  for (int mode = 0; mode <= 4; ++mode) {
    CAPTURE(mode);
    fixture.Run(mode, [](auto& node) {
      if (node.Id() == victim && node.Update() == 5) throw std::runtime_error("once");
    });
    const RunReport report =
        Run(fixture.mesh, {.mode = static_cast<AsyncMode>(mode), .num_updates = 10, .rolling_span = 1ms, .fixed_period = 2ms},
            [](auto& node) { node.template Out<Value>().TryPut(1); });
    CHECK(report.stopped_by == StopReason::count);
    CHECK(report.ExitCode() == 0);
    CheckWhole(report, mode);
  }
}
