#pragma once

#include <algorithm>
#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <new>
#include <optional>

#include <uit/config.hpp>
#include <uit/link/shared_word.hpp>
#include <uit/support/assert.hpp>
#include <uit/support/bytes.hpp>
#include <uit/support/error.hpp>

namespace uit {

/// A mailbox in memory that two processes share: keeps the newest record of bytes.
///
/// The writer uses a few slots in turn and stores each time which one it has written last. The reader copies that slot,
/// and then checks whether the writer has reached it again meanwhile. So neither side waits for the other or stores where
/// the other does. A record moves between the cores with its own cache lines and one more. A completed copy is whole. If
/// a process dies while writing, the previous record remains.
namespace shared_mailbox {

/// The number of a record, a length, or eight bytes of a record.
using Word = SharedWord;

/// The head of the memory; the slots follow, each on cache lines of its own.
struct Head {
  alignas(cache_line) Word newest = 0;  ///< number of the last record written, from 1; 0: none
  Word num_slots = 0;                   ///< record n is in slot n % num_slots; a power of two
  Word slot_bytes = 0;                  ///< size of a slot
};
/// The head of a slot; the words of the record follow.
struct SlotHead {
  Word number = 0;  ///< number of the record that is in the slot, or being written to it
  Word length = 0;  ///< bytes of the record
};

/// Returns the size of a slot for records of up to `largest` bytes: whole cache lines.
constexpr std::size_t SlotBytes(std::size_t largest) {
  return (sizeof(SlotHead) + largest + cache_line - 1) / cache_line * cache_line;
}
/// Returns the number of slots for records of up to `largest` bytes. More slots give the reader more time to copy one.
constexpr std::size_t NumSlots(std::size_t largest) {
  return std::clamp<std::size_t>(std::bit_floor((std::size_t{1} << 14U) / SlotBytes(largest)), 4, 16);
}
/// Returns the bytes of memory for records of up to `largest` bytes.
constexpr std::size_t BytesFor(std::size_t largest) { return sizeof(Head) + NumSlots(largest) * SlotBytes(largest); }

/// Creates an empty mailbox for records of up to `largest` bytes, in BytesFor(largest) bytes of memory that begin on a
/// cache line. Call it before either side attaches.
inline void Create(std::byte* memory, std::size_t largest) {
  const Head& head =
      *new (memory) Head{.newest = 0, .num_slots = NumSlots(largest), .slot_bytes = SlotBytes(largest)};
  for (std::size_t slot = 0; slot < head.num_slots; ++slot)
    new (memory + sizeof(Head) + slot * head.slot_bytes) SlotHead;
}

/// The layout of the memory, known to both sides.
class Side {
 protected:
  /// For a mailbox that has been created, and whose head the peer cannot have changed.
  explicit Side(std::byte* memory)
      : head_(reinterpret_cast<Head*>(memory)),
        slots_(memory + sizeof(Head)),
        slot_mask_(head_->num_slots - 1),
        slot_bytes_(head_->slot_bytes),
        max_bytes_(slot_bytes_ - sizeof(SlotHead)) {}
  /// For a mailbox created for records of up to `largest` bytes, which determines the layout. Throws if it does not fit.
  Side(MutableByteView memory, std::size_t largest)
      : head_(reinterpret_cast<Head*>(memory.data())),
        slots_(memory.data() + sizeof(Head)),
        slot_mask_(NumSlots(largest) - 1),
        slot_bytes_(SlotBytes(largest)),
        max_bytes_(slot_bytes_ - sizeof(SlotHead)) {
    if (memory.size() < BytesFor(largest)) throw Error("a peer has brought too little memory for a mailbox");
  }

  /// Returns the head.
  Head& GetHead() const { return *head_; }
  /// Returns the slot of the record with that number.
  SlotHead& SlotOf(Word number) const {
    return *reinterpret_cast<SlotHead*>(slots_ + (number & slot_mask_) * slot_bytes_);
  }
  /// Returns where the record in a slot begins.
  static std::byte* Words(SlotHead& slot) { return reinterpret_cast<std::byte*>(&slot) + sizeof(SlotHead); }
  /// Returns the size of the largest record in bytes.
  std::size_t MaxBytes() const { return max_bytes_; }

 private:
  Head* head_;
  std::byte* slots_;
  Word slot_mask_;
  Word slot_bytes_;
  std::size_t max_bytes_;
};

/// The writing side. One thread at a time. `AtomicRef`: see WordAt.
template <template <typename> class AtomicRef>
class BasicWriter : private Side {
 public:
  /// A newer record may replace one that was not read.
  static constexpr bool keeps_order = false;

  /// For a mailbox that has been created, and whose head the peer cannot have changed. Numbers its first record `start` +
  /// 1, so that a test can reach the overflow at once; then the reader and the head must begin there as well.
  explicit BasicWriter(std::byte* memory, Word start = 0) : Side(memory), number_(start) {}
  /// For a mailbox created for records of up to `largest` bytes at the beginning of `memory`. Throws if it does not fit
  /// there.
  BasicWriter(MutableByteView memory, std::size_t largest) : Side(memory, largest), number_(0) {}
  /// Always true: a record that was not read is replaced.
  static constexpr bool HasRoom(std::size_t) { return true; }
  /// Writes a record, which must not be longer than the mailbox was created for.
  void Write(ByteView bytes) {
    UIT_ASSERT(bytes.size() <= MaxBytes(), "a record fits its slot");
    ++number_;
    SlotHead& slot = SlotOf(number_);
    WordAt<AtomicRef>(slot.number).store(number_, std::memory_order_relaxed);
    // Each store below releases the one above: a reader that sees any of them sees that the slot has another record.
    WordAt<AtomicRef>(slot.length).store(bytes.size(), std::memory_order_release);
    std::byte* const words = Words(slot);
    std::size_t i = 0;
    for (; i + sizeof(Word) <= bytes.size(); i += sizeof(Word))
      WordAt<AtomicRef>(words + i).store(LoadBytes<Word>(bytes.subspan(i)), std::memory_order_release);
    if (i < bytes.size()) {
      Word rest = 0;
      std::memcpy(&rest, bytes.data() + i, bytes.size() - i);
      WordAt<AtomicRef>(words + i).store(rest, std::memory_order_release);
    }
    // Pairs with the acquire in TryRead.
    WordAt<AtomicRef>(GetHead().newest).store(number_, std::memory_order_release);
  }

 private:
  Word number_;
};

/// The reading side. One thread at a time. `AtomicRef`: see WordAt.
template <template <typename> class AtomicRef>
class BasicReader : private Side {
 public:
  /// A newer record may replace one that was not read.
  static constexpr bool keeps_order = false;

  /// For a mailbox that has been created, and whose head the peer cannot have changed. `start`: see BasicWriter.
  explicit BasicReader(std::byte* memory, Word start = 0) : Side(memory), number_(start) {}
  /// For a mailbox created for records of up to `largest` bytes at the beginning of `memory`. Throws if it does not fit
  /// there.
  BasicReader(MutableByteView memory, std::size_t largest) : Side(memory, largest), number_(0) {}
  /// Copies the newest record to `to` if it has not been copied yet, and returns its length. If the length exceeds `to`
  /// or the largest record here, copies nothing and returns the length; a peer may claim any length. Returns nothing if
  /// there is no new record, or if the writer has overwritten the slot during every attempt; then a later call will
  /// succeed.
  std::optional<std::size_t> TryRead(MutableByteView to) {
    for (int i = 0; i < max_attempts; ++i) {
      // Pairs with the release in Write: the record is complete.
      const Word number = WordAt<AtomicRef>(GetHead().newest).load(std::memory_order_acquire);
      if (number == number_) return std::nullopt;
      SlotHead& slot = SlotOf(number);
      const auto length = static_cast<std::size_t>(WordAt<AtomicRef>(slot.length).load(std::memory_order_acquire));
      if (length <= to.size() && length <= MaxBytes()) Copy(slot, to.first(length));
      // The copied bytes have been acquired, so this load is no older.
      if (WordAt<AtomicRef>(slot.number).load(std::memory_order_relaxed) != number) continue;
      number_ = number;
      return length;
    }
    return std::nullopt;
  }

 private:
  static constexpr int max_attempts = 4;

  static void Copy(SlotHead& slot, MutableByteView to) {
    std::byte* const words = Words(slot);
    std::size_t i = 0;
    for (; i + sizeof(Word) <= to.size(); i += sizeof(Word))
      StoreBytes(WordAt<AtomicRef>(words + i).load(std::memory_order_acquire), to.subspan(i));
    if (i == to.size()) return;
    const Word rest = WordAt<AtomicRef>(words + i).load(std::memory_order_acquire);
    std::memcpy(to.data() + i, &rest, to.size() - i);
  }

  Word number_;  // number of the record last copied
};

using Writer = BasicWriter<std::atomic_ref>;  ///< between processes
using Reader = BasicReader<std::atomic_ref>;  ///< between processes

}  // namespace shared_mailbox

}  // namespace uit
