// One process of a best-effort run is suspended by the system, again and again. The others continue, no process's memory
// grows, and the suspended process catches up each time.
//
// A suspension lasts until all others have made many updates. The next one waits until the process has caught up, so the load
// of the machine makes no difference. waits_for_nobody_mpi_test shows that the others do not wait at all.

#include <netuit/graph/topologies.hpp>
#include <netuit/run/run.hpp>

#include <sys/types.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <limits>
#include <stdexcept>
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
/// Returns the CPU time of this thread.
std::int64_t OwnMicroseconds() {
  timespec time{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return time.tv_sec * 1'000'000 + time.tv_nsec / 1000;
}

/// Data that the processes share beside the mesh.
struct Stage {
  std::array<std::atomic<std::uint64_t>, max_processes> num_updates{};
  std::atomic<std::size_t> num_settled{0};        ///< processes that watch their memory
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
      most_own_ = std::max(most_own_, OwnMicroseconds() - woke_at_own_);
      most_ = std::max(most_, now - woke_at_);
      woke_at_ = 0;
      ++stage_.num_caught_up;
    }
    if (stage_.num_suspensions != num_seen_) {
      ++num_seen_;
      woke_at_ = now;
      woke_at_own_ = OwnMicroseconds();
    }
    oldest_input_ = now;
  }
  void Hear(std::int64_t stamp) { oldest_input_ = std::min(oldest_input_, stamp); }

  /// Returns the longest time of catching up in seconds: in its own CPU time, and by the clock.
  double MostOwn() const { return static_cast<double>(most_own_) / 1e6; }
  double Most() const { return static_cast<double>(most_) / 1e6; }

 private:
  Stage& stage_;
  std::uint64_t num_seen_ = 0;
  std::int64_t woke_at_ = 0;  // 0: has caught up
  std::int64_t woke_at_own_ = 0;
  std::int64_t oldest_input_ = 0;
  std::int64_t most_own_ = 0;
  std::int64_t most_ = 0;
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
  if (is_straggler) CHECK(sleeper.MostOwn() < 1);
  const std::array caught_up = world.AllGatherValue(std::array{sleeper.MostOwn(), sleeper.Most()})[straggler];
  std::printf("rank %zu: grown by %lld bytes\n", world.Rank(), static_cast<long long>(growth.Most()));
  if (!world.IsRoot()) return;
  CHECK(suspender.HasComeAbout());
  CHECK(stage->num_caught_up == NumSuspensions());
  CHECK(report.message.ends_with(all_seen));
  CHECK(report.Balanced());
  std::array<char, 300> figure{};
  std::snprintf(
      figure.data(), figure.size(),
      "of %zu processes, each other one made at least %llu updates in each of %zu suspensions of one, of %.1f s and more, "
      "which caught up in at most %.3f s of its CPU's time, limit 1 s (%.3f s by the clock)",
      world.Size(), static_cast<unsigned long long>(suspender.LeastUpdates()), NumSuspensions(),
      std::chrono::duration<double>(ShortestAway()).count(), caught_up[0], caught_up[1]);
  PrintGoal("R7", figure.data());
}
