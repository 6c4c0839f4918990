// Usage: lost_peer_program CASE FOLDER. Of two processes, rank 1 ends, throws, is killed or falls silent, outside a run or in
// one. Rank 0 prints what it noticed: "seen: WORDS, SECONDS s". lost_peer_program_test.py checks this.
#include <netuit/calls/calls.hpp>
#include <netuit/calls/fetch.hpp>
#include <netuit/checkpoint/run_with_checkpoints.hpp>
#include <netuit/netuit.hpp>
#include <netuit/run/modes.hpp>
#include <uit/conveyor/combining_conveyor.hpp>
#include <uit/conveyor/conveyor.hpp>
#include <uit/conveyor/conveyors.hpp>
#include <uit/conveyor/requests.hpp>
#include <uit/conveyor/span_conveyor.hpp>
#include <uit/conveyor/tasks.hpp>
#include <uit/team/member.hpp>

#include <mpi.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <csignal>
#include <cstddef>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <fstream>
#include <functional>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

using namespace std::chrono_literals;

namespace {

std::atomic<bool> is_silent_when_gathering{false};  // read by MPI_Iallreduce below

constexpr uit::Policy every{};
using Transports = uit::TransportSet<uit::Process>;

/// A fabric with one conduit in each direction.
struct Joined {
  explicit Joined(const uit::World& world)
      : fabric{world}, to_other{.fabric = &fabric, .peer = 1 - world.Rank(), .key = {.channel = 1}} {}
  uit::Fabric fabric;
  uit::Process to_other;
  uit::Inlet<int, every, Transports> inlet{to_other};
  uit::Outlet<int, every, Transports> outlet{to_other};
};

/// A connected mesh in which every node publishes a value.
struct ConnectedMesh : netuit::Mesh {
  explicit ConnectedMesh(const uit::World& world) : Mesh{uit::Team{world}, netuit::Torus(4, 4)} {
    AddPublishedField<int>();
    Connect();
  }
};

/// Ends rank 1 as a signal would, as soon as rank 0 has arrived here, too.
void EndSecond(bool is_first, const std::filesystem::path& folder) {
  const auto here = folder / "here";
  if (is_first) {
    const std::ofstream mark{here};
    return;
  }
  while (!std::filesystem::exists(here)) std::this_thread::sleep_for(1ms);
  _exit(0);
}

void Print(const std::string& words, uit::TimePoint since) {
  std::printf("seen: %s, %.3f s\n", words.c_str(), std::chrono::duration<double>(uit::Now() - since).count());
  std::fflush(stdout);
}

/// Runs, and prints what rank 0 was told. Saves a checkpoint after every ten updates, if it has a folder for them. Returns the exit
/// code of the run.
int RunMesh(const uit::World& world, const netuit::RunPlan& plan, const netuit::RunOptions& options,
            const std::function<void(netuit::Node&)>& update, const std::filesystem::path& checkpoints = {}) {
  ConnectedMesh mesh{world};
  const auto begin = uit::Now();
  const netuit::RunReport report =
      checkpoints.empty() ? mesh.Run(plan, update, options)
                          : netuit::RunWithCheckpoints(mesh, plan, update, {.to = checkpoints, .every_updates = 10}, options);
  if (world.IsRoot()) Print(report.message, begin);
  return report.ExitCode();
}

/// Calls `f` on rank 0 after rank 1 has left. Prints how it ends and how long it takes.
template <typename F>
void Watch(F&& f) {
  const auto begin = uit::Now();
  try {
    Print(f(), begin);
  } catch (const uit::PeerLost& lost) {
    Print(std::string("lost: ") + lost.what(), begin);
  } catch (const std::exception& error) {
    Print(std::string("thrown: ") + error.what(), begin);
  }
}

std::string Said(bool is_clean) { return is_clean ? "closed" : "not closed"; }

/// Writes to a file that this process is alive, until it is ended or `limit` has passed.
void StayAlive(const std::filesystem::path& file, std::chrono::seconds limit) {
  for (const auto begin = uit::Now(); uit::Now() - begin < limit; std::this_thread::sleep_for(20ms))
    std::ofstream{file, std::ios::app} << uit::Now().time_since_epoch().count() << '\n';
}

}  // namespace

/// In place of MPI's function, which the library calls first when it gathers the report of a run.
extern "C" int MPI_Iallreduce(const void* sent, void* received, int count, MPI_Datatype type, MPI_Op operation,
                              MPI_Comm communicator, MPI_Request* request) {
  if (is_silent_when_gathering.exchange(false)) std::this_thread::sleep_for(4s);
  return PMPI_Iallreduce(sent, received, count, type, operation, communicator, request);
}

int main(int argc, char** argv) {
  const std::string what = argc == 3 ? argv[1] : "";
  const std::filesystem::path folder = argc == 3 ? argv[2] : "";
  return netuit::GuardedMain(argc, argv, [&](const uit::World& world) {
    const bool is_first = world.IsRoot();
    if (what == "connect") {
      Joined joined{world};
      EndSecond(is_first, folder);
      Watch([&] { return joined.fabric.Connect(), "connected"; });
    } else if (what == "mesh") {
      EndSecond(is_first, folder);
      Watch([&] { return ConnectedMesh{world}, "made"; });
    } else if (what == "team") {
      const uit::Team team{world, {.threads = 2}};
      Watch([&] {
        team.Run([&](uit::Member& me) {
          auto inlet = me.InletTo<int>(me.Right());
          auto outlet = me.OutletFrom<int>(me.Left());
          me.Connect();
          for (int round = 0;; ++round) {
            inlet.TryPut(round);
            me.Barrier();
            if (round == 100 && me.Rank() == 3) _exit(0);
          }
        });
        return "ended";
      });
    } else if (what.starts_with("conveyor_")) {
      const uit::Team team{world, {.threads = 2}};
      const auto does = [&](const char* name) { return what.find(name) != std::string::npos; };
      Watch([&] {
        team.Run([&](uit::Member& me) {
          uit::Conveyor<int> conveyor{me, [](const int&) {}, {.two_hops_above = does("two_hops") ? 0U : 256U}};
          for (int round = 0;; ++round) {
            if (round == 100 && me.Rank() == 3) _exit(0);
            if (does("finish") || round < 100) conveyor.Finish();
            else if (does("push")) conveyor.Push(3, round);
            else if (does("wait")) conveyor.WaitUntil([] { return false; });
            else if (!conveyor.TryPush(3, round)) conveyor.HandleArrived();
          }
        });
        return "ended";
      });
    } else if (what == "killed_span" || what == "killed_combining" || what == "killed_requests") {
      const uit::Team team{world, {.threads = 2}};
      Watch([&] {
        team.Run([&](uit::Member& me) {
          uit::Conveyors set{me};
          uit::SpanConveyor<int> spans{set, [](std::span<const int>) {}};
          uit::CombiningConveyor<int, int, std::plus<>> sums{
              set, [](const uit::Keyed<int, int>&) {}, uit::Combine<std::plus<>>{.table_bytes = 1024, .conveyor = {.buffer_bytes = 4096}}};
          uit::Tasks tasks{set, {.max_tasks = 64}};
          uit::Requests<int, int> ask{tasks, [](int number) { return number; }};
          const auto ask_all = [&](int number) -> uit::Task {
            for (std::size_t to = 0; to < me.Size(); ++to) co_await ask(to, number);
          };
          const std::vector<int> item(1000);
          for (int round = 0;; ++round) {
            if (round == 100 && me.Rank() == 3) std::raise(SIGKILL);
            if (round < 100) set.Finish();
            else if (what == "killed_span") spans.Push(3, item);
            else if (what == "killed_combining") sums.Push(3, {round, 1});
            else tasks.Start(ask_all, round);
          }
        });
        return "ended";
      });
    } else if (what == "killed_calls") {
      netuit::Mesh mesh{uit::Team{world, {.threads = 2}}, netuit::Torus(4, 4)};
      auto call = mesh.AddCall<int>([&](netuit::Node&, int number) {
        if (number == 100 && !is_first) std::raise(SIGKILL);
      });
      Watch([&] {
        for (int round = 0;; ++round) {
          mesh.Finish([&](netuit::Node& node) {
            for (const netuit::OutEdge edge : node.Out()) call(edge.Target(), round);
          });
        }
        return "ended";
      });
    } else if (what == "fetch") {
      netuit::Mesh mesh{uit::Team{world, {.threads = 2}}, netuit::Torus(4, 4)};
      int round = 0;
      auto echo = mesh.AddFetch<int>([&](netuit::Node&, int number) {
        if (number == 100 && !is_first) _exit(0);
        return number;
      });
      Watch([&] {
        for (;; ++round) {
          mesh.Finish([&](netuit::Node node) -> uit::Task {
            for (const netuit::OutEdge edge : node.Out()) co_await echo(edge.Target(), round);
          });
        }
        return "ended";
      });
    } else if (what == "close_ended") {
      Joined joined{world};
      joined.fabric.Connect();
      EndSecond(is_first, folder);
      Watch([&] { return Said(joined.fabric.Close()); });
    } else if (what == "close_silent") {
      Joined joined{world};
      joined.fabric.Connect();
      if (!is_first) std::this_thread::sleep_for(40s);  // rank 0 ends the job earlier
      Watch([&] { return Said(joined.fabric.Close()); });
    } else if (what == "given_up") {
      Joined joined{world};
      joined.fabric.Connect();
      if (is_first) {
        Watch([&] { return Said(joined.fabric.Close()); });
      } else {
        std::this_thread::sleep_for(15s);
        std::ofstream{folder / "late"} << "results\n";
      }
    } else if (what == "mesh_close_silent") {
      ConnectedMesh mesh{world};
      if (!is_first) std::this_thread::sleep_for(40s);
      Watch([&] { return Said(mesh.Close()); });
    } else if (what == "close_throwing") {
      Watch([&]() -> std::string {
        std::optional<Joined> joined{world};
        joined->fabric.Connect();
        if (!is_first) std::this_thread::sleep_for(40s);
        throw std::runtime_error("on its way");
      });
    } else if (what == "throws") {
      if (!is_first) {
        std::ofstream{folder / "thrown"} << uit::Now().time_since_epoch().count() << '\n';
        throw std::runtime_error("outside of a run");
      }
      StayAlive(folder / "alive", 40s);
      Print("the end", uit::Now());
    } else if (what == "mpi_fails") {
      if (!is_first) {
        std::ofstream{folder / "thrown"} << uit::Now().time_since_epoch().count() << '\n';
        world.Process()->Fail("MPI has failed, for a test");
        return 0;
      }
      StayAlive(folder / "alive", 40s);
      Print("the end", uit::Now());
    } else if (what == "leaves") {
      if (!is_first) return 4;
      StayAlive(folder / "alive", 5s);
      Print("the end", uit::Now());
    } else if (what == "run_throws") {
      return RunMesh(world, netuit::Free{.duration = 40s}.MakePlan(), {}, [&](netuit::Node& node) {
        if (!is_first && node.Update() == 5) throw std::runtime_error("in a run");
      });
    } else if (what == "run_silent_in_report") {
      return RunMesh(world, netuit::EveryUpdate{.updates = 6}.MakePlan(), {.peer_timeout = 1s}, [&](netuit::Node& node) {
        if (!is_first && node.Update() == 5) is_silent_when_gathering = true;
      });
    } else if (what == "run_stopped_0" || what == "run_stopped_3" || what == "run_stopped_5") {  // the mode
      const auto mode = static_cast<netuit::AsyncMode>(what.back() - '0');
      std::ofstream{folder / (is_first ? "other" : "stopped")} << getpid() << '\n';
      return RunMesh(world, netuit::ScheduleOf(mode, {.duration = 2s}), {.peer_timeout = 1s}, [&](netuit::Node& node) {
        if (!is_first && node.Update() == 5) std::raise(SIGSTOP);
      });
    } else if (what == "run_killed_0" || what == "run_killed_5") {
      const auto mode = static_cast<netuit::AsyncMode>(what.back() - '0');
      return RunMesh(world, netuit::ScheduleOf(mode, {.updates = 40}), {}, [&](netuit::Node& node) {
        if (!is_first && node.Update() == 25) std::raise(SIGKILL);
      }, folder / "checkpoint");
    } else {
      throw uit::InputError("no such case: " + what);
    }
    return 0;
  });
}
