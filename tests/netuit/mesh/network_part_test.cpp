// Which ghosts a worker has, who sends their values, and where the edges find them.
#include <netuit/mesh/network_part.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <set>
#include <utility>
#include <vector>

#include <netuit/graph/topology.hpp>
#include <netuit/mesh/worker_graph.hpp>
#include <netuit/placement/placement.hpp>
#include <uit/link/world.hpp>

#include "tests/netuit/run/chaos.hpp"
#include "tests/support/catch.hpp"

using namespace netuit;

namespace {

/// A node, and the worker that updates it.
using Placed = std::pair<std::uint32_t, NodeId>;
constexpr std::size_t first_slot = 128;
constexpr std::size_t first_ghost = 512;

/// A graph on three workers, in a network with a period.
struct Parts {
  Topology graph = testing::MakeOddGraph(60, 3);
  Placement placement = PlaceRandom(graph, {.processes = 1, .threads = 3}, 2);
  std::deque<NetworkPart> of;                     // by worker
  std::vector<std::vector<std::uint32_t>> slots;  // by worker and input

  explicit Parts(std::uint64_t period) {
    for (WorkerGraph& part : ScatterGraph(graph, placement, uit::World{}).workers) {
      slots.emplace_back(part.sources.size());
      of.emplace_back(std::move(part), period, first_slot, 0, 0).PlaceGhosts(first_ghost, slots.back().data());
    }
  }
};

/// The ghosts of a part, in their order.
std::vector<Placed> GhostsOf(const NetworkPart& part) {
  std::vector<Placed> all;
  for (const NetworkPart::Ghosts& ghosts : part.ghosts) {
    CHECK(ghosts.first == first_ghost + all.size());
    for (const NodeId id : ghosts.ids) all.emplace_back(ghosts.worker, id);
  }
  CHECK(part.NumGhosts() == all.size());
  return all;
}

}  // namespace

TEST_CASE("A worker has one ghost of each remote node that it reads, and of its own nodes if the network's period is longer") {
  for (const std::uint64_t period : {1U, 4U}) {
    const Parts parts{period};
    for (const NetworkPart& part : parts.of) {
      std::set<Placed> expected;
      for (EdgeId edge = 0; edge < parts.graph.NumEdges(); ++edge) {
        const std::uint32_t from = parts.placement.WorkerOf(parts.graph.Source(edge));
        const bool is_heard = parts.placement.WorkerOf(parts.graph.Target(edge)) == part.graph.worker;
        if (is_heard && (from != part.graph.worker || period > 1)) expected.emplace(from, parts.graph.Source(edge));
      }
      CHECK(GhostsOf(part) == std::vector<Placed>(expected.begin(), expected.end()));
    }
  }
}

TEST_CASE("A worker receives the values of its ghosts, in their order") {
  for (const std::uint64_t period : {1U, 4U}) {
    const Parts parts{period};
    for (const NetworkPart& receiver : parts.of) {
      std::vector<Placed> sent;
      for (const NetworkPart& sender : parts.of) {
        CHECK(std::ranges::is_sorted(sender.recipients, {}, &NetworkPart::Recipients::worker));
        const auto to = std::ranges::find(sender.recipients, receiver.graph.worker, &NetworkPart::Recipients::worker);
        if (to == sender.recipients.end()) continue;
        for (const std::uint32_t node : to->nodes) sent.emplace_back(sender.graph.worker, sender.graph.nodes[node]);
      }
      CHECK(sent == GhostsOf(receiver));
    }
  }
}

TEST_CASE("An input shows the slot of its neighbour, or of the neighbour's ghost") {
  for (const std::uint64_t period : {1U, 4U}) {
    const Parts parts{period};
    for (const NetworkPart& part : parts.of) {
      const std::vector<Placed> ghosts = GhostsOf(part);
      for (std::size_t input = 0; input < part.graph.sources.size(); ++input) {
        const std::size_t slot = part.in_slots[input];
        const Placed neighbor{part.graph.source_workers[input], part.graph.sources[input]};
        const bool is_ghost = neighbor.first != part.graph.worker || period > 1;
        REQUIRE((slot >= first_ghost) == is_ghost);
        if (is_ghost) CHECK(ghosts.at(slot - first_ghost) == neighbor);
        else CHECK(part.graph.nodes.at(slot - first_slot) == neighbor.second);
      }
    }
  }
}
