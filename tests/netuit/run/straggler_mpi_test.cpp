// One process of a best-effort run is suspended by the system for a while: the others go on at their rate, nobody's
// memory grows, and it catches up when it wakes.
//
// UIT_TEST_STOP_SECONDS says for how long; a few seconds by default.

#include <netuit/graph/topologies.hpp>
#include <netuit/mesh/mesh.hpp>
#include <netuit/run/run.hpp>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <optional>
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
constexpr auto time_before = 2s;
constexpr auto time_after = 2s;
constexpr std::int64_t max_growth = 5'000'000;

std::int64_t Microseconds() {
  return std::chrono::duration_cast<std::chrono::microseconds>(uit::Now().time_since_epoch()).count();
}

/// How many updates a process had made, and when.
struct Mark {
  double seconds = 0;
  double num_updates = 0;
};
double Rate(const std::vector<Mark>& marks, double from, double to) {
  std::optional<Mark> first;
  Mark last;
  for (const Mark& mark : marks) {
    if (mark.seconds < from || mark.seconds > to) continue;
    if (!first) first = mark;
    last = mark;
  }
  return first && last.seconds > first->seconds ? (last.num_updates - first->num_updates) / (last.seconds - first->seconds) : 0;
}

/// What one suspension has shown, over all processes.
struct Shown {
  double before = 0;      // updates per second of the others, in sum
  double meanwhile = 0;
  double catching_up = 0; // seconds, of who was suspended
};

/// Runs with one process suspended for a while. Collective.
Shown SuspendOne() {
  const uit::World world = MpiTestWorld();
  const double stop = StopFor().count();
  const double begin_stop = std::chrono::duration<double>(time_before).count();
  const std::vector<pid_t> pids = Pids(world);
  const auto topology = MakeTorus({40, 40});
  Mesh<Stamp, Parcel> mesh{topology, PlaceContiguous(topology, {.processes = world.Size(), .threads = 1}), world};

  std::vector<Mark> marks;
  std::int64_t last_update_at = Microseconds();
  std::int64_t longest_gap = 0;
  std::int64_t woke_at = 0;    // of who was suspended
  std::int64_t caught_up_at = 0;
  std::int64_t oldest_input = 0;
  std::int64_t most_growth = 0;
  Growth growth{getpid()};
  bool is_settled = false;

  std::jthread suspending;
  if (world.IsRoot()) {
    suspending = std::jthread([&] {
      std::this_thread::sleep_for(time_before);
      const Suspension suspension{pids[straggler]};
      std::this_thread::sleep_for(StopFor());
    });
  }
  const RunReport report = Run(
      mesh,
      {.duration = std::chrono::duration_cast<std::chrono::nanoseconds>(time_before + StopFor() + time_after),
       .stops_on_signal = false,
       .on_progress =
           [&](const Progress& progress) {
             const double seconds = std::chrono::duration<double>(progress.elapsed).count();
             marks.push_back({seconds, static_cast<double>(progress.num_updates)});
             if (!is_settled && seconds > begin_stop / 2) {
               is_settled = true;
               growth = Growth{getpid()};
             }
             if (is_settled) growth.Look();
           },
       .progress_interval = 20ms},
      [&](auto& node) {
        if (node.Index() == 0) {
          const std::int64_t now = Microseconds();
          if (now - last_update_at > longest_gap) {
            longest_gap = now - last_update_at;
            if (longest_gap > 1'000'000) woke_at = now;
          }
          // All values of the update before were of after the awakening.
          if (woke_at != 0 && caught_up_at == 0 && oldest_input > woke_at) caught_up_at = now;
          oldest_input = now;
          last_update_at = now;
        }
        for (const std::int64_t stamp : node.template In<Stamp>()) oldest_input = std::min(oldest_input, stamp);
        node.template Out<Stamp>().TryPut(last_update_at);
        for (auto& outlet : node.template In<Parcel>()) {
          while (outlet.TryStep()) {
          }
        }
        for (auto& inlet : node.template Out<Parcel>()) inlet.TryPut(last_update_at);
      });
  suspending = {};
  most_growth = growth.Most();

  Shown rates;
  CHECK(report.ExitCode() == 0);
  if (world.IsRoot()) CHECK(report.Balanced());
  if (world.Rank() == straggler) {
    CHECK(longest_gap > static_cast<std::int64_t>(stop * 0.9e6));
    CHECK(caught_up_at != 0);
    std::printf("rank %zu was away for %.1f s, and has caught up %.3f s after waking\n", world.Rank(),
                static_cast<double>(longest_gap) / 1e6, static_cast<double>(caught_up_at - woke_at) / 1e6);
    CHECK(caught_up_at - woke_at < 1'000'000);
    rates.catching_up = static_cast<double>(caught_up_at - woke_at) / 1e6;
  } else {
    const double before = Rate(marks, 0.2, begin_stop - 0.1);
    const double meanwhile = Rate(marks, begin_stop + 0.1, begin_stop + stop - 0.1);
    std::printf("rank %zu: %.0f updates/s, and %.0f while rank %zu was suspended; grown by %lld bytes\n", world.Rank(), before,
                meanwhile, straggler, static_cast<long long>(most_growth));
    rates = {before, meanwhile, 0};
  }
  CHECK(most_growth <= max_growth);
  Shown sum;
  const uit::ByteView mine = uit::BytesOf(rates);
  for (const uit::Bytes& bytes : world.AllToAll(std::vector<uit::Bytes>(world.Size(), uit::Bytes(mine.begin(), mine.end())))) {
    const auto theirs = uit::LoadBytes<Shown>(bytes);
    sum.before += theirs.before;
    sum.meanwhile += theirs.meanwhile;
    sum.catching_up = std::max(sum.catching_up, theirs.catching_up);
  }
  return sum;
}

double Median(std::vector<double> values) {
  std::ranges::sort(values);
  return values[values.size() / 2];
}

}  // namespace

TEST_CASE("A run goes on while one of its processes is suspended, which catches up within a second of waking") {
  std::vector<double> percent;
  std::vector<double> catching_up;
  for (int i = 0; i < PerCommitOrNight(1, 20); ++i) {
    const Shown shown = SuspendOne();
    percent.push_back(100 * shown.meanwhile / shown.before);
    catching_up.push_back(shown.catching_up);
    // The median tells more: other work on the machine moves each process's rate.
    CHECK(shown.meanwhile >= 0.5 * shown.before);
  }
  if (!MpiTestWorld().IsRoot()) return;
  if (IsNightly()) CHECK(Median(percent) >= 95);
  std::array<char, 160> figure{};
  std::snprintf(figure.data(), figure.size(), "others at %.0f %% of the undisturbed rate (median of %zu), catches up in at most %.3f s",
                Median(percent), percent.size(), *std::ranges::max_element(catching_up));
  PrintGoal("R7", figure.data());
}
