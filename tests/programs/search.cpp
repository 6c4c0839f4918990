// Breadth-first search by calls to the owners of nodes: finds a tree that spans a small world.
#include <cstdio>

#include <netuit/calls/calls.hpp>
#include <netuit/graph/small_world.hpp>
#include <netuit/netuit.hpp>

int main(int argc, char** argv) {
  return netuit::Main(argc, argv, {.threads = 2}, [](uit::Team& team) {
    constexpr netuit::NodeId root = 17;
    netuit::Mesh mesh{team, netuit::MakeSmallWorld(5000, 6, 0.2, 1)};
    auto parent = mesh.AddField<netuit::NodeId>(netuit::no_node);
    auto visit = mesh.AddCall<netuit::NodeId>([&](netuit::Node& node, netuit::NodeId from, auto& call) {
      if (parent[node] != netuit::no_node) return;
      parent[node] = from;
      for (auto edge : node.Out()) call(edge, node.Id());
    });
    const uit::ConveyorTally calls = mesh.Finish([&] {
      if (team.IsRoot()) visit(root, root);
    });
    netuit::NodeId num_reached = 0;
    for (const netuit::NodeId id : mesh.Gather(parent)) num_reached += id != netuit::no_node ? 1U : 0U;
    if (!team.IsRoot()) return 0;
    std::printf("%u of %u nodes reached by %llu calls\n", num_reached, mesh.NumNodes(),
                static_cast<unsigned long long>(calls.handled));
    return num_reached == mesh.NumNodes() && calls.pushed == calls.handled ? 0 : 1;
  });
}
