#include <netuit/quality/peer_trace.hpp>
#include <netuit/quality/quality.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <map>
#include <mutex>
#include <set>
#include <span>
#include <stdexcept>
#include <string>
#include <thread>
#include <tuple>
#include <utility>
#include <vector>

#include <netuit/graph/topologies.hpp>
#include <netuit/mesh/mesh.hpp>
#include <netuit/run/modes.hpp>
#include <netuit/run/run.hpp>
#include <uit/policy.hpp>
#include <uit/support/bytes.hpp>
#include <uit/tally.hpp>
#include <uit/team/team.hpp>

#include "tests/netuit/run/policies.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/mpi_world.hpp"

using namespace netuit;
using netuit::testing::pooled;
using netuit::testing::aggregated;
using namespace std::chrono_literals;
using uit::testing::MpiTestWorld;
using uit::testing::SumOverRanks;

namespace {

constexpr uit::Policy pooled_latest{.retain = uit::Retain::latest, .consolidate = uit::Consolidate::pooled};
constexpr uit::Policy pooled_sum{.retain = uit::Retain::accumulate, .consolidate = uit::Consolidate::pooled};

constexpr std::uint32_t value_layer = 0;
constexpr std::uint32_t row_layer = 3;
constexpr std::uint32_t sum_layer = 4;
/// Returns the puts of a node in an update on each channel of a layer.
constexpr std::uint64_t NumPuts(std::uint32_t layer) { return layer == sum_layer ? 2 : 1; }

constexpr std::uint32_t num_threads = 2;

struct Job {
  Workers workers{.processes = MpiTestWorld().Size(), .threads = num_threads};
  Topology topology = MakeTorus(4, 4 * workers.Count());
  // A random placement, so that one transport leads to several peers.
  Mesh mesh{uit::Team{MpiTestWorld(), {.threads = num_threads}}, topology,
            {.placement = PlaceRandom(topology, workers, 1), .is_traced = true, .is_watched = true}};
  PublishedField<std::uint32_t> newest = mesh.AddPublishedField<std::uint32_t>();
  Channels<std::uint32_t, pooled_latest> jumped = mesh.AddChannels<std::uint32_t, pooled_latest>();
  Channels<std::uint64_t, pooled> each = mesh.AddChannels<std::uint64_t, pooled>();
  Channels<std::vector<char>, aggregated> row = mesh.AddChannels<std::vector<char>, aggregated>();
  Channels<std::uint32_t, pooled_sum> sum = mesh.AddChannels<std::uint32_t, pooled_sum>();

  std::chrono::microseconds nap{0};  // sleep in each node's update

  RunReport Run(const RunPlan& plan, const RunOptions& options = {}) {
    return mesh.Run(plan, [this](Node& node) {
      if (nap.count() != 0) std::this_thread::sleep_for(nap);
      newest[node] = 1;
      for (const auto edge : node.In()) {
        jumped[edge].Jump();
        while (each[edge].TryStep()) {
        }
        row[edge].TryStep();
        sum[edge].Jump();
      }
      for (const auto edge : node.Out()) {
        jumped[edge].TryPut(2);
        each[edge].TryPut(3);
        row[edge].TryPut(std::vector<char>(node.Id() % 5));
        for (std::uint64_t i = 0; i < NumPuts(sum_layer); ++i) sum[edge].TryPut(4);
      }
    }, options);
  }
  /// Reads the messages that the last run has left in channels.
  void ReadRest() {
    mesh.Visit([this](Node& node) {
      for (const auto edge : node.In()) {
        jumped[edge].Jump();
        each[edge].Jump();
        row[edge].Jump();
        sum[edge].Jump();
      }
    });
  }
  /// Returns the counts of all exchanges of this process.
  uit::Tally SumOfPeers() {
    uit::Tally all;
    const auto add = [&all](std::uint32_t, const ExchangeCounts& counts, const PeerTrace*) {
      all.put.attempted += counts.attempted;
      all.put.dropped += counts.dropped;
      all.put.preempted += counts.preempted;
      all.get.stepped += counts.stepped;
      all.get.skipped += counts.skipped;
      all.get.folded += counts.folded;
      all.get.unread += counts.unread;
    };
    for (const auto& partition : mesh.Partitions())
      for (LayerPart* const layer : partition->layers) layer->ForEachPeer(add);
    return all;
  }
};

constexpr QualityOptions every_100ms{.interval = 100ms, .length = 50ms};

constexpr auto every_mode = {AsyncMode::every_update, AsyncMode::rolling, AsyncMode::fixed, AsyncMode::no_barrier,
                             AsyncMode::no_communication};

}  // namespace

TEST_CASE("The counts of exchanges add up to the tallies, in every mode") {
  const auto mode = GENERATE(values(every_mode));
  INFO("mode " << static_cast<int>(mode));
  Job job;
  const RunReport report = job.Run(ScheduleOf(mode, {.updates = 300}));
  uit::Tally tally;
  for (const WorkerReport& worker : report.workers) {
    if (worker.id.process == MpiTestWorld().Rank()) tally += worker.tally;
  }
  const uit::Tally sum = job.SumOfPeers();
  CHECK(sum.put.attempted == tally.put.attempted);
  CHECK((tally.get.folded > 0) == (mode != AsyncMode::no_communication));  // otherwise the comparison would show nothing
  CHECK(sum.put.dropped == tally.put.dropped);
  CHECK(sum.get.stepped == tally.get.stepped);
  CHECK(sum.get.skipped + sum.put.preempted == tally.get.skipped + tally.put.preempted);
  CHECK(sum.get.folded == tally.get.folded);
  // Messages that wait for the next run count as unread, and can be read.
  job.ReadRest();
  const uit::Tally read = job.SumOfPeers();
  CHECK(read.get.stepped + read.get.skipped + read.get.folded - sum.get.stepped - sum.get.skipped - sum.get.folded ==
        tally.get.unread - sum.get.unread);
  if (MpiTestWorld().IsRoot()) CHECK(report.Balanced());
}

TEST_CASE("In bulk synchronous runs every message is one update old, none fails and none is skipped") {
  Job job;
  const RunReport report = job.Run(EveryUpdate{.duration = 400ms}.MakePlan(), {.quality = every_100ms});
  if (!MpiTestWorld().IsRoot()) return;
  REQUIRE_FALSE(report.quality.empty());
  for (const QualityRow& row : report.quality) {
    if (row.num_updates < 2) continue;  // the machine was too busy
    INFO("layer " << row.layer << ", worker " << row.worker.process << '.' << row.worker.thread << " with "
                  << row.peer.process << '.' << row.peer.thread << ", " << row.num_updates << " updates");
    CHECK(row.counts.touches == row.num_updates * row.num_peers);
    CHECK(row.SimstepLatency() == Approx(1));
    CHECK(row.counts.dropped == 0);
    CHECK(row.counts.skipped + row.counts.preempted == 0);
    if (row.layer != row_layer) CHECK(row.Clumpiness() == Approx(0).margin(2.0 / static_cast<double>(row.num_updates)));
  }
}

TEST_CASE("Snapshots have the length and the distance that were asked for, for every worker and peer") {
  Job job;
  const RunReport report = job.Run(Free{.duration = 400ms}.MakePlan(), {.quality = every_100ms});
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::set<std::uint32_t>> snapshots;  // by worker
  using Key = std::tuple<std::uint32_t, std::uint32_t, std::uint32_t, std::uint32_t, Transport>;
  std::map<Key, ExchangeCounts> of_pairs;  // by worker, snapshot, layer and transport
  std::map<Key, ExchangeCounts> of_workers;
  for (const QualityRow& row : report.quality) {
    CHECK(row.begin >= (row.snapshot + 1) * 100ms - 50ms);
    CHECK(row.end >= (row.snapshot + 1) * 100ms);
    CHECK(row.end > row.begin);
    CHECK(row.counts.attempted <= row.num_updates * row.counts.channels_out * NumPuts(row.layer));
    CHECK(row.counts.laden <= row.counts.pulls);
    // otherwise the numbers of nodes on the two sides differ
    if (row.layer != value_layer) CHECK(row.counts.channels_in == row.counts.channels_out);
    const Key key{row.worker.process, row.worker.thread, row.snapshot, row.layer, row.transport};
    if (row.scope == QualityScope::worker) {
      CHECK(of_workers.try_emplace(key, row.counts).second);
    } else {
      CHECK((row.transport == Transport::thread) == (row.worker.process == row.peer.process));
      of_pairs[key] += row.counts;
    }
    if (row.age.count != 0) {
      CHECK(row.age.p50 <= row.age.p99);
      CHECK(row.age.p99 <= row.age.max);
      CHECK(row.transit.p50 <= row.age.max);
    }
    snapshots[{row.worker.process, row.worker.thread}].insert(row.snapshot);
  }
  CHECK(of_workers == of_pairs);
  if (MpiTestWorld().IsRoot()) CHECK(snapshots.size() == MpiTestWorld().Size() * num_threads);
  for (const auto& [worker, seen] : snapshots) CHECK(seen.contains(0));
}

TEST_CASE("A run that ends within a snapshot ends it, for every worker, and nothing that was put is missing") {
  const auto mode = GENERATE(AsyncMode::every_update, AsyncMode::rolling, AsyncMode::fixed, AsyncMode::no_barrier);
  INFO("mode " << static_cast<int>(mode));
  Job job;
  const RunReport report = job.Run(ScheduleOf(mode, {.updates = 60}), {.quality = {.interval = 1h, .length = 1h}});
  if (!MpiTestWorld().IsRoot()) return;
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint64_t> attempted;  // by worker
  for (const QualityRow& row : report.quality) {
    if (row.scope != QualityScope::worker) continue;
    CHECK(row.snapshot == 0);
    CHECK(row.num_updates == 60);
    attempted[{row.worker.process, row.worker.thread}] += row.counts.attempted;
  }
  CHECK(attempted.size() == report.workers.size());
  for (const WorkerReport& worker : report.workers)
    CHECK(attempted[{worker.id.process, worker.id.thread}] == worker.tally.put.attempted);
}

TEST_CASE("A snapshot has an update within it, however late it begins") {
  const auto mode = GENERATE(AsyncMode::every_update, AsyncMode::rolling, AsyncMode::no_barrier);
  INFO("mode " << static_cast<int>(mode));
  Job job;
  job.nap = 1ms;  // so that an update takes longer than the interval
  const RunReport report = job.Run(ScheduleOf(mode, {.updates = 3}), {.quality = {.interval = 4ms, .length = 2ms}});
  if (!MpiTestWorld().IsRoot()) return;
  REQUIRE_FALSE(report.quality.empty());
  for (const QualityRow& row : report.quality) {
    CHECK(row.num_updates > 0);
    CHECK(row.end > row.begin);
  }
}

TEST_CASE("Every channel that leaves its thread has a row, and the rows add up to the tallies") {
  const auto mode = GENERATE(AsyncMode::every_update, AsyncMode::no_barrier);
  Job job;
  const RunReport report = job.Run(ScheduleOf(mode, {.updates = 200}), {.quality = {.channels = true}});
  const std::uint64_t num_late = SumOverRanks(job.SumOfPeers().get.unread);
  if (!MpiTestWorld().IsRoot()) return;
  ExchangeCounts sum;
  for (const QualityRow& row : report.channels) {
    CHECK(row.scope == QualityScope::channel);
    CHECK(row.counts.channels_in >= 1);
    CHECK(row.counts.channels_in == row.counts.channels_out);
    CHECK(row.source < job.mesh.NumNodes());
    CHECK((row.target == no_node) == (row.layer == value_layer));
    CHECK(row.num_updates == 200);
    sum += row.counts;
  }
  const uit::Tally tally = report.Tally();
  CHECK(sum.attempted == tally.put.attempted);
  CHECK(sum.dropped == tally.put.dropped);
  CHECK(sum.stepped + sum.unread == tally.get.stepped + num_late);  // messages that wait for the next run are in no row yet
  CHECK(sum.skipped + sum.preempted == tally.get.skipped + tally.put.preempted);
  CHECK(sum.folded == tally.get.folded);
}

TEST_CASE("Rows of channels are of their run alone, whatever the mesh has counted before") {
  const auto mode = GENERATE(AsyncMode::every_update, AsyncMode::no_barrier);
  INFO("mode " << static_cast<int>(mode));
  Job job;
  const RunReport first = job.Run(ScheduleOf(mode, {.updates = 150}), {.quality = {.channels = true}});
  const std::uint64_t first_late = SumOverRanks(job.SumOfPeers().get.unread);
  const RunReport second = job.Run(ScheduleOf(mode, {.updates = 50}), {.quality = {.channels = true}});
  const std::uint64_t second_late = SumOverRanks(job.SumOfPeers().get.unread) - first_late;
  if (!MpiTestWorld().IsRoot()) return;
  CHECK(second.channels.size() == first.channels.size());
  ExchangeCounts sum;
  for (const QualityRow& row : second.channels) {
    CHECK(row.num_updates == 50);
    CHECK(row.counts.pulls == row.num_updates * row.counts.channels_in);
    CHECK(row.counts.laden <= row.counts.pulls);
    if (mode == AsyncMode::every_update) CHECK(row.SimstepLatency() == Approx(1).epsilon(0.05));  // except for the first update
    sum += row.counts;
  }
  const uit::Tally before = first.Tally();
  const uit::Tally after = second.Tally();
  CHECK(sum.attempted == after.put.attempted - before.put.attempted);
  CHECK(sum.dropped == after.put.dropped - before.put.dropped);
  CHECK(sum.stepped + sum.unread == after.get.stepped - before.get.stepped + second_late);
  CHECK(sum.skipped + sum.preempted ==
        after.get.skipped + after.put.preempted - before.get.skipped - before.put.preempted);
  CHECK(sum.folded == after.get.folded - before.get.folded);
}

namespace {

/// On process 0, checks for every pair of workers that WallLatency agrees with the mean of the touch times of both
/// directions, as it must by definition. Returns the number of pairs compared.
std::size_t CompareTouches(const std::vector<QualityRow>& quality) {
  constexpr double tolerance = 0.2;  // a worker may lose its CPU at the beginning or end of a window
  std::map<std::tuple<std::uint32_t, std::uint32_t, std::uint32_t>, const QualityRow*> rows;  // by layer, worker and peer
  const auto number = [](const WorkerId& place) { return place.process * num_threads + place.thread; };
  for (const QualityRow& row : quality) {
    if (row.scope == QualityScope::pair && row.snapshot == 0) rows[{row.layer, number(row.worker), number(row.peer)}] = &row;
  }
  std::size_t num_compared = 0;
  for (const auto& [key, row] : rows) {
    const auto [layer, worker, peer] = key;
    const auto back = rows.find({layer, peer, worker});
    if (back == rows.end()) continue;  // did not reach its snapshot
    // too few touches: the ends of the window would matter
    if (row->touch.count < 100 || back->second->touch.count < 100) continue;
    INFO("layer " << layer << ", " << worker << " with " << peer << ", " << row->counts.touches << " touches");
    CHECK(row->WallLatency() == Approx((row->touch.mean + back->second->touch.mean) / 2).epsilon(tolerance));
    ++num_compared;
  }
  return num_compared;
}

}  // namespace

TEST_CASE("Latency by touches, which needs no clock, is the mean over both ways of that by stamps") {
  Job job;
  job.nap = 50us;  // so that workers touch each other equally often on a machine with too few CPUs
  std::size_t num_compared = 0;
  for (auto span = 400ms; num_compared == 0 && span < 40s; span *= 3) {  // until a busy machine has had enough touches
    const RunReport report =
        job.Run(Free{.duration = span}.MakePlan(), {.quality = {.interval = span, .length = span * 7 / 8}});
    if (MpiTestWorld().IsRoot()) num_compared = CompareTouches(report.quality);
    num_compared = MpiTestWorld().BroadcastValue(num_compared);
  }
  REQUIRE(num_compared > 0);
}

TEST_CASE("Nothing is measured unless it is asked for") {
  Job job;
  CHECK(job.Run(Free{.updates = 50}.MakePlan()).quality.empty());
}

TEST_CASE("Processes that disagree on stamps are refused with a message") {
  const bool mine = MpiTestWorld().Rank() % 2 == 0;
  const Workers workers{.processes = MpiTestWorld().Size(), .threads = 1};
  const Topology topology = MakeTorus(4, 4 * workers.Count());
  std::string words;
  try {
    const Mesh mesh{uit::Team{MpiTestWorld()}, topology, {.placement = PlaceContiguous(topology, workers), .is_traced = mine}};
  } catch (const std::exception& error) {
    words = error.what();
  }
  CHECK(words == (MpiTestWorld().Size() == 1 ? "" : "MeshOptions::is_traced is not the same on every process"));
}

TEST_CASE("Every worker samples its own nodes, and nobody else's") {
  Job job;
  std::mutex mutex;
  std::map<std::uint32_t, std::vector<Sample>> samples;  // by thread
  RunOptions options;
  options.sample_interval = 10ms;
  options.on_sample = [&](const Sample& sample) {
    const std::lock_guard lock(mutex);
    samples[sample.worker.thread].push_back(sample);
  };
  job.Run(Free{.duration = 100ms}.MakePlan(), options);
  REQUIRE(samples.size() == num_threads);
  std::size_t next = 0;
  for (const auto& [thread, taken] : samples) {
    CHECK(taken.size() <= 1 + static_cast<std::size_t>(taken.back().elapsed / 10ms));
    for (const Sample& sample : taken) {
      CHECK(sample.worker.process == MpiTestWorld().Rank());
      CHECK(sample.first_node == next);
      CHECK(sample.num_nodes == taken.front().num_nodes);
    }
    next += taken.front().num_nodes;
  }
  CHECK(next == job.mesh.NumLocalNodes());
}

TEST_CASE("Process 0 receives the status of every worker during a run") {
  const auto mode = GENERATE(AsyncMode::every_update, AsyncMode::no_barrier);
  Job job;
  std::vector<WorkerStatus> last;
  std::size_t num_calls = 0;
  RunOptions options;
  options.status_interval = 20ms;
  options.on_status = [&](std::span<const WorkerStatus> all) {
    last.assign(all.begin(), all.end());
    ++num_calls;
  };
  job.Run(ScheduleOf(mode, {.duration = 500ms}), options);
  if (!MpiTestWorld().IsRoot()) {
    CHECK(num_calls == 0);
    return;
  }
  CHECK(num_calls >= 2);
  REQUIRE(last.size() == MpiTestWorld().Size() * num_threads);
  for (std::uint32_t worker = 0; worker < last.size(); ++worker) {
    CHECK(last[worker].worker.process == worker / num_threads);
    CHECK(last[worker].worker.thread == worker % num_threads);
    CHECK(last[worker].elapsed.count() > 0);
    CHECK(last[worker].num_updates > 0);
  }
}

TEST_CASE("A sample that throws ends the run") {
  Job job;
  RunOptions options;
  options.on_sample = [](const Sample&) { throw std::runtime_error("no film"); };
  const RunReport report = job.Run(Free{.duration = 10s}.MakePlan(), options);
  CHECK(report.ExitCode() == 4);
  if (MpiTestWorld().IsRoot()) CHECK(report.message == "on_sample threw: no film");
}
