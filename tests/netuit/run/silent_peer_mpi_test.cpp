// Without a barrier every update, who falls silent is left behind. A program of its own: after that its processes talk no
// more.
#include <netuit/netuit.hpp>

#include <chrono>
#include <cstddef>
#include <string>
#include <thread>
#include <vector>

#include "tests/support/catch.hpp"
#include "tests/support/mpi_world.hpp"

using namespace netuit;
using namespace std::chrono_literals;
using uit::testing::MpiTestWorld;

namespace {

struct Value : Multicast<int> {};

}  // namespace

TEST_CASE("Who waits at a barrier for a process that is silent goes on without it to the end, and names it") {
  const Topology topology = MakeTorus(8, 8);
  const std::size_t last = MpiTestWorld().Size() - 1;
  Mesh<Value> mesh{topology, PlaceContiguous(topology, {.processes = last + 1, .threads = 2}), MpiTestWorld()};
  std::vector<std::string> warnings;
  RunOptions options{.mode = AsyncMode::rolling, .duration = 4s, .rolling_span = 1ms, .peer_timeout = 500ms};
  options.on_warning = [&](const std::string& words) { warnings.push_back(words); };
  const auto begin = std::chrono::steady_clock::now();
  const RunReport report = Run(mesh, options, [](auto& node) {
    if (node.Id() == 63 && node.Update() == 5) std::this_thread::sleep_for(6s);
    node.template Out<Value>().TryPut(1);
  });
  const auto elapsed = std::chrono::steady_clock::now() - begin;
  CHECK(report.ExitCode() == 3);
  CHECK_FALSE(report.lost_peers.empty());
  CHECK_FALSE(mesh.IsOpen());
  if (MpiTestWorld().Rank() == last) return;
  CHECK(elapsed >= 4s);
  CHECK(report.lost_peers == std::vector<std::size_t>{last});
  CHECK(report.message.find("rank " + std::to_string(last)) != std::string::npos);
  CHECK_FALSE(warnings.empty());
  REQUIRE(report.workers.size() == 2);
  for (const WorkerReport& worker : report.workers) CHECK(worker.num_updates > 100);
}
