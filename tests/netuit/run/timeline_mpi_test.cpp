// What a run tells of its course.
#include <algorithm>
#include <chrono>
#include <cstdint>
#include <map>
#include <vector>

#include <netuit/mesh/mesh.hpp>
#include <netuit/quality/timeline.hpp>
#include <netuit/run/modes.hpp>
#include <netuit/run/run.hpp>
#include <uit/support/error.hpp>
#include <uit/team/team.hpp>

#include "tests/netuit/run/odd_graph.hpp"
#include "tests/netuit/run/workers.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/mpi_world.hpp"

using namespace netuit;
using namespace std::chrono_literals;
using netuit::testing::MakeOddGraph;
using netuit::testing::TeamWith;
using uit::testing::MpiTestWorld;

namespace {

using Spans = std::vector<TimelineSpan>;

std::map<WorkerId, Spans> ByWorker(const Timeline& timeline) {
  std::map<WorkerId, Spans> by_worker;
  for (const TimelineSpan& span : timeline.spans) by_worker[span.worker].push_back(span);
  return by_worker;
}
std::uint64_t Count(const Spans& spans, Activity activity) {
  return static_cast<std::uint64_t>(std::ranges::count(spans, activity, &TimelineSpan::activity));
}

}  // namespace

TEST_CASE("A timeline tells without gaps what each worker does in each mode") {
  const std::uint32_t threads = MpiTestWorld().Size() == 4 ? 1 : 2;
  Mesh mesh{TeamWith(threads), MakeOddGraph(48, 1)};
  const auto value = mesh.AddPublishedField<int>();
  for (const AsyncMode mode : {AsyncMode::every_update, AsyncMode::rolling, AsyncMode::fixed, AsyncMode::no_barrier,
                               AsyncMode::no_communication, AsyncMode::dataflow}) {
    CAPTURE(mode);
    const bool is_by_update = mode == AsyncMode::every_update || mode == AsyncMode::dataflow;
    const RunReport report = mesh.Run(ScheduleOf(mode, {.updates = 20, .span = 1ms, .period = 1ms, .slack = mode == AsyncMode::no_barrier ? std::optional<std::uint64_t>(0) : std::nullopt}),
                                      [&](Node& node) { ++value[node]; }, {.timeline = {.spans = 10'000}});
    REQUIRE(report.ExitCode() == 0);
    const auto by_worker = ByWorker(report.timeline);
    if (report.is_root) CHECK(by_worker.size() == MpiTestWorld().Size() * threads);
    for (const auto& [worker, spans] : by_worker) {
      CAPTURE(worker.process, worker.thread);
      CHECK(Count(spans, Activity::update) == 20);
      CHECK(Count(spans, Activity::receive) == 20);
      CHECK(Count(spans, is_by_update ? Activity::exchange : Activity::send) == 20);
      CHECK(Count(spans, is_by_update ? Activity::send : Activity::exchange) == 0);
      CHECK(Count(spans, Activity::end) == 1);
      const auto of = std::ranges::find(report.workers, worker, &WorkerReport::id);
      REQUIRE(of != report.workers.end());
      CHECK(Count(spans, Activity::barrier) == of->num_barriers);
      if (mode != AsyncMode::no_barrier) CHECK(Count(spans, Activity::wait) == 0);
      std::chrono::nanoseconds end{0};
      for (const TimelineSpan& span : spans) {
        CHECK(span.begin == end);
        CHECK(span.length.count() >= 0);
        CHECK(span.is_last == 0);
        end = span.begin + span.length;
      }
      CHECK(end >= of->elapsed);
      CHECK(std::ranges::count(report.timeline.counts, worker, &TimelineCount::worker) >= 1);
    }
  }
}

TEST_CASE("Counts of a timeline grow to the report's") {
  Mesh mesh{TeamWith(1), MakeOddGraph(48, 1)};
  const auto value = mesh.AddPublishedField<int>();
  const auto letters = mesh.AddChannels<int>();
  const RunReport report = mesh.Run(Free{.updates = 200}, [&](Node& node) {
    ++value[node];
    for (const auto edge : node.In()) letters[edge].TryStep();
    for (const auto edge : node.Out()) letters[edge].TryPut(1), letters[edge].TryPut(2);
  }, {.timeline = {.spans = 4, .count_interval = 1us}});
  std::map<WorkerId, TimelineCount> last;
  for (const TimelineCount& count : report.timeline.counts) {
    const TimelineCount& before = last[count.worker];
    CHECK(count.time >= before.time);
    CHECK(count.attempted >= before.attempted);
    CHECK(count.refused >= before.refused);
    CHECK(count.read >= before.read);
    last[count.worker] = count;
  }
  for (const WorkerReport& worker : report.workers) {
    const uit::Tally all = worker.tally + worker.inside;
    CHECK(last[worker.id].attempted == all.put.attempted);
    CHECK(last[worker.id].refused == all.put.dropped);
    CHECK(last[worker.id].read == all.get.stepped);
    CHECK(last[worker.id].replaced == all.put.preempted + all.get.skipped);
  }
  for (const auto& [worker, spans] : ByWorker(report.timeline)) {  // no more than asked for, and it says so
    CHECK(spans.size() == 4);
    CHECK(spans.back().is_last == 1);
  }
}

TEST_CASE("Without the option nothing is recorded, and an interval of nothing is refused") {
  Mesh mesh{TeamWith(1), MakeOddGraph(48, 1)};
  const RunReport report = mesh.Run(Free{.updates = 3}, [](Node&) {});
  CHECK(report.timeline.spans.empty());
  CHECK(report.timeline.counts.empty());
  CHECK_THROWS_AS(mesh.Run(Free{.updates = 3}, [](Node&) {}, {.timeline = {.spans = 1, .count_interval = 0ns}}), uit::InputError);
}
