// What an update function keeps in itself is still there after a run.
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <netuit/graph/topologies.hpp>
#include <netuit/mesh/mesh.hpp>
#include <netuit/run/run.hpp>
#include <netuit/run/schedules.hpp>
#include <netuit/run/update_loop.hpp>
#include <uit/link/world.hpp>
#include <uit/support/error.hpp>
#include <uit/team/team.hpp>

#include "tests/support/catch.hpp"

using namespace netuit;

namespace {

constexpr std::uint64_t num_nodes = 5;
constexpr std::uint64_t num_updates = 3;

/// Counts its calls, though it is called as a constant.
struct Counter {
  mutable std::uint64_t num_calls = 0;
  void operator()(Node&) const { ++num_calls; }
};

}  // namespace

TEST_CASE("An update function that counts its calls in itself has counted all") {
  Mesh mesh{uit::Team{uit::World{}}, MakeRing(num_nodes)};
  const EveryUpdate schedule{.updates = num_updates};
  const Counter counter;
  mesh.Run(schedule, counter);
  CHECK(counter.num_calls == num_nodes * num_updates);

  std::uint64_t newest = 0;
  auto counting = [num_calls = std::uint64_t{0}, &newest](Node&) mutable { newest = ++num_calls; };
  mesh.Run(schedule, counting);
  mesh.Run(schedule, counting);
  CHECK(newest == 2 * num_nodes * num_updates);
}

TEST_CASE("The stamps of frames go on from run to run, by one for the start, each update and the drain") {
  Mesh mesh{uit::Team{uit::World{}, {.threads = 2}}, MakeRing(num_nodes)};
  mesh.AddPublishedField<int>();
  const std::uint64_t first = mesh.NextStamp();
  mesh.Run(EveryUpdate{.updates = 7}, [](Node&) {});
  CHECK(mesh.NextStamp() == first + 9);
  mesh.Run(Free{.updates = 3}, [](Node&) {});
  CHECK(mesh.NextStamp() == first + 14);
}

TEST_CASE("A report has commas between thousands only, and names a lost process once, if it is known") {
  RunReport report;
  report.workers.resize(1);
  for (const auto& [number, text] : {std::pair{7U, "7"}, {100U, "100"}, {999U, "999"}, {1000U, "1,000"}, {1234567U, "1,234,567"}}) {
    report.workers.front().num_updates = number;
    report.is_root = true;
    CHECK(report.Text().starts_with(std::string("1 worker, 0.00 s: ") + text + " updates each"));
  }
  report.Lose(uit::PeerLost("somebody has ended", std::nullopt));
  CHECK(report.lost_peers.empty());
  report.Lose(uit::PeerLost("rank 3 has ended", 3));
  report.Lose(uit::PeerLost("rank 3 has ended", 3));
  CHECK(report.lost_peers == std::vector<std::size_t>{3});
  CHECK(report.message == "somebody has ended");
}

TEST_CASE("Only a function that nobody can tell from its copy is copied for the loop over nodes") {
  std::uint64_t number = 0;
  const auto by_value = [number](Node&) { return number; };
  const auto by_reference = [&number](Node&) { ++number; };
  auto changing = [number](Node&) mutable { ++number; };
  STATIC_REQUIRE(detail::is_constant_closure<decltype(by_value)>);
  STATIC_REQUIRE(detail::is_constant_closure<decltype(by_reference)>);
  STATIC_REQUIRE_FALSE(detail::is_constant_closure<decltype(changing)>);
  STATIC_REQUIRE_FALSE(detail::is_constant_closure<Counter>);
  STATIC_REQUIRE_FALSE(detail::is_constant_closure<const Counter>);
}
