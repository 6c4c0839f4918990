// Verbs of an edge's ends beyond TryPut and Jump, in runs: staging, flushing, and puts that wait.
#include <netuit/netuit.hpp>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>

#include "tests/support/catch.hpp"
#include "tests/support/mpi_world.hpp"

using namespace netuit;
using namespace std::chrono_literals;
using uit::testing::MpiTestWorld;

namespace {

struct Parcel : Unicast<std::uint64_t> {};
struct Newest : Unicast<std::uint64_t, uit::Policy{.retain = uit::Retain::latest}> {};

struct Fixture {
  Topology topology = MakeTorus(6, 6);
  TaggedMesh<Parcel, Newest> mesh{topology, PlaceRandom(topology, {.processes = MpiTestWorld().Size(), .threads = 2}, 1),
                            MpiTestWorld()};
};

}  // namespace

TEST_CASE("A message of a bulk synchronous update is visible in the next update on every kind of edge") {
  Fixture fixture;
  std::atomic<std::size_t> num_faults{0};
  const RunReport report = Run(fixture.mesh, {.mode = AsyncMode::every_update, .num_updates = 30}, [&](auto& node) {
    const std::uint64_t update = node.Update();
    for (auto& outlet : node.template In<Parcel>()) num_faults += outlet.JumpGet() + 1 != update && update != 0 ? 1 : 0;
    for (auto& outlet : node.template In<Newest>()) num_faults += outlet.JumpGet() + 1 != update && update != 0 ? 1 : 0;
    for (auto& inlet : node.template Out<Parcel>()) inlet.TryStage(update);
    for (auto& inlet : node.template Out<Newest>()) {
      inlet.TryPut(update);
      inlet.TryFlush();
    }
  });
  CHECK(num_faults == 0);
  CHECK((report.Balanced() || !MpiTestWorld().IsRoot()));
}

TEST_CASE("A message that was staged and never flushed is accounted for") {
  Fixture fixture;
  for (int mode = 0; mode <= 4; ++mode) {
    CAPTURE(mode);
    const RunReport report =
        Run(fixture.mesh, {.mode = static_cast<AsyncMode>(mode), .num_updates = 30, .rolling_span = 1ms, .fixed_period = 1ms},
            [](auto& node) {
              for (auto& inlet : node.template Out<Parcel>()) inlet.TryStage(1);
              for (auto& inlet : node.template Out<Newest>()) inlet.TryStage(1);
              if (node.Update() % 3 != 0) return;
              for (auto& outlet : node.template In<Parcel>()) outlet.Jump();
              for (auto& outlet : node.template In<Newest>()) outlet.Jump();
            });
    CHECK((report.Balanced() || !MpiTestWorld().IsRoot()));
  }
}

TEST_CASE("A waiting put in a bulk synchronous update is refused at once") {
  Fixture fixture;
  const RunReport report = Run(fixture.mesh, {.mode = AsyncMode::every_update, .num_updates = 10}, [](auto& node) {
    for (auto& outlet : node.template In<Parcel>()) outlet.Jump();
    for (auto& inlet : node.template Out<Parcel>()) {
      for (int i = 0; i < 4; ++i) inlet.Put(1);  // the depth is 2
    }
  });
  CHECK(report.stopped_by == StopReason::count);
  if (!MpiTestWorld().IsRoot()) return;
  CHECK(report.Balanced());
  CHECK(report.Tally().put.dropped > 0);
}
