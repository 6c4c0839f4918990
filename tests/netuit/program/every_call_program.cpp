// Calls every MPI function that the library and the demos call. every_call_test.py lets each of these calls fail.
//   every_call_program [simulated | baselines | survivors]   what only a simulated build does; what the MPI baselines of demos
//                                                            do; what processes do to go on without others
#include <netuit/netuit.hpp>
#include <netuit/run/modes.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <string_view>
#include <utility>
#include <vector>

#include <uit/mpi/collective.hpp>
#include <uit/mpi/simulated_exchange.hpp>

#include "demos/common/places.hpp"
#include "demos/gups/by_mpi.hpp"
#include "demos/index_gather/by_mpi.hpp"

using namespace netuit;
using namespace std::chrono_literals;

namespace {

/// Runs mode 0, and prints the result.
int RunOnce(const uit::World& world, AsyncMode mode) {
  Mesh mesh{uit::Team{world}, Torus(8, 8)};
  const auto state = mesh.AddPublishedField<std::uint64_t>([](NodeId id) { return id; });
  const auto by_edge = mesh.AddChannels<std::uint64_t>();
  ModeSettings settings;
  if (mode == AsyncMode::every_update) settings.updates = 20;
  else settings.duration = 20ms;
  const RunReport report = mesh.Run(ScheduleOf(mode, settings), [&](Node& node) {
    std::uint64_t next = state[node];
    for (const auto edge : node.In()) next = next * 31 + state[edge];
    for (const auto edge : node.In()) next = next * 31 + (by_edge[edge].TryStep() != 0 ? by_edge[edge].Get() : 0);
    state[node] = next;
    for (const auto edge : node.Out()) by_edge[edge].TryPut(next);
  }, {.peer_timeout = 10s});
  if (!report.message.empty() && (world.IsRoot() || report.stopped_by == StopReason::peer_lost))
    std::fprintf(stderr, "conduit: error: %s\n", report.message.c_str());
  if (report.ExitCode() != 0) return report.ExitCode();
  std::uint64_t hash = 0;
  for (const std::uint64_t value : mesh.Gather(state)) hash = hash * 31 + value;
  if (world.IsRoot() && mode == AsyncMode::every_update) std::printf("hash %llx\n", static_cast<unsigned long long>(hash));
  return world.IsRoot() && !report.Balanced() ? 1 : 0;
}

/// Does what uit::mpi::MpiWorld does in a simulated build.
int ExchangeAtOnce(const uit::World& world) {
  uit::BytesByRank outgoing;
  for (std::size_t rank = 0; rank < world.Size(); ++rank) outgoing.emplace(rank, uit::Bytes(rank + 1));
  const uit::BytesByRank incoming = uit::mpi::ExchangeSimulated(*world.Process(), MPI_COMM_WORLD, world.Size(), std::move(outgoing));
  return incoming.size() == world.Size() && incoming.begin()->second.size() == world.Rank() + 1 ? 0 : 1;
}

/// Does what the MPI baselines of demos do.
int RunBaselines(const uit::World& world) {
  gups::Table table{world.Size(), 6};
  gups::ByAlltoallv batches{world, 16};
  batches.Run(gups::UpdateStream{1, world.Rank()}, 64, table);
  bool is_right = table.NumWrong(1, world.Rank(), 64) == 0;
  gups::ByPuts puts{world, 16};
  puts.Run(gups::UpdateStream{1, world.Rank()}, 64, table);
  is_right = table.NumWrong(1, world.Rank(), 64) == 0 && is_right;
  puts.Close();
  const std::vector<std::uint64_t> part(64, world.Rank());
  const std::vector<demo::Place> places = demo::RandomPlaces(1, world.Rank(), 64, world.Size(), 6);
  std::vector<std::uint64_t> values(places.size());
  index_gather::ByGets gets{16, part};
  gets.Run(places, values);
  gets.Close();
  for (std::size_t i = 0; i < places.size(); ++i) is_right = is_right && values[i] == places[i].owner;
  return is_right ? 0 : 1;
}

/// Does what processes do to go on without others, though all are there.
int GoOn(const uit::World& world) {
  const uit::World all = world.Duplicate();
  const auto survivors = all.FindSurvivors(uit::After(10s));
  if (!survivors) return 1;
  const std::size_t size = survivors->world.AllGatherValue(0).size();
  survivors->world.Release();
  all.Release();
  return size == world.Size() ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  return GuardedMain(argc, argv, [&](const uit::World& world) {
    if (world.Library().empty()) return 1;
    if (argc > 1 && argv[1] == std::string_view{"survivors"}) return GoOn(world);
    if (argc > 1) return argv[1] == std::string_view{"baselines"} ? RunBaselines(world) : ExchangeAtOnce(world);
    const int code = RunOnce(world, AsyncMode::every_update);
    return code != 0 ? code : RunOnce(world, AsyncMode::no_barrier);
  });
}
