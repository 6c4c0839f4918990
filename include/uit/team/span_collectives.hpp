#pragma once

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <utility>

#include <uit/support/bytes.hpp>
#include <uit/support/error.hpp>
#include <uit/team/rounds.hpp>
#include <uit/team/piece_rounds.hpp>

// The collective calls of a member for spans, in place, each an object with TryEnd() and Take(). See Member.

namespace uit::detail {

/// The root's elements for all, in place.
template <TriviallyCopyable T>
class BroadcastSpanCall {
 public:
  BroadcastSpanCall(Rounds& rounds, std::span<T> data, std::size_t root)
      : data_(std::as_writable_bytes(data)),
        root_(root),
        is_root_(rounds.Seat() == root),
        rounds_(rounds, KindOfCall<T, Call::broadcast>(data.size() + 1, root), is_root_ ? ByteView{data_} : ByteView{}) {}
  bool TryEnd() {
    return rounds_.TryEnd([this](std::size_t seat, std::size_t offset, ByteView piece) {
      if (seat == root_ && !is_root_ && offset + piece.size() <= data_.size())
        CopyBytes(data_.data() + offset, piece.data(), piece.size());
    });
  }
  void Take() {}

 private:
  MutableByteView data_;
  std::size_t root_;
  bool is_root_;
  PieceRounds rounds_;
};

/// All elements in order of the members, in place.
template <TriviallyCopyable T>
class GatherSpanCall {
 public:
  GatherSpanCall(Rounds& rounds, std::span<const T> mine, std::span<T> all, const Getter& getter)
      : has_all_(getter.Is(rounds)),
        all_(std::as_writable_bytes(has_all_ ? Checked(all, mine.size(), rounds.Size()) : std::span<T>{})),
        part_(mine.size_bytes()),
        rounds_(rounds, KindOfCall<T, Call::gather_span>(mine.size(), getter.Number()), std::as_bytes(mine)) {}
  bool TryEnd() {
    return rounds_.TryEnd([this](std::size_t seat, std::size_t offset, ByteView piece) {
      if (has_all_ && offset + piece.size() <= part_) CopyBytes(all_.data() + seat * part_ + offset, piece.data(), piece.size());
    });
  }
  void Take() {}

 private:
  static std::span<T> Checked(std::span<T> all, std::size_t count, std::size_t size) {
    if (all.size() == count * size) return all;
    throw Error("gathering " + std::to_string(count) + " elements of each of " + std::to_string(size) +
                " members needs room for all of them, not for " + std::to_string(all.size()));
  }

  bool has_all_;
  MutableByteView all_;
  std::size_t part_;
  PieceRounds rounds_;
};

/// Combines the elements of all members one by one, in place.
///
/// Few bytes: every member that gets the result combines them all. Many: in one round members post a piece, and each combines a slice
/// of it; in the next they post their slices, if somebody else gets them. So each reads what it needs, and combines its part only.
template <TriviallyCopyable T, std::invocable<T, T> Op>
class ReduceSpanCall {
 public:
  ReduceSpanCall(Rounds& rounds, std::span<T> data, Op op, const Getter& getter)
      : rounds_(rounds),
        data_(data),
        op_(std::move(op)),
        has_all_(getter.Is(rounds)),
        is_only_getter_(has_all_ && getter.root.has_value()),
        kind_(KindOfCall<T, Call::reduce_span>(data.size(), getter.Number())),
        most_(std::max<std::size_t>(rounds.PieceBytes() / sizeof(T), 1)),
        is_direct_(data.size_bytes() * rounds.Size() <= direct_bytes) {
    static_assert(sizeof(T) <= 1024 && alignof(T) <= RoundBoard::alignment,
                  "elements are combined where they lie, in pieces of at least 1 KiB at multiples of 32 bytes");
    BeginPiece();
  }
  bool TryEnd() {
    while (rounds_.TryEnd()) {
      if (!is_direct_ && !has_slice_) {
        const auto [begin, end] = Slice(rounds_.Seat());
        Combine(begin, end, data_.data() + offset_ + begin);
        has_slice_ = true;
        Post(begin, is_only_getter_ ? begin : end);
        continue;
      }
      if (has_all_ && is_direct_) Combine(0, piece_, data_.data() + offset_);
      else if (has_all_) TakeSlices();
      offset_ += piece_;
      if (offset_ >= data_.size()) return true;
      BeginPiece();
    }
    return false;
  }
  void Take() {}

 private:
  static constexpr std::size_t direct_bytes = 4096;

  void BeginPiece() {
    piece_ = std::min(most_, data_.size() - offset_);
    has_slice_ = false;
    Post(0, piece_);
  }
  /// Copies the slices of the piece that other members have combined.
  void TakeSlices() {
    for (std::size_t seat = 0; seat < rounds_.Size(); ++seat) {
      const auto [begin, end] = Slice(seat);
      const ByteView slice = rounds_.At(seat).bytes;
      if (seat != rounds_.Seat() && slice.size() == (end - begin) * sizeof(T))
        CopyBytes(reinterpret_cast<std::byte*>(data_.data() + offset_ + begin), slice.data(), slice.size());
    }
  }
  void Post(std::size_t begin, std::size_t end) {
    rounds_.Begin(kind_, data_.size_bytes(), std::as_bytes(std::span<const T>(data_).subspan(offset_ + begin, end - begin)));
  }
  std::pair<std::size_t, std::size_t> Slice(std::size_t seat) const {
    return {piece_ * seat / rounds_.Size(), piece_ * (seat + 1) / rounds_.Size()};
  }
  /// Combines a part of the piece that all members have posted, in order of their ranks.
  void Combine(std::size_t begin, std::size_t end, T* to) {
    const auto elements = [&](std::size_t seat) {
      if (rounds_.At(seat).bytes.size() != piece_ * sizeof(T)) throw Error("a member has brought another number of elements");
      return reinterpret_cast<const T*>(rounds_.At(seat).bytes.data()) + begin;
    };
    const std::size_t count = end - begin;
    std::copy_n(elements(0), count, to);
    for (std::size_t seat = 1; seat < rounds_.Size(); ++seat) {
      const T* const from = elements(seat);
      for (std::size_t i = 0; i < count; ++i) to[i] = op_(to[i], from[i]);
    }
  }

  Rounds& rounds_;
  std::span<T> data_;
  Op op_;
  bool has_all_;
  bool is_only_getter_;  // so nobody needs its slices
  std::uint64_t kind_;
  std::size_t most_;  // elements of a piece
  bool is_direct_;
  std::size_t offset_ = 0;
  std::size_t piece_ = 0;   // elements of this one
  bool has_slice_ = false;  // this member has combined its slice of the piece
};

/// Equally many elements of each member for each, in place. A member brings what the others get, in order of their seats.
template <TriviallyCopyable T>
class ExchangeSpanCall {
 public:
  ExchangeSpanCall(Rounds& rounds, std::span<const T> parts, std::span<T> received)
      : received_(std::as_writable_bytes(Checked(received, parts.size(), rounds.Size()))),
        part_(parts.size_bytes() / rounds.Size()),
        seat_(rounds.Seat()),
        rounds_(rounds, KindOfCall<T, Call::exchange_span>(parts.size()), std::as_bytes(parts).first(part_ * seat_),
                std::as_bytes(parts).subspan(part_ * (seat_ + 1))) {
    CopyBytes(received_.data() + part_ * seat_, std::as_bytes(parts).data() + part_ * seat_, part_);
  }
  bool TryEnd() {
    return rounds_.TryEnd([this](std::size_t seat, std::size_t offset, ByteView piece) {
      if (seat == seat_) return;
      const std::size_t first = part_ * (seat < seat_ ? seat_ - 1 : seat_);  // where it brings this member's part
      const std::size_t begin = std::max(offset, first);
      const std::size_t end = std::min(offset + piece.size(), first + part_);
      if (begin < end) CopyBytes(received_.data() + seat * part_ + (begin - first), piece.data() + (begin - offset), end - begin);
    });
  }
  void Take() {}

 private:
  static std::span<T> Checked(std::span<T> received, std::size_t count, std::size_t size) {
    if (count % size == 0 && received.size() == count) return received;
    throw Error("an all-to-all of " + std::to_string(size) + " members needs equally many elements for each, and as much room, not " +
                std::to_string(count) + " elements and room for " + std::to_string(received.size()));
  }

  MutableByteView received_;
  std::size_t part_;
  std::size_t seat_;
  PieceRounds rounds_;
};

}  // namespace uit::detail
