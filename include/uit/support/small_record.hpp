#pragma once

#include <concepts>
#include <cstdint>
#include <utility>

#include <uit/config.hpp>

namespace uit {

/// A count, and a `Record` that few have need of: one word wide, until the record is asked for.
///
/// The word holds the count itself, or the address of both on the heap. Not for two threads at once.
template <std::default_initializable Record>
class SmallRecord {
 public:
  SmallRecord() noexcept = default;
  /// Takes both over; `other` counts from zero, without a record.
  SmallRecord(SmallRecord&& other) noexcept : word_{std::exchange(other.word_, zero)} {}
  /// Drops its own for another's.
  SmallRecord& operator=(SmallRecord&& other) noexcept {
    SmallRecord old{std::move(other)};
    std::swap(word_, old.word_);
    return *this;
  }
  ~SmallRecord() {
    if (HasRecord()) delete Both();
  }

  /// Adds to the count, which stays below 2^63.
  UIT_INLINE void Add(std::uint64_t amount) {
    if (HasRecord()) [[unlikely]]
      Both()->count += amount;
    else
      word_ += amount << 1U;
  }
  /// The count.
  [[nodiscard]] std::uint64_t Count() const { return HasRecord() ? Both()->count : word_ >> 1U; }

  /// A copy of the record; a new one if there is none.
  [[nodiscard]] Record Get() const { return HasRecord() ? Both()->record : Record{}; }
  /// The record, made now if there is none; then this allocates, and may throw.
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

  static constexpr std::uintptr_t zero = 1;  // the low bit: the count, and no address

  bool HasRecord() const { return (word_ & 1U) == 0; }
  Spilled* Both() const { return reinterpret_cast<Spilled*>(word_); }

  std::uintptr_t word_ = zero;
};

}  // namespace uit
