// Usage: lost_host_program MODE FOLDER. MODE is one of a mesh's run, or what the members of a team do: `barriers`, or `pushes` to
// the last. The last process is killed one second after the run has begun. Each other process
// writes one line to FOLDER/seen.rankR: its exit code, the ranks that it lost (0,2), the seconds from the death to the end of
// its run, its number of updates in the last planned second, and its message about the loss. two_hosts.sh checks these lines.
#include <netuit/netuit.hpp>
#include <netuit/run/modes.hpp>
#include <uit/conveyor/conveyor.hpp>
#include <uit/team/member.hpp>

#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

using namespace std::chrono_literals;

namespace {

constexpr auto dies_after = 1s;
constexpr auto planned = 3s;
constexpr auto peer_timeout = 2s;

/// Seconds since boot. All hosts of the test are one machine and share this clock.
double Time() { return std::chrono::duration<double>(uit::Now().time_since_epoch()).count(); }

std::string Joined(const auto& numbers) {
  std::string text;
  for (const auto number : numbers) text += (text.empty() ? "" : ",") + std::to_string(number);
  return text.empty() ? "nobody" : text;
}

void Die(const std::filesystem::path& folder) {
  std::ofstream{folder / "died"} << std::to_string(Time()) << '\n';
  std::raise(SIGKILL);
}

void Tell(const std::filesystem::path& folder, const uit::World& world, int code, const std::string& lost, std::uint64_t num_late,
          const std::string& message) {
  const double end = Time();
  double death = end;
  std::ifstream{folder / "died"} >> death;
  std::ofstream{folder / ("seen.rank" + std::to_string(world.Rank()))}
      << code << ' ' << lost << ' ' << end - death << ' ' << num_late << ' ' << message << '\n';
}

/// What members of a team find. They go on until they are told.
void RunTeam(const uit::World& world, const std::string& what, const std::filesystem::path& folder) {
  try {
    uit::Team{world, {.peer_timeout = peer_timeout}}.Run([&](uit::Member& me) {
      uit::Conveyor<int> conveyor{me, [](int) {}};
      const uit::Deadline end = uit::After(dies_after);
      if (me.Right() == 0) {
        conveyor.WaitUntil([&] { return uit::Now() > end; });
        Die(folder);
      }
      while (what == "barriers") me.Barrier();
      while (true) conveyor.Push(me.Size() - 1, 0);
    });
  } catch (const uit::PeerLost& lost) {
    Tell(folder, world, 3, lost.Rank() ? std::to_string(*lost.Rank()) : "nobody", 0, lost.what());
    throw;
  }
}

}  // namespace

int main(int argc, char** argv) {
  return netuit::GuardedMain(argc, argv, [&](const uit::World& world) {
    if (argc != 3) throw uit::InputError("lost_host_program MODE FOLDER");
    const std::filesystem::path folder = argv[2];
    if (const std::string what = argv[1]; what == "barriers" || what == "pushes") return RunTeam(world, what, folder), 0;
    const bool is_last = world.Rank() + 1 == world.Size();
    const netuit::Topology topology = netuit::MakeTorus(12, 12);
    netuit::Mesh mesh{uit::Team{world}, topology, {.placement = netuit::PlaceContiguous(topology, {.processes = world.Size()})}};
    mesh.AddPublishedField<int>();
    const auto mode = static_cast<netuit::AsyncMode>(std::atoi(argv[1]));
    std::uint64_t num_late = 0;  // updates in the last planned second
    uit::TimePoint begin{};
    const netuit::RunReport report = mesh.Run(netuit::ScheduleOf(mode, {.duration = planned}), [&](netuit::Node&) {
      if (begin == uit::TimePoint{}) begin = uit::Now();
      const auto elapsed = uit::Now() - begin;
      if (is_last && elapsed > dies_after) Die(folder);
      if (elapsed > planned - 1s && elapsed < planned) ++num_late;
    }, {.peer_timeout = peer_timeout});
    Tell(folder, world, report.ExitCode(), Joined(report.lost_peers), num_late, report.message);
    return report.ExitCode();
  });
}
