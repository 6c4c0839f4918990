#pragma once

#include <algorithm>
#include <atomic>
#include <bit>
#include <cstddef>
#include <new>
#include <string>

#include <uit/config.hpp>
#include <uit/link/shared_word.hpp>
#include <uit/support/assert.hpp>
#include <uit/support/bytes.hpp>
#include <uit/support/error.hpp>

namespace uit {

/// A ring in memory that two processes share, for one direction of a link: records of bytes, each contiguous, in order.
///
/// A record begins with a word that tells its length. The writer clears the word of the next record before it stores the
/// word of this one. So the reader reads only the record itself. A short record moves between the cores with its own
/// cache line, perhaps together with its neighbours. If a process dies while writing, all earlier records remain whole.
/// Positions count from the beginning of the memory, which may have another address in each process.
namespace shared_ring {

/// A length or a position.
using Word = SharedWord;

/// Set in the word of every record, to distinguish it from a cleared word.
inline constexpr Word written = Word{1} << 63U;
/// Set in the word of a marked record.
inline constexpr Word marked = Word{1} << 62U;
/// Replaces a record that did not fit before the end of the ring: the record is at the beginning.
inline constexpr Word wrap = ~Word{0};

/// The head of the memory, on cache lines of its own; the records follow.
struct Head {
  alignas(cache_line) Word capacity = 0;  ///< bytes for records, a power of two
  alignas(cache_line) Word read = 0;      ///< bytes that the reader has passed; only the reader stores it
};
static_assert(sizeof(Head) == 2 * cache_line);

/// Returns the bytes that a record of `num_bytes` occupies: whole words.
constexpr std::size_t RecordBytes(std::size_t num_bytes) {
  return sizeof(Word) + (num_bytes + sizeof(Word) - 1) / sizeof(Word) * sizeof(Word);
}
/// Returns the bytes of memory for a ring that always has room for a record of up to `largest` bytes if fewer than
/// `num_records` wait. If that were more than `max_bytes`, the ring holds fewer records, but at least four.
constexpr std::size_t BytesFor(std::size_t largest, std::size_t num_records, std::size_t max_bytes = ~std::size_t{0}) {
  const std::size_t record = RecordBytes(largest);
  std::size_t capacity = std::bit_ceil(std::max(record * (num_records + 2), cache_line));
  while (capacity > max_bytes && capacity / 2 >= 6 * record) capacity /= 2;
  return sizeof(Head) + capacity;
}

/// Creates an empty ring in all of `memory`, whose size comes from BytesFor and which begins on a cache line. Call it
/// before either side attaches.
inline void Create(MutableByteView memory) {
  const Word capacity = memory.size() - sizeof(Head);
  UIT_ASSERT(memory.size() > sizeof(Head) && std::has_single_bit(capacity), "a ring has the size that BytesFor gives");
  new (memory.data()) Head{.capacity = capacity, .read = 0};
  WordAt<std::atomic_ref>(memory.data() + sizeof(Head)).store(0, std::memory_order_relaxed);
}

/// Returns the capacity of the ring at the beginning of `memory`, in bytes. Throws if its head claims an impossible
/// capacity.
inline Word CapacityWithin(MutableByteView memory) {
  if (memory.size() < sizeof(Head) + cache_line) throw Error("a peer has brought too little memory for a ring");
  const Word capacity = WordAt<std::atomic_ref>(memory.data()).load(std::memory_order_relaxed);
  if (!std::has_single_bit(capacity) || capacity < cache_line || capacity > memory.size() - sizeof(Head))
    throw Error("a peer has made a ring of " + std::to_string(capacity) + " bytes in memory of " +
                std::to_string(memory.size()));
  return capacity;
}

/// The writing side. One thread at a time. `AtomicRef`: see WordAt.
template <template <typename> class AtomicRef>
class BasicWriter {
 public:
  /// All records are read, in order.
  static constexpr bool keeps_order = true;

  /// For a ring that has been created, and whose head the peer cannot have changed. Positions begin at `start`, so that a
  /// test can reach the overflow at once; then the reader and the head must begin there as well.
  explicit BasicWriter(std::byte* memory, Word start = 0)
      : head_(reinterpret_cast<Head*>(memory)),
        records_(memory + sizeof(Head)),
        capacity_(head_->capacity),
        written_(start),
        read_(start) {}
  /// For a ring that has been created at the beginning of `memory`. Throws if it does not fit there.
  explicit BasicWriter(MutableByteView memory)
      : head_(reinterpret_cast<Head*>(memory.data())),
        records_(memory.data() + sizeof(Head)),
        capacity_(CapacityWithin(memory)),
        written_(0),
        read_(0) {}

  /// Whether a record of `num_bytes` would be taken now. Throws once if the peer claims to have read bytes that were not
  /// written; then no room is added.
  UIT_INLINE bool HasRoom(std::size_t num_bytes) {
    const std::size_t needed = Needed(RecordBytes(num_bytes));
    if (needed <= Free()) return true;
    LookHowFarRead();
    return needed <= Free();
  }
  /// Whether every record written has been read. Throws as HasRoom does.
  bool IsEmpty() {
    LookHowFarRead();
    return read_ == written_;
  }
  /// Writes a record, marked if `is_marked`. Call it only after HasRoom returned true.
  UIT_INLINE void Write(ByteView bytes, bool is_marked = false) {
    CopyBytes(Reserve(bytes.size()), bytes.data(), bytes.size());
    Commit(bytes.size(), bytes.size(), is_marked);
  }
  /// Returns where to write the bytes of the next record, of up to `num_bytes`. Call it only after HasRoom returned true. Nothing
  /// has changed until Commit: the next Reserve returns the same memory.
  UIT_INLINE std::byte* Reserve(std::size_t num_bytes) {
    return (RecordBytes(num_bytes) > Rest() ? records_ : Place(written_)) + sizeof(Word);
  }
  /// Makes a record of the first `num_bytes` of the bytes that Reserve(num_reserved) returned.
  UIT_INLINE void Commit(std::size_t num_bytes, std::size_t num_reserved, bool is_marked = false) {
    std::byte* const begin = Place(written_);
    std::byte* to = begin;
    if (RecordBytes(num_reserved) > Rest()) {
      written_ += Rest();
      to = Place(written_);
    }
    written_ += RecordBytes(num_bytes);
    const Word word = num_bytes | written | (is_marked ? marked : 0);
    // The reader gets here only through the words stored below.
    WordAt<AtomicRef>(Place(written_)).store(0, std::memory_order_relaxed);
    if (to != begin) WordAt<AtomicRef>(to).store(word, std::memory_order_relaxed);
    // Pairs with the acquire in Front.
    WordAt<AtomicRef>(begin).store(to != begin ? wrap : word, std::memory_order_release);
  }

 private:
  UIT_INLINE void LookHowFarRead() {
    // Pairs with the release in GiveBack: the reader has finished with the room that it returned.
    const Word read = WordAt<AtomicRef>(head_->read).load(std::memory_order_acquire);
    if (read - read_ > written_ - read_) [[unlikely]]
      return Refuse();
    read_ = read;
  }
  UIT_NOINLINE void Refuse() {
    if (has_refused_) return;
    has_refused_ = true;
    throw Error("a peer claims to have read more from a ring than was written");
  }
  std::byte* Place(Word position) { return records_ + (position & (capacity_ - 1)); }
  std::size_t Rest() const { return static_cast<std::size_t>(capacity_ - (written_ & (capacity_ - 1))); }
  std::size_t Free() const { return static_cast<std::size_t>(capacity_ - (written_ - read_)); }
  /// Includes the word of the record after it.
  std::size_t Needed(std::size_t record) const { return (record > Rest() ? Rest() : 0) + record + sizeof(Word); }

  Head* head_;
  std::byte* records_;
  Word capacity_;
  Word written_;
  Word read_;  // as last loaded; never beyond written_
  bool has_refused_ = false;
};

/// The reading side. One thread at a time. `AtomicRef`: see WordAt.
template <template <typename> class AtomicRef>
class BasicReader {
 public:
  /// All records are read, in order.
  static constexpr bool keeps_order = true;

  /// For a ring that has been created, and whose head the peer cannot have changed. `start`: see BasicWriter.
  explicit BasicReader(std::byte* memory, Word start = 0)
      : head_(reinterpret_cast<Head*>(memory)),
        records_(memory + sizeof(Head)),
        capacity_(head_->capacity),
        read_(start) {}
  /// For a ring that has been created at the beginning of `memory`. Throws if it does not fit there.
  explicit BasicReader(MutableByteView memory)
      : head_(reinterpret_cast<Head*>(memory.data())),
        records_(memory.data() + sizeof(Head)),
        capacity_(CapacityWithin(memory)),
        read_(0) {}

  /// Returns the next record, valid until Pop. Returns an empty view with a null pointer if there is none. Returns a null
  /// pointer with a length if the peer claims a record of that length that would end beyond the ring.
  UIT_INLINE ByteView Front() {
    Word place = read_ & (capacity_ - 1);
    // Pairs with the release in Commit.
    word_ = WordAt<AtomicRef>(records_ + place).load(std::memory_order_acquire);
    if (word_ == 0) return {};
    if (word_ == wrap) {
      read_ += capacity_ - place;
      place = 0;
      word_ = WordAt<AtomicRef>(records_).load(std::memory_order_relaxed);
    }
    const Word num_bytes = word_ & ~(written | marked);
    place += sizeof(Word);
    return {num_bytes <= capacity_ - place ? records_ + place : nullptr, static_cast<std::size_t>(num_bytes)};
  }
  /// Whether the record that Front returned is marked.
  bool IsMarked() const { return (word_ & marked) != 0; }
  /// Moves past the record that Front returned.
  UIT_INLINE void Pop(ByteView front) {
    Pass(front);
    GiveBack();
  }
  /// The same, but the record stays valid until GiveBack or Pop. More records may be passed meanwhile.
  UIT_INLINE void Pass(ByteView front) { read_ += RecordBytes(front.size()); }
  /// Gives the room of all records passed back to the writer.
  UIT_INLINE void GiveBack() {
    // Pairs with the acquire in LookHowFarRead.
    WordAt<AtomicRef>(head_->read).store(read_, std::memory_order_release);
  }

 private:
  Head* head_;
  std::byte* records_;
  Word capacity_;
  Word read_;
  Word word_ = 0;  // word of the record that Front returned last
};

using Writer = BasicWriter<std::atomic_ref>;  ///< between processes
using Reader = BasicReader<std::atomic_ref>;  ///< between processes

}  // namespace shared_ring

}  // namespace uit
