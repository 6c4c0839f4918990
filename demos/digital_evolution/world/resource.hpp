#pragma once

#include <cstdint>

namespace digital_evolution {

/// An amount of resource, in fixed point, so that sums are exact in any order: 1.0 is `one_resource`.
using Resource = std::int32_t;

/// The amount 1.0.
inline constexpr Resource one_resource = Resource{1} << 20;
/// The maximum that a cell can hold; any excess decays at once.
inline constexpr Resource max_stockpile = Resource{1} << 30;

/// `value` of resource, to the nearest unit.
constexpr Resource ToResource(double value) {
  return static_cast<Resource>(value * one_resource + (value < 0 ? -0.5 : 0.5));
}

/// The sources and sinks of resource since the world began, in the units of Resource. The ledger of several workers is the sum of
/// theirs.
///
/// At any time between runs, in every mode, to the last unit and summed over all workers:
///
///     initial + inflow + harvested
///         = spent + decayed + forfeited + crowded_out + lost_to_empty + held by cells + in flight
///     transfers_sent = transfers_received + transfers in flight, and likewise for endowments
struct Ledger {
  std::int64_t initial = 0;              ///< resource of the founders at the beginning
  std::int64_t inflow = 0;               ///< came to every cell alike
  std::int64_t harvested = 0;            ///< came with waves
  std::int64_t spent = 0;                ///< cost of births
  std::int64_t decayed = 0;              ///< of stockpiles
  std::int64_t forfeited = 0;            ///< stockpiles of cells that died without an heir
  std::int64_t crowded_out = 0;          ///< endowments of births that lost their place to another birth
  std::int64_t lost_to_empty = 0;        ///< transfers that found no cell
  std::int64_t transfers_sent = 0;       ///< left stockpiles
  std::int64_t transfers_received = 0;   ///< arrived, whether or not a cell was there
  std::int64_t endowments_sent = 0;      ///< left stockpiles with births
  std::int64_t endowments_received = 0;  ///< arrived with births

  /// Adds, item by item.
  constexpr Ledger& operator+=(const Ledger& other) {
    initial += other.initial;
    inflow += other.inflow;
    harvested += other.harvested;
    spent += other.spent;
    decayed += other.decayed;
    forfeited += other.forfeited;
    crowded_out += other.crowded_out;
    lost_to_empty += other.lost_to_empty;
    transfers_sent += other.transfers_sent;
    transfers_received += other.transfers_received;
    endowments_sent += other.endowments_sent;
    endowments_received += other.endowments_received;
    return *this;
  }
  /// All that has come into the world.
  constexpr std::int64_t Gained() const { return initial + inflow + harvested; }
  /// All that has left it.
  constexpr std::int64_t Lost() const { return spent + decayed + forfeited + crowded_out + lost_to_empty; }
  /// The resource that has left cells and has not arrived.
  constexpr std::int64_t UnderWay() const {
    return transfers_sent - transfers_received + endowments_sent - endowments_received;
  }
  /// Item by item.
  friend constexpr bool operator==(const Ledger&, const Ledger&) = default;
};

}  // namespace digital_evolution
