// Copies of fields during runs.
#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include <netuit/file/numpy_format.hpp>
#include <netuit/graph/small_world.hpp>
#include <netuit/graph/topologies.hpp>
#include <netuit/mesh/mesh.hpp>
#include <netuit/run/modes.hpp>
#include <netuit/run/run.hpp>

#include "tests/netuit/run/workers.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/mpi_world.hpp"
#include "tests/support/shared_folder.hpp"
#include "tests/support/thrown.hpp"

using namespace netuit;
using namespace std::chrono_literals;
using netuit::testing::BeSlowAtTimes;
using netuit::testing::Folder;
using netuit::testing::TeamWith;
using uit::testing::CheckThrows;
using uit::testing::MpiTestWorld;

namespace {

constexpr NodeId num_nodes = 48;
const auto graph = MakeSmallWorld(num_nodes, 4, 0.2, 3);

/// For each node, the newest update of each other that has had an influence on it: a vector clock.
using Clock = std::array<std::uint32_t, num_nodes>;

/// What rank 0 gathers if every node has this value; nothing elsewhere.
template <typename T>
std::vector<T> AllHave(T value) {
  return std::vector<T>(MpiTestWorld().IsRoot() ? num_nodes : 0, value);
}

/// Whether the clocks are a consistent cut: no node depends on an update of another that is later than the other's own copy.
bool IsConsistent(const std::vector<Clock>& clocks) {
  for (std::size_t node = 0; node < clocks.size(); ++node) {
    for (std::size_t other = 0; other < clocks.size(); ++other) {
      if (clocks[node][other] > clocks[other][other]) return false;
    }
  }
  return true;
}

}  // namespace

TEST_CASE("In modes 0 and 5, a frame has every node's value after the same update") {
  for (const AsyncMode mode : {AsyncMode::every_update, AsyncMode::dataflow}) {
    Mesh mesh{TeamWith(2), graph};
    const auto value = mesh.AddPublishedField<std::uint64_t>([](NodeId id) { return id; });
    const auto small = mesh.AddField<float>(0.0F);
    const auto film = mesh.Capture(value, {.every = 6, .most = 100});
    const auto other = mesh.Capture(small, {.every = 10, .most = 100});
    const auto update = [&](Node& node) {
      std::uint64_t sum = node.Update();
      for (const auto edge : node.In()) sum += value[edge];
      value[node] = sum;
      small[node] = static_cast<float>(node.Update() + 1);
    };
    mesh.Run(ScheduleOf(mode, {.updates = 25}), update);
    mesh.Run(ScheduleOf(mode, {.updates = 17}), update, {.first_update = mesh.NumUpdates()});
    CHECK(film.Count() == 7);  // after 6, 12, …, 42
    CHECK(other.Count() == 4);
    CHECK(film.NumMissed() == 0);
    std::vector<std::uint64_t> expected(num_nodes);
    for (NodeId id = 0; id < num_nodes; ++id) expected[id] = id;
    for (std::uint64_t num_updates = 1; num_updates <= 42; ++num_updates) {
      std::vector<std::uint64_t> next(num_nodes, num_updates - 1);
      for (NodeId id = 0; id < num_nodes; ++id)
        for (const EdgeId edge : graph.InEdges(id)) next[id] += expected[graph.Source(edge)];
      expected = next;
      if (num_updates % 6 == 0) {
        const auto frame = film.Gather(num_updates / 6 - 1);
        const auto updates = film.GatherUpdates(num_updates / 6 - 1);
        if (!MpiTestWorld().IsRoot()) continue;
        CHECK(frame == expected);
        CHECK(updates == AllHave(num_updates));
      }
    }
    CHECK(other.Gather(3) == AllHave(40.0F));
    CHECK_THROWS_AS(other.Gather(4), uit::InputError);
    CHECK_THROWS_AS(other.GatherUpdates(4), uit::InputError);
  }
}

TEST_CASE("In best effort, a frame is a consistent cut") {
  std::size_t num_uneven_in_all = 0;
  for (const AsyncMode mode : {AsyncMode::no_barrier, AsyncMode::rolling}) {
    for (const std::uint32_t threads : {1U, 2U, 3U}) {
      Mesh mesh{TeamWith(threads), graph};
      const auto clock = mesh.AddPublishedField<Clock>();
      const auto film = mesh.Capture(clock, {.every = 7, .most = 4000});
      const auto update = [&](Node& node) {
        Clock mine = clock[node];
        for (const auto edge : node.In()) {
          const Clock& theirs = clock[edge];
          for (NodeId id = 0; id < num_nodes; ++id) mine[id] = std::max(mine[id], theirs[id]);
        }
        ++mine[node.Id()];
        clock[node] = mine;
        BeSlowAtTimes(node, 2000, 300us);
      };
      mesh.Run(ScheduleOf(mode, {.updates = 400, .span = 1ms}), update);
      mesh.Run(ScheduleOf(mode, {.duration = 5ms, .span = 1ms}), update,
               {.first_update = mesh.NumUpdates()});  // ends at uneven updates
      const std::size_t after_first = film.Count();
      mesh.Run(ScheduleOf(mode, {.updates = 400, .span = 1ms}), update, {.first_update = mesh.NumUpdates()});
      const std::size_t count = film.Count();
      CAPTURE(mode, threads, after_first, count);
      CHECK(after_first >= 400 / 7);
      CHECK(count >= after_first + 400 / 7);
      std::size_t num_consistent = 0;
      std::size_t num_uneven = 0;
      for (std::size_t frame = 0; frame < count; ++frame) {
        const std::vector<Clock> clocks = film.Gather(frame);
        const std::vector<std::uint64_t> updates = film.GatherUpdates(frame);
        if (!MpiTestWorld().IsRoot()) continue;
        CHECK(updates.size() == num_nodes);
        CHECK(clocks.size() == num_nodes);
        num_consistent += IsConsistent(clocks) ? 1 : 0;
        num_uneven += std::ranges::min(updates) != std::ranges::max(updates) ? 1 : 0;
        bool has_own = true;
        for (NodeId id = 0; id < clocks.size() && frame < 400 / 7; ++id) has_own &= clocks[id][id] == updates[id];
        CHECK(has_own);
      }
      if (!MpiTestWorld().IsRoot()) continue;
      CHECK(num_consistent == count);
      std::printf("mode %u, %u threads: %zu of %zu frames are of different updates\n", static_cast<unsigned>(mode), threads,
                  num_uneven, count);
      num_uneven_in_all += num_uneven;
    }
  }
  if (MpiTestWorld().IsRoot()) CHECK(num_uneven_in_all > 0);  // else nothing was to be seen
}

TEST_CASE("Every value arrives while workers copy") {
  for (const AsyncMode mode : {AsyncMode::no_barrier, AsyncMode::rolling}) {
    Mesh mesh{TeamWith(3), graph};
    const auto num_updates = mesh.AddPublishedField<std::uint64_t>();
    const auto has_seen_all = mesh.AddReduction(minimum);
    const auto film = mesh.Capture(num_updates, {.every = 1, .most = 3});
    const RunReport report = mesh.Run(ScheduleOf(mode, {.duration = 60s, .span = 1ms, .until = has_seen_all > 0}), [&](Node& node) {
      ++num_updates[node];
      has_seen_all[node] = std::ranges::all_of(node.In(), [&](const auto edge) { return num_updates[edge] > 0; }) ? 1 : 0;
    });
    CAPTURE(mode);
    CHECK(film.Count() == 3);
    CHECK(report.stopped_by == StopReason::asked);
  }
}

TEST_CASE("Without communication, each worker copies after so many updates of its own") {
  Mesh mesh{TeamWith(2), graph};
  const auto value = mesh.AddPublishedField<std::uint64_t>();
  const auto film = mesh.Capture(value, {.every = 5});
  mesh.Run(Isolated{.updates = 32}, [&](Node& node) { ++value[node]; });
  CHECK(film.Count() == 6);
  CHECK(film.Gather(5) == AllHave<std::uint64_t>(30));
}

TEST_CASE("Frames beyond the memory asked for are missed and counted") {
  Mesh mesh{TeamWith(2), graph};
  const auto value = mesh.AddField<int>();
  const auto film = mesh.Capture(value, {.every = 2, .most = 3});
  mesh.Run(EveryUpdate{.updates = 20}, [&](Node& node) { ++value[node]; });
  CHECK(film.Count() == 3);
  CHECK(film.NumMissed() == 7);
  CHECK(film.Gather(2) == AllHave(6));
  film.Clear();
  CHECK(film.Count() == 0);
  CHECK(film.NumMissed() == 0);
  mesh.Run(EveryUpdate{.updates = 2}, [&](Node& node) { ++value[node]; }, {.first_update = 20});
  CHECK(film.Count() == 1);
  CheckThrows([&] { mesh.Capture(value, {.every = 0}); }, "CaptureOptions::every must be at least 1");
}

TEST_CASE("A film is saved as an array of frames by nodes") {
  Folder folder;
  Mesh mesh{TeamWith(2), graph};
  const auto value = mesh.AddField<std::uint16_t>([](NodeId id) { return id; });
  const auto film = mesh.Capture(value);
  mesh.Run(EveryUpdate{.updates = 2}, [&](Node& node) { value[node] = static_cast<std::uint16_t>(value[node] + 256); });
  const std::filesystem::path path = folder.Path() + ".npy";
  film.Save(path);
  CHECK_THROWS_AS(film.Save(folder.Path() + "/none/film.npy"), uit::Error);  // on every rank, which have gathered all frames
  CHECK(film.Count() == 2);
  if (!MpiTestWorld().IsRoot()) return;
  std::ifstream in(path, std::ios::binary);
  const std::string bytes{std::istreambuf_iterator<char>(in), {}};
  std::string expected = NumpyHeader({.name = "<u2", .extents = ", 48"}, 2);
  for (int frame = 1; frame <= 2; ++frame)
    for (NodeId id = 0; id < num_nodes; ++id) expected += {static_cast<char>(id), static_cast<char>(frame)};
  CHECK(bytes == expected);
  CHECK(expected.substr(0, 8) == std::string("\x93NUMPY\x01\x00", 8));
  CHECK(expected.find("{'descr': '<u2', 'fortran_order': False, 'shape': (2, 48), }") == 10);
  CHECK((expected.size() - 2 * 48 * 2) % 64 == 0);
  std::filesystem::remove(path);
}
