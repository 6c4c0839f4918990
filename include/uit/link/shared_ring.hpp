#pragma once

#include <algorithm>
#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <new>
#include <string>

#include <uit/config.hpp>
#include <uit/support/assert.hpp>
#include <uit/support/bytes.hpp>
#include <uit/support/error.hpp>

namespace uit {

/// One direction of a link in memory that two processes see: records of bytes, each in a row, in order.
///
/// A record begins with a word that says how long it is. The writer clears the word of the next record before it stores
/// this one's, so the reader looks at nothing but the record itself: a short one crosses with the line that it is in,
/// and perhaps with its neighbours; and whoever dies while writing leaves whole records. Positions count from the
/// beginning of the memory, which each process may see at another address.
///
/// A peer can store anything in that memory. Each side reads a word once, checks it and goes by its own copy, so neither
/// leaves the memory, whatever the peer stores and whenever.
namespace shared_ring {

/// A length, or a position.
using Word = std::uint64_t;
static_assert(std::atomic_ref<Word>::is_always_lock_free, "other processes would not see a lock");

/// Set in the word of every record, so that it is none that has been cleared.
inline constexpr Word written = Word{1} << 63U;
/// Set in the word of a record that has been marked.
inline constexpr Word marked = Word{1} << 62U;
/// Stands in place of a record that did not fit before the end: the next is at the beginning.
inline constexpr Word wrap = ~Word{0};

/// At the head of the memory, on lines of its own; the records follow.
struct Head {
  alignas(cache_line) Word capacity = 0;  ///< bytes for records, a power of two
  alignas(cache_line) Word read = 0;      ///< bytes that the reader has passed; stored by the reader
};
static_assert(sizeof(Head) == 2 * cache_line);

/// Bytes that a record of `num_bytes` takes up: whole words.
constexpr std::size_t RecordBytes(std::size_t num_bytes) {
  return sizeof(Word) + (num_bytes + sizeof(Word) - 1) / sizeof(Word) * sizeof(Word);
}
/// Bytes of memory for a ring that always takes a record of up to `largest` bytes if fewer than `num_records` wait; or
/// fewer of them, but at least four, if that were more than `max_bytes`.
constexpr std::size_t BytesFor(std::size_t largest, std::size_t num_records, std::size_t max_bytes = ~std::size_t{0}) {
  const std::size_t record = RecordBytes(largest);
  std::size_t capacity = std::bit_ceil(std::max(record * (num_records + 2), cache_line));
  while (capacity > max_bytes && capacity / 2 >= 6 * record) capacity /= 2;
  return sizeof(Head) + capacity;
}

/// The word at a place, which is as aligned as a word, as both sides use it: by references like std::atomic_ref.
template <template <typename> class AtomicRef = std::atomic_ref>
AtomicRef<Word> At(std::byte* place) {
  return AtomicRef<Word>{*reinterpret_cast<Word*>(place)};
}

/// Makes an empty ring of all `memory`, which BytesFor has measured and which begins on a line. Before either side
/// attaches.
inline void Create(MutableByteView memory) {
  const Word capacity = memory.size() - sizeof(Head);
  UIT_ASSERT(memory.size() > sizeof(Head) && std::has_single_bit(capacity), "a ring has the size that BytesFor gives");
  new (memory.data()) Head{.capacity = capacity, .read = 0};
  At(memory.data() + sizeof(Head)).store(0, std::memory_order_relaxed);
}

/// Bytes for records of a ring that has been created at the beginning of `memory`. Throws if its head names a capacity
/// that no ring there can have.
inline Word CapacityWithin(MutableByteView memory) {
  if (memory.size() < sizeof(Head) + cache_line) throw Error("a peer has brought too little memory for a ring");
  const Word capacity = At(memory.data()).load(std::memory_order_relaxed);
  if (!std::has_single_bit(capacity) || capacity < cache_line || capacity > memory.size() - sizeof(Head))
    throw Error("a peer has made a ring of " + std::to_string(capacity) + " bytes in memory of " +
                std::to_string(memory.size()));
  return capacity;
}

/// The writing side. One thread at a time. `AtomicRef`: as std::atomic_ref, or under a model that explores every schedule.
template <template <typename> class AtomicRef>
class BasicWriter {
 public:
  /// All records are read, in their order.
  static constexpr bool keeps_order = true;

  /// Of a ring that has been created, and whose head the peer cannot have changed. Positions begin at `start`, so that a
  /// test meets the wrap at once; then the reader and the head begin there as well.
  explicit BasicWriter(std::byte* memory, Word start = 0)
      : head_(reinterpret_cast<Head*>(memory)),
        records_(memory + sizeof(Head)),
        capacity_(head_->capacity),
        written_(start),
        read_(start) {}
  /// Of a ring that has been created at the beginning of `memory`. Throws if it does not fit there.
  explicit BasicWriter(MutableByteView memory)
      : head_(reinterpret_cast<Head*>(memory.data())),
        records_(memory.data() + sizeof(Head)),
        capacity_(CapacityWithin(memory)),
        written_(0),
        read_(0) {}

  /// Whether a record of `num_bytes` would be taken now. Throws, once, if the peer says that it has read what has not been
  /// written; then there is no more room than before.
  UIT_INLINE bool HasRoom(std::size_t num_bytes) {
    const std::size_t needed = Needed(RecordBytes(num_bytes));
    if (needed <= Free()) return true;
    LookHowFarRead();
    return needed <= Free();
  }
  /// Whether everything written has been read. Throws as HasRoom does.
  bool IsEmpty() {
    LookHowFarRead();
    return read_ == written_;
  }
  /// Writes a record, perhaps with a mark. Only if HasRoom.
  UIT_INLINE void Write(ByteView bytes, bool is_marked = false) {
    const std::size_t record = RecordBytes(bytes.size());
    std::byte* const begin = Place(written_);
    std::byte* to = begin;
    if (record > Rest()) {
      written_ += Rest();
      to = Place(written_);
    }
    CopyBytes(to + sizeof(Word), bytes.data(), bytes.size());
    written_ += record;
    const Word word = bytes.size() | written | (is_marked ? marked : 0);
    // The reader comes here only by way of the words stored below.
    At<AtomicRef>(Place(written_)).store(0, std::memory_order_relaxed);
    if (to != begin) At<AtomicRef>(to).store(word, std::memory_order_relaxed);
    // Pairs with the acquire in Front.
    At<AtomicRef>(begin).store(to != begin ? wrap : word, std::memory_order_release);
  }

 private:
  UIT_INLINE void LookHowFarRead() {
    // Pairs with the release in Pop: what lies in the room given back has been read.
    const Word read = AtomicRef<Word>{head_->read}.load(std::memory_order_acquire);
    if (read - read_ > written_ - read_) [[unlikely]]
      return Refuse();
    read_ = read;
  }
  UIT_NOINLINE void Refuse() {
    if (has_refused_) return;
    has_refused_ = true;
    throw Error("a peer says that it has read more from a ring than was written");
  }
  std::byte* Place(Word position) { return records_ + (position & (capacity_ - 1)); }
  std::size_t Rest() const { return static_cast<std::size_t>(capacity_ - (written_ & (capacity_ - 1))); }
  std::size_t Free() const { return static_cast<std::size_t>(capacity_ - (written_ - read_)); }
  /// With the word of the record after it.
  std::size_t Needed(std::size_t record) const { return (record > Rest() ? Rest() : 0) + record + sizeof(Word); }

  Head* head_;
  std::byte* records_;
  Word capacity_;
  Word written_;
  Word read_;  // as last seen; never beyond written_
  bool has_refused_ = false;
};

/// The reading side. One thread at a time. `AtomicRef`: see BasicWriter.
template <template <typename> class AtomicRef>
class BasicReader {
 public:
  /// All records are read, in their order.
  static constexpr bool keeps_order = true;

  /// Of a ring that has been created, and whose head the peer cannot have changed. `start`: see BasicWriter.
  explicit BasicReader(std::byte* memory, Word start = 0)
      : head_(reinterpret_cast<Head*>(memory)),
        records_(memory + sizeof(Head)),
        capacity_(head_->capacity),
        read_(start) {}
  /// Of a ring that has been created at the beginning of `memory`. Throws if it does not fit there.
  explicit BasicReader(MutableByteView memory)
      : head_(reinterpret_cast<Head*>(memory.data())),
        records_(memory.data() + sizeof(Head)),
        capacity_(CapacityWithin(memory)),
        read_(0) {}

  /// The next record, until Pop; empty, with a null pointer, if there is none. A null pointer with a length: the peer claims
  /// a record of so many bytes, which would end beyond the ring.
  UIT_INLINE ByteView Front() {
    Word place = read_ & (capacity_ - 1);
    // Pairs with the release in Write.
    word_ = At<AtomicRef>(records_ + place).load(std::memory_order_acquire);
    if (word_ == 0) return {};
    if (word_ == wrap) {
      read_ += capacity_ - place;
      place = 0;
      word_ = At<AtomicRef>(records_).load(std::memory_order_relaxed);
    }
    const Word num_bytes = word_ & ~(written | marked);
    place += sizeof(Word);
    return {num_bytes <= capacity_ - place ? records_ + place : nullptr, static_cast<std::size_t>(num_bytes)};
  }
  /// Whether the record that Front gave has been marked.
  bool IsMarked() const { return (word_ & marked) != 0; }
  /// Passes over the record that Front gave.
  UIT_INLINE void Pop(ByteView front) {
    read_ += RecordBytes(front.size());
    // Pairs with the acquire in HasRoom.
    AtomicRef<Word>{head_->read}.store(read_, std::memory_order_release);
  }

 private:
  Head* head_;
  std::byte* records_;
  Word capacity_;
  Word read_;
  Word word_ = 0;  // of the record last given
};

using Writer = BasicWriter<std::atomic_ref>;  ///< between processes
using Reader = BasicReader<std::atomic_ref>;  ///< between processes

}  // namespace shared_ring

}  // namespace uit
