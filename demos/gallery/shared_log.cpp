// A rumour on a torus, and one log per process, in which all its nodes write in a reproducible order.
//
//     shared_log [FOLDER [MODE [THREADS]]]                  mode 0, two threads
//     mpirun -n 2 shared_log [FOLDER [MODE [THREADS]]]      two processes with as many threads each
//
// Writes log.0 to FOLDER or to the current folder, and log.1 and so on for further processes. In modes 0 and 5, a log is in order of
// update and node, and all logs together have the same lines on any number of processes and threads.
#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <string>

#include <netuit/netuit.hpp>

int main(int argc, char** argv) {
  const std::string folder = argc > 1 ? argv[1] : ".";
  const auto mode = static_cast<netuit::AsyncMode>(argc > 2 ? std::atoi(argv[2]) : 0);
  const auto threads = static_cast<std::uint32_t>(argc > 3 ? std::atoi(argv[3]) : 2);
  return netuit::Main(argc, argv, {.threads = threads}, [&](uit::Team& team) {
    netuit::Mesh mesh{team, netuit::Torus(16, 16)};
    auto knows = mesh.AddPublishedField<int>([](netuit::NodeId id) { return id == 8 * 16 + 8 ? 1 : 0; });
    auto log = mesh.AddShared<std::ofstream, netuit::Order::sequential>(folder + "/log." + std::to_string(team.Rank()));
    auto report = mesh.Run(netuit::ScheduleOf(mode, {.updates = 100}), [&](netuit::Node& node) {
      auto random = node.Random();
      for (auto edge : node.In()) {
        if (knows[node] != 0 || knows[edge] == 0 || random.Below(4) != 0) continue;
        knows[node] = 1;
        log.InTurn(node) << "update " << node.Update() << ": node " << node.Id() << " hears it from node " << edge.Source() << '\n';
      }
    });
    report.Print();
    return report.ExitCode();
  });
}
