// One process of a best-effort run is suspended by the system, again and again: the others go on at their rate, nobody's
// memory grows, and it catches up whenever it wakes.
//
// The others gain nothing by the suspension: another process computes meanwhile in its place.

#include <netuit/graph/topologies.hpp>
#include <netuit/mesh/mesh.hpp>
#include <netuit/run/run.hpp>

#include <sched.h>
#include <sys/prctl.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <csignal>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <limits>
#include <optional>
#include <span>
#include <thread>
#include <vector>

#include "tests/support/catch.hpp"
#include "tests/support/goal.hpp"
#include "tests/support/mpi_world.hpp"
#include "tests/support/other_process.hpp"

using namespace netuit;
using namespace uit::testing;
using namespace std::chrono_literals;

namespace {

/// When the sender sent it: one host has one monotonic clock.
struct Stamp : Multicast<std::int64_t> {};
struct Parcel : Unicast<std::int64_t> {};

constexpr std::size_t straggler = 1;
constexpr int work = 30;  // steps of a node: computing takes most of the time, as it would if nobody sent anything
constexpr std::int64_t max_growth = 5'000'000;
constexpr auto settling = 500ms;
constexpr std::size_t max_suspensions = 20;
constexpr double least_ratio = 0.8;  // what a machine keeps, in one run of three, that does much else

/// How often it is suspended, for how long, and for how long it is left alone in between: enough to catch up.
std::size_t NumSuspensions() { return PerCommitOrNight<std::size_t>(4, max_suspensions); }
std::chrono::milliseconds TimeAway() { return PerCommitOrNight(600ms, 2000ms); }
std::chrono::milliseconds TimeAwake() { return PerCommitOrNight(1000ms, 2000ms); }
std::int64_t InMicroseconds(std::chrono::microseconds time) { return time.count(); }

std::int64_t Microseconds() {
  return std::chrono::duration_cast<std::chrono::microseconds>(uit::Now().time_since_epoch()).count();
}

/// Where a thread may run.
cpu_set_t Affinity() {
  cpu_set_t cores;
  CPU_ZERO(&cores);
  sched_getaffinity(0, sizeof cores, &cores);
  return cores;
}

/// Keeps this thread, and what it starts meanwhile, on one core.
class OnCore {
 public:
  /// On the `number`-th of those on which it may run.
  explicit OnCore(std::size_t number) {
    for (std::size_t core = 0, count = 0; core < CPU_SETSIZE; ++core) {
      if (!CPU_ISSET(core, &before_) || count++ != number) continue;
      cpu_set_t own;
      CPU_ZERO(&own);
      CPU_SET(core, &own);
      sched_setaffinity(0, sizeof own, &own);
    }
  }
  OnCore(const OnCore&) = delete;
  OnCore& operator=(const OnCore&) = delete;
  ~OnCore() { sched_setaffinity(0, sizeof before_, &before_); }

 private:
  cpu_set_t before_ = Affinity();
};

/// How many updates a process had made, and when.
struct Mark {
  std::int64_t microseconds = 0;
  double num_updates = 0;
};
/// Updates per second between two times, but for a tenth at either end; nothing if too few marks tell.
std::optional<double> Rate(const std::vector<Mark>& marks, std::int64_t from, std::int64_t to) {
  const std::int64_t edge = (to - from) / 10;
  const auto first = std::ranges::lower_bound(marks, from + edge, {}, &Mark::microseconds);
  const auto last = std::ranges::upper_bound(marks, to - edge, {}, &Mark::microseconds);
  if (last - first < 2) return std::nullopt;
  const Mark& end = *std::prev(last);
  return 1e6 * (end.num_updates - first->num_updates) / static_cast<double>(end.microseconds - first->microseconds);
}

double Median(std::vector<double> values) {
  if (values.empty()) return 0;
  std::ranges::sort(values);
  return values[values.size() / 2];
}

/// From when to when the straggler was suspended, each time, by the computer's clock.
struct Spans {
  struct Span {
    std::int64_t begin = 0;
    std::int64_t end = 0;
  };
  std::array<Span, max_suspensions> spans{};
  std::size_t count = 0;
};

/// Another process, which computes whenever it is told to: on one core, or with a share of all such as a rank has. (Linux
/// shares cores out between sessions first, and some launchers give each rank one.)
class StandIn {
 public:
  explicit StandIn(std::optional<std::size_t> core) {
    if (process_ != 0) {
      waitpid(process_, nullptr, WUNTRACED);
      return;
    }
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getsid(0) == getppid()) setsid();
    std::optional<OnCore> on_core;
    if (core) on_core.emplace(*core);
    raise(SIGSTOP);
    for (;;) Microseconds();
  }
  StandIn(const StandIn&) = delete;
  StandIn& operator=(const StandIn&) = delete;
  ~StandIn() {
    kill(process_, SIGKILL);
    waitpid(process_, nullptr, 0);
  }
  void Work() const { kill(process_, SIGCONT); }
  void Rest() const { kill(process_, SIGSTOP); }

 private:
  pid_t process_ = fork();
};

/// Suspends a process again and again, and says when it was. Another computes in its place, so that nobody gains by the time
/// that it does not use.
Spans SuspendAgainAndAgain(pid_t process, const StandIn& other) {
  Spans spans;
  std::this_thread::sleep_for(settling);
  for (; spans.count < NumSuspensions(); ++spans.count) {
    std::this_thread::sleep_for(TimeAwake());
    const Suspension suspension{process};
    other.Work();
    const std::int64_t begin = Microseconds();
    std::this_thread::sleep_for(TimeAway());
    spans.spans[spans.count] = {begin, Microseconds()};
    other.Rest();
  }
  return spans;
}

/// This process's rates: for each suspension those just before and after, and how the one during it compares to them.
struct Rates {
  std::vector<double> undisturbed;
  std::vector<double> ratios;
};
Rates RatesOf(const std::vector<Mark>& marks, const Spans& spans) {
  const std::int64_t awake = InMicroseconds(TimeAwake());
  Rates rates;
  for (const auto& [begin, end] : std::span(spans.spans).first(spans.count)) {
    const auto before = Rate(marks, begin - awake, begin);
    const auto meanwhile = Rate(marks, begin, end);
    const auto after = Rate(marks, end, end + awake);
    if (!before || !after) continue;
    rates.undisturbed.push_back((*before + *after) / 2);
    rates.ratios.push_back(meanwhile.value_or(0) / rates.undisturbed.back());
  }
  return rates;
}

/// What a process has seen in a run.
struct Seen {
  double rate = 0;         ///< updates per second while nobody was suspended, median
  double ratio = 0;        ///< of its rates with the straggler suspended by those without, median
  double catching_up = 0;  ///< seconds that it has taken after waking, at most, if it is the straggler
};

/// Notes when the straggler sees that it has slept, and when all that it hears is of afterwards.
struct Sleeper {
  std::int64_t last_update_at = Microseconds();
  std::int64_t woke_at = 0;  // 0: has caught up since
  std::int64_t oldest_input = 0;
  std::size_t num_caught_up = 0;
  std::int64_t most_catching_up = 0;

  /// At the beginning of each update.
  void Begin() {
    const std::int64_t now = Microseconds();
    // All values of the update before were of after the awakening.
    if (woke_at != 0 && oldest_input > woke_at) {
      most_catching_up = std::max(most_catching_up, now - woke_at);
      woke_at = 0;
      ++num_caught_up;
    }
    if (now - last_update_at > InMicroseconds(TimeAway()) * 9 / 10) woke_at = now;
    oldest_input = now;
    last_update_at = now;
  }
};

/// Runs while one process is suspended again and again; what each has seen. Collective.
std::vector<Seen> Measure(bool has_own_core) {
  const uit::World world = MpiTestWorld();
  const std::vector<pid_t> pids = Pids(world);
  const auto topology = MakeTorus({40, 40});
  Mesh<Stamp, Parcel> mesh{topology, PlaceContiguous(topology, {.processes = world.Size(), .threads = 1}), world};

  std::vector<Mark> marks;
  Sleeper sleeper;
  std::uint64_t computed = 0;
  Growth growth{getpid()};
  bool is_settled = false;
  Spans spans;
  std::optional<StandIn> stand_in;
  std::jthread suspending;
  if (world.IsRoot()) {
    stand_in.emplace(has_own_core ? std::optional(straggler) : std::nullopt);
    suspending = std::jthread([&] { spans = SuspendAgainAndAgain(pids[straggler], *stand_in); });
  }
  std::optional<OnCore> on_core;
  if (has_own_core) on_core.emplace(world.Rank());
  const RunReport report = Run(
      mesh,
      {.duration = settling + NumSuspensions() * (TimeAway() + TimeAwake()) + TimeAwake() + 200ms,
       .stops_on_signal = false,
       .on_progress =
           [&](const Progress& progress) {
             marks.push_back({Microseconds(), static_cast<double>(progress.num_updates)});
             if (!is_settled && progress.elapsed > settling) {
               is_settled = true;
               growth = Growth{getpid()};
             }
             if (is_settled) growth.Look();
           },
       .progress_interval = 10ms},
      [&](auto& node) {
        if (node.Index() == 0) sleeper.Begin();
        std::uint64_t value = node.Update();
        for (int i = 0; i < work; ++i) value = value * 6364136223846793005U + 1442695040888963407U;
        computed += value;
        for (const std::int64_t stamp : node.template In<Stamp>()) sleeper.oldest_input = std::min(sleeper.oldest_input, stamp);
        node.template Out<Stamp>().TryPut(sleeper.last_update_at);
        for (auto& outlet : node.template In<Parcel>()) {
          while (outlet.TryStep()) {
          }
        }
        for (auto& inlet : node.template Out<Parcel>()) inlet.TryPut(sleeper.last_update_at);
      });
  suspending = {};
  CHECK(growth.Most() <= max_growth);
  CHECK(report.ExitCode() == 0);
  if (world.IsRoot()) CHECK(report.Balanced());

  const uit::ByteView when = uit::BytesOf(spans);
  spans = uit::LoadBytes<Spans>(world.Broadcast({when.begin(), when.end()}));
  Seen seen;
  if (world.Rank() == straggler) {
    CHECK(sleeper.num_caught_up >= spans.count);  // a machine that does much else may have put it to sleep as well
    seen.catching_up = static_cast<double>(sleeper.most_catching_up) / 1e6;
  } else {
    const Rates rates = RatesOf(marks, spans);
    CHECK(rates.ratios.size() > spans.count / 2);
    seen.rate = Median(rates.undisturbed);
    seen.ratio = Median(rates.ratios);
  }
  CHECK(computed != 0);
  std::printf("rank %zu: %.3f of its %.0f updates/s, %zu times caught up, in %.3f s; grown by %lld bytes\n", world.Rank(),
              seen.ratio, seen.rate, sleeper.num_caught_up, seen.catching_up, static_cast<long long>(growth.Most()));
  return world.AllGatherValue(seen);
}

}  // namespace

TEST_CASE("A run goes on while one of its processes is suspended, which catches up within a second of waking") {
  const cpu_set_t cores = Affinity();  // the same on all processes of a launch that does not bind them
  const bool has_own_core = static_cast<std::size_t>(CPU_COUNT(&cores)) >= MpiTestWorld().Size();
  const double least = IsNightly() ? 0.95 : least_ratio;
  std::vector<Seen> seen;
  double slowest = 0;  // of the others
  double mean = 0;
  for (int i = 0; i < PerCommitOrNight(3, 1) && slowest < least; ++i) {  // what others do on the machine comes and goes
    seen = Measure(has_own_core);
    slowest = std::numeric_limits<double>::infinity();
    mean = 0;
    for (std::size_t rank = 0; rank < seen.size(); ++rank) {
      if (rank == straggler) continue;
      slowest = std::min(slowest, seen[rank].ratio);
      mean += seen[rank].ratio / static_cast<double>(seen.size() - 1);
    }
  }
  CHECK(slowest >= least);
  CHECK(seen[straggler].catching_up < 1);
  if (!MpiTestWorld().IsRoot()) return;
  std::array<char, 300> figure{};
  std::snprintf(figure.data(), figure.size(),
                "of %zu processes, %s, the slowest other at %.1f %% of its undisturbed rate, limit %.0f %% (all others %.1f %%; median "
                "of %zu suspensions of %.1f s), caught up in at most %.3f s, limit 1 s",
                seen.size(), has_own_core ? "a core each" : "which share cores", 100 * slowest, 100 * least, 100 * mean,
                NumSuspensions(), std::chrono::duration<double>(TimeAway()).count(), seen[straggler].catching_up);
  PrintGoal("R7", figure.data());
}
