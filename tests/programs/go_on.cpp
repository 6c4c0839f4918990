// Heat on a small world. A run goes on where the one before has ended, with the graph that it has saved, on any number of workers.
//   go_on FOLDER THREADS UPDATES
// Writes to FOLDER a checkpoint, and film.npy with every tenth update of this run.
#include <string>
#include <vector>

#include <netuit/checkpoint/run_with_checkpoints.hpp>
#include <netuit/checkpoint/saved_networks.hpp>
#include <netuit/netuit.hpp>

int main(int argc, char** argv) {
  using namespace std::chrono_literals;
  const std::string folder = argv[1];
  return netuit::Main(argc, argv, {.threads = static_cast<std::uint32_t>(std::stoul(argv[2]))}, [&](uit::Team& team) {
    const bool goes_on = netuit::HasCheckpoint(team.GetWorld(), folder);
    netuit::Mesh mesh{team, goes_on ? netuit::LoadNetworks(team.GetWorld(), folder)
                                    : std::vector<netuit::NamedNetwork>{{"world", netuit::MakeSmallWorld(300, 4, 0.1, 5)}}};
    auto heat = mesh.AddPublishedField<double>([](netuit::NodeId id) { return id % 50 == 0 ? 50.0 : 0.0; });
    mesh.SetName(heat, "heat");
    auto film = mesh.Capture(heat, {.every = 10});
    if (goes_on) netuit::LoadCheckpoint(mesh, folder);
    else netuit::SaveNetworks(mesh, folder);
    const auto update = [&](netuit::Node& node) {
      double sum = 0;
      for (auto edge : node.In()) sum += heat[edge];
      heat[node] = 0.5 * heat[node] + 0.5 * sum / static_cast<double>(node.In().size()) + 0.01 * node.Random().Uniform();
    };
    const auto report = netuit::RunWithCheckpoints(mesh, netuit::Dataflow{.updates = std::stoul(argv[3])}, update,
                                                   {.to = folder, .every = 10min});
    film.Save(folder + "/film.npy");
    return report.ExitCode();
  });
}
