// When nodes move, by loads that are given: not below the threshold, not while a load swings, but when it drifts.
#include <netuit/balance/balance_rule.hpp>

#include <cstdint>
#include <functional>
#include <limits>
#include <utility>
#include <vector>

#include <netuit/graph/topologies.hpp>
#include <netuit/placement/diffusion.hpp>
#include <netuit/placement/metis.hpp>
#include <netuit/placement/place_near.hpp>

#include "tests/netuit/graph/graphs.hpp"
#include "tests/netuit/placement/moved.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/thrown.hpp"

using namespace netuit;
using uit::testing::CheckThrows;

namespace {

constexpr NodeId side = 16;

/// Two workers of a torus, or those of another graph, whose nodes move as the rule says.
struct Trial {
  explicit Trial(const BalanceOptions& options, Topology of = MakeTorus(side, side), Workers workers = {2, 1})
      : graph(std::move(of)), placement(PlaceContiguous(graph, workers)), rule(options) {}

  /// Goes on for so many windows, with the loads that `load(window, node)` tells.
  void Run(std::uint64_t num_windows, const std::function<double(std::uint64_t, NodeId)>& load) {
    for (std::uint64_t window = 0; window < num_windows; ++window, ++num_seen) {
      std::vector<double> loads;
      for (NodeId node = 0; node < graph.NumNodes(); ++node) loads.push_back(load(num_seen, node));
      imbalances.push_back(Imbalance(loads, placement));
      if (!rule.Note(loads, placement)) continue;
      const Placement next = PlaceNear(graph.WithNodeWeights(rule.Loads()), placement, 1.1);
      if (!rule.Accepts(placement, next)) {
        rule.Decline();
        continue;
      }
      rule.Move(placement, next);
      num_moved += NumMoved(placement, next);
      placement = next;
      moves.push_back(num_seen);
    }
  }

  Topology graph;
  Placement placement;
  BalanceRule rule;
  NodeId num_moved = 0;
  std::uint64_t num_seen = 0;
  std::vector<double> imbalances;     // by window, before a move at its end
  std::vector<std::uint64_t> moves;  // after which windows nodes moved
};

/// A load whose peak is at the row `center` of the torus.
double Peak(double center, NodeId node) {
  double distance = static_cast<double>(node / side) - center;
  distance -= side * static_cast<double>(static_cast<int>(distance / side));
  if (distance < 0) distance += side;
  if (distance > side / 2.0) distance = side - distance;
  return distance < 3 ? 10 : 1;
}

/// The load is in the first half of the nodes or in the second, for so many windows in turn.
std::function<double(std::uint64_t, NodeId)> Swing(std::uint64_t num_windows) {
  return [=](std::uint64_t window, NodeId node) {
    const bool is_first = window / num_windows % 2 == 0;
    return (node < side * side / 2) == is_first ? 3.0 : 1.0;
  };
}

}  // namespace

TEST_CASE("Below the threshold, no node moves") {
  Trial trial({.threshold = 1.3});
  trial.Run(50, [](std::uint64_t, NodeId node) { return node < side * side / 2 ? 1.28 : 0.72; });
  CHECK(trial.moves.empty());
  CHECK(trial.imbalances.back() == Approx(1.28));
}

TEST_CASE("Above the threshold, nodes move once, after as many windows as patience says") {
  Trial trial({.threshold = 1.3, .patience = 3});
  trial.Run(50, [](std::uint64_t, NodeId node) { return node < side * side / 2 ? 1.4 : 0.6; });
  CHECK(trial.moves == std::vector<std::uint64_t>{2});
  CHECK(trial.imbalances.back() < 1.05);
}

TEST_CASE("A load that drifts over two workers becomes balanced, and stays so") {
  Trial with({.threshold = 1.2, .cool_down = 2});
  Trial without({.threshold = std::numeric_limits<double>::infinity()});
  const auto drift = [](std::uint64_t window, NodeId node) { return Peak(3 + 0.05 * static_cast<double>(window), node); };
  double sum_with = 0;
  double sum_without = 0;
  with.Run(320, drift);
  without.Run(320, drift);
  for (std::uint64_t window = 2; window < 320; ++window) {
    sum_with += with.imbalances[window];
    sum_without += without.imbalances[window];
  }
  CHECK(without.moves.empty());
  CHECK(sum_with / 318 < 1.12);
  CHECK(sum_without / 318 > 1.4);
  CHECK(with.moves.size() >= 4);
  CHECK(with.moves.size() <= 320 / 3);
}

TEST_CASE("A load that swings as fast as patience lets it moves nothing") {
  Trial trial({.threshold = 1.2, .patience = 2});
  trial.Run(200, Swing(1));
  CHECK(trial.moves.empty());
  CHECK(trial.imbalances.back() == 1.5);
}

TEST_CASE("A load that swings slowly moves nodes less and less often") {
  for (const std::uint64_t period : {2U, 3U, 8U, 20U}) {
    Trial trial({.threshold = 1.2, .patience = 2, .cool_down = 1});
    trial.Run(2000, Swing(period));
    CAPTURE(period, trial.moves);
    CHECK(trial.moves.size() >= 1);
    CHECK(trial.moves.size() <= 14);
  }
}

TEST_CASE("After a move, no other follows within the cool-down, whatever the load") {
  Trial trial({.threshold = 1.05, .patience = 1, .cool_down = 5});
  trial.Run(100, [](std::uint64_t window, NodeId node) { return Peak(static_cast<double>(window), node); });
  CHECK(trial.moves.size() >= 2);
  for (std::size_t i = 1; i < trial.moves.size(); ++i) CHECK(trial.moves[i] - trial.moves[i - 1] >= 6);
}

TEST_CASE("If no placement is better, the rule looks for one only after another cool-down") {
  Trial trial({.threshold = 1.2, .patience = 1, .cool_down = 3});
  const auto one_heavy = [](std::uint64_t, NodeId node) { return node == 0 ? 10000.0 : 1.0; };
  trial.Run(1, one_heavy);
  CHECK(trial.rule.NumWaits() == 3);
  trial.Run(20, one_heavy);
  CHECK(trial.moves.empty());
}

TEST_CASE("If the load cannot flow over neighbours, METIS moves some of the nodes once, and then none moves any more") {
  Trial trial({.threshold = 1.2, .cool_down = 0}, TwoRings(32), {.processes = 2, .threads = 2});
  trial.Run(50, [](std::uint64_t, NodeId node) { return node < 32 ? 3.0 : 1.0; });
  CHECK(trial.moves.size() == 1);
  CHECK(trial.num_moved < 32);  // of 64
  CHECK(trial.imbalances.front() == 1.5);
  CHECK(trial.imbalances.back() < 1.1);
}

TEST_CASE("Invalid options of a balance are refused") {
  CheckThrows([] { BalanceRule({.threshold = 0.9}); }, "threshold must be at least 1");
  CheckThrows([] { BalanceRule({.threshold = std::numeric_limits<double>::quiet_NaN()}); }, "threshold must be at least 1");
  CheckThrows([] { BalanceRule({.patience = 0}); }, "patience must be at least 1");
  CheckThrows([] { BalanceRule({.measured_every = 1}); }, "measured_every must be at least 2");
  CheckThrows([] { BalanceRule({.window = std::chrono::nanoseconds(0)}); }, "a window needs a length");
  CheckThrows([] { BalanceRule({.window = std::chrono::nanoseconds(-1)}); }, "window must not be negative");
}
