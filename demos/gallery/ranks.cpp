// PageRank of a graph: in each round, every node gives its neighbours equal parts of 85 % of its rank, by calls to their owners.
//
//     ranks GRAPH.edgelist [FOLDER]                  two threads
//     mpirun -n 2 ranks GRAPH.edgelist [FOLDER]      two processes with two threads each
//
// Writes ranks.csv to FOLDER. Calls for the same node are added up before they are sent. A node without edges has the least rank.
#include <algorithm>
#include <cstdio>
#include <functional>
#include <numeric>
#include <string>

#include <netuit/calls/calls.hpp>
#include <netuit/calls/combine.hpp>
#include <netuit/netuit.hpp>

int main(int argc, char** argv) {
  return netuit::Main(argc, argv, {.threads = 2}, [&](uit::Team& team) {
    if (argc < 2) throw uit::InputError("usage: ranks GRAPH.edgelist [FOLDER]");
    netuit::Mesh mesh{team, netuit::LoadGraph(argv[1])};
    auto rank = mesh.AddField<double>(1.0 / mesh.NumNodes());
    auto given = mesh.AddField<double>(0.0);
    auto give = mesh.AddCall<double>([&](netuit::Node& node, double part) { given[node] += part; }, uit::Combine{std::plus<>{}});
    for (int round = 0; round < 100; ++round) {
      mesh.Finish([&](netuit::Node& node) {
        for (auto edge : node.Out()) give(edge, 0.85 * rank[node] / static_cast<double>(node.Out().size()));
      });
      mesh.Visit([&](netuit::Node& node) {
        rank[node] = 0.15 / mesh.NumNodes() + given[node];
        given[node] = 0;
      });
    }
    if (argc > 2) mesh.WriteTable(std::string(argv[2]) + "/ranks.csv", netuit::Column{"rank", rank});
    const auto all = mesh.Gather(rank);
    if (team.IsRoot() && !all.empty()) {
      const auto [least, largest] = std::ranges::minmax(all);
      std::printf("ranks from %.4f to %.4f, in all %.4f\n", least, largest, std::accumulate(all.begin(), all.end(), 0.0));
    }
    return 0;
  });
}
