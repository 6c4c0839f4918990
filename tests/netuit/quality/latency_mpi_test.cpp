// Latency by touches, which needs no clock, agrees with what the stamps say: the age of what is read, in updates. The mean
// age of a snapshot, because the period of updates is a mean, too; and of these, the median over snapshots.
//
// Of two workers that have a CPU each: two threads, or two processes. Others may want the CPUs as well; where they had much
// of them and the two do not agree, that says nothing.
#include <netuit/quality/quality.hpp>

#include <sys/resource.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <netuit/netuit.hpp>
#include <string>
#include <thread>
#include <vector>

#include "tests/support/catch.hpp"
#include "tests/support/mpi_world.hpp"
#include "tests/support/skip.hpp"

using namespace netuit;
using namespace std::chrono_literals;
using uit::testing::MpiTestWorld;
using uit::testing::Skip;

namespace {

struct Newest : Multicast<std::uint32_t> {};

constexpr auto duration = 800ms;
constexpr auto window = 2ms;  // so short that many are undisturbed
constexpr double max_latency = 4;  // updates; above that only one worker had its CPU, for most of the window
constexpr std::uint64_t min_updates = 20;
constexpr std::size_t min_snapshots = 20;
constexpr int num_tries = 3;

/// The time that the process has had a CPU for.
std::chrono::duration<double> CpuTime() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  const auto seconds = [](const timeval& time) { return static_cast<double>(time.tv_sec) + 1e-6 * static_cast<double>(time.tv_usec); };
  return std::chrono::duration<double>(seconds(usage.ru_utime) + seconds(usage.ru_stime));
}

double Median(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::ranges::nth_element(values, middle);
  return *middle;
}

/// What a run has shown. The same on every process.
struct Shown {
  double ratio = 0;             ///< of the mean latency by stamps to that by touches, median over snapshots
  double median_ratio = 0;      ///< likewise, of the median latency by stamps
  double latency = 0;           ///< by touches, in updates, likewise
  std::uint64_t num_snapshots = 0;
  double cpu_share = 0;         ///< of the time of its workers, at least; the others had the rest
};

/// Two workers, whose nodes take `work` steps each update. Collective.
Shown Measure(std::uint64_t work) {
  const uit::World world = MpiTestWorld();
  const Workers workers{.processes = world.Size(), .threads = 2 / world.Size()};
  const Topology topology = MakeTorus({8, 8});
  Mesh<Newest> mesh{topology, PlaceContiguous(topology, workers), world, {.is_traced = true}};
  const RunOptions options{.mode = AsyncMode::no_barrier, .duration = duration, .quality = {.interval = window, .length = window}};
  const auto before = CpuTime();
  const auto begin = uit::Now();
  const RunReport report = Run(mesh, options, [work](auto& node) {
    std::uint32_t sum = 0;
    for (const std::uint32_t value : node.template In<Newest>()) sum += value;
    for (std::uint64_t i = 0; i < work; ++i) sum = sum * 1664525U + 1013904223U;
    node.template Out<Newest>().TryPut(sum);
  });
  const double share = (CpuTime() - before).count() / static_cast<double>(workers.threads) /
                       std::chrono::duration<double>(uit::Now() - begin).count();
  const auto view = uit::BytesOf(share);
  double least = 1;
  for (const uit::Bytes& part : world.Gather({view.begin(), view.end()})) least = std::min(least, uit::LoadBytes<double>(part));
  std::vector<double> ratios;
  std::vector<double> medians;
  std::vector<double> latencies;
  for (const QualityRow& row : report.quality) {
    if (row.scope != QualityScope::pair || row.num_updates < min_updates || row.age.count == 0) continue;
    if (row.SimstepLatency() > max_latency) continue;
    ratios.push_back(row.age.mean / row.WallLatency());
    medians.push_back(row.age.p50 / row.WallLatency());
    latencies.push_back(row.SimstepLatency());
  }
  Shown shown{.num_snapshots = ratios.size(), .cpu_share = least};
  if (!ratios.empty()) shown.ratio = Median(ratios), shown.median_ratio = Median(medians), shown.latency = Median(latencies);
  const auto mine = uit::BytesOf(shown);
  return uit::LoadBytes<Shown>(world.Broadcast({mine.begin(), mine.end()}));
}

}  // namespace

TEST_CASE("Latency by touches agrees within a tenth with the age of what is read, in updates") {
  if (std::thread::hardware_concurrency() < 2) {
    Skip("latency: two workers want two CPUs");
    return;
  }
  const auto work = GENERATE(std::uint64_t{0}, std::uint64_t{1'000});  // bound by communication, and by work
  Shown shown;
  double least_share = 1;
  bool agrees = false;
  for (int i = 0; i < num_tries && !agrees; ++i) {
    shown = Measure(work);
    least_share = std::min(least_share, shown.cpu_share);
    agrees = shown.num_snapshots >= min_snapshots && shown.ratio == Approx(1).margin(0.1);
    if (MpiTestWorld().IsRoot())
      std::printf("work %llu: mean %.3f, median %.3f times %.2f updates, over %llu snapshots, with %.0f %% of the CPUs\n",
                  static_cast<unsigned long long>(work), shown.ratio, shown.median_ratio, shown.latency,
                  static_cast<unsigned long long>(shown.num_snapshots), 100 * shown.cpu_share);
  }
  if (!agrees && least_share < 0.9) {
    Skip("latency: others had " + std::to_string(static_cast<int>(100 * (1 - least_share))) + " % of the CPUs");
    return;
  }
  CHECK(shown.num_snapshots >= min_snapshots);
  CHECK(shown.ratio == Approx(1).margin(0.1));
}
