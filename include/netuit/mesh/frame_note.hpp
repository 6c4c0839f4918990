#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace netuit {

/// How often a worker has copied fields in the current run, for itself and with all others. Others learn it from its frames, and
/// copy before they read what it published after its copy.
struct CutCounts {
  std::uint64_t cuts = 0;    ///< for captures
  std::uint64_t rounds = 0;  ///< for reductions over cuts
};

/// What a frame of values tells of its sender, after the values.
struct FrameNote {
  std::uint64_t num_effective = 0;  ///< updates that count; see EffectiveUpdates::Count
  std::uint32_t cuts = 0;           ///< CutCounts::cuts, the lower half
  std::uint32_t rounds = 0;         ///< CutCounts::rounds, the lower half

  /// Reads a note.
  static FrameNote At(const std::byte* from) {
    FrameNote note;
    std::memcpy(&note, from, sizeof note);
    return note;
  }
};

/// Returns the number that is nearest to `near` and has this lower half.
constexpr std::uint64_t NearestWithLowerHalf(std::uint32_t half, std::uint64_t near) {
  const auto difference = static_cast<std::int32_t>(half - static_cast<std::uint32_t>(near));
  return near + static_cast<std::uint64_t>(static_cast<std::int64_t>(difference));
}

}  // namespace netuit
