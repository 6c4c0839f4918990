#pragma once

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <uit/codec/codec.hpp>
#include <uit/support/bytes.hpp>
#include <uit/support/error.hpp>
#include <uit/team/rounds.hpp>
#include <uit/team/piece_rounds.hpp>

// The collective calls of a member for values, each an object with TryEnd(), which is called until it returns true, and then Take().
// See Member.

namespace uit::detail {

/// Encodes a value.
template <Encodable T>
Bytes Encoded(const T& value) {
  Bytes bytes(CodecFor<T>{}.Size(value));
  CodecFor<T>{}.Encode(value, bytes);
  return bytes;
}
[[noreturn]] inline void RefuseBytes() { throw Error("what a member has brought to a collective call cannot be decoded"); }
/// Decodes what another member has brought.
template <Encodable T>
T Decoded(ByteView bytes) {
  T value{};
  if (!CodecFor<T>{}.TryDecode(bytes, value)) RefuseBytes();
  return value;
}

/// Waits for all.
class BarrierCall {
 public:
  explicit BarrierCall(Rounds& rounds) : rounds_(rounds) { rounds_.Begin(static_cast<std::uint64_t>(Call::barrier), 0, {}); }
  bool TryEnd() { return rounds_.TryEnd(); }
  void Take() {}

 private:
  Rounds& rounds_;
};

/// The values of some or all members, encoded: those for which `wants(seat)`.
class GatherBytes {
 public:
  GatherBytes(Rounds& rounds, std::uint64_t kind, Bytes mine) : mine_(std::move(mine)), all_(rounds.Size()), rounds_(rounds, kind, mine_) {}
  GatherBytes(const GatherBytes&) = delete;
  GatherBytes& operator=(const GatherBytes&) = delete;

  template <std::predicate<std::size_t> Wants>
  bool TryEnd(Wants&& wants) {
    return rounds_.TryEnd([&](std::size_t seat, std::size_t, ByteView piece) {
      if (wants(seat)) all_[seat].insert(all_[seat].end(), piece.begin(), piece.end());
    });
  }
  ByteView Of(std::size_t seat) const { return all_[seat]; }

 private:
  Bytes mine_;
  std::vector<Bytes> all_;  // by seat
  PieceRounds rounds_;
};

/// The root's value for all.
template <Encodable T>
class BroadcastCall {
 public:
  BroadcastCall(Rounds& rounds, const T& value, std::size_t root)
      : root_(root),
        bytes_(rounds, KindOfCall<T, Call::broadcast>(0, root), rounds.Seat() == root ? Encoded(value) : Bytes{}) {}
  bool TryEnd() {
    return bytes_.TryEnd([this](std::size_t seat) { return seat == root_; });
  }
  T Take() { return Decoded<T>(bytes_.Of(root_)); }

 private:
  std::size_t root_;
  GatherBytes bytes_;
};

/// All values in order of the members.
template <Encodable T>
class GatherCall {
 public:
  GatherCall(Rounds& rounds, const T& value, const Getter& getter)
      : size_(rounds.Size()),
        has_all_(getter.Is(rounds)),
        bytes_(rounds, KindOfCall<T, Call::gather>(0, getter.Number()), Encoded(value)) {}
  bool TryEnd() {
    return bytes_.TryEnd([this](std::size_t) { return has_all_; });
  }
  std::vector<T> Take() {
    std::vector<T> values;
    for (std::size_t seat = 0; has_all_ && seat < size_; ++seat) values.push_back(Decoded<T>(bytes_.Of(seat)));
    return values;
  }

 private:
  std::size_t size_;
  bool has_all_;
  GatherBytes bytes_;
};

/// Combines one value of each member in order of their ranks: the same on every layout.
template <Encodable T, std::invocable<T, T> Op>
class ReduceCall {
 public:
  ReduceCall(Rounds& rounds, const T& value, Op op, const Getter& getter)
      : size_(rounds.Size()),
        has_all_(getter.Is(rounds)),
        op_(std::move(op)),
        bytes_(rounds, KindOfCall<T, Call::reduce>(0, getter.Number()), Encoded(value)) {}
  bool TryEnd() {
    return bytes_.TryEnd([this](std::size_t) { return has_all_; });
  }
  /// Returns the result, or nothing on members that do not get it.
  std::optional<T> Take() {
    if (!has_all_) return std::nullopt;
    T result = Decoded<T>(bytes_.Of(0));
    for (std::size_t seat = 1; seat < size_; ++seat) result = op_(std::move(result), Decoded<T>(bytes_.Of(seat)));
    return result;
  }

 private:
  std::size_t size_;
  bool has_all_;
  Op op_;
  GatherBytes bytes_;
};

/// The same for a value of a few bytes, without memory of its own.
template <TriviallyCopyable T, std::invocable<T, T> Op>
  requires(Encodable<T> && std::is_default_constructible_v<T> && sizeof(T) <= 1024)
class ReduceCall<T, Op> {
 public:
  ReduceCall(Rounds& rounds, const T& value, Op op, const Getter& getter)
      : rounds_(rounds), has_all_(getter.Is(rounds)), op_(std::move(op)), mine_(value) {
    rounds_.Begin(KindOfCall<T, Call::reduce>(0, getter.Number()), sizeof value, BytesOf(value));
  }
  bool TryEnd() {
    if (!rounds_.TryEnd()) return false;
    if (!has_all_) return true;
    result_ = ValueOf(0);
    for (std::size_t seat = 1; seat < rounds_.Size(); ++seat) result_ = op_(*result_, ValueOf(seat));
    return true;
  }
  std::optional<T> Take() { return result_; }

 private:
  T ValueOf(std::size_t seat) const {
    if (seat == rounds_.Seat()) return mine_;  // see Rounds::Begin
    if (rounds_.At(seat).bytes.size() != sizeof(T)) throw Error("a member has brought a value of another size");
    return LoadBytes<T>(rounds_.At(seat).bytes);
  }

  Rounds& rounds_;
  bool has_all_;
  Op op_;
  T mine_;
  std::optional<T> result_;
};

/// Of the bytes that a member brings to an all-to-all, those for one other member: the places where that part begins and ends, and
/// the part.
class PartForOne {
 public:
  /// Keeps what belongs to member `seat` of a piece that comes at `offset`.
  void Keep(std::size_t seat, std::size_t offset, ByteView piece) {
    const std::uint64_t place = seat * sizeof(std::uint64_t);
    if (!Append(places_, place, place + 2 * sizeof(std::uint64_t), offset, piece)) return;
    Append(part_, LoadBytes<std::uint64_t>(places_), End(), offset, piece);
  }
  /// Returns the part. Throws if it has not come whole.
  ByteView Get() const {
    if (places_.size() != 2 * sizeof(std::uint64_t) || LoadBytes<std::uint64_t>(places_) + part_.size() != End()) RefuseBytes();
    return part_;
  }

 private:
  std::uint64_t End() const { return LoadBytes<std::uint64_t>(ByteView(places_).subspan(sizeof(std::uint64_t))); }
  /// Appends what of [begin, end) is in the piece. Returns whether all up to `end` has come.
  static bool Append(Bytes& kept, std::uint64_t begin, std::uint64_t end, std::size_t offset, ByteView piece) {
    const std::uint64_t from = std::max<std::uint64_t>(begin, offset);
    const std::uint64_t to = std::min<std::uint64_t>(end, offset + piece.size());
    if (from < to) {
      const ByteView some = piece.subspan(from - offset, to - from);
      kept.insert(kept.end(), some.begin(), some.end());
    }
    return end <= offset + piece.size();
  }

  Bytes places_;
  Bytes part_;
};

/// Each member's part for each member. `parts[r]` is for member r; gets a part from each.
template <Encodable T>
class ExchangeCall {
 public:
  ExchangeCall(Rounds& rounds, const std::vector<T>& parts)
      : seat_(rounds.Seat()),
        mine_(Pack(parts, rounds.Size())),
        received_(rounds.Size()),
        rounds_(rounds, KindOfCall<T, Call::exchange>(), mine_) {}
  ExchangeCall(const ExchangeCall&) = delete;
  ExchangeCall& operator=(const ExchangeCall&) = delete;
  bool TryEnd() {
    return rounds_.TryEnd([this](std::size_t from, std::size_t offset, ByteView piece) { received_[from].Keep(seat_, offset, piece); });
  }
  std::vector<T> Take() {
    std::vector<T> values;
    for (const PartForOne& part : received_) values.push_back(Decoded<T>(part.Get()));
    return values;
  }

 private:
  /// The places where the parts begin, and where the last ends; then the parts.
  static Bytes Pack(const std::vector<T>& parts, std::size_t size) {
    if (parts.size() != size)
      throw Error("an all-to-all of " + std::to_string(size) + " members needs a part for each, not " + std::to_string(parts.size()));
    Bytes bytes((size + 1) * sizeof(std::uint64_t));
    for (std::size_t to = 0; to <= size; ++to) {
      const std::uint64_t place = bytes.size();
      CopyBytes(bytes.data() + to * sizeof place, BytesOf(place).data(), sizeof place);
      if (to == size) break;
      const Bytes encoded = Encoded(parts[to]);
      bytes.insert(bytes.end(), encoded.begin(), encoded.end());
    }
    return bytes;
  }

  std::size_t seat_;
  Bytes mine_;
  std::vector<PartForOne> received_;  // by seat
  PieceRounds rounds_;
};

}  // namespace uit::detail
