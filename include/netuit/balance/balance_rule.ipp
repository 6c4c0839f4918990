#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include <netuit/balance/balance_options.hpp>
#include <netuit/balance/balance_rule.hpp>
#include <netuit/graph/topology.hpp>
#include <netuit/placement/diffusion.hpp>
#include <netuit/placement/placement.hpp>
#include <uit/config.hpp>

namespace netuit {

UIT_DEFINE BalanceRule::BalanceRule(const BalanceOptions& options) : options_(options), cool_down_(options.cool_down) {
  CheckOptions(options);
}

UIT_DEFINE bool BalanceRule::Note(std::vector<double> loads, const Placement& present) {
  windows_.push_back(std::move(loads));
  if (windows_.size() > options_.patience) windows_.pop_front();
  if (num_waits_ != 0) {
    --num_waits_;
    return false;
  }
  return windows_.size() == options_.patience && Imbalance(Loads(), present) > options_.threshold;
}

UIT_DEFINE std::vector<double> BalanceRule::Loads() const {
  std::vector<double> mean(windows_.empty() ? 0 : windows_.back().size());
  for (const std::vector<double>& loads : windows_)
    for (std::size_t node = 0; node < mean.size(); ++node) mean[node] += loads[node] / static_cast<double>(windows_.size());
  return mean;
}

UIT_DEFINE bool BalanceRule::Accepts(const Placement& present, const Placement& next) const {
  const std::vector<double> mean = Loads();
  const double before = Imbalance(mean, present);
  const bool is_worth_it = before - Imbalance(mean, next) >= (before - 1) / 4;
  return is_worth_it && std::ranges::all_of(windows_, [&](const std::vector<double>& loads) {
           return Imbalance(loads, next) < Imbalance(loads, present);
         });
}

UIT_DEFINE void BalanceRule::Move(const Placement& from, const Placement& to) {
  std::uint64_t num_moved = 0;
  std::uint64_t num_back = 0;  // to where they were before the last move
  for (NodeId node = 0; node < from.NumNodes(); ++node) {
    if (from.WorkerOf(node) == to.WorkerOf(node)) continue;
    ++num_moved;
    if (before_ && before_->WorkerOf(node) == to.WorkerOf(node)) ++num_back;
  }
  constexpr std::uint64_t longest = std::uint64_t{1} << 32U;
  if (2 * num_back > num_moved) cool_down_ = std::clamp<std::uint64_t>(2 * cool_down_, 1, longest);
  else cool_down_ = options_.cool_down;
  num_waits_ = cool_down_;
  before_ = from;
}

}  // namespace netuit
