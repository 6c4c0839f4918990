#pragma once

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
#include <uit/team/group.hpp>
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

/// Who gets the result of a call: `root`, or every member if there is no root.
struct Getter {
  std::optional<std::size_t> root;
  bool Is(const Rounds& rounds) const { return !root || rounds.Seat() == *root; }
  /// For KindOfCall.
  std::uint64_t Number() const { return root ? *root + 1 : 0; }
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
      : rounds_(rounds), has_all_(getter.Is(rounds)), op_(std::move(op)) {
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
    if (rounds_.At(seat).bytes.size() != sizeof(T)) throw Error("a member has brought a value of another size");
    return LoadBytes<T>(rounds_.At(seat).bytes);
  }

  Rounds& rounds_;
  bool has_all_;
  Op op_;
  std::optional<T> result_;
};

/// Each member's part for each member. `parts[r]` is for member r; gets a part from each.
template <Encodable T>
class ExchangeCall {
 public:
  ExchangeCall(Rounds& rounds, const std::vector<T>& parts)
      : seat_(rounds.Seat()), size_(rounds.Size()), bytes_(rounds, KindOfCall<T, Call::exchange>(), Pack(parts, rounds.Size())) {}
  bool TryEnd() {
    return bytes_.TryEnd([](std::size_t) { return true; });
  }
  std::vector<T> Take() {
    std::vector<T> received;
    for (std::size_t from = 0; from < size_; ++from) {
      ByteReader reader(bytes_.Of(from));
      ByteView part;
      for (std::size_t to = 0; to <= seat_; ++to) {
        std::uint64_t num_bytes = 0;
        if (!reader.TryRead(num_bytes) || !reader.TryTake(num_bytes, part)) RefuseBytes();
      }
      received.push_back(Decoded<T>(part));
    }
    return received;
  }

 private:
  static Bytes Pack(const std::vector<T>& parts, std::size_t size) {
    if (parts.size() != size)
      throw Error("an all-to-all of " + std::to_string(size) + " members needs a part for each, not " + std::to_string(parts.size()));
    Bytes bytes;
    for (const T& part : parts) {
      const Bytes encoded = Encoded(part);
      const std::uint64_t num_bytes = encoded.size();
      const ByteView head = BytesOf(num_bytes);
      bytes.insert(bytes.end(), head.begin(), head.end());
      bytes.insert(bytes.end(), encoded.begin(), encoded.end());
    }
    return bytes;
  }

  std::size_t seat_;
  std::size_t size_;
  GatherBytes bytes_;
};

}  // namespace uit::detail
