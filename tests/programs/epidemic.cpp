// An epidemic on two networks: daily contacts at home, with weights, and weekly contacts at work.
//   epidemic HOME.edgelist WORK.edgelist DAYS      prints one line of states by node for each day
#include <cstdint>
#include <cstdio>
#include <cstdlib>

#include <netuit/netuit.hpp>

enum class Health : std::uint8_t { well, sick, immune };

Health Next(Health health, double force, netuit::NodeRandom random) {
  if (health == Health::well) return random.Uniform() < 1 - 1 / (1 + force) ? Health::sick : Health::well;
  return health == Health::sick && random.Uniform() < 0.2 ? Health::immune : health;
}

int main(int argc, char** argv) {
  return netuit::Main(argc, argv, {.threads = 2}, [&](uit::Team& team) {
    const auto home = netuit::LoadGraph(argv[1]), work = netuit::LoadGraph(argv[2]);
    netuit::Mesh mesh{team, {{"home", home}, {"work", work, {.period = 7}}}};
    const auto at_home = mesh.GetNetwork("home"), at_work = mesh.GetNetwork("work");
    auto contact = mesh.GetEdgeWeights(at_home);
    auto state = mesh.AddPublishedField<Health>([](netuit::NodeId id) { return id % 10 == 0 ? Health::sick : Health::well; });
    auto history = mesh.AddField<std::uint64_t>();
    auto report = mesh.Run(netuit::EveryUpdate{.updates = std::strtoull(argv[3], nullptr, 10)}, [&](netuit::Node& node) {
      double force = 0;
      for (auto edge : node.In(at_home)) force += contact[edge] * (state[edge] == Health::sick);
      if (node.IsDue(at_work)) for (auto edge : node.In(at_work)) force += 0.1 * (state[edge] == Health::sick);
      state[node] = Next(state[node], force, node.Random());
      history[node] = 3 * history[node] + static_cast<std::uint64_t>(state[node]);
    });
    for (const std::uint64_t days : mesh.Gather(history)) std::printf("%llu\n", static_cast<unsigned long long>(days));
    return report.ExitCode();
  });
}
