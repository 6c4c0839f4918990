#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>

#include <netuit/barrier/ordered_double.hpp>
#include <netuit/mesh/node.hpp>
#include <netuit/mesh/reduction.hpp>

namespace netuit {

/// When to evaluate a reduction over cuts.
struct CutOptions {
  std::uint64_t every = 100;  ///< updates of a worker from one cut to the next, at least
};

namespace detail {

/// A number of each node at a cut, of which workers find the largest, smallest or sum.
struct CutRule {
  std::size_t number = 0;                  // of the reduction in the mesh
  ReductionKind which = ReductionKind::maximum;
  std::uint64_t every = 0;                 // CutOptions::every
  std::function<double(Node&)> evaluate{};
  std::uint64_t at_end = ordered_unknown;  // its word for the end of the last run
  std::uint64_t num_cuts = 0;              // of the last run for which it was known

  void ForgetRun() {
    at_end = ordered_unknown;
    num_cuts = 0;
  }
};

}  // namespace detail

/// The largest, smallest or sum of a number that each node has at a consistent cut: the residual of a best-effort run, for example.
/// A handle, cheap to copy.
///
///     auto at_cut = mesh.AddCut(theta);                    // theta's values, all at one cut
///     auto residual = mesh.AddCutReduction(netuit::maximum, [&](netuit::Node& node) {
///       double sum = power[node];
///       for (auto edge : node.In()) sum += weight[edge] * (at_cut[edge] - at_cut[node]);
///       return std::abs(sum);
///     });
///     mesh.Run(netuit::Free{.until = residual < 1e-9}, update);
///     if (team.IsRoot()) std::printf("the residual of the result is %g\n", residual.AtEnd());
///
/// In a run with a condition `until`, the workers make cuts as in Captured, but send the copies to their neighbours. As soon as a
/// worker has those of its neighbours, it calls the function once for each of its nodes, between two updates. Nobody waits. In
/// EveryUpdate and Dataflow, a cut has all values after the same update.
///
/// In best effort, workers go on after the cut for which the condition holds, and do not stop after the same update. If an update
/// shrinks errors by a factor a, then a residual of r at the cut means at most r (1 + a) / (1 - a) in the result; see AtEnd.
class CutReduction {
 public:
  /// For the mesh.
  explicit CutReduction(const detail::CutRule& rule) : rule_(&rule) {}

  /// Returns the number at the last cut for which it is known. NaN if there is none yet.
  double Agreed(const Node& node) const { return Known().Agreed(node); }
  /// Returns the number for the values with which the last run ended. NaN if there is none, after a replay for example. Between runs.
  double AtEnd() const { return detail::NumberOf(rule_->which, rule_->at_end); }
  /// Returns at how many cuts of the last run the reduction became known; the end of the run does not count. Call it between runs.
  std::uint64_t NumCuts() const { return rule_->num_cuts; }

  /// The run ends when the reduction is less than `bound`.
  Until operator<(double bound) const { return Known() < bound; }
  /// The run ends when the reduction is greater than `bound`.
  Until operator>(double bound) const { return Known() > bound; }

 private:
  Reduction Known() const { return {rule_->number, rule_->which}; }

  const detail::CutRule* rule_;
};

}  // namespace netuit
