#pragma once

#include <concepts>
#include <cstdint>
#include <utility>

#include <uit/config.hpp>

namespace uit {

/// A count, and a `Record` that few objects need. It takes one word until the record is made.
///
/// The word holds either the count, or the address of count and record on the heap. One thread at a time.
template <std::default_initializable Record>
class SmallRecord {
 public:
  SmallRecord() noexcept = default;
  /// Takes over count and record. `other` is then zero, without a record.
  SmallRecord(SmallRecord&& other) noexcept : word_{std::exchange(other.word_, zero)} {}
  /// Replaces count and record by those of another.
  SmallRecord& operator=(SmallRecord&& other) noexcept {
    SmallRecord old{std::move(other)};
    std::swap(word_, old.word_);
    return *this;
  }
  ~SmallRecord() {
    if (HasRecord()) delete Both();
  }

  /// Adds to the count, which must stay below 2^63.
  UIT_INLINE void Add(std::uint64_t amount) {
    if (HasRecord()) [[unlikely]]
      Both()->count += amount;
    else
      word_ += amount << 1U;
  }
  /// The count.
  [[nodiscard]] std::uint64_t Count() const { return HasRecord() ? Both()->count : word_ >> 1U; }

  /// A copy of the record; a default one if none was made.
  [[nodiscard]] Record Get() const { return HasRecord() ? Both()->record : Record{}; }
  /// The record. Makes it if there is none; this allocates and may throw.
  [[nodiscard]] Record& Make() {
    if (!HasRecord()) word_ = reinterpret_cast<std::uintptr_t>(new Spilled{.count = Count(), .record = {}});
    return Both()->record;
  }

 private:
  struct Spilled {
    std::uint64_t count;
    Record record;
  };
  static_assert(sizeof(std::uintptr_t) == sizeof(std::uint64_t) && alignof(Spilled) > 1);

  static constexpr std::uintptr_t zero = 1;  // low bit set: the word holds the count, not an address

  bool HasRecord() const { return (word_ & 1U) == 0; }
  Spilled* Both() const { return reinterpret_cast<Spilled*>(word_); }

  std::uintptr_t word_ = zero;
};

}  // namespace uit
