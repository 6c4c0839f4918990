// Objects that the nodes of a process share: in sequence, one at a time, all at once.
#include <netuit/mesh/shared.hpp>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <stdexcept>
#include <vector>

#include <netuit/graph/graphs.hpp>
#include <netuit/mesh/mesh.hpp>
#include <netuit/placement/placement.hpp>
#include <netuit/run/run.hpp>
#include <netuit/run/schedules.hpp>
#include <uit/support/error.hpp>
#include <uit/team/team.hpp>

#include "tests/support/catch.hpp"
#include "tests/support/mpi_world.hpp"
#include "tests/support/shared_folder.hpp"

using namespace netuit;
using namespace uit::testing;
using namespace std::chrono_literals;

namespace {

constexpr std::uint64_t num_updates = 20;
constexpr NodeId rows = 6;
constexpr NodeId columns = 7;

/// Whether a node says something in an update; nodes that have nothing to say take no turn.
bool Speaks(std::uint64_t update, NodeId id) { return (update * 31 + id * 17) % 3 != 0; }

struct Line {
  std::uint64_t update;
  NodeId id;
};

/// The lines of all processes together, in order of update and then as `places` orders the nodes.
std::vector<Line> Gathered(const std::vector<Line>& mine) {
  std::vector<Line> all;
  for (const uit::Bytes& part : MpiTestWorld().AllGather(std::as_bytes(std::span(mine)))) {
    const std::size_t first = all.size();
    all.resize(first + part.size() / sizeof(Line));
    std::memcpy(all.data() + first, part.data(), part.size());
  }
  return all;
}

template <typename Schedule>
void CheckLog(const Schedule& schedule, std::uint32_t threads, const NetworkOptions& network = {}, std::ptrdiff_t num_levels = 1) {
  // Dealt out one by one, so that turns change between threads all the time.
  const Topology graph = Torus(rows, columns);
  const Workers workers{.processes = MpiTestWorld().Size(), .threads = threads};
  const std::vector<NamedNetwork> networks{{"", graph, network}};
  Mesh mesh{uit::Team{MpiTestWorld(), {.threads = threads}}, networks, {.placement = PlaceRoundRobin(graph, workers)}};
  auto log = mesh.AddShared<std::vector<Line>, Order::sequential>();
  auto value = mesh.AddPublishedField<std::uint64_t>();
  mesh.Run(schedule, [&](Node& node) {
    for (auto edge : node.In()) value[node] += value[edge];
    if (Speaks(node.Update(), node.Id())) log.InTurn(node).push_back({node.Update(), node.Id()});
  });
  const std::vector<Line>& mine = log.BetweenRuns();
  // In an update, ids ascend in each level.
  for (std::uint64_t update = 0; update < num_updates; ++update) {
    const auto [begin, end] = std::ranges::equal_range(mine, update, {}, &Line::update);
    const auto next_level = [](const Line& one, const Line& next) { return one.id > next.id; };
    std::ptrdiff_t num_found = 1;
    for (auto line = begin; line != end && line + 1 != end; ++line) num_found += next_level(*line, *(line + 1)) ? 1 : 0;
    CHECK(num_found <= num_levels);
  }
  CHECK(std::ranges::is_sorted(mine, {}, &Line::update));
  const std::vector<Line> all = Gathered(mine);
  std::size_t num_lines = 0;
  for (std::uint64_t update = 0; update < num_updates; ++update)
    for (NodeId id = 0; id < rows * columns; ++id) num_lines += Speaks(update, id) ? 1 : 0;
  CHECK(all.size() == num_lines);
  // Between runs no node waits for a turn.
  const std::size_t num_before = mine.size();
  mesh.Visit([&](Node& node) { log.InTurn(node).push_back({num_updates, node.Id()}); });
  CHECK(mine.size() == num_before + mesh.NumLocalNodes());
}

}  // namespace

TEST_CASE("Nodes use an object in order of update and number on every layout") {
  for (const std::uint32_t threads : {1U, 2U, 3U}) {
    CheckLog(EveryUpdate{.updates = num_updates}, threads);
    CheckLog(Dataflow{.updates = num_updates}, threads);
  }
}

TEST_CASE("With edge delays nodes use an object in order of update, level and number") {
  for (const std::uint32_t threads : {1U, 2U, 3U}) {
    CheckLog(Dataflow{.updates = num_updates}, threads, {.delays = GaussSeidelByColor()}, 4);
    CheckLog(EveryUpdate{.updates = num_updates}, threads, {.delays = GaussSeidelByColor()});
  }
}

TEST_CASE("A sequence needs a mode in which all make the same updates") {
  Mesh mesh{uit::Team{MpiTestWorld()}, Torus(4, 4)};
  auto log = mesh.AddShared<int, Order::sequential>(5);
  CHECK_THROWS_AS(mesh.Run(Free{.updates = 3}, [&](Node& node) { ++log.InTurn(node); }), uit::InputError);
  CHECK(log.BetweenRuns() == 5);
  CHECK(mesh.Run(EveryUpdate{.updates = 3}, [&](Node& node) { ++log.InTurn(node); }).Balanced());
  CHECK(log.BetweenRuns() == 5 + 3 * static_cast<int>(mesh.NumLocalNodes()));
}

TEST_CASE("A run that cannot begin leaves an object between runs") {
  const netuit::testing::Folder folder;
  Mesh mesh{uit::Team{MpiTestWorld(), {.threads = 2}}, Torus(4, 4)};
  auto log = mesh.AddShared<int, Order::sequential>();
  const auto update = [&](Node& node) { ++log.InTurn(node); };
  CHECK_THROWS_AS(mesh.Run(EveryUpdate{.updates = 3}, update, {.replay = folder.Path() + "/none"}), uit::InputError);
  mesh.Visit(update);
  CHECK(log.BetweenRuns() == static_cast<int>(mesh.NumLocalNodes()));
}

TEST_CASE("A throw while others wait for their turns ends the run") {
  Mesh mesh{uit::Team{MpiTestWorld(), {.threads = 3}}, Torus(6, 6)};
  auto log = mesh.AddShared<int, Order::sequential>();
  const RunReport report = mesh.Run(Dataflow{.updates = 100}, [&](Node& node) {
    ++log.InTurn(node);
    if (node.Id() == 20 && node.Update() == 7) throw std::runtime_error("no more");
  });
  CHECK(report.stopped_by == StopReason::thrown);
}

TEST_CASE("One node at a time uses an exclusive object, and none is forgotten") {
  struct Sums {
    std::uint64_t count = 0;
    std::uint64_t sum = 0;
    int num_inside = 0;
    bool had_two_inside = false;
  };
  for (const std::uint32_t threads : {1U, 2U, 4U}) {
    Mesh mesh{uit::Team{MpiTestWorld(), {.threads = threads}}, Torus(16, 16)};
    auto sums = mesh.AddShared<Sums, Order::exclusive>();
    const RunReport report = mesh.Run(Free{.updates = 300}, [&](Node& node) {
      sums.Do(node, [id = node.Id()](Sums& all) {
        all.had_two_inside |= ++all.num_inside != 1;
        ++all.count;
        all.sum += id;
        --all.num_inside;
      });
    });
    CHECK(report.Balanced());
    CHECK_FALSE(sums.BetweenRuns().had_two_inside);
    CHECK(SumOverRanks(sums.BetweenRuns().count) == 300 * 256);
    CHECK(SumOverRanks(sums.BetweenRuns().sum) == 300 * (255 * 256 / 2));
  }
}

TEST_CASE("A function for an exclusive object that throws ends the run") {
  Mesh mesh{uit::Team{MpiTestWorld(), {.threads = 2}}, Torus(8, 8)};
  auto object = mesh.AddShared<int, Order::exclusive>();
  const RunReport report = mesh.Run(Free{.updates = 100'000}, [&](Node& node) {
    object.Do(node, [id = node.Id()](int& count) {
      if (id == 3 && ++count == 5) throw std::runtime_error("no more");
    });
  });
  CHECK(report.stopped_by == StopReason::thrown);
}

TEST_CASE("A function for an exclusive object that uses the same object ends the run") {
  Mesh mesh{uit::Team{MpiTestWorld()}, Torus(8, 8)};  // one thread, so that no function is called later
  auto object = mesh.AddShared<int, Order::exclusive>();
  const RunReport report = mesh.Run(Free{.updates = 100'000}, [&](Node& node) {
    object.Do(node, [&object, &node](int&) { object.Do(node, [](int& count) { ++count; }); });
  });
  CHECK(report.stopped_by == StopReason::thrown);
  CHECK(object.BetweenRuns() == 0);
}

TEST_CASE("All nodes use a relaxed object at once") {
  Mesh mesh{uit::Team{MpiTestWorld(), {.threads = 2}}, Torus(8, 8)};
  auto count = mesh.AddShared<std::atomic<std::uint64_t>, Order::relaxed>(0U);
  mesh.Run(Free{.updates = 50}, [&](Node&) { count->fetch_add(1); });
  CHECK(SumOverRanks(count.BetweenRuns().load()) == 50 * 64);
}
