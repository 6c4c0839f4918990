#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include <netuit/barrier/exact_sum.hpp>
#include <netuit/barrier/reduced.hpp>
#include <netuit/barrier/vote.hpp>
#include <uit/config.hpp>
#include <uit/support/bytes.hpp>
#include <uit/support/error.hpp>

namespace netuit::detail {

/// A vote's bytes without its sums. They and the head of a board are a cache line. So are a frame's head, the number of a barrier,
/// and a vote without the extremes at its end that are missing, if at least one is.
struct PlainVote {
  std::uint32_t stop = 0;
  std::uint16_t is_pending = 0;
  std::uint16_t num_sums = 0;  // which follow
  std::uint64_t next = 0;
  std::array<std::uint64_t, max_reductions> extremes{};
};

/// The most bytes of a vote, and of one with further sums.
inline constexpr std::size_t max_vote_bytes = sizeof(PlainVote) + max_reductions * sizeof(ExactSum);
inline constexpr std::size_t max_extended_vote_bytes = max_vote_bytes + max_reductions * sizeof(ExactSum);

/// Writes a vote and, unless `further` is null, as many further sums. Returns the number of bytes.
inline std::size_t StoreVote(const Vote& vote, const ReductionSums* further, uit::MutableByteView to) {
  const ReductionSums& sums = vote.reduced.sums;
  const std::size_t num_sums = std::max(sums.Size(), further != nullptr ? further->Size() : 0);
  const PlainVote plain{.stop = vote.stop,
                        .is_pending = static_cast<std::uint16_t>(vote.is_pending),
                        .num_sums = static_cast<std::uint16_t>(num_sums),
                        .next = vote.next,
                        .extremes = vote.reduced.extremes};
  uit::StoreBytes(plain, to);
  if (num_sums == 0) return sizeof plain - (max_reductions - vote.NumExtremes()) * sizeof(std::uint64_t);
  std::size_t num_bytes = sizeof plain;
  for (const ReductionSums* const these : {&sums, further}) {
    for (std::size_t i = 0; these != nullptr && i < num_sums; ++i, num_bytes += sizeof(ExactSum))
      uit::StoreBytes(these->Of(i), to.subspan(num_bytes));
  }
  return num_bytes;
}

[[noreturn]] UIT_NOINLINE inline void RefuseVote() { throw uit::Error("what a process brings to a barrier is no vote"); }

/// Reads what StoreVote has written, if both or neither have further sums. Throws uit::Error if it is no vote.
inline Vote LoadVote(uit::ByteView bytes, ReductionSums* further) {
  PlainVote plain;
  constexpr std::size_t least_bytes = sizeof plain - sizeof plain.extremes;
  const std::size_t plain_bytes = std::min(bytes.size(), sizeof plain);
  if (plain_bytes < least_bytes || plain_bytes % sizeof(std::uint64_t) != 0) RefuseVote();
  std::memcpy(&plain, bytes.data(), plain_bytes);
  const std::size_t num_sums = plain.num_sums * std::size_t{further != nullptr ? 2U : 1U};
  if (plain.num_sums > max_reductions || bytes.size() != plain_bytes + num_sums * sizeof(ExactSum)) RefuseVote();
  Vote vote{.stop = plain.stop, .is_pending = plain.is_pending, .next = plain.next, .reduced = {.extremes = plain.extremes}};
  for (std::size_t i = 0; i < num_sums; ++i) {
    ExactSum& sum = (i < plain.num_sums ? vote.reduced.sums : *further).At(i % plain.num_sums);
    uit::LoadBytes(sum, bytes.subspan(sizeof plain + i * sizeof(ExactSum)));
    if (!sum.IsSound()) RefuseVote();
  }
  return vote;
}

}  // namespace netuit::detail
