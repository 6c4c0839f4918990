// heat_rate SIDE UPDATES: heat on a torus of SIDE × SIDE nodes, one thread per process. Prints the seconds of an update
// and the sum of all squares of heat. The same as heat_rate.py.
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <string>

#include <netuit/netuit.hpp>

int main(int argc, char** argv) {
  return netuit::Main(argc, argv, {.threads = 1}, [&](uit::Team& team) {
    const auto side = static_cast<netuit::NodeId>(std::stoul(argv[1]));
    const std::uint64_t updates = std::stoull(argv[2]);
    netuit::Mesh mesh{team, netuit::Torus(side, side)};
    auto heat = mesh.AddPublishedField<double>([](netuit::NodeId id) { return id == 0 ? 1e6 : 0.0; });
    const auto update = [&](netuit::Node& node) {
      double sum = 0;
      for (auto edge : node.In()) sum += heat[edge];
      heat[node] = 0.5 * heat[node] + 0.125 * sum;
    };
    mesh.Run(netuit::EveryUpdate{.updates = 2}, update);
    const auto begin = std::chrono::steady_clock::now();
    const auto report = mesh.Run(netuit::EveryUpdate{.updates = updates}, update);
    const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - begin;
    double squares = 0;
    for (const double value : mesh.Gather(heat)) squares += value * value;
    if (team.IsRoot()) std::printf("%.6g %.6g\n", seconds.count() / static_cast<double>(updates), squares);
    return report.ExitCode();
  });
}
