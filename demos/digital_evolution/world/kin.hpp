#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <netuit/graph/random_stream.hpp>
#include <ranges>

namespace digital_evolution {

/// Bits over which the members of a kin group are spread to count them.
inline constexpr unsigned num_kin_bits = 80;
/// Updates of a cell in which it gathers the bits of its group, before it counts them and begins anew.
inline constexpr unsigned kin_epoch_updates = 64;

/// A cell's signal to its neighbours in every update: its kin group, the known members of the group, and the passing wave.
/// Signals that arrive twice, late or not at all do no harm.
struct KinSignal {
  std::uint32_t group = 0;      ///< of the kin group; 0: there is no cell
  std::uint8_t epoch = 0;       ///< of the bits, modulo 256
  std::uint8_t wave = 0;        ///< hops from where the wave began, from 1; 0: no wave
  std::uint16_t bits_high = 0;  ///< members heard of, bits 64 to 79
  std::uint64_t bits_low = 0;   ///< members heard of, bits 0 to 63

  /// Bit by bit.
  friend constexpr bool operator==(const KinSignal&, const KinSignal&) = default;
};
static_assert(sizeof(KinSignal) == 16);

/// A kin group's number as neighbours see it; never 0.
constexpr std::uint32_t GroupOf(std::uint64_t kin) {
  return std::max(std::uint32_t{1}, static_cast<std::uint32_t>(netuit::MixBits(kin) >> 32U));
}

/// The estimated number of members that have set `num_set` of 80 bits: linear counting (Whang, Vander-Zanden, Taylor 1990),
/// 80 ln(80 / zeros), to the nearest whole number; if no bit is zero, as if half a bit were. Requires num_set <= 80.
constexpr std::uint32_t CountMembers(unsigned num_set) {
  constexpr std::array<std::uint16_t, num_kin_bits + 1> members_by_zeros{
      406, 351, 295, 263, 240, 222, 207, 195, 184, 175, 166, 159, 152, 145, 139, 134, 129, 124, 119, 115, 111,
      107, 103, 100, 96,  93,  90,  87,  84,  81,  78,  76,  73,  71,  68,  66,  64,  62,  60,  57,  55,  53,
      52,  50,  48,  46,  44,  43,  41,  39,  38,  36,  34,  33,  31,  30,  29,  27,  26,  24,  23,  22,  20,
      19,  18,  17,  15,  14,  13,  12,  11,  10,  8,   7,   6,   5,   4,   3,   2,   1,   0};
  return members_by_zeros[num_kin_bits - num_set];
}

/// A cell's kin group, and its estimate of the group's size.
///
/// In each epoch every member sets one bit, a hash of its place and the epoch, and adds the bits of neighbouring kin. So all bits
/// spread through the group by one hop per update. A member counts the bits when the epoch has lasted long enough by its own
/// count, or when it receives a newer epoch. No common clock is needed.
struct KinGroup {
  std::uint64_t kin = 0;         ///< the group's number, drawn at random when it is founded
  std::uint64_t bits_low = 0;    ///< members heard of in this epoch
  std::uint16_t bits_high = 0;   ///< members heard of in this epoch
  std::uint8_t epoch = 0;        ///< modulo 256
  std::uint8_t num_updates = 0;  ///< since the epoch began here
  std::uint32_t size = 1;        ///< members counted in the last epoch

  /// Advances by an update, at `place`, with the `signals` of the neighbours.
  template <std::ranges::input_range R>
  void Update(std::uint32_t place, const R& signals) {
    const std::uint32_t group = GroupOf(kin);
    int newest = ++num_updates >= kin_epoch_updates ? 1 : 0;
    for (const KinSignal& signal : signals) {
      if (signal.group == group) newest = std::max<int>(newest, static_cast<std::int8_t>(signal.epoch - epoch));
    }
    if (newest > 0) Begin(static_cast<std::uint8_t>(epoch + newest));
    SetBitOf(place);
    for (const KinSignal& signal : signals) {
      if (signal.group != group || signal.epoch != epoch) continue;
      bits_low |= signal.bits_low;
      bits_high |= signal.bits_high;
    }
  }
  /// The values that neighbours see.
  KinSignal Signal(std::uint8_t wave) const { return {GroupOf(kin), epoch, wave, bits_high, bits_low}; }

 private:
  void Begin(std::uint8_t next) {
    size = std::max(1U, CountMembers(static_cast<unsigned>(std::popcount(bits_low) + std::popcount(bits_high))));
    epoch = next;
    num_updates = 0;
    bits_low = 0;
    bits_high = 0;
  }
  void SetBitOf(std::uint32_t place) {
    const std::uint64_t hash = netuit::MixBits((std::uint64_t{place} << 8U) + epoch) >> 32U;
    const auto bit = static_cast<unsigned>((hash * num_kin_bits) >> 32U);
    if (bit < 64) bits_low |= std::uint64_t{1} << bit;
    else bits_high = static_cast<std::uint16_t>(bits_high | 1U << (bit - 64));
  }
};
static_assert(sizeof(KinGroup) == 24);

}  // namespace digital_evolution
