#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <new>

#include <uit/config.hpp>
#include <uit/support/assert.hpp>
#include <uit/support/bytes.hpp>

namespace uit {

/// The newest record of bytes, in memory that two processes see.
///
/// Of three slots each side has one, and the third lies between them: a writer that has filled its own exchanges it for
/// that one, and a reader does so if it is fresh. Neither ever waits, no record is torn, and whoever dies while writing
/// leaves the one before. Slots are numbered, since each process may see the memory at another address.
namespace shared_mailbox {

/// A length, or a slot's number with a mark.
using Word = std::uint64_t;
static_assert(std::atomic_ref<Word>::is_always_lock_free, "other processes would not see a lock");

/// Marks a number of a slot in which something has been written since the reader last took one.
inline constexpr Word fresh = 4;

/// At the head of the memory; the slots follow, each on lines of its own.
struct Head {
  alignas(cache_line) Word between = 1;  ///< number of the slot that nobody has, perhaps `fresh`
  Word slot_bytes = 0;                   ///< of a slot, its length included
};

/// Bytes of a slot for records of up to `largest`: whole lines.
constexpr std::size_t SlotBytes(std::size_t largest) {
  return (sizeof(Word) + largest + cache_line - 1) / cache_line * cache_line;
}
/// Bytes of memory for records of up to `largest`.
constexpr std::size_t BytesFor(std::size_t largest) { return sizeof(Head) + 3 * SlotBytes(largest); }

/// Makes an empty mailbox of memory that BytesFor has measured and that begins on a line. Before either side attaches.
inline void Create(MutableByteView memory) {
  UIT_ASSERT(memory.size() > sizeof(Head), "a mailbox has the size that BytesFor gives");
  new (memory.data()) Head{.between = 1, .slot_bytes = (memory.size() - sizeof(Head)) / 3};
}

/// What both sides have: the memory, and a slot.
class Side {
 protected:
  Side(std::byte* memory, Word own)
      : between_(&reinterpret_cast<Head*>(memory)->between),
        slots_(memory + sizeof(Head)),
        slot_bytes_(reinterpret_cast<Head*>(memory)->slot_bytes),
        own_(own) {}

  std::atomic_ref<Word> Between() const { return std::atomic_ref<Word>{*between_}; }
  std::byte* Own() const { return slots_ + own_ * slot_bytes_; }
  std::size_t SlotRoom() const { return static_cast<std::size_t>(slot_bytes_); }
  /// Acquires what the other side has put there, or has done with, and releases what was done with ours.
  void Exchange(Word mark) { own_ = Between().exchange(own_ | mark, std::memory_order_acq_rel) & ~fresh; }

 private:
  Word* between_;
  std::byte* slots_;
  Word slot_bytes_;
  Word own_;
};

/// The writing side. One thread at a time.
class Writer : private Side {
 public:
  /// Some records are never read.
  static constexpr bool keeps_order = false;

  /// Of a mailbox that has been created.
  explicit Writer(std::byte* memory) : Side(memory, 0) {}
  /// Always: what has not been read is replaced.
  static constexpr bool HasRoom(std::size_t) { return true; }
  /// Writes a record, no longer than the mailbox was made for.
  void Write(ByteView bytes) {
    UIT_ASSERT(sizeof(Word) + bytes.size() <= SlotRoom(), "a record fits its slot");
    const Word length = bytes.size();
    std::memcpy(Own(), &length, sizeof length);
    std::memcpy(Own() + sizeof length, bytes.data(), bytes.size());
    Exchange(fresh);
  }
};

/// The reading side. One thread at a time.
class Reader : private Side {
 public:
  /// Of a mailbox that has been created.
  explicit Reader(std::byte* memory) : Side(memory, 2) {}
  /// The newest record, if it has not been given yet, until the next Front; else empty, with a null pointer.
  ByteView Front() {
    if ((Between().load(std::memory_order_relaxed) & fresh) == 0) return {};
    Exchange(0);
    Word length = 0;
    std::memcpy(&length, Own(), sizeof length);
    return {Own() + sizeof length, static_cast<std::size_t>(length)};
  }
  /// No record bears a mark.
  static constexpr bool IsMarked() { return false; }
  /// Nothing needs to be given back.
  static constexpr void Pop(ByteView) {}
};

}  // namespace shared_mailbox

}  // namespace uit
