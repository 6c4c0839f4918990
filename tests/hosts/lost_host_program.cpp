// Usage: lost_host_program MODE FOLDER. The last process is killed one second after the run has begun. Each other process
// writes one line to FOLDER/seen.rankR: its exit code, the ranks that it lost (0,2), the seconds from the death to the end of
// its run, its number of updates in the last planned second, and its message about the loss. two_hosts.sh checks these lines.
#include <netuit/netuit.hpp>
#include <netuit/run/modes.hpp>

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

}  // namespace

int main(int argc, char** argv) {
  return netuit::GuardedMain(argc, argv, [&](const uit::World& world) {
    if (argc != 3) throw uit::InputError("lost_host_program MODE FOLDER");
    const std::filesystem::path folder = argv[2];
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
      if (is_last && elapsed > dies_after) {
        std::ofstream{folder / "died"} << std::to_string(Time()) << '\n';
        std::raise(SIGKILL);
      }
      if (elapsed > planned - 1s && elapsed < planned) ++num_late;
    }, {.peer_timeout = peer_timeout});
    const double end = Time();
    double death = end;
    std::ifstream{folder / "died"} >> death;
    std::ofstream{folder / ("seen.rank" + std::to_string(world.Rank()))}
        << report.ExitCode() << ' ' << Joined(report.lost_peers) << ' ' << end - death << ' ' << num_late << ' '
        << report.message << '\n';
    return report.ExitCode();
  });
}
