#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "demos/digital_evolution/machine/instruction.hpp"
#include "demos/digital_evolution/machine/machine.hpp"

namespace digital_evolution {

/// How a cell's life ended.
enum class Death : std::uint8_t {
  displaced_by_kin,       ///< a birth of its kin group took its place
  displaced_by_stranger,  ///< another birth did
  old_age,                ///< at Rules::max_age
  apoptosis               ///< by its program
};

/// The names of causes, in order.
inline constexpr std::array<std::string_view, 4> death_names{"displaced_by_kin", "displaced_by_stranger", "old_age",
                                                             "apoptosis"};

/// Counts of events on a worker since the world began; none ever decreases. Sums count for several workers.
struct Counters {
  std::uint64_t births_kin = 0;                         ///< within a kin group
  std::uint64_t births_new = 0;                         ///< that founded a kin group
  std::uint64_t births_mutated = 0;                     ///< whose genome was not the parent's
  std::uint64_t births_crowded_out = 0;                 ///< that arrived and lost their place to another birth
  std::uint64_t births_sent = 0;                        ///< that a parent paid for
  std::uint64_t births_dropped = 0;                     ///< whose put was refused
  std::array<std::uint64_t, death_names.size()> deaths{};  ///< by cause
  std::uint64_t transfers_kin = 0;                      ///< gifts to cells of one's kin group
  std::uint64_t transfers_strangers = 0;                ///< gifts to others, and to empty places
  std::int64_t transferred_kin = 0;                     ///< resource given to one's kin group
  std::int64_t transferred_strangers = 0;               ///< resource given to others
  std::uint64_t packets_sent = 0;                       ///< that left
  std::uint64_t packets_dropped = 0;                    ///< for which there was no room
  std::uint64_t packets_received = 0;                   ///< that arrived at a cell
  std::uint64_t packets_heeded = 0;                     ///< of those, that started a core
  std::uint64_t waves_begun = 0;                        ///< waves that the cell began itself
  std::uint64_t waves_harvested = 0;                    ///< cells that a wave has reached, begun waves included
  InstructionUse use{};                                 ///< instructions executed, by operation

  /// Adds, one by one.
  Counters& operator+=(const Counters& other) {
    births_kin += other.births_kin;
    births_new += other.births_new;
    births_mutated += other.births_mutated;
    births_crowded_out += other.births_crowded_out;
    births_sent += other.births_sent;
    births_dropped += other.births_dropped;
    for (std::size_t cause = 0; cause < deaths.size(); ++cause) deaths[cause] += other.deaths[cause];
    transfers_kin += other.transfers_kin;
    transfers_strangers += other.transfers_strangers;
    transferred_kin += other.transferred_kin;
    transferred_strangers += other.transferred_strangers;
    packets_sent += other.packets_sent;
    packets_dropped += other.packets_dropped;
    packets_received += other.packets_received;
    packets_heeded += other.packets_heeded;
    waves_begun += other.waves_begun;
    waves_harvested += other.waves_harvested;
    for (std::size_t operation = 0; operation < use.size(); ++operation) use[operation] += other.use[operation];
    return *this;
  }
  /// Births that have taken place.
  std::uint64_t Births() const { return births_kin + births_new; }
  /// Instructions executed, by class.
  std::array<std::uint64_t, num_classes> UseByClass() const {
    std::array<std::uint64_t, num_classes> sums{};
    for (std::size_t operation = 0; operation < use.size(); ++operation)
      sums[static_cast<std::size_t>(instruction_set[operation].instruction_class)] += use[operation];
    return sums;
  }
  /// One by one.
  friend bool operator==(const Counters&, const Counters&) = default;
};

}  // namespace digital_evolution
