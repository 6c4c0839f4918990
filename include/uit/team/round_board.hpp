#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <new>
#include <optional>
#include <string>

#include <uit/config.hpp>
#include <uit/link/shared_word.hpp>
#include <uit/support/assert.hpp>
#include <uit/support/bytes.hpp>
#include <uit/support/error.hpp>
#include <uit/team/leaving.hpp>

namespace uit {

/// What a member of a group has brought to a round.
struct Brought {
  std::uint64_t kind = 0;   ///< tells which collective call, with which type and sizes
  std::uint64_t total = 0;  ///< bytes that the member brings to all rounds of the call together
  ByteView bytes{};         ///< what it brings to this round
};

/// Memory in which one member of a group posts what it brings to rounds, for the other members of its host to read: threads of
/// its process or of others.
///
/// In a round every member posts, and then reads the boards of all others. Odd and even rounds use separate slots, so a slot is
/// written again two rounds later. By then every member has posted to the round in between, so it has read the slot.
///
/// `AtomicRef` is std::atomic_ref, or a model of it that explores every schedule.
template <template <typename> class AtomicRef>
class BasicRoundBoard {
 public:
  /// Bytes brought to a round begin at a multiple of this.
  static constexpr std::size_t alignment = 32;

  /// Returns the size of a board in bytes, if a member brings at most `capacity` bytes to a round.
  static constexpr std::size_t NumBytes(std::size_t capacity) { return cache_line + 2 * SlotBytes(capacity); }
  /// Makes an empty board at the beginning of `memory`, which must be aligned to a cache line and have NumBytes(capacity) bytes.
  /// Its member calls it before the others read.
  static void Create(MutableByteView memory, std::size_t capacity) {
    UIT_ASSERT(memory.size() >= NumBytes(capacity), "the memory for a board must have NumBytes() bytes");
    new (memory.data()) SharedWord{0};
    for (std::size_t i = 0; i < 2; ++i) new (memory.data() + cache_line + i * SlotBytes(capacity)) Head{};
  }

  /// Refers to a board that this or another process has made with the same capacity.
  BasicRoundBoard(std::byte* memory, std::size_t capacity) : memory_(memory), capacity_(capacity) {}

  /// Returns the room for the bytes of round `number`. The board's member fills it before Post.
  MutableByteView Room(std::uint64_t number) { return {Slot(number) + sizeof(Head), capacity_}; }
  /// Posts the first `num_bytes` bytes of Room to round `number`. The board's member only; `number` grows by one from round to round.
  void Post(std::uint64_t number, std::uint64_t kind, std::uint64_t total, std::size_t num_bytes) {
    Head& head = HeadOf(number);
    head.kind = kind;
    head.total = total;
    WordAt<AtomicRef>(head.num_bytes).store(num_bytes, std::memory_order_relaxed);
    // Pairs with the acquire in Read.
    WordAt<AtomicRef>(head.number).store(number, std::memory_order_release);
  }
  /// Whether Read would find that the board's member has come to round `number`. Never waits.
  bool HasCome(std::uint64_t number) const { return WordAt<AtomicRef>(HeadOf(number).number).load(std::memory_order_relaxed) == number; }
  /// Returns what the board's member has brought to round `number`, or nothing if it has not come there. Never waits. The bytes stay
  /// until the reader itself posts to the next round. Throws if the member claims more bytes than its board has.
  std::optional<Brought> Read(std::uint64_t number) const {
    Brought brought;
    return TryRead(number, brought) ? std::optional(brought) : std::nullopt;
  }
  /// The same, into `brought`; returns whether the member has come.
  ///
  /// Each field is stored as it is and not as a part of the whole: a load of two fields at once, soon after they were stored one by one,
  /// waits until all earlier stores are done, also that of Post to a line that other cores read.
  bool TryRead(std::uint64_t number, Brought& brought) const {
    Head& head = HeadOf(number);
    // Pairs with the release in Post.
    if (WordAt<AtomicRef>(head.number).load(std::memory_order_acquire) != number) return false;
    const SharedWord num_bytes = WordAt<AtomicRef>(head.num_bytes).load(std::memory_order_relaxed);
    if (num_bytes > capacity_) [[unlikely]] Refuse(num_bytes);
    brought.kind = head.kind;
    brought.total = head.total;
    brought.bytes = ByteView(Slot(number) + sizeof(Head), static_cast<std::size_t>(num_bytes));
    return true;
  }

  /// Posts that the member brings nothing more in run `run`, and how it leaves it. Its member only; `run` never becomes smaller, and
  /// with the same run `how` never becomes better.
  void Leave(std::uint64_t run, Leaving how = {}) {
    // Pairs with the acquire in Left.
    WordAt<AtomicRef>(memory_).store(run << 32U | how.Code(), std::memory_order_release);
  }
  /// Returns how the member has left run `run`, or nothing if it has not. If it has, all that it has brought to that run can be read.
  /// Never waits.
  std::optional<Leaving> Left(std::uint64_t run) const {
    // Pairs with the release in Leave.
    const SharedWord word = WordAt<AtomicRef>(memory_).load(std::memory_order_acquire);
    if (word >> 32U < run) return std::nullopt;
    return word >> 32U == run ? Leaving::FromCode(static_cast<std::uint32_t>(word)) : Leaving{};
  }
  /// Whether the member has left run `run`; see Left.
  bool HasLeft(std::uint64_t run) const { return Left(run).has_value(); }

 private:
  struct Head {
    SharedWord number = 0;
    SharedWord num_bytes = 0;  // checked, so it is read once
    std::uint64_t kind = 0;
    std::uint64_t total = 0;
  };
  static_assert(sizeof(Head) == alignment);  // a small value is on the same cache line

  static constexpr std::size_t SlotBytes(std::size_t capacity) {
    return (sizeof(Head) + capacity + cache_line - 1) / cache_line * cache_line;
  }
  std::byte* Slot(std::uint64_t number) const { return memory_ + cache_line + number % 2 * SlotBytes(capacity_); }
  Head& HeadOf(std::uint64_t number) const { return *reinterpret_cast<Head*>(Slot(number)); }
  [[noreturn]] UIT_NOINLINE void Refuse(SharedWord num_bytes) const {
    throw Error("a member has announced " + std::to_string(num_bytes) + " bytes for a round that carries at most " +
                std::to_string(capacity_));
  }

  std::byte* memory_;
  std::size_t capacity_;
};

/// A board between threads and processes.
using RoundBoard = BasicRoundBoard<std::atomic_ref>;

}  // namespace uit
