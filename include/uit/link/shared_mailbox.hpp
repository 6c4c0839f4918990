#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <new>

#include <uit/config.hpp>
#include <uit/link/shared_word.hpp>
#include <uit/support/assert.hpp>
#include <uit/support/bytes.hpp>
#include <uit/support/error.hpp>

namespace uit {

/// A mailbox in memory that two processes share: keeps the newest record of bytes. Records are written and read where they lie.
///
/// The writer goes through the slots of one group after the other, and stores each time where the newest record lies. The
/// reader announces of which groups it reads, and the writer passes over them. It looks at the announcement only when it begins
/// a group, and the reader changes it only when it comes to another group. So that line seldom moves between the cores, unless
/// records are so large that a group is one slot. A reader whose announcement came too late finds that the newest record is in
/// another group by now, and tries again. So neither side waits for the other, and a record moves between the cores with its
/// own cache lines and one more. If a process dies while writing, the previous record remains.
namespace shared_mailbox {

/// A length, a set of groups, or the place of a record.
using Word = SharedWord;

/// The head of the memory; the slots follow, each on cache lines of its own.
struct Head {
  /// Place of the last record: the number of its turn times 256, plus its slot plus 1. 0: none. With each turn the writer begins a
  /// group.
  alignas(cache_line) Word newest = 0;
  /// The groups that the reader holds, a bit each. Both sides only exchange it, so that each sees the other's last exchange.
  alignas(cache_line) Word held = 0;
};
/// The head of a slot; the bytes of the record follow.
struct SlotHead {
  Word length = 0;  ///< bytes of the record
};

/// The reader holds the group of the record that it shows, and that of one that it tries to get. The newest record may be in a
/// third, and the writer needs one to go on to.
inline constexpr std::size_t num_groups = 4;

/// Returns the size of a slot for records of up to `largest` bytes: whole cache lines.
constexpr std::size_t SlotBytes(std::size_t largest) {
  return (sizeof(SlotHead) + largest + cache_line - 1) / cache_line * cache_line;
}
/// Returns the number of slots of a group, for records of up to `largest` bytes. With more of them, both sides exchange words
/// less often.
constexpr std::size_t SlotsOfGroup(std::size_t largest) {
  return std::clamp<std::size_t>((std::size_t{1} << 14U) / SlotBytes(largest) / num_groups, 1, 16);
}
/// Returns the number of slots for records of up to `largest` bytes.
constexpr std::size_t NumSlots(std::size_t largest) { return num_groups * SlotsOfGroup(largest); }
/// Returns the bytes of memory for records of up to `largest` bytes.
constexpr std::size_t BytesFor(std::size_t largest) { return sizeof(Head) + NumSlots(largest) * SlotBytes(largest); }

/// Creates an empty mailbox for records of up to `largest` bytes, in BytesFor(largest) bytes of memory that begin on a
/// cache line. Call it before either side attaches.
inline void Create(std::byte* memory, std::size_t largest) {
  new (memory) Head{};
  for (std::size_t slot = 0; slot < NumSlots(largest); ++slot) new (memory + sizeof(Head) + slot * SlotBytes(largest)) SlotHead;
}

/// The layout of the memory, known to both sides.
class Side {
 protected:
  /// For a mailbox created for records of up to `largest` bytes, which determines the layout. Throws if it does not fit. A test may
  /// choose the number of slots of a group.
  Side(MutableByteView memory, std::size_t largest, std::size_t slots_of_group)
      : head_(reinterpret_cast<Head*>(memory.data())), slots_of_group_(slots_of_group), slot_bytes_(SlotBytes(largest)) {
    if (memory.size() < sizeof(Head) + NumSlots() * slot_bytes_) throw Error("a peer has brought too little memory for a mailbox");
  }

  /// The head.
  Head& GetHead() const { return *head_; }
  /// The number of slots.
  std::size_t NumSlots() const { return num_groups * slots_of_group_; }
  /// The number of slots of a group.
  std::size_t SlotsOfGroup() const { return slots_of_group_; }
  /// The head of a slot.
  SlotHead& SlotAt(std::size_t slot) const {
    return *reinterpret_cast<SlotHead*>(reinterpret_cast<std::byte*>(head_ + 1) + slot * slot_bytes_);
  }
  /// Returns where the record in a slot begins.
  std::byte* RecordAt(std::size_t slot) const { return reinterpret_cast<std::byte*>(&SlotAt(slot) + 1); }
  /// Returns the size of the largest record in bytes.
  std::size_t MaxBytes() const { return slot_bytes_ - sizeof(SlotHead); }

 private:
  Head* head_;
  std::size_t slots_of_group_;
  std::size_t slot_bytes_;
};

/// The writing side. One thread at a time. `AtomicRef`: see WordAt.
template <template <typename> class AtomicRef>
class BasicWriter : private Side {
 public:
  /// A newer record may replace one that was not read.
  static constexpr bool keeps_order = false;

  /// For a mailbox created for records of up to `largest` bytes at the beginning of `memory`. Throws if it does not fit
  /// there.
  BasicWriter(MutableByteView memory, std::size_t largest) : BasicWriter(memory, largest, shared_mailbox::SlotsOfGroup(largest)) {}
  /// The same with groups of so many slots, for tests.
  BasicWriter(MutableByteView memory, std::size_t largest, std::size_t slots_of_group) : Side(memory, largest, slots_of_group) {}

  /// Always true: a record that was not read is replaced.
  static constexpr bool HasRoom(std::size_t) { return true; }
  /// Writes a record, which must not be longer than the mailbox was created for.
  void Write(ByteView bytes) {
    CopyBytes(Reserve(bytes.size()), bytes.data(), bytes.size());
    Commit(bytes.size(), bytes.size());
  }
  /// Returns where to write the bytes of the next record. Nothing has changed until Commit: the next Reserve returns the same
  /// memory.
  UIT_INLINE std::byte* Reserve([[maybe_unused]] std::size_t num_bytes) {
    UIT_ASSERT(num_bytes <= MaxBytes(), "a record fits its slot");
    if (next_ == end_) BeginGroup();
    return RecordAt(next_);
  }
  /// Makes a record of the first `num_bytes` of the bytes that Reserve(num_reserved) returned.
  UIT_INLINE void Commit(std::size_t num_bytes, std::size_t) {
    SlotAt(next_).length = num_bytes;
    ++next_;
    // Pairs with the acquire in Front.
    WordAt<AtomicRef>(GetHead().newest).store(turn_ << 8U | next_, std::memory_order_release);
    if (next_ == end_) __builtin_prefetch(&GetHead().held, 1);  // BeginGroup needs it
  }

 private:
  UIT_INLINE void BeginGroup() {
    // Adds nothing, but takes part in the order of all exchanges. If the reader has announced a group before, we see it, and
    // its reads of groups that it held earlier are over. If it announces one later, it sees that the newest record is in the
    // group that ends here.
    const Word held = WordAt<AtomicRef>(GetHead().held).fetch_add(0, std::memory_order_acq_rel);
    std::size_t next = group_;
    for (std::size_t i = 1; i < num_groups && next == group_; ++i) {
      const std::size_t other = (group_ + i) % num_groups;
      if ((held >> other & 1U) == 0) next = other;
    }
    // If a peer holds all others, which the library's reader never does, the writer stays in its group.
    group_ = next;
    ++turn_;
    next_ = group_ * SlotsOfGroup();
    end_ = next_ + SlotsOfGroup();
  }

  std::size_t next_ = 0;  // slot of the next record, if the group has room
  std::size_t end_ = 0;   // of the group
  std::size_t group_ = num_groups - 1;
  Word turn_ = 0;
};

/// The reading side. One thread at a time. `AtomicRef`: see WordAt.
template <template <typename> class AtomicRef>
class BasicReader : private Side {
 public:
  /// A newer record may replace one that was not read.
  static constexpr bool keeps_order = false;

  /// For a mailbox created for records of up to `largest` bytes at the beginning of `memory`. Throws if it does not fit
  /// there.
  BasicReader(MutableByteView memory, std::size_t largest) : BasicReader(memory, largest, shared_mailbox::SlotsOfGroup(largest)) {}
  /// The same with groups of so many slots, for tests.
  BasicReader(MutableByteView memory, std::size_t largest, std::size_t slots_of_group) : Side(memory, largest, slots_of_group) {}

  /// Returns the newest record if it has not been returned yet. The record stays as it is until Front returns another. Returns
  /// an empty view with a null pointer if there is no new record, or if the writer has gone on to another group during every
  /// attempt; then a later call succeeds once the writer is slower. Returns a null pointer with a length if the peer claims a
  /// record that is not in a slot.
  UIT_INLINE ByteView Front() {
    for (int i = 0; i < max_attempts; ++i) {
      // Pairs with the release in Commit: the record is complete.
      const Word newest = WordAt<AtomicRef>(GetHead().newest).load(std::memory_order_acquire);
      if (newest == shown_) return {};
      const auto slot = static_cast<std::size_t>((newest & 255U) - 1);
      if (slot >= NumSlots()) [[unlikely]]
        return {static_cast<std::byte*>(nullptr), MaxBytes() + 1};
      const bool is_held = newest >> 8U == shown_ >> 8U;  // in the same turn
      if (!is_held && !TryHold(newest, slot / SlotsOfGroup())) [[unlikely]]
        continue;
      shown_ = newest;
      const auto length = static_cast<std::size_t>(WordAt<AtomicRef>(SlotAt(slot).length).load(std::memory_order_relaxed));
      return {length <= MaxBytes() ? RecordAt(slot) : nullptr, length};
    }
    return {};
  }
  // As in a ring; there is nothing to do, because Front gives back what it has shown before.
  static constexpr bool IsMarked() { return false; }  ///< Never.
  static constexpr void Pop(ByteView) {}              ///< Nothing.
  static constexpr void Pass(ByteView) {}             ///< Nothing.
  static constexpr void GiveBack() {}                 ///< Nothing.

 private:
  static constexpr int max_attempts = 4;

  /// Announces that the reader reads in a group, and gives back what it held before the record that it shows. Returns whether
  /// the writer must have noticed before it can come to the group again.
  UIT_INLINE bool TryHold(Word newest, std::size_t group) {
    WordAt<AtomicRef>(GetHead().held).exchange(Word{1} << group | shown_group_, std::memory_order_acq_rel);
    // The writer looks at `held` when it leaves a group, and it has not left this one.
    const Word now = WordAt<AtomicRef>(GetHead().newest).load(std::memory_order_relaxed);
    if (now >> 8U != newest >> 8U) return false;
    shown_group_ = Word{1} << group;
    return true;
  }

  Word shown_ = 0;        // place of the record returned last
  Word shown_group_ = 0;  // the bit of its group
};

using Writer = BasicWriter<std::atomic_ref>;  ///< between processes
using Reader = BasicReader<std::atomic_ref>;  ///< between processes

}  // namespace shared_mailbox

}  // namespace uit
