// Heat flows over a torus from its middle. Its total is conserved in every mode, because heat in flight counts as well.
//
//     heat_flow [FOLDER]                  two threads
//     mpirun -n 2 heat_flow [FOLDER]      two processes with two threads each
//
// Writes heat.csv to FOLDER: the heat of each node at the end.
#include <chrono>
#include <cstdio>
#include <string>

#include <netuit/netuit.hpp>

using namespace std::chrono_literals;

int main(int argc, char** argv) {
  return netuit::Main(argc, argv, {.threads = 2}, [&](uit::Team& team) {
    netuit::Mesh mesh{team, netuit::Torus(64, 64)};
    auto heat = mesh.AddField<double>([](netuit::NodeId id) { return id == 32 * 64 + 32 ? 4096.0 : 0.0; });
    auto flow = mesh.AddChannels<double, uit::summed>();
    auto report = mesh.Run(netuit::Free{.duration = 200ms}, [&](netuit::Node& node) {
      for (auto edge : node.In()) heat[node] += flow[edge].JumpGet();
      const double part = 0.005 * heat[node];
      for (auto edge : node.Out()) if (flow[edge].TryPut(part)) heat[node] -= part;
    });
    report.Print();
    mesh.Visit([&](netuit::Node& node) { for (auto edge : node.In()) heat[node] += flow[edge].JumpGet(); });
    if (argc > 1) mesh.WriteTable(std::string(argv[1]) + "/heat.csv", netuit::Column{"heat", heat});
    double total = 0;
    for (const double value : mesh.Gather(heat)) total += value;
    if (team.IsRoot()) std::printf("heat %.6f of 4096\n", total);
    return report.ExitCode();
  });
}
