// Walkers on a torus, in messages of any size. No walker is lost.
//
//     walkers [FOLDER]                  two threads
//     mpirun -n 2 walkers [FOLDER]      two processes with two threads each
//
// Writes walkers.csv to FOLDER: how many walkers each node has at last. At first, one node has all.
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <string>
#include <utility>
#include <vector>

#include <netuit/netuit.hpp>

using namespace std::chrono_literals;

struct Walker { std::uint32_t steps = 0; };
using Walkers = std::vector<Walker>;

void Append(Walkers& to, Walkers&& from) { to.insert(to.end(), from.begin(), from.end()); }
Walkers Pick(Walkers& here, netuit::NodeRandom& random) {
  Walkers some;
  for (std::size_t i = here.size(); i-- > 0;) {
    if (random() % 2 != 0) continue;
    ++here[i].steps;
    some.push_back(here[i]);
    here.erase(here.begin() + static_cast<std::ptrdiff_t>(i));
  }
  return some;
}

int main(int argc, char** argv) {
  return netuit::Main(argc, argv, {.threads = 2}, [&](uit::Team& team) {
    netuit::Mesh mesh{team, netuit::Torus(8, 8)};
    auto here = mesh.AddField<Walkers>([](netuit::NodeId id) { return Walkers(id == 8 * 4 + 4 ? 192 : 0); });
    auto parcels = mesh.AddChannels<Walkers, uit::Policy{.consolidate = uit::Consolidate::aggregated}>();
    auto report = mesh.Run(netuit::Free{.duration = 200ms}, [&](netuit::Node& node) {
      for (auto edge : node.In()) while (auto parcel = parcels[edge].TryTake()) Append(here[node], std::move(*parcel));
      auto random = node.Random();
      for (auto edge : node.Out())
        if (auto some = Pick(here[node], random); !parcels[edge].TryPut(std::move(some))) Append(here[node], std::move(some));
    });
    auto count = mesh.AddField<std::uint64_t>();
    mesh.Visit([&](netuit::Node& node) {  // walkers that were in flight at the end
      for (auto edge : node.In()) while (auto parcel = parcels[edge].TryTake()) Append(here[node], std::move(*parcel));
      count[node] = here[node].size();
    });
    if (argc > 1) mesh.WriteTable(std::string(argv[1]) + "/walkers.csv", netuit::Column{"walkers", count});
    std::uint64_t total = 0;
    for (const std::uint64_t walkers : mesh.Gather(count)) total += walkers;
    if (team.IsRoot())
      std::printf("%llu of 192 walkers, messages %s\n", static_cast<unsigned long long>(total),
                  report.Balanced() ? "accounted for" : "lost");
    return report.ExitCode();
  });
}
