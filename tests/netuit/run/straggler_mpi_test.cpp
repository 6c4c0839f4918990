// One process of a best-effort run is suspended by the system, again and again. The others continue, no process's memory
// grows, and the suspended process catches up each time.
//
// A suspension lasts until all others have made many updates. The next one waits until the process has caught up. Time in which
// the process is ready to run and has no CPU does not count, so the load of the machine makes little difference.
// waits_for_nobody_mpi_test shows that the others do not wait at all.

#include <netuit/graph/topologies.hpp>
#include <netuit/run/run.hpp>

#include <sys/types.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <fstream>
#include <limits>
#include <stdexcept>
#include <string>
#include <thread>
#include <uit/support/clock.hpp>
#include <vector>

#include "tests/support/catch.hpp"
#include "tests/support/goal.hpp"
#include "tests/support/mpi_world.hpp"
#include "tests/support/other_process.hpp"
#include "tests/support/shared_page.hpp"

using namespace netuit;
using namespace uit::testing;
using namespace std::chrono_literals;

namespace {

constexpr std::size_t straggler = 1;
constexpr std::size_t max_processes = 8;
constexpr std::uint64_t num_updates_meanwhile = 300;  // of each other process; windows are full after a quarter of them
constexpr std::int64_t max_growth = 5'000'000;
constexpr auto patience = 200s;  // for steps that take a fraction of a second; the test itself has 240 s
constexpr const char* all_seen = "all is seen";

std::size_t NumSuspensions() { return PerCommitOrNight<std::size_t>(4, 20); }
std::chrono::milliseconds ShortestAway() { return PerCommitOrNight(600ms, 2000ms); }

/// Returns the monotonic clock, which all processes of a host share.
std::int64_t Microseconds() {
  return std::chrono::duration_cast<std::chrono::microseconds>(uit::Now().time_since_epoch()).count();
}
/// Times of a process's first thread in microseconds.
struct Times {
  std::int64_t by_clock = 0;
  std::int64_t in_cpu = 0;
  std::int64_t denied = 0;  ///< when the thread was ready to run and had no CPU

  /// Returns the time in which the thread ran, slept or waited.
  std::int64_t Own() const { return by_clock - denied; }
  Times operator-(const Times& other) const {
    return {.by_clock = by_clock - other.by_clock, .in_cpu = in_cpu - other.in_cpu, .denied = denied - other.denied};
  }
};
/// Returns the times of a process of this machine. Where the system does not count `denied`, it is 0.
Times TimesOf(pid_t process) {
  std::ifstream file("/proc/" + std::to_string(process) + "/schedstat");
  std::int64_t in_cpu = 0;  // nanoseconds, as the other
  std::int64_t denied = 0;
  file >> in_cpu >> denied;
  return {.by_clock = Microseconds(), .in_cpu = in_cpu / 1000, .denied = denied / 1000};
}

/// Data that the processes share beside the mesh.
struct Stage {
  std::array<std::atomic<std::uint64_t>, max_processes> num_updates{};
  std::atomic<std::size_t> num_settled{0};        ///< processes that watch their memory
  Times at_end_of_suspension;                     ///< of the straggler; set before num_suspensions is increased
  std::atomic<std::uint64_t> num_suspensions{0};  ///< increased before the straggler is continued
  std::atomic<std::uint64_t> num_caught_up{0};
  std::atomic<bool> is_over{false};
};

/// Suspends the straggler again and again.
class Suspender {
 public:
  Suspender(Stage& stage, pid_t process, std::size_t num_processes)
      : stage_(stage), process_(process), num_processes_(num_processes) {}

  /// Runs until every condition was met, or one was not met in time.
  void Work() {
    AwaitThat([&] { return stage_.num_settled == num_processes_; });
    for (std::size_t i = 0; i < NumSuspensions() && has_come_about_; ++i) {
      Suspend();
      AwaitThat([&] { return stage_.num_caught_up == stage_.num_suspensions; });
    }
    stage_.is_over = true;
  }
  /// Returns whether every condition was met.
  bool HasComeAbout() const { return has_come_about_; }
  /// Returns the smallest number of updates that another process made during a suspension.
  std::uint64_t LeastUpdates() const { return least_updates_; }

 private:
  void Suspend() {
    const Suspension suspension{process_};
    AwaitThat([&] { return suspension.IsInForce(); });
    const std::vector<std::uint64_t> before(stage_.num_updates.begin(), stage_.num_updates.end());
    std::this_thread::sleep_for(ShortestAway());
    for (std::size_t process = 0; process < num_processes_; ++process) {
      const auto num_since = [&] { return stage_.num_updates[process] - before[process]; };
      if (process == straggler) continue;
      AwaitThat([&] { return num_since() >= num_updates_meanwhile; });
      least_updates_ = std::min(least_updates_, num_since());
    }
    if (stage_.num_updates[straggler] != before[straggler]) has_come_about_ = false;  // it was not suspended
    stage_.at_end_of_suspension = TimesOf(process_);
    ++stage_.num_suspensions;
  }
  template <typename F>
  void AwaitThat(F&& holds) {
    const uit::Deadline deadline = uit::After(patience);
    while (has_come_about_ && !holds()) {
      std::this_thread::sleep_for(1ms);
      has_come_about_ = uit::Now() < deadline;
    }
  }

  Stage& stage_;
  pid_t process_;
  std::size_t num_processes_;
  bool has_come_about_ = true;
  std::uint64_t least_updates_ = std::numeric_limits<std::uint64_t>::max();
};

/// Notes when the straggler sees that it was suspended, and when all of its inputs were sent afterwards. Used on that process
/// only.
class Sleeper {
 public:
  explicit Sleeper(Stage& stage) : stage_(stage) {}

  /// Called at the beginning of an update.
  void Begin(std::int64_t now) {
    if (woke_at_ != 0 && oldest_input_ > woke_at_) {  // all values of the previous update
      const Times taken = TimesOf(getpid()) - stage_.at_end_of_suspension;
      if (taken.Own() > most_.Own()) most_ = taken;
      woke_at_ = 0;
      ++stage_.num_caught_up;
    }
    if (stage_.num_suspensions != num_seen_) {
      ++num_seen_;
      woke_at_ = now;
    }
    oldest_input_ = now;
  }
  void Hear(std::int64_t stamp) { oldest_input_ = std::min(oldest_input_, stamp); }

  /// Returns the times of catching up when that took longest, without waits for a CPU.
  const Times& Most() const { return most_; }

 private:
  Stage& stage_;
  std::uint64_t num_seen_ = 0;
  std::int64_t woke_at_ = 0;  // 0: has caught up
  std::int64_t oldest_input_ = 0;
  Times most_;
};

}  // namespace

TEST_CASE("A run continues while a process is suspended and the process catches up within a second") {
  const uit::World world = MpiTestWorld();
  const std::vector<pid_t> pids = Pids(world);
  const auto topology = MakeTorus({40, 40});
  Mesh mesh{uit::Team{world}, topology, {.placement = PlaceContiguous(topology, {.processes = world.Size()})}};
  const auto stamp = mesh.AddPublishedField<std::int64_t>();  // when the node published it
  const auto parcels = mesh.AddChannels<std::int64_t>();
  const SharedPage<Stage> stage{world};
  const bool is_straggler = world.Rank() == straggler;

  Sleeper sleeper{*stage};
  Growth growth{getpid()};
  bool is_settled = false;
  std::int64_t now = 0;  // as the update began
  Suspender suspender{*stage, pids[straggler], world.Size()};
  std::jthread suspending;
  if (world.IsRoot()) suspending = std::jthread([&] { suspender.Work(); });
  const auto watch_memory = [&](const Progress& progress) {
    if (!is_settled && progress.num_updates >= num_updates_meanwhile) {
      is_settled = true;
      growth = Growth{getpid()};
      ++stage->num_settled;
    }
    if (is_settled) growth.Look();
  };
  const auto update = [&](Node& node) {
    if (node.Index() == 0) {
      if (stage->is_over) throw std::runtime_error(all_seen);
      ++stage->num_updates[world.Rank()];
      now = Microseconds();
      if (is_straggler) sleeper.Begin(now);
    }
    for (const auto edge : node.In()) {
      sleeper.Hear(stamp[edge]);
      while (parcels[edge].TryStep() != 0) {
      }
    }
    stamp[node] = now;
    for (const auto edge : node.Out()) parcels[edge].TryPut(now);
  };
  const RunReport report =
      mesh.Run(Free{}, update, {.stops_on_signal = false, .on_progress = watch_memory, .progress_interval = 10ms});
  suspending = {};
  CHECK(growth.Most() <= max_growth);
  CHECK(report.stopped_by == StopReason::thrown);
  if (is_straggler) CHECK(sleeper.Most().Own() < 1'000'000);
  const Times caught_up = world.AllGatherValue(sleeper.Most())[straggler];
  std::printf("rank %zu: grown by %lld bytes\n", world.Rank(), static_cast<long long>(growth.Most()));
  if (!world.IsRoot()) return;
  CHECK(suspender.HasComeAbout());
  CHECK(stage->num_caught_up == NumSuspensions());
  CHECK(report.message.ends_with(all_seen));
  CHECK(report.Balanced());
  const auto seconds = [](std::int64_t microseconds) { return static_cast<double>(microseconds) / 1e6; };
  std::array<char, 320> figure{};
  std::snprintf(
      figure.data(), figure.size(),
      "of %zu processes, each other one made at least %llu updates in each of %zu suspensions of one, of %.1f s and more, "
      "which caught up in at most %.3f s without its waits for a CPU, limit 1 s (%.3f s by the clock, %.3f s in its CPU)",
      world.Size(), static_cast<unsigned long long>(suspender.LeastUpdates()), NumSuspensions(),
      std::chrono::duration<double>(ShortestAway()).count(), seconds(caught_up.Own()), seconds(caught_up.by_clock),
      seconds(caught_up.in_cpu));
  PrintGoal("R7", figure.data());
}
