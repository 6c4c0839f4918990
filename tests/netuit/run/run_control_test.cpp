// The agreements of the workers of all processes, without a mesh.
#include <netuit/run/run_control.hpp>

#include <signal.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <netuit/run/run_options.hpp>
#include <netuit/run/schedule.hpp>
#include <stdexcept>
#include <string>
#include <thread>
#include <uit/support/clock.hpp>
#include <uit/support/pause.hpp>
#include <uit/link/process_state.hpp>
#include <vector>

#include "tests/netuit/barrier/station.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/child_process.hpp"
#include "tests/support/loopback_world.hpp"

using namespace netuit;
using namespace std::chrono_literals;
using netuit::detail::RunControl;
using netuit::testing::Station;
using uit::testing::LoopbackNetwork;

namespace {

constexpr std::size_t num_processes = 3;
constexpr std::uint32_t num_threads = 2;

void Meet(RunControl& control, std::uint32_t thread, const Vote& vote) {
  uit::SpinHabit habit;
  control.Meet(thread, vote, 20s, uit::NoIdle{}, habit);
}

/// Calls `work(control, rank, thread)` for all workers at once; then all meet once more. Returns the final agreement of every
/// worker.
std::vector<Vote> Together(std::size_t per_node, const std::function<void(RunControl&, std::size_t, std::uint32_t)>& work) {
  LoopbackNetwork network{num_processes, per_node};
  const uit::ProcessState process;
  const RunOptions options{.stops_on_signal = false};
  std::vector<Vote> agreed(num_processes * num_threads);
  network.Together([&](std::size_t rank) {
    Station station{network.World(rank)};
    RunControl control{station.barrier, process, num_threads, options, RunPlan{}};
    const auto be_worker = [&](std::uint32_t thread) {
      work(control, rank, thread);
      agreed[rank * num_threads + thread] = control.Agreed();
      Meet(control, thread, {});
    };
    std::jthread other{[&] { be_worker(1); }};
    be_worker(0);
    other.join();
    station.barrier.Close(uit::After(10s));
  });
  return agreed;
}

}  // namespace

TEST_CASE("Workers stop for the weightiest reason that any of them has, and go on while any has work left") {
  const std::size_t per_node = GENERATE(0U, 3U);
  for (std::size_t bringer = 0; bringer < num_processes * num_threads; ++bringer) {
    CAPTURE(per_node, bringer);
    const std::vector<Vote> all = Together(per_node, [bringer](RunControl& control, std::size_t rank, std::uint32_t thread) {
      const bool is_it = rank * num_threads + thread == bringer;
      const auto stop = is_it ? RunControl::Encode(StopReason::thrown) : RunControl::Encode(StopReason::signal, 15);
      Meet(control, thread, {.stop = stop, .is_pending = is_it ? 1U : 0U, .next = is_it ? 7U : 3U});
    });
    for (const Vote& vote : all) {
      CHECK(vote.stop == RunControl::Encode(StopReason::thrown));
      CHECK(vote.is_pending == 1);
      CHECK(vote.next == 7);
    }
  }
}

TEST_CASE("Far from a barrier, a process learns of a stop from a process that waits for it there") {
  const std::size_t per_node = GENERATE(0U, 3U);
  CAPTURE(per_node);
  std::vector<std::uint32_t> seen(num_processes * num_threads);
  Together(per_node, [&seen](RunControl& control, std::size_t rank, std::uint32_t thread) {
    if (rank == 1) {
      control.RaiseStop(RunControl::Encode(StopReason::signal, 15));
    } else {
      uit::WaitUntil([&] { return control.StopSeen() != 0; }, uit::After(10s), [&] {
        if (thread == 0) control.LookOut(true);
        return false;
      });
    }
    seen[rank * num_threads + thread] = control.StopSeen();
    Meet(control, thread, {.stop = control.StopSeen()});
  });
  CHECK(seen == std::vector<std::uint32_t>(seen.size(), RunControl::Encode(StopReason::signal, 15)));
}

TEST_CASE("The weightiest reason of a process counts, with its first message") {
  std::vector<std::string> words(num_processes * num_threads);
  const std::vector<Vote> all = Together(3, [&words](RunControl& control, std::size_t rank, std::uint32_t thread) {
    if (thread == 0) {
      control.RaiseStop(RunControl::Encode(StopReason::clock));
      if (rank == 1) control.StopByThrow("first", std::make_exception_ptr(std::runtime_error("no\nmore")));
      if (rank == 1) control.StopByThrow("second", std::make_exception_ptr(7));
      control.RaiseStop(RunControl::Encode(StopReason::signal, 15));
    }
    Meet(control, thread, {});
    words[rank * num_threads + thread] = control.Message();
    Meet(control, thread, {.stop = control.StopSeen()});
  });
  for (const Vote& vote : all) CHECK(vote.stop == RunControl::Encode(StopReason::thrown));
  CHECK(words == std::vector<std::string>{"", "", "first threw: no more", "first threw: no more", "", ""});
}

TEST_CASE("A process that falls silent and then ends is lost once") {
  uit::testing::ChildProcess child;
  LoopbackNetwork network{2, 2};
  uit::ProcessState process;
  process.WatchOver({child.Identity(1)});
  const RunOptions options{.stops_on_signal = false};
  network.Together([&](std::size_t rank) {
    Station station{network.World(rank)};
    if (rank == 0) {
      RunControl control{station.barrier, process, 1, options, RunPlan{}};
      uit::SpinHabit habit;
      control.Meet(0, {}, 30ms, uit::NoIdle{}, habit);  // rank 1 does not come
      CHECK(control.LostPeers() == std::vector<std::size_t>{1});
      kill(child.process, SIGKILL);
      CHECK(uit::WaitUntil([&] { return process.Watch().Gone().has_value(); }, uit::After(10s)));
      CHECK(control.LostPeers() == std::vector<std::size_t>{1});
    }
    station.world.Agree({});
    station.barrier.Close(uit::Now());
  });
}
