// The touches and latencies of every snapshot equal those that the test counts from its own messages.
//
// Each message holds its sender's number of touches and the time at which the sender's update began. Touches are compared
// exactly. The test knows only that an update begins between the end of the previous update and its own first line. So it
// compares a latency with a lower and an upper bound. All of this holds however busy the machine is.
#include <netuit/quality/quality.hpp>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <iterator>
#include <vector>

#include <netuit/graph/topologies.hpp>
#include <netuit/mesh/mesh.hpp>
#include <netuit/run/run.hpp>
#include <uit/support/clock.hpp>
#include <uit/team/team.hpp>

#include "tests/support/catch.hpp"
#include "tests/support/mpi_world.hpp"

using namespace netuit;
using namespace std::chrono_literals;
using uit::testing::MpiTestWorld;

namespace {

constexpr std::uint64_t num_touches_wanted = 500;
constexpr auto window = 2ms;

/// A lower and an upper bound of a moment or a span, in nanoseconds.
struct Between {
  std::int64_t least = 0;
  std::int64_t most = 0;
};
Between operator-(const Between& later, const Between& sooner) {
  return {later.least - sooner.most, later.most - sooner.least};
}
Between& operator+=(Between& sum, const Between& span) {
  sum.least += span.least;
  sum.most += span.most;
  return sum;
}
std::int64_t Nanoseconds() { return uit::Now().time_since_epoch() / 1ns; }

/// The message that an update puts.
struct Message {
  std::uint64_t number = 0;       ///< number of the update, from 1
  std::uint64_t num_touches = 0;  ///< touches that its worker has counted
  Between begun;                  ///< when the update began
  Between touched;                ///< when the update began that counted the last touch
};

/// What a worker has counted since the run began.
struct Counts {
  std::uint64_t num_touches = 0;
  std::uint64_t num_frames = 0;
  std::uint64_t num_answers = 0;  ///< touches for which the time of the other side's touch is known
  Between age;                    ///< sum over all frames
  Between answer;                 ///< sum over these touches, from the time of the other side's touch
};

/// Counts what the library should count. For one worker.
class Counter {
 public:
  /// Handles the newest message, which an update has read. Returns the message that the update puts.
  Message Update(const Message& message) {
    const Between begun{.least = ended_, .most = Nanoseconds()};
    if (message.number != last_heard_) Hear(message, begun);
    counts_.push_back(sum_);
    return {.number = counts_.size(), .num_touches = sum_.num_touches, .begun = begun, .touched = touched_};
  }
  /// Called at the end of an update.
  void End() { ended_ = Nanoseconds(); }
  bool HasSeenAll() const { return sum_.num_touches >= num_touches_wanted; }
  /// Returns the counts after that many updates.
  Counts After(std::uint64_t num_updates) const { return num_updates == 0 ? Counts{} : counts_[num_updates - 1]; }

 private:
  void Hear(const Message& message, const Between& begun) {
    last_heard_ = message.number;
    ++sum_.num_frames;
    sum_.age += begun - message.begun;
    if (message.num_touches < sum_.num_touches) return;
    if (message.num_touches != 0) {
      ++sum_.num_answers;
      sum_.answer += begun - message.touched;
    }
    sum_.num_touches = message.num_touches + 1;
    touched_ = begun;
  }

  std::int64_t ended_ = Nanoseconds();
  std::uint64_t last_heard_ = 0;
  Between touched_;
  Counts sum_;
  std::vector<Counts> counts_;  // by update
};

/// Returns whether the mean of `count` latencies agrees with the bounds of their sum. The mean is in seconds, the bounds are
/// in nanoseconds.
bool IsMeanOf(double mean, std::uint64_t count, const Between& before, const Between& after) {
  const double sum = 1e9 * mean * static_cast<double>(count);
  const auto least = static_cast<double>(after.least - before.least);
  const auto most = static_cast<double>(after.most - before.most);
  return sum >= least * (1 - 1e-9) - 1 && sum <= most * (1 + 1e-9) + 1;
}

/// Compares the snapshots of a worker of this process with the test's counts. Snapshots follow each other without a gap.
void CheckSnapshots(const std::vector<QualityRow>& rows, const Counter& counter) {
  std::uint64_t num_updates = 0;
  std::uint64_t num_frames = 0;
  for (const QualityRow& row : rows) {
    const Counts before = counter.After(num_updates);
    num_updates += row.num_updates;
    const Counts after = counter.After(num_updates);
    num_frames += row.age.count;
    const std::uint64_t num_touches = after.num_touches - before.num_touches;
    CAPTURE(row.snapshot, row.num_updates);
    CHECK(row.counts.touches == num_touches);
    CHECK(row.age.count == after.num_frames - before.num_frames);
    CHECK(row.transit.count == row.age.count);
    CHECK(row.touch.count == after.num_answers - before.num_answers);
    if (row.age.count != 0) {
      CHECK(IsMeanOf(row.age.mean, row.age.count, before.age, after.age));
      CHECK(row.transit.mean <= row.age.mean);
    }
    if (row.touch.count != 0) CHECK(IsMeanOf(row.touch.mean, row.touch.count, before.answer, after.answer));
    if (num_touches == 0) continue;
    CHECK(row.SimstepLatency() == Approx(static_cast<double>(row.num_updates) / static_cast<double>(num_touches)));
    const double seconds = std::chrono::duration<double>(row.end - row.begin).count();
    CHECK(row.WallLatency() == Approx(seconds / static_cast<double>(num_touches)));
  }
  CHECK(num_frames >= num_touches_wanted / 2);
}

}  // namespace

TEST_CASE("Touches and latencies of every snapshot equal those computed from its messages") {
  const uit::World world = MpiTestWorld();
  const uit::Team team{world, {.threads = static_cast<std::uint32_t>(2 / world.Size())}};
  const Topology topology = MakeComplete(2);
  const Workers workers{.processes = world.Size(), .threads = team.NumThreads()};
  Mesh mesh{team, topology, {.placement = PlaceContiguous(topology, workers), .is_traced = true}};
  const auto newest = mesh.AddPublishedField<Message>();
  const auto counters = mesh.AddField<Counter>();
  const RunOptions options{.quality = {.interval = window, .length = window, .max_snapshots = 1'000'000}};
  const RunReport report = mesh.Run(Free{}, [&](Node& node) {
    Counter& counter = counters[node];
    newest[node] = counter.Update(newest[node.In()[0]]);
    if (counter.HasSeenAll()) node.RequestStop();  // so has the other worker, up to one snapshot
    uit::Compute(20us);  // long compared with the uncertainty of the times
    counter.End();
  }, options);
  CHECK(report.stopped_by == StopReason::asked);
  mesh.Visit([&](Node& node) {
    std::vector<QualityRow> rows;
    const WorkerId place{static_cast<std::uint32_t>(world.Rank()), static_cast<std::uint32_t>(node.Index())};  // a node on each
    std::ranges::copy_if(report.quality, std::back_inserter(rows), [&](const QualityRow& row) {
      return row.scope == QualityScope::pair && row.worker == place;
    });
    CheckSnapshots(rows, counters[node]);
  });
}
