#pragma once

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <optional>

#include <uit/support/bytes.hpp>
#include <uit/support/type_hash.hpp>
#include <uit/team/rounds.hpp>

namespace uit::detail {

/// The collective calls; part of what all members must do alike.
enum class Call : std::uint64_t { barrier = 1, broadcast, reduce, reduce_span, gather, gather_span, exchange, exchange_span };

/// Returns a number for a call, the type and number of its elements, and its root. Members compare it.
template <typename T, Call call>
std::uint64_t KindOfCall(std::uint64_t num_elements = 0, std::uint64_t root = 0) {
  static const std::uint64_t kind = [] {
    TypeHasher hasher;
    hasher.Add(static_cast<std::uint64_t>(call));
    hasher.Add(TypeHash<T>());
    return hasher.Value();
  }();
  return kind + num_elements * 0x9E3779B97F4A7C15U + root * 0xC2B2AE3D27D4EB4FU;
}

/// Who gets the result of a call: `root`, or every member if there is no root.
struct Getter {
  std::optional<std::size_t> root;
  bool Is(const Rounds& rounds) const { return !root || rounds.Seat() == *root; }
  /// For KindOfCall.
  std::uint64_t Number() const { return root ? *root + 1 : 0; }
};

/// Brings bytes of any number to the rounds of a group, piece by piece, and hands over those of all members.
class PieceRounds {
 public:
  /// `mine` and then `rest` are brought. They must stay as they are until the end.
  PieceRounds(Rounds& rounds, std::uint64_t kind, ByteView mine, ByteView rest = {})
      : rounds_(rounds), kind_(kind), mine_(mine), rest_(rest) {
    BeginRound();
  }

  /// Returns whether all has been read; not called again then. Never waits. Calls `take(seat, offset, piece)` for each piece of each member.
  template <std::invocable<std::size_t, std::size_t, ByteView> Take>
  bool TryEnd(Take&& take) {
    while (rounds_.TryEnd()) {
      for (std::size_t seat = 0; seat < rounds_.Size(); ++seat) {
        const Brought& brought = rounds_.At(seat);
        if (offset_ == 0) most_ = std::max(most_, brought.total);
        if (!brought.bytes.empty()) take(seat, offset_, brought.bytes);
      }
      offset_ += rounds_.PieceBytes();
      if (offset_ >= most_) return true;
      BeginRound();
    }
    return false;
  }

 private:
  void BeginRound() {
    const auto part = [](ByteView of, std::size_t begin, std::size_t end) {
      begin = std::min(begin, of.size());
      return of.subspan(begin, std::min(end, of.size()) - begin);
    };
    const std::size_t end = offset_ + rounds_.PieceBytes();
    const std::size_t num_mine = mine_.size();
    rounds_.Begin(kind_, num_mine + rest_.size(), part(mine_, offset_, end),
                  part(rest_, std::max(offset_, num_mine) - num_mine, std::max(end, num_mine) - num_mine));
  }

  Rounds& rounds_;
  std::uint64_t kind_;
  ByteView mine_;
  ByteView rest_;
  std::size_t offset_ = 0;
  std::uint64_t most_ = 0;  // bytes of the member that brings the most
};

}  // namespace uit::detail
