// Angles of a power grid, in which the flows between its nodes are in balance, until they change no more.
//   power GRID.edgelist POWER.csv ANGLES.csv      weights of edges are susceptances; POWER.csv has the columns label and power
#include <cmath>

#include <netuit/netuit.hpp>

int main(int argc, char** argv) {
  return netuit::Main(argc, argv, {.threads = 2}, [&](uit::Team& team) {
    netuit::Mesh mesh{team, netuit::LoadGraph(argv[1])};
    auto weight = mesh.GetEdgeWeights();
    auto power = mesh.AddField<double>(netuit::FromTable(argv[2], "power"));
    auto theta = mesh.AddPublishedField<double>(0.0);
    auto change = mesh.AddReduction(netuit::maximum);
    auto report = mesh.Run(netuit::Dataflow{.until = change < 1e-11}, [&](netuit::Node& node) {
      double sum = power[node], diagonal = 0;
      for (auto edge : node.In()) sum += weight[edge] * theta[edge], diagonal += weight[edge];
      change[node] = std::abs(sum / diagonal - theta[node]);
      theta[node] = sum / diagonal;
    });
    report.Print();
    mesh.WriteTable(argv[3], netuit::Column{"theta", theta});
    return report.ExitCode();
  });
}
