// Heat on a torus, over which a storm drifts. Nodes in the storm take 256 small steps per update, others one. How much faster is a
// run in which nodes move to other workers when the storm has come?
//
//     drift [FOLDER [UPDATES]]                  two threads; the storm moves on after so many updates, by default 3000
//     mpirun -n 2 drift [FOLDER [UPDATES]]      two processes with two threads each
//
// Writes to FOLDER steps.csv, with a row per way and step of the storm, owners.csv, with the worker of each node after each step,
// and heat.csv, with the last heat of each node.
#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include <netuit/balance/balanced.hpp>
#include <netuit/file/table.hpp>
#include <netuit/netuit.hpp>
#include <uit/support/error.hpp>

namespace {

constexpr netuit::NodeId side = 32;
constexpr netuit::NodeId storm_side = 8;
constexpr unsigned num_small_steps = 256;
constexpr std::uint64_t num_steps = 16;         // of the storm, by a row and a column each
constexpr std::uint64_t windows_per_step = 10;  // after each of which nodes may move

/// Whether the storm is at a node during its step number `step`.
bool IsInStorm(netuit::NodeId id, std::uint64_t step) {
  const auto shift = static_cast<netuit::NodeId>(step % side);
  return (id / side + side - shift) % side < storm_side && (id % side + side - shift) % side < storm_side;
}

struct Weather {
  Weather(const uit::Team& team, const netuit::MeshOptions& options, std::uint64_t updates_per_step)
      : mesh(team, netuit::Torus(side, side), options), updates_per_step_(updates_per_step) {}

  void Update(netuit::Node& node) {
    double sum = 0;
    for (const netuit::InEdge edge : node.In()) sum += heat[edge];
    const unsigned count = IsInStorm(node.Id(), node.Update() / updates_per_step_) ? num_small_steps : 1;
    double now = heat[node];
    for (unsigned i = 0; i < count; ++i) now += (sum / 4 - now) / (4 * count);
    heat[node] = now;
    owner[node] = node.Worker();
  }

  netuit::Mesh mesh;
  netuit::PublishedField<double> heat = mesh.AddPublishedField<double>([](netuit::NodeId id) { return id % 17; });
  netuit::Field<std::uint32_t> owner = mesh.AddField<std::uint32_t>();

 private:
  std::uint64_t updates_per_step_;
};

struct Tables {
  netuit::Table steps{{"way", "step", "ms", "moved", "gain"}};
  netuit::Table owners{{"way", "step", "node", "worker"}};
  netuit::Table heat{{"way", "node", "heat"}};
};

/// Runs all steps of the storm, and returns the time in ms. If `threshold` is infinite, no node moves.
double Run(const uit::Team& team, const std::string& way, double threshold, std::uint64_t updates_per_step, Tables& tables) {
  const std::uint64_t window = std::max<std::uint64_t>(updates_per_step / windows_per_step, 1);
  netuit::Balanced<Weather> weather(
      [&](const netuit::MeshOptions& options) { return std::make_unique<Weather>(team, options, updates_per_step); },
      {.threshold = threshold, .window = {}, .window_updates = window, .cool_down = 1});
  double all = 0;
  std::size_t num_moves = 0;
  for (std::uint64_t step = 0; step < num_steps; ++step) {
    const uit::TimePoint start = uit::Now();
    weather.Run(netuit::EveryUpdate{.updates = updates_per_step}, {.first_update = weather->mesh.NumUpdates()});
    const double ms = std::chrono::duration<double, std::milli>(uit::Now() - start).count();
    all += ms;
    std::uint64_t num_moved = 0;
    double gain = 1;
    for (; num_moves < weather.Moves().size(); ++num_moves) {
      const netuit::NodeMove& move = weather.Moves()[num_moves];
      num_moved += move.num_nodes;
      gain *= move.Gain().value_or(1);
    }
    const std::vector<std::uint32_t> owners = weather->mesh.Gather(weather->owner);
    tables.steps.Row().Add(way).Add(step).Add(ms).Add(num_moved).Add(gain);
    for (std::size_t node = 0; node < owners.size(); ++node) tables.owners.Row().Add(way).Add(step).Add(node).Add(owners[node]);
    if (!team.IsRoot()) continue;
    std::printf("%-14s step %2llu %9.1f ms %6llu nodes moved", way.c_str(), static_cast<unsigned long long>(step), ms,
                static_cast<unsigned long long>(num_moved));
    if (num_moved != 0) std::printf(", after which updates were %.2f times as fast", gain);
    std::printf("\n");
  }
  const std::vector<double> heat = weather->mesh.Gather(weather->heat);
  for (std::size_t node = 0; node < heat.size(); ++node) tables.heat.Row().Add(way).Add(node).Add(heat[node]);
  return all;
}

}  // namespace

int main(int argc, char** argv) {
  return netuit::Main(argc, argv, {.threads = 2}, [&](uit::Team& team) {
    const std::string folder = argc > 1 ? std::string(argv[1]) + "/" : "";
    const std::uint64_t updates_per_step = argc > 2 ? std::stoull(argv[2]) : 3000;
    if (updates_per_step == 0) throw uit::InputError("the storm must stay for at least one update");
    if (team.IsRoot() && !folder.empty()) std::filesystem::create_directories(folder);
    Tables tables;
    const double without = Run(team, "without moves", std::numeric_limits<double>::infinity(), updates_per_step, tables);
    const double with = Run(team, "with moves", 1.1, updates_per_step, tables);
    if (!team.IsRoot()) return 0;
    std::printf("with moves, the run was %.2f times as fast\n", without / with);
    if (folder.empty()) return 0;
    tables.steps.Save(folder + "steps.csv");
    tables.owners.Save(folder + "owners.csv");
    tables.heat.Save(folder + "heat.csv");
    return 0;
  });
}
