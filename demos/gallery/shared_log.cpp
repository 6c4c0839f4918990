// One log file per process, in which all its nodes write in a reproducible order. Without a second argument, the file is log.0 and
// so on.
#include <cstdlib>
#include <fstream>
#include <string>

#include <netuit/netuit.hpp>

int main(int argc, char** argv) {
  const auto threads = static_cast<std::uint32_t>(argc > 1 ? std::atoi(argv[1]) : 2);
  return netuit::Main(argc, argv, {.threads = threads}, [&](uit::Team& team) {
    netuit::Mesh mesh{team, netuit::Torus(16, 16)};
    auto infected = mesh.AddPublishedField<int>([](netuit::NodeId id) { return id == 0 ? 1 : 0; });
    auto log =
        mesh.AddShared<std::ofstream, netuit::Order::sequential>((argc > 2 ? argv[2] : "log.") + std::to_string(team.Rank()));
    auto report = mesh.Run(netuit::Dataflow{.updates = 100}, [&](netuit::Node& node) {
      if (infected[node] != 0) return;
      for (auto edge : node.In()) {
        if (infected[edge] == 0 || node.Random()() % 4 != 0) continue;
        infected[node] = 1;
        log.InTurn(node) << "update " << node.Update() << ": node " << node.Id() << " catches it from node " << edge.Source()
                         << '\n';
        break;
      }
    });
    report.Print();
    return report.ExitCode();
  });
}
