#pragma once

#include <atomic>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <utility>

#include <uit/config.hpp>

namespace uit {

/// Both ends in one thread: an "atomic" is a plain variable, and memory orders have no effect.
struct Unsynchronized {
  /// The two sides never run at the same time.
  static constexpr bool concurrent = false;
  /// Only the natural alignment.
  static constexpr std::size_t alignment = 1;

  /// The part of std::atomic that ducts use, without synchronization.
  template <typename V>
  class Atomic {
   public:
    /// Zero.
    constexpr Atomic() noexcept = default;
    /// Holds `value`.
    constexpr explicit Atomic(V value) noexcept : value_{value} {}
    Atomic(const Atomic&) = delete;
    Atomic& operator=(const Atomic&) = delete;

    /// As std::atomic, in one thread.
    V load(std::memory_order) const noexcept { return value_; }
    /// As std::atomic, in one thread.
    void store(V value, std::memory_order) noexcept { value_ = value; }
    /// As std::atomic, in one thread.
    V exchange(V value, std::memory_order) noexcept { return std::exchange(value_, value); }
    /// As std::atomic, in one thread.
    V fetch_add(V amount, std::memory_order) noexcept {
      return std::exchange(value_, static_cast<V>(value_ + amount));
    }
    /// As std::atomic, in one thread.
    bool compare_exchange_strong(V& expected, V value, std::memory_order, std::memory_order) noexcept {
      if (value_ != expected) {
        expected = value_;
        return false;
      }
      value_ = value;
      return true;
    }

   private:
    V value_{};
  };
};

/// One thread at the inlet and one at the outlet.
struct Spsc {
  /// The two sides may run at the same time.
  static constexpr bool concurrent = true;
  /// Each side's fields have a cache line that the other side never writes.
  static constexpr std::size_t alignment = cache_line;

  /// The type of variables that both sides use.
  template <typename V>
  using Atomic = std::atomic<V>;
};

/// How the two ends of a duct see each other's writes. Every atomic of a duct is a `Sync::Atomic`. So the same duct runs
/// in one thread, between two threads, and under a model that explores every schedule.
template <typename Sync>
concept Synchronization =
    requires(typename Sync::template Atomic<std::uint32_t>& atomic, std::uint32_t& expected, std::memory_order order) {
      { Sync::concurrent } -> std::convertible_to<bool>;
      { Sync::alignment } -> std::convertible_to<std::size_t>;
      { std::as_const(atomic).load(order) } -> std::same_as<std::uint32_t>;
      atomic.store(std::uint32_t{}, order);
      { atomic.exchange(std::uint32_t{}, order) } -> std::same_as<std::uint32_t>;
      { atomic.fetch_add(std::uint32_t{}, order) } -> std::same_as<std::uint32_t>;
      { atomic.compare_exchange_strong(expected, std::uint32_t{}, order, order) } -> std::same_as<bool>;
    };

/// The alignment of a `V` that begins the fields of one side: `alignas(side_alignment<Sync, V>)`.
template <Synchronization Sync, typename V>
inline constexpr std::size_t side_alignment =
    Sync::alignment > alignof(V) ? Sync::alignment : alignof(V);

static_assert(Synchronization<Unsynchronized>);
static_assert(Synchronization<Spsc>);

}  // namespace uit
