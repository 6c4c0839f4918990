// Random programs of 14 nodes that share three objects, checked against the table of orders: what two uses of one object may do.
//
//                  relaxed          exclusive        sequential
//     relaxed      both at once     (one at a time)  (in order)
//     exclusive                     one at a time    (in order)
//     sequential                                     in order
//
// An object has one order, and a handle has no verb of another (see order_refusal_test.cpp). So only the pairs on the diagonal occur;
// those in brackets would need an object that is used in two orders. Uses of different objects do not exclude each other. A node makes
// its own one after the other, but an exclusive use may come as late as the end of its worker's update.
#include <netuit/mesh/shared.hpp>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <thread>
#include <utility>
#include <vector>

#include <netuit/graph/topology.hpp>
#include <netuit/graph/uniform.hpp>
#include <netuit/mesh/mesh.hpp>
#include <netuit/mesh/node_random.hpp>
#include <netuit/placement/placement.hpp>
#include <netuit/run/modes.hpp>
#include <netuit/run/run.hpp>
#include <uit/link/world.hpp>
#include <uit/team/team.hpp>

#include "tests/support/catch.hpp"
#include "tests/support/goal.hpp"

using namespace netuit;
using uit::testing::PerCommitOrNight;

namespace {

constexpr NodeId num_nodes = 14;
constexpr std::uint64_t num_updates = 12;
constexpr std::uint32_t most_uses = 4;  // of a node in an update
constexpr std::size_t most_in_all = most_uses * num_nodes * num_updates;
constexpr std::uint64_t num_seeds = 8;  // per commit

/// Which node, in which update.
struct Place {
  std::uint64_t update;
  NodeId node;
  auto operator<=>(const Place&) const = default;
};
/// A use of an object, from one tick of a clock to another.
struct Use {
  Place place;
  std::uint64_t begin;
  std::uint64_t end = 0;
};
using Log = std::vector<Use>;

/// The orders of the objects that a node uses in an update, one after the other. Some nodes use none, some one several times.
std::vector<Order> ProgramOf(std::uint64_t seed, const Place& place) {
  NodeRandom random(seed, place.node, place.update);
  std::vector<Order> program(random.Below(most_uses + 1));
  for (Order& order : program) order = static_cast<Order>(random.Below(3));
  return program;
}

/// All uses of the object of this order, by update and node.
std::vector<Place> UsesOf(std::uint64_t seed, Order order) {
  std::vector<Place> uses;
  for (std::uint64_t update = 0; update < num_updates; ++update) {
    for (NodeId node = 0; node < num_nodes; ++node) {
      for (const Order used : ProgramOf(seed, {update, node}))
        if (used == order) uses.push_back({update, node});
    }
  }
  return uses;
}
std::vector<Place> UsesOf(const Log& log) {
  std::vector<Place> uses;
  for (const Use& use : log) uses.push_back(use.place);
  return uses;
}
std::vector<Place> Sorted(std::vector<Place> uses) {
  std::ranges::sort(uses);
  return uses;
}
/// All uses in one turn are one.
std::vector<Place> Turns(std::vector<Place> uses) {
  uses.erase(std::unique(uses.begin(), uses.end()), uses.end());
  return uses;
}

/// Places of uses, from several threads at once.
struct RelaxedLog {
  std::vector<Place> places = std::vector<Place>(most_in_all);
  std::atomic<std::size_t> size{0};
  void Add(const Place& place) { places.at(size.fetch_add(1, std::memory_order_relaxed)) = place; }
};

/// What the programs have done.
struct Outcome {
  Log turns;
  Log exclusive;
  std::vector<Place> relaxed;
  /// When the update of each node began.
  std::array<std::array<std::uint64_t, num_nodes>, num_updates> begins{};

  /// Whether each use was over before the next began.
  static bool IsOneAtATime(const Log& log) {
    std::uint64_t last = 0;
    return std::ranges::all_of(log, [&](const Use& use) { return std::exchange(last, use.end) < use.begin && use.begin < use.end; });
  }
  /// Whether each exclusive use was made after its node's update began, and before the node's next.
  bool IsInTime() const {
    return std::ranges::all_of(exclusive, [&](const Use& use) {
      const auto [update, node] = use.place;
      return begins[update][node] < use.begin && (update + 1 == num_updates || use.end < begins[update + 1][node]);
    });
  }
};

Outcome RunPrograms(std::uint64_t seed, AsyncMode mode, std::uint32_t threads) {
  const Topology graph = MakeUniform(num_nodes, 12, seed);  // sparse, so that nodes may be in different updates in mode 5
  Mesh mesh{uit::Team{uit::World{}, {.threads = threads}}, graph,
            {.placement = PlaceRandom(graph, {.processes = 1, .threads = threads}, seed)}};
  if (seed % 2 == 0) mesh.AddPublishedField<int>();  // without, no node waits for a neighbour in mode 5
  auto sequential = mesh.AddShared<Log, Order::sequential>();
  auto exclusive = mesh.AddShared<Log, Order::exclusive>();
  auto relaxed = mesh.AddShared<RelaxedLog, Order::relaxed>();
  // Then uses at the same time fail a check, and do not end the program before.
  for (Log* const log : {&sequential.BetweenRuns(), &exclusive.BetweenRuns()}) log->reserve(most_in_all);
  // Relaxed, so that nothing but the objects orders the uses. Of two uses that are ordered, the later has the later tick.
  std::atomic<std::uint64_t> clock{0};
  const auto tick = [&clock] { return clock.fetch_add(1, std::memory_order_relaxed); };
  Outcome outcome;
  mesh.Run(ScheduleOf(mode, {.updates = num_updates}), [&](Node& node) {
    const Place place{node.Update(), node.Id()};
    outcome.begins[place.update][place.node] = tick();
    Log* turn = nullptr;
    for (const Order order : ProgramOf(seed, place)) {
      if (order == Order::sequential) {
        turn = &sequential.InTurn(node);
        if (turn->empty() || turn->back().place != place) turn->push_back({place, tick()});
      } else if (order == Order::exclusive) {
        exclusive.Do(node, [place, tick](Log& log) {
          log.push_back({place, tick()});
          if (place.node % 2 == 0) std::this_thread::yield();  // so that others come meanwhile
          log.back().end = tick();
        });
      } else {
        relaxed->Add(place);
      }
    }
    if (turn != nullptr) turn->back().end = tick();  // it is this node's until here
  });
  outcome.turns = sequential.BetweenRuns();
  outcome.exclusive = exclusive.BetweenRuns();
  outcome.relaxed = relaxed.BetweenRuns().places;
  outcome.relaxed.resize(relaxed.BetweenRuns().size);
  return outcome;
}

template <typename Object>
concept TakesTurns = requires(Object& object, const Node& node) { object.InTurn(node); };
template <typename Object>
concept CallsLater = requires(Object& object, const Node& node) { object.Do(node, [](Log&) {}); };
template <typename Object>
concept IsPointer = requires(Object& object) { *object; } || requires(Object& object) { object->size(); };

}  // namespace

TEST_CASE("Random programs use shared objects as their orders say") {
  for (std::uint64_t seed = 1; seed <= PerCommitOrNight(num_seeds, 20 * num_seeds); ++seed) {
    const std::vector<Place> turns = Turns(UsesOf(seed, Order::sequential));
    const std::vector<Place> exclusive = UsesOf(seed, Order::exclusive);
    const std::vector<Place> relaxed = UsesOf(seed, Order::relaxed);
    for (const AsyncMode mode : {AsyncMode::every_update, AsyncMode::dataflow}) {
      for (const std::uint32_t threads : {1U, 2U, 3U, 4U}) {
        INFO("seed " << seed << ", mode " << static_cast<int>(mode) << ", " << threads << " threads");
        const Outcome outcome = RunPrograms(seed, mode, threads);
        CHECK(UsesOf(outcome.turns) == turns);
        CHECK(Outcome::IsOneAtATime(outcome.turns));
        CHECK(Sorted(UsesOf(outcome.exclusive)) == exclusive);
        CHECK(Outcome::IsOneAtATime(outcome.exclusive));
        CHECK(outcome.IsInTime());
        CHECK(Sorted(outcome.relaxed) == relaxed);
      }
    }
  }
}

TEST_CASE("A shared object has no verb of another order") {
  STATIC_REQUIRE(TakesTurns<Shared<Log, Order::sequential>>);
  STATIC_REQUIRE_FALSE(TakesTurns<Shared<Log, Order::exclusive>>);
  STATIC_REQUIRE_FALSE(TakesTurns<Shared<Log, Order::relaxed>>);
  STATIC_REQUIRE(CallsLater<Shared<Log, Order::exclusive>>);
  STATIC_REQUIRE_FALSE(CallsLater<Shared<Log, Order::sequential>>);
  STATIC_REQUIRE_FALSE(CallsLater<Shared<Log, Order::relaxed>>);
  STATIC_REQUIRE(IsPointer<Shared<Log, Order::relaxed>>);
  STATIC_REQUIRE_FALSE(IsPointer<Shared<Log, Order::sequential>>);
  STATIC_REQUIRE_FALSE(IsPointer<Shared<Log, Order::exclusive>>);
}
