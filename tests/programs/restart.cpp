// Walkers that heat a torus. The program may be killed at any time, and goes on from its last checkpoint.
//   restart FOLDER MODE THREADS UPDATES EVERY LONGEST
// makes UPDATES in all, and a checkpoint after EVERY of them. In mode 5, edges have delays from 1 to LONGEST. FOLDER.npy is a film
// of the heat.
#include <cstdio>
#include <string>
#include <vector>

#include <netuit/checkpoint/run_with_checkpoints.hpp>
#include <netuit/netuit.hpp>

int main(int argc, char** argv) {
  const auto number = [&](int i) { return static_cast<std::uint32_t>(std::stoul(argv[i])); };
  return netuit::Main(argc, argv, {.threads = number(3)}, [&](uit::Team& team) {
    const auto delay_of = [&](netuit::NodeId source, netuit::NodeId target) { return 1 + (source + 3 * target) % number(6); };
    netuit::Mesh mesh{team, {{"torus", netuit::Torus(60, 50), {.delays = delay_of}}}};
    auto heat = mesh.AddPublishedField<double>([](netuit::NodeId id) { return id % 97; });
    auto crossed = mesh.AddEdgeField<int>(0);
    auto walkers = mesh.AddField<std::vector<int>>([](netuit::NodeId id) { return std::vector<int>(id % 50 == 0, int(id)); });
    auto walk = mesh.AddChannels<int, uit::every>();
    auto film = mesh.Capture(heat, {.every = 100});
    mesh.SetName(heat, "heat");
    mesh.SetName(crossed, "crossed");
    if (netuit::HasCheckpoint(team.GetWorld(), argv[1])) netuit::LoadCheckpoint(mesh, argv[1]);
    const auto update = [&](netuit::Node& node) {
      auto random = node.Random();
      double sum = 0;
      for (auto edge : node.In()) {
        sum += heat[edge];
        for (; walk[edge].TryStep() != 0; ++crossed[edge]) walkers[node].push_back(walk[edge].Get());
      }
      std::vector<int> staying;
      for (int walker : walkers[node])
        if (!walk[node.Out()[random.Below(4)]].TryPut(walker)) staying.push_back(walker);
      heat[node] = sum / 4 + static_cast<double>(walkers[node].size());
      walkers[node] = staying;
    };
    if (number(4) <= mesh.NumUpdates()) return 0;
    auto report = netuit::RunWithCheckpoints(
        mesh, netuit::ScheduleOf(netuit::AsyncMode{number(2)}, {.updates = number(4) - mesh.NumUpdates()}), update,
        {.to = argv[1], .every_updates = number(5)});
    film.Save(std::string(argv[1]) + ".npy");
    if (team.GetWorld().IsRoot())
      std::printf("update %zu, %s\n", std::size_t{mesh.NumUpdates()}, report.Balanced() ? "balanced" : "WRONG");
    return report.ExitCode();
  });
}
