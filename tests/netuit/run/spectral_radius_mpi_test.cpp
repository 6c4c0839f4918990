// Bounds of a spectral radius, against known ones.
#include <cmath>
#include <cstdint>
#include <limits>
#include <numbers>
#include <vector>

#include <netuit/graph/topologies.hpp>
#include <netuit/mesh/mesh.hpp>
#include <netuit/run/run.hpp>
#include <netuit/run/spectral_radius.hpp>
#include <uit/support/error.hpp>
#include <uit/team/team.hpp>

#include "tests/netuit/run/workers.hpp"
#include "tests/support/catch.hpp"

using namespace netuit;
using netuit::testing::TeamWith;

namespace {

SpectralBounds Bound(const Topology& graph, double entry, const SpectralOptions& options = {}) {
  const uit::Team team = TeamWith(2);
  Mesh mesh{team, graph};
  return BoundSpectralRadius(
      mesh, [entry](Node& node, InEdge edge) { return (edge.Source() + node.Id()) % 2 == 0 ? entry : -entry; }, options);
}

}  // namespace

TEST_CASE("The bounds of Jacobi's iteration on a grid contain its spectral radius, and are close") {
  for (const NodeId side : {3U, 8U, 20U}) {
    const double exact = std::cos(std::numbers::pi / (side + 1));  // of a square
    const SpectralBounds bounds = Bound(MakeGrid(side, side), 0.25, {.updates = 5000});
    CAPTURE(side, exact, bounds.at_least, bounds.at_most);
    CHECK(bounds.at_least <= exact + 1e-9);
    CHECK(bounds.at_most >= exact - 1e-9);
    CHECK(bounds.at_most - bounds.at_least <= 1e-3);
    CHECK(bounds.Converges());
  }
}

TEST_CASE("The bounds hold after few updates, and then say that they do not suffice") {
  const SpectralBounds bounds = Bound(MakeGrid(20, 20), 0.251, {.updates = 10});
  const double exact = 1.004 * std::cos(std::numbers::pi / 21);  // 0.9928
  CHECK(bounds.at_least <= exact);
  CHECK(bounds.at_most >= 1);
  CHECK_FALSE(bounds.Converges());
  CHECK(bounds.Words().starts_with("undecided: the spectral radius of |B| is between "));
}

TEST_CASE("No more updates are made than are allowed") {
  for (const std::uint64_t updates : {1U, 5U, 10U, 13U}) {
    const uit::Team team = TeamWith(2);
    Mesh mesh{team, MakeGrid(20, 20)};
    BoundSpectralRadius(mesh, [](Node&, InEdge) { return 0.25; }, {.updates = updates, .tolerance = 0});
    CHECK(mesh.NumUpdates() == updates);
  }
}

TEST_CASE("An iteration that old values can spoil is told from one that converges") {
  const SpectralBounds even = Bound(MakeTorus(6, 5), 0.25);  // every row sums to 1
  CHECK(even.at_least == Approx(1));
  CHECK(even.at_most == Approx(1));
  const SpectralBounds grows = Bound(MakeTorus(6, 5), 0.3);
  CHECK_FALSE(grows.Converges());
  CHECK(grows.Words() == "the iteration need not converge where values are old: the spectral radius of |B| is at least 1.2");
  const SpectralBounds falls = Bound(MakeTorus(6, 5), 0.2);
  CHECK(falls.Converges());
  CHECK(
      falls.Words() ==
      "the iteration converges in every mode: the spectral radius of |B| is at most 0.8, so that the error falls to a tenth in about "
      "11 effective updates");
  const SpectralBounds nothing = Bound(MakeEmpty(30), 1);  // each node by itself
  CHECK(nothing.at_most == 0);
  CHECK(nothing.Converges());
}

TEST_CASE("Neither large nor small entries overflow") {
  CHECK(Bound(MakeTorus(6, 5), 1e25).at_least == Approx(4e25));
  CHECK(Bound(MakeTorus(6, 5), 1e-30).at_most < 1e-15);
}

TEST_CASE("Entries that are not finite, and values of different updates, tell nothing and are refused") {
  CHECK_THROWS_AS(Bound(MakeTorus(6, 5), std::numeric_limits<double>::infinity()), uit::InputError);
  CHECK_THROWS_AS(Bound(MakeTorus(6, 5), std::numeric_limits<double>::quiet_NaN()), uit::InputError);
  const Topology graph = MakeTorus(6, 5);
  Mesh mesh{TeamWith(2), std::vector<NamedNetwork>{{"slow", graph, {.period = 3}}}};
  CHECK_THROWS_AS(BoundSpectralRadius(mesh, [](Node&, InEdge) { return 0.2; }), uit::InputError);
}
