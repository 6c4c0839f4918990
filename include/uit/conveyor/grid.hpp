#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include <uit/config.hpp>
#include <uit/conveyor/conveyor_sizes.hpp>

namespace uit::detail {

/// Members of a team in rows of about the square root of their number. A member sends directly to those of its own row. To others it
/// sends over a relay: if the destination stands in column c of its row, the relay is the member of the sender's row in column c,
/// modulo the row's length. If that is the sender itself, it sends directly. So a member sends to those of its row, and to one or a
/// few of each other row.
///
/// Rows are hosts, parts of a host, or several hosts, as far as their sizes allow: the first hop is then within a host.
class Grid {
 public:
  /// `hosts`: by member, any number that stands for its host.
  explicit Grid(const std::vector<std::size_t>& hosts);

  /// Whether both members stand in one row.
  bool IsSameRow(std::size_t one, std::size_t other) const { return places_[one].row == places_[other].row; }
  /// Returns the member to which `from` sends items for `to`: `to` itself, or one of its own row that sends to `to`.
  std::size_t Next(std::size_t from, std::size_t to) const {
    if (IsSameRow(from, to)) return to;
    const std::vector<std::size_t>& row = rows_[places_[from].row];
    const std::size_t between = row[places_[to].column % row.size()];
    return between == from ? to : between;
  }

 private:
  struct Place {
    std::uint32_t row = 0;
    std::uint32_t column = 0;
  };
  /// Appends rows for a host: of one size, as far as possible.
  void AddRows(const std::vector<std::size_t>& members, std::size_t num_rows);
  /// Appends to the last row.
  void Extend(const std::vector<std::size_t>& members);

  std::vector<std::vector<std::size_t>> rows_{};
  std::vector<Place> places_;  // by member
};

/// Returns how many members `rank` exchanges items with. `processes` are those of all members.
LaneCounts CountLanes(const Grid& grid, const std::vector<std::size_t>& processes, std::size_t rank);
/// The same if it exchanges items with all.
LaneCounts CountAllLanes(const std::vector<std::size_t>& processes, std::size_t rank);

}  // namespace uit::detail

#if !UIT_COMPILED
#include <uit/conveyor/grid.ipp>
#endif
