// The Ising model on a torus at three temperatures, by Metropolis' rule: below, at and above the critical temperature 2.269.
//
//     ising [FOLDER]                  two threads
//     mpirun -n 2 ising [FOLDER]      two processes with two threads each
//
// Writes spins.csv to FOLDER, a column per temperature. No two neighbours may turn at once, so they take turns by colour, as on a
// chessboard. The result is the same on any layout.
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdio>
#include <numeric>
#include <string>
#include <vector>

#include <netuit/netuit.hpp>

constexpr std::array<double, 3> temperatures{1.8, 2.269, 3.5};

int main(int argc, char** argv) {
  return netuit::Main(argc, argv, {.threads = 2}, [&](uit::Team& team) {
    netuit::Mesh mesh{team, {{"lattice", netuit::MakeTorus(64, 64), {.delays = netuit::GaussSeidelByColor()}}}};
    std::vector<netuit::PublishedField<int>> spins;
    for (std::size_t i = 0; i < temperatures.size(); ++i) spins.push_back(mesh.AddPublishedField<int>(1));
    const auto report = mesh.Run(netuit::Dataflow{.updates = 500}, [&](netuit::Node& node) {
      auto random = node.Random();
      for (std::size_t i = 0; i < temperatures.size(); ++i) {
        auto& spin = spins[i];
        int sum = 0;
        for (auto edge : node.In()) sum += spin[edge];
        const double cost = 2.0 * spin[node] * sum;  // of turning the spin
        if (random.Uniform() < std::exp(-cost / temperatures[i])) spin[node] = -spin[node];
      }
    });
    if (argc > 1)
      mesh.WriteTable(std::string(argv[1]) + "/spins.csv", netuit::Column{"cold", spins[0]}, netuit::Column{"critical", spins[1]},
                      netuit::Column{"hot", spins[2]});
    for (std::size_t i = 0; i < temperatures.size(); ++i) {
      const auto all = mesh.Gather(spins[i]);
      const double mean = static_cast<double>(std::accumulate(all.begin(), all.end(), 0)) / static_cast<double>(mesh.NumNodes());
      if (team.IsRoot()) std::printf("temperature %.3f: magnetisation %+.3f\n", temperatures[i], mean);
    }
    return report.ExitCode();
  });
}
