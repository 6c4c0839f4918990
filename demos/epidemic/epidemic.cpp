// An epidemic on two networks over the same persons: contacts at home, every day and with weights, and at work, once a week.
//
//     epidemic HOME.edgelist WORK.edgelist DAYS [FOLDER]                  two threads
//     mpirun -n 2 epidemic HOME.edgelist WORK.edgelist DAYS [FOLDER]      two processes with two threads each
//
// Prints how many are well, sick and immune at the end of each day. Writes epidemic.csv to FOLDER: each person's days, of which each
// is a digit in base 3 (0 well, 1 sick, 2 immune). The result is the same on any layout.
#include <array>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

#include <netuit/netuit.hpp>

enum class Health : std::uint8_t { well, sick, immune };
constexpr unsigned long long most_days = 40;  // whose digits have room in 64 bits

Health Next(Health health, double force, netuit::NodeRandom random) {
  if (health == Health::well) return random.Uniform() < 1 - 1 / (1 + force) ? Health::sick : Health::well;
  return health == Health::sick && random.Uniform() < 0.2 ? Health::immune : health;
}

void Print(const std::vector<std::uint64_t>& histories, unsigned long long days) {
  std::vector<std::array<int, 3>> persons(days);  // by day and health
  for (std::uint64_t history : histories)
    for (auto day = days; day-- > 0; history /= 3) ++persons[day][history % 3];
  for (std::size_t day = 0; day < days; ++day)
    std::printf("day %zu: %d well, %d sick, %d immune\n", day, persons[day][0], persons[day][1], persons[day][2]);
}

int main(int argc, char** argv) {
  return netuit::Main(argc, argv, {.threads = 2}, [&](uit::Team& team) {
    const auto days = argc < 4 ? 0 : std::strtoull(argv[3], nullptr, 10);
    if (days == 0 || days > most_days) throw uit::InputError("usage: epidemic HOME.edgelist WORK.edgelist DAYS [FOLDER], at most 40 days");
    const auto home = netuit::LoadGraph(argv[1]), work = netuit::LoadGraph(argv[2]);
    netuit::Mesh mesh{team, {{"home", home}, {"work", work, {.period = 7}}}};
    const auto at_home = mesh.GetNetwork("home"), at_work = mesh.GetNetwork("work");
    auto contact = mesh.GetEdgeWeights(at_home);
    auto state = mesh.AddPublishedField<Health>([](netuit::NodeId id) { return id % 10 == 0 ? Health::sick : Health::well; });
    auto history = mesh.AddField<std::uint64_t>();
    const auto report = mesh.Run(netuit::EveryUpdate{.updates = days}, [&](netuit::Node& node) {
      double force = 0;
      for (auto edge : node.In(at_home)) force += contact[edge] * (state[edge] == Health::sick);
      if (node.IsDue(at_work)) for (auto edge : node.In(at_work)) force += 0.1 * (state[edge] == Health::sick);
      state[node] = Next(state[node], force, node.Random());
      history[node] = 3 * history[node] + static_cast<std::uint64_t>(state[node]);
    });
    if (argc > 4 && team.IsRoot()) std::filesystem::create_directories(argv[4]);
    if (argc > 4) mesh.WriteTable(std::string(argv[4]) + "/epidemic.csv", netuit::Column{"history", history});
    const auto histories = mesh.Gather(history);
    if (team.IsRoot()) Print(histories, days);
    return report.ExitCode();
  });
}
