// Communities of a graph by label propagation: each node takes the label that most of its neighbours have, until none changes.
//
//     communities GRAPH.edgelist [FOLDER]                  two threads
//     mpirun -n 2 communities GRAPH.edgelist [FOLDER]      two processes with two threads each
//
// Writes communities.csv to FOLDER. Neighbours take turns by colour, because two could otherwise swap labels for ever. The result
// is the same on any layout.
#include <cstdint>
#include <cstdio>
#include <map>
#include <set>
#include <string>

#include <netuit/netuit.hpp>

int main(int argc, char** argv) {
  return netuit::Main(argc, argv, {.threads = 2}, [&](uit::Team& team) {
    if (argc < 2) throw uit::InputError("usage: communities GRAPH.edgelist [FOLDER]");
    netuit::Mesh mesh{team, {{"graph", netuit::LoadGraph(argv[1]), {.delays = netuit::GaussSeidelByColor()}}}};
    auto label = mesh.AddPublishedField<std::uint32_t>([](netuit::NodeId id) { return id; });
    auto has_changed = mesh.AddReduction(netuit::maximum);
    const auto report = mesh.Run(netuit::Dataflow{.until = has_changed < 0.5}, [&](netuit::Node& node) {
      std::map<std::uint32_t, std::uint32_t> votes;
      for (auto edge : node.In()) ++votes[label[edge]];
      std::uint32_t best = label[node];
      for (const auto& [candidate, count] : votes)
        if (count > votes[best]) best = candidate;
      has_changed[node] = best == label[node] ? 0 : 1;
      label[node] = best;
    });
    if (argc > 2) mesh.WriteTable(std::string(argv[2]) + "/communities.csv", netuit::Column{"community", label});
    const auto all = mesh.Gather(label);
    if (team.IsRoot()) std::printf("%zu communities\n", std::set(all.begin(), all.end()).size());
    return report.ExitCode();
  });
}
