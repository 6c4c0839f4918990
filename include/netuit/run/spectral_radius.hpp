#pragma once

#include <algorithm>
#include <cmath>
#include <concepts>
#include <cstdint>
#include <limits>
#include <string>

#include <netuit/mesh/field.hpp>
#include <netuit/mesh/mesh.hpp>
#include <netuit/mesh/network_part.hpp>
#include <netuit/mesh/node.hpp>
#include <netuit/run/run.hpp>
#include <netuit/run/schedules.hpp>
#include <uit/config.hpp>
#include <uit/support/error.hpp>

namespace netuit {

/// What is known of the spectral radius of |B|, where an update computes x <- B x + c and |B| has the absolute values of B's entries.
/// If it is less than 1, the iteration converges in every mode, however old the values are that updates read; if not, there are
/// delays for which it does not (Chazan and Miranker, "Chaotic relaxation", Linear Algebra and its Applications 2, 1969).
struct SpectralBounds {
  double at_least = 0;                                        ///< it is not less
  double at_most = std::numeric_limits<double>::infinity();  ///< it is not more

  /// Whether the iteration converges in every mode.
  bool Converges() const { return at_most < 1; }
  /// Says in one line what follows.
  std::string Words() const;
};

/// Options of BoundSpectralRadius.
struct SpectralOptions {
  Network network{};              ///< whose edges have the entries
  std::uint64_t updates = 1000;   ///< at most
  double tolerance = 1e-3;        ///< enough, if the bounds are so close, and 1 is not between them
};

namespace detail {

/// The extremes of a number of all nodes.
struct Extremes {
  double least = std::numeric_limits<double>::infinity();
  double most = 0;
  void Add(const Extremes& other) {
    least = std::min(least, other.least);
    most = std::max(most, other.most);
  }
};

/// Returns the extremes over all processes. Collective.
Extremes Agree(const uit::World& world, const Extremes& mine);

}  // namespace detail

/// Bounds the spectral radius of |B| by power iteration over the mesh. `entry(node, edge)` returns B's entry for an in-edge of the
/// node; the diagonal of B is 0. Collective. Throws uit::InputError if an entry is not finite, or if the network has a period: values
/// of different updates tell nothing of the radius. Throws uit::Error if the iteration is interrupted.
///
///     netuit::Mesh mesh{team, graph};
///     auto weight = mesh.GetEdgeWeights();
///     const auto bounds = netuit::BoundSpectralRadius(mesh, [&](netuit::Node& node, netuit::InEdge edge) { return …; });
///     if (team.IsRoot()) std::printf("%s\n", bounds.Words().c_str());
///
/// The bounds are those of Collatz and Wielandt for (|B| + 1) / 2, whose powers also converge where those of |B| alternate. They hold
/// after any number of updates, but for rounding. Adds a published field to the mesh, which its later runs move too; so take a mesh
/// of its own for the check if that matters.
template <std::invocable<Node&, InEdge> F>
SpectralBounds BoundSpectralRadius(Mesh& mesh, F&& entry, const SpectralOptions& options = {}) {
  constexpr std::uint64_t most = 10;  // updates between two looks at the bounds
  if (mesh.Partitions().front()->networks.at(options.network.number)->period != 1) throw uit::InputError("the spectral radius is bounded along a network with a period of 1 only");
  const auto x = mesh.AddPublishedField<double>(1.0, {options.network});
  const auto ratio = mesh.AddField<double>(1.0);
  SpectralBounds bounds;
  double scale = 1;
  for (std::uint64_t num_made = 0, piece = 0; num_made < options.updates; num_made += piece) {
    piece = std::min(most, options.updates - num_made);
    const RunReport report = mesh.Run(EveryUpdate{.updates = piece}, [&](Node& node) {
      double sum = x[node];
      for (const InEdge edge : node.In(options.network)) sum += std::abs(entry(node, edge)) * x[edge];
      if (!std::isfinite(sum)) throw uit::InputError("the entries of its row do not have a finite sum");
      ratio[node] = sum / x[node];
      x[node] = sum / 2 * (node.Update() == 0 ? scale : 1);
    });
    if (report.stopped_by == StopReason::thrown) throw uit::InputError(report.message);
    if (report.stopped_by != StopReason::count) throw uit::Error("the power iteration was interrupted");
    detail::Extremes ratios;
    detail::Extremes values;
    mesh.Visit([&](Node& node) {
      ratios.Add({ratio[node], ratio[node]});
      values.Add({x[node], x[node]});
    });
    ratios = detail::Agree(mesh.GetWorld(), ratios);
    scale = 1 / detail::Agree(mesh.GetWorld(), values).most;  // so that nothing overflows
    bounds.at_least = std::max(bounds.at_least, ratios.least - 1);
    bounds.at_most = std::min(bounds.at_most, ratios.most - 1);
    if (bounds.at_most - bounds.at_least <= options.tolerance && (bounds.at_most < 1 || bounds.at_least >= 1)) break;
  }
  return bounds;
}

}  // namespace netuit

#if !UIT_COMPILED
#include <netuit/run/spectral_radius.ipp>
#endif
