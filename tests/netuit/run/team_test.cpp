// The agreements of the workers of all processes, without a mesh.
#include <netuit/run/team.hpp>

#include <signal.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <netuit/run/run_options.hpp>
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
using netuit::detail::Team;
using netuit::testing::Station;
using uit::testing::LoopbackNetwork;

namespace {

constexpr std::size_t num_processes = 3;
constexpr std::uint32_t num_threads = 2;

void Meet(Team& team, std::uint32_t thread, const Vote& vote) {
  uit::SpinHabit habit;
  team.Meet(thread, vote, 20s, uit::NoIdle{}, habit);
}

/// Calls `work(team, rank, thread)` for all workers at once; then all meet once more. Returns the final agreement of every
/// worker.
std::vector<Vote> Together(std::size_t per_node, const std::function<void(Team&, std::size_t, std::uint32_t)>& work) {
  LoopbackNetwork network{num_processes, per_node};
  const uit::ProcessState process;
  const RunOptions options{.stops_on_signal = false};
  std::vector<Vote> agreed(num_processes * num_threads);
  network.Together([&](std::size_t rank) {
    Station station{network.World(rank)};
    Team team{station.barrier, process, num_threads, options, false};
    const auto be_worker = [&](std::uint32_t thread) {
      work(team, rank, thread);
      agreed[rank * num_threads + thread] = team.Agreed();
      Meet(team, thread, {});
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
    const std::vector<Vote> all = Together(per_node, [bringer](Team& team, std::size_t rank, std::uint32_t thread) {
      const bool is_it = rank * num_threads + thread == bringer;
      const auto stop = is_it ? Team::Encode(StopReason::thrown) : Team::Encode(StopReason::signal, 15);
      Meet(team, thread, {.stop = stop, .is_pending = is_it ? 1U : 0U, .next = is_it ? 7U : 3U});
    });
    for (const Vote& vote : all) {
      CHECK(vote.stop == Team::Encode(StopReason::thrown));
      CHECK(vote.is_pending == 1);
      CHECK(vote.next == 7);
    }
  }
}

TEST_CASE("Far from a barrier, a process learns of a stop from a process that waits for it there") {
  const std::size_t per_node = GENERATE(0U, 3U);
  CAPTURE(per_node);
  std::vector<std::uint32_t> seen(num_processes * num_threads);
  Together(per_node, [&seen](Team& team, std::size_t rank, std::uint32_t thread) {
    if (rank == 1) {
      team.RaiseStop(Team::Encode(StopReason::signal, 15));
    } else {
      uit::WaitUntil([&] { return team.StopSeen() != 0; }, uit::After(10s), [&] {
        if (thread == 0) team.LookOut(true);
        return false;
      });
    }
    seen[rank * num_threads + thread] = team.StopSeen();
    Meet(team, thread, {.stop = team.StopSeen()});
  });
  CHECK(seen == std::vector<std::uint32_t>(seen.size(), Team::Encode(StopReason::signal, 15)));
}

TEST_CASE("The weightiest reason of a process counts, with its first message") {
  std::vector<std::string> words(num_processes * num_threads);
  const std::vector<Vote> all = Together(3, [&words](Team& team, std::size_t rank, std::uint32_t thread) {
    if (thread == 0) {
      team.RaiseStop(Team::Encode(StopReason::clock));
      if (rank == 1) team.StopByThrow("first", std::make_exception_ptr(std::runtime_error("no\nmore")));
      if (rank == 1) team.StopByThrow("second", std::make_exception_ptr(7));
      team.RaiseStop(Team::Encode(StopReason::signal, 15));
    }
    Meet(team, thread, {});
    words[rank * num_threads + thread] = team.Message();
    Meet(team, thread, {.stop = team.StopSeen()});
  });
  for (const Vote& vote : all) CHECK(vote.stop == Team::Encode(StopReason::thrown));
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
      Team team{station.barrier, process, 1, options, false};
      uit::SpinHabit habit;
      team.Meet(0, {}, 30ms, uit::NoIdle{}, habit);  // rank 1 does not come
      CHECK(team.LostPeers() == std::vector<std::size_t>{1});
      kill(child.process, SIGKILL);
      CHECK(uit::WaitUntil([&] { return process.Watch().Gone().has_value(); }, uit::After(10s)));
      CHECK(team.LostPeers() == std::vector<std::size_t>{1});
    }
    station.world.Agree({});
    station.barrier.Close(uit::Now());
  });
}
