#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <vector>

#include <netuit/balance/balance_options.hpp>
#include <netuit/placement/placement.hpp>
#include <uit/config.hpp>

namespace netuit {

/// Decides from the nodes' loads, window by window, when nodes should move. It knows nothing of meshes and clocks.
///
///     netuit::BalanceRule rule({.threshold = 1.2});
///     if (rule.Note(loads, present)) {                      // once per window
///       const auto next = netuit::PlaceNear(topology.WithNodeWeights(rule.Loads()), present, 1.1);
///       if (rule.Accepts(present, next)) … else rule.Decline();
///     }
class BalanceRule {
 public:
  /// Throws uit::InputError if an option is invalid.
  explicit BalanceRule(const BalanceOptions& options);

  /// Notes the loads of a window, by node. Returns whether to look for another placement.
  bool Note(std::vector<double> loads, const Placement& present);
  /// Returns the mean loads of the last windows, by node.
  std::vector<double> Loads() const;
  /// Whether a move would have helped in each of the last windows, and would take away at least a quarter of the mean excess load.
  bool Accepts(const Placement& present, const Placement& next) const;

  /// Notes that nodes have moved.
  void Move(const Placement& from, const Placement& to);
  /// Notes that no placement was good enough. Windows of a cool-down follow, because the next is unlikely to be better.
  void Decline() { num_waits_ = options_.cool_down; }

  /// Returns the number of windows in which nodes will not move.
  std::uint64_t NumWaits() const { return num_waits_; }

 private:
  BalanceOptions options_;
  std::deque<std::vector<double>> windows_;  // the newest is the last
  std::optional<Placement> before_;          // the last move
  std::uint64_t cool_down_;
  std::uint64_t num_waits_ = 0;
};

}  // namespace netuit

#if !UIT_COMPILED
#include <netuit/balance/balance_rule.ipp>
#endif
