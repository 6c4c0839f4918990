#pragma once

#include <cmath>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include <uit/config.hpp>
#include <uit/conveyor/conveyor_sizes.hpp>
#include <uit/conveyor/grid.hpp>

namespace uit::detail {

UIT_DEFINE Grid::Grid(const std::vector<std::size_t>& hosts) : places_(hosts.size()) {
  std::map<std::size_t, std::vector<std::size_t>> members_of;  // by host
  for (std::size_t member = 0; member < hosts.size(); ++member) members_of[hosts[member]].push_back(member);
  const double wanted = std::sqrt(static_cast<double>(hosts.size()));
  const auto miss = [&](std::size_t size) { return std::abs(static_cast<double>(size) - wanted); };

  std::vector<std::size_t> shared;  // members of hosts that are too small for a row of their own
  for (const auto& [host, members] : members_of) {
    const auto num_rows = static_cast<std::size_t>(std::lround(static_cast<double>(members.size()) / wanted));
    if (num_rows != 0) {
      AddRows(members, num_rows);
    } else {
      if (!shared.empty() && miss(shared.size() + members.size()) > miss(shared.size())) AddRows(std::exchange(shared, {}), 1);
      shared.insert(shared.end(), members.begin(), members.end());
    }
  }
  // A member of a short row would have to send to many of the others.
  if (!rows_.empty() && static_cast<double>(shared.size()) < wanted / 2) Extend(shared);
  else AddRows(shared, 1);
}

UIT_DEFINE void Grid::AddRows(const std::vector<std::size_t>& members, std::size_t num_rows) {
  const auto at = [&](std::size_t row) { return members.begin() + static_cast<std::ptrdiff_t>(members.size() * row / num_rows); };
  for (std::size_t row = 0; row < num_rows; ++row) {
    rows_.emplace_back();
    Extend({at(row), at(row + 1)});
  }
}

UIT_DEFINE void Grid::Extend(const std::vector<std::size_t>& members) {
  std::vector<std::size_t>& row = rows_.back();
  for (const std::size_t member : members) {
    places_[member] = {static_cast<std::uint32_t>(rows_.size() - 1), static_cast<std::uint32_t>(row.size())};
    row.push_back(member);
  }
}

/// Counts those members for which `has_lane(member)`, and `rank` itself.
template <std::predicate<std::size_t> HasLane>
LaneCounts CountLanesIf(const std::vector<std::size_t>& processes, std::size_t rank, HasLane&& has_lane) {
  LaneCounts counts{.num_here = 1};
  std::set<std::size_t> elsewhere;
  for (std::size_t other = 0; other < processes.size(); ++other) {
    if (other == rank || !has_lane(other)) continue;
    const bool is_here = processes[other] == processes[rank];
    ++(is_here ? counts.num_here : counts.num_elsewhere);
    if (!is_here) elsewhere.insert(processes[other]);
  }
  counts.num_processes = elsewhere.size();
  return counts;
}

UIT_DEFINE LaneCounts CountLanes(const Grid& grid, const std::vector<std::size_t>& processes, std::size_t rank) {
  return CountLanesIf(processes, rank,
                      [&](std::size_t other) { return grid.Next(rank, other) == other || grid.Next(other, rank) == rank; });
}

UIT_DEFINE LaneCounts CountAllLanes(const std::vector<std::size_t>& processes, std::size_t rank) {
  return CountLanesIf(processes, rank, [](std::size_t) { return true; });
}

}  // namespace uit::detail
