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
#include <uit/support/assert.hpp>
#include <uit/support/bytes.hpp>
#include <uit/support/error.hpp>

namespace uit {

/// The newest record of bytes, in memory that two processes see.
///
/// The writer goes round a few slots, and says each time which it has written last; the reader copies that one, and then
/// looks whether the writer has come round to it meanwhile. So neither waits for the other, nor stores where the other
/// does: a record crosses with the lines that it is in and one more. What has been copied is whole, and whoever dies
/// while writing leaves the record before.
///
/// A peer can store anything in that memory. Each side reads a word once, checks it and goes by its own copy, so neither
/// leaves the memory, whatever the peer stores and whenever.
namespace shared_mailbox {

/// A number of a record, a length, or eight bytes of one.
using Word = std::uint64_t;
static_assert(std::atomic_ref<Word>::is_always_lock_free, "other processes would not see a lock");

/// At the head of the memory; the slots follow, each on lines of its own.
struct Head {
  alignas(cache_line) Word newest = 0;  ///< number of the last record written, from 1; 0: there is none
  Word num_slots = 0;                   ///< record n is in slot n % num_slots; a power of two
  Word slot_bytes = 0;                  ///< of a slot
};
/// Before the words of a record, in its slot.
struct SlotHead {
  Word number = 0;  ///< of the record that is in the slot, or being written to it
  Word length = 0;  ///< bytes of the record
};

/// Bytes of a slot for records of up to `largest`: whole lines.
constexpr std::size_t SlotBytes(std::size_t largest) {
  return (sizeof(SlotHead) + largest + cache_line - 1) / cache_line * cache_line;
}
/// Slots for records of up to `largest`: the more, the longer a reader may take to copy one.
constexpr std::size_t NumSlots(std::size_t largest) {
  return std::clamp<std::size_t>(std::bit_floor((std::size_t{1} << 14U) / SlotBytes(largest)), 4, 16);
}
/// Bytes of memory for records of up to `largest`.
constexpr std::size_t BytesFor(std::size_t largest) { return sizeof(Head) + NumSlots(largest) * SlotBytes(largest); }

/// Makes an empty mailbox for records of up to `largest`, in memory of BytesFor that begins on a line. Before either side
/// attaches.
inline void Create(std::byte* memory, std::size_t largest) {
  const Head& head =
      *new (memory) Head{.newest = 0, .num_slots = NumSlots(largest), .slot_bytes = SlotBytes(largest)};
  for (std::size_t slot = 0; slot < head.num_slots; ++slot)
    new (memory + sizeof(Head) + slot * head.slot_bytes) SlotHead;
}

/// A word as both sides use it, by references like std::atomic_ref.
template <template <typename> class AtomicRef>
AtomicRef<Word> At(Word& word) {
  return AtomicRef<Word>{word};
}
/// The same, at a place that is as aligned as a word.
template <template <typename> class AtomicRef>
AtomicRef<Word> At(std::byte* place) {
  return At<AtomicRef>(*reinterpret_cast<Word*>(place));
}

/// What both sides know of the memory.
class Side {
 protected:
  /// Of a mailbox that has been created, and whose head the peer cannot have changed.
  explicit Side(std::byte* memory)
      : head_(reinterpret_cast<Head*>(memory)),
        slots_(memory + sizeof(Head)),
        slot_mask_(head_->num_slots - 1),
        slot_bytes_(head_->slot_bytes),
        max_bytes_(slot_bytes_ - sizeof(SlotHead)) {}
  /// Of a mailbox that has been created for records of up to `largest`, of which everything else follows.
  Side(MutableByteView memory, std::size_t largest)
      : head_(reinterpret_cast<Head*>(memory.data())),
        slots_(memory.data() + sizeof(Head)),
        slot_mask_(NumSlots(largest) - 1),
        slot_bytes_(SlotBytes(largest)),
        max_bytes_(slot_bytes_ - sizeof(SlotHead)) {
    if (memory.size() < BytesFor(largest)) throw Error("a peer has brought too little memory for a mailbox");
  }

  /// At the beginning of the memory.
  Head& GetHead() const { return *head_; }
  /// The slot of the record with that number.
  SlotHead& SlotOf(Word number) const {
    return *reinterpret_cast<SlotHead*>(slots_ + (number & slot_mask_) * slot_bytes_);
  }
  /// Where the record itself begins.
  static std::byte* Words(SlotHead& slot) { return reinterpret_cast<std::byte*>(&slot) + sizeof(SlotHead); }
  /// Bytes of the largest record.
  std::size_t MaxBytes() const { return max_bytes_; }

 private:
  Head* head_;
  std::byte* slots_;
  Word slot_mask_;
  Word slot_bytes_;
  std::size_t max_bytes_;
};

/// The writing side. One thread at a time. `AtomicRef`: as std::atomic_ref, or under a model that explores every schedule.
template <template <typename> class AtomicRef>
class BasicWriter : private Side {
 public:
  /// Some records are never read.
  static constexpr bool keeps_order = false;

  /// Of a mailbox that has been created, and whose head the peer cannot have changed. Records are numbered from the one
  /// after `start`, so that a test meets the wrap at once; then the reader and the head begin there as well.
  explicit BasicWriter(std::byte* memory, Word start = 0) : Side(memory), number_(start) {}
  /// Of a mailbox that has been created for records of up to `largest` at the beginning of `memory`. Throws if it does not
  /// fit there.
  BasicWriter(MutableByteView memory, std::size_t largest) : Side(memory, largest), number_(0) {}
  /// Always: what has not been read is replaced.
  static constexpr bool HasRoom(std::size_t) { return true; }
  /// Writes a record, no longer than the mailbox was made for.
  void Write(ByteView bytes) {
    UIT_ASSERT(bytes.size() <= MaxBytes(), "a record fits its slot");
    ++number_;
    SlotHead& slot = SlotOf(number_);
    At<AtomicRef>(slot.number).store(number_, std::memory_order_relaxed);
    // Each store below releases the one above: who sees any of them sees that the slot is another record's.
    At<AtomicRef>(slot.length).store(bytes.size(), std::memory_order_release);
    std::byte* const words = Words(slot);
    std::size_t i = 0;
    for (; i + sizeof(Word) <= bytes.size(); i += sizeof(Word))
      At<AtomicRef>(words + i).store(LoadBytes<Word>(bytes.subspan(i)), std::memory_order_release);
    if (i < bytes.size()) {
      Word rest = 0;
      std::memcpy(&rest, bytes.data() + i, bytes.size() - i);
      At<AtomicRef>(words + i).store(rest, std::memory_order_release);
    }
    // Pairs with the acquire in TryRead.
    At<AtomicRef>(GetHead().newest).store(number_, std::memory_order_release);
  }

 private:
  Word number_;
};

/// The reading side. One thread at a time. `AtomicRef`: see BasicWriter.
template <template <typename> class AtomicRef>
class BasicReader : private Side {
 public:
  /// Some records are never read.
  static constexpr bool keeps_order = false;

  /// Of a mailbox that has been created, and whose head the peer cannot have changed. `start`: see BasicWriter.
  explicit BasicReader(std::byte* memory, Word start = 0) : Side(memory), number_(start) {}
  /// Of a mailbox that has been created for records of up to `largest` at the beginning of `memory`. Throws if it does not
  /// fit there.
  BasicReader(MutableByteView memory, std::size_t largest) : Side(memory, largest), number_(0) {}
  /// Copies the newest record to `to`, if it has not been copied yet: its length, which is that of what was copied if `to`
  /// has room for it. Nothing either if the writer has come round to it each time; then a later call will do. A peer may
  /// claim any length; of one that no record here can have, nothing is copied.
  std::optional<std::size_t> TryRead(MutableByteView to) {
    for (int i = 0; i < max_attempts; ++i) {
      // Pairs with the release in Write: the record is all there.
      const Word number = At<AtomicRef>(GetHead().newest).load(std::memory_order_acquire);
      if (number == number_) return std::nullopt;
      SlotHead& slot = SlotOf(number);
      const auto length = static_cast<std::size_t>(At<AtomicRef>(slot.length).load(std::memory_order_acquire));
      if (length <= to.size() && length <= MaxBytes()) Copy(slot, to.first(length));
      // What was copied has been acquired, so this is no older.
      if (At<AtomicRef>(slot.number).load(std::memory_order_relaxed) != number) continue;
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
      StoreBytes(At<AtomicRef>(words + i).load(std::memory_order_acquire), to.subspan(i));
    if (i == to.size()) return;
    const Word rest = At<AtomicRef>(words + i).load(std::memory_order_acquire);
    std::memcpy(to.data() + i, &rest, to.size() - i);
  }

  Word number_;  // of the record last copied
};

using Writer = BasicWriter<std::atomic_ref>;  ///< between processes
using Reader = BasicReader<std::atomic_ref>;  ///< between processes

}  // namespace shared_mailbox

}  // namespace uit
