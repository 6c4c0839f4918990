#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <optional>
#include <source_location>
#include <span>
#include <type_traits>
#include <vector>

#include "tests/support/explored_atomic.hpp"
#include "tests/support/schedule_explorer.hpp"

namespace uit::testing {

/// Memory that two processes share, as words that the explorer models. They keep their present values. Make it a member of a
/// scenario, one at a time.
///
/// A `Ref` to a word replaces std::atomic_ref. The explorer finds plain writes itself, unless they write the value that was
/// there. Plain reads must be reported by NoteRead. It is a failure if a plain access is not ordered after earlier accesses
/// of other threads, or an atomic access is not ordered after a plain one.
class ExploredMemory {
 public:
  using Word = std::uint64_t;

  /// Models the memory that `words` refers to, during its lifetime.
  explicit ExploredMemory(std::span<Word> words)
      : words_{words}, known_(words.begin(), words.end()), cells_(std::make_unique<std::optional<Cell>[]>(words.size())) {
    Current() = this;
    Explorer::Current()->CollectBy([](void* self) { static_cast<ExploredMemory*>(self)->Collect(); }, this);
  }
  ExploredMemory(const ExploredMemory&) = delete;
  ExploredMemory& operator=(const ExploredMemory&) = delete;
  ~ExploredMemory() {
    Explorer::Current()->CollectBy(nullptr, nullptr);
    Current() = nullptr;
  }

  /// Reports that the bytes are read, other than by a Ref.
  static void NoteRead(std::span<const std::byte> bytes) {
    ExploredMemory& self = *Current();
    if (bytes.empty() || Explorer::Current()->IsLeaving()) return;
    const std::size_t last = self.IndexOf(&bytes.back());
    for (std::size_t i = self.IndexOf(bytes.data()); i <= last; ++i) self.At(i).ReadPlainly();
  }

 private:
  /// A word, and which threads have used it in which way.
  class Cell {
   public:
    explicit Cell(Word value) : atomic_(Explored::Atomic<Word>::FromTheBeginning(value)) {}

    Word Load(std::memory_order order, const std::source_location& where) {
      const Word value = atomic_.load(order, where);
      Check(plain_writes_, "shared memory was read while it was written");
      return value;
    }
    void Store(Word value, std::memory_order order, const std::source_location& where) {
      atomic_.store(value, order, where);
      Check(plain_writes_, "shared memory was written by two at once");
      Check(plain_reads_, "shared memory was written while it was read");
      Note(stores_);
    }
    template <typename F>
    Word Modify(const std::source_location& where, F&& modify) {
      const Word before = modify(atomic_, where);
      Check(plain_writes_, "shared memory was written by two at once");
      Check(plain_reads_, "shared memory was written while it was read");
      Note(stores_);
      return before;
    }
    void WritePlainly(Word value) {
      Check(atomic_.Touched(), "shared memory was written while another used it");
      Check(plain_reads_, "shared memory was written while it was read");
      atomic_.WritePlainly(value);
      Note(plain_writes_);
      Note(stores_);
    }
    void ReadPlainly() {
      Check(stores_, "shared memory was read while it was written");
      Note(plain_reads_);
    }

   private:
    static void Check(const Explorer::VectorClock& times, const char* text) {
      Explorer& explorer = *Explorer::Current();
      if (!explorer.IsLeaving() && !explorer.IsAfter(times)) explorer.Fail(text);
    }
    static void Note(Explorer::VectorClock& times) {
      Explorer& explorer = *Explorer::Current();
      times[explorer.Thread()] = explorer.Tick();
    }

    Explored::Atomic<Word> atomic_;
    Explorer::VectorClock stores_{};        // includes plain ones
    Explorer::VectorClock plain_writes_{};  // When each thread last did so.
    Explorer::VectorClock plain_reads_{};
  };

 public:
  template <typename V>
  class BasicRef {
   public:
    explicit BasicRef(Word& word) : memory_{Current()}, index_{memory_->IndexOf(&word)} {}
    Word load(std::memory_order order, const std::source_location& where = std::source_location::current()) const {
      return memory_->At(index_).Load(order, where);
    }
    void store(Word value, std::memory_order order,
               const std::source_location& where = std::source_location::current()) const {
      memory_->At(index_).Store(value, order, where);
      memory_->words_[index_] = memory_->known_[index_] = value;
    }
    Word exchange(Word value, std::memory_order order,
                  const std::source_location& where = std::source_location::current()) const {
      const Word before = memory_->At(index_).Modify(where, [&](auto& word, auto& at) { return word.exchange(value, order, at); });
      memory_->words_[index_] = memory_->known_[index_] = value;
      return before;
    }
    Word fetch_add(Word amount, std::memory_order order,
                   const std::source_location& where = std::source_location::current()) const {
      const Word before = memory_->At(index_).Modify(where, [&](auto& word, auto& at) { return word.fetch_add(amount, order, at); });
      memory_->words_[index_] = memory_->known_[index_] = before + amount;
      return before;
    }

   private:
    static_assert(std::is_same_v<V, Word>);
    ExploredMemory* memory_;
    std::size_t index_;
  };

 private:
  static ExploredMemory*& Current() {
    static ExploredMemory* current = nullptr;
    return current;
  }

  std::size_t IndexOf(const void* place) const {
    const auto offset = static_cast<std::size_t>(static_cast<const std::byte*>(place) - std::as_bytes(words_).data());
    if (offset >= words_.size_bytes()) Explorer::Current()->Fail("a place is not in the shared memory");
    return std::min(offset / sizeof(Word), words_.size() - 1);
  }
  /// Created at the first use; most are never used.
  Cell& At(std::size_t index) {
    if (!cells_[index]) cells_[index].emplace(known_[index]);
    return *cells_[index];
  }
  /// Finds plain writes since the last call. They are this thread's.
  void Collect() {
    if (std::memcmp(words_.data(), known_.data(), words_.size_bytes()) == 0) return;
    for (std::size_t i = 0; i < words_.size(); ++i) {
      if (words_[i] == known_[i]) continue;
      Cell& cell = At(i);
      known_[i] = words_[i];
      cell.WritePlainly(words_[i]);
    }
  }

  std::span<Word> words_;
  std::vector<Word> known_;
  std::unique_ptr<std::optional<Cell>[]> cells_;
};

/// Replaces std::atomic_ref for a word of an ExploredMemory.
template <typename V>
using ExploredRef = ExploredMemory::BasicRef<V>;

}  // namespace uit::testing
