#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <vector>

#include <uit/config.hpp>

/// Code written by hand for one job, without a library: the limits for our ducts.
namespace bench::hand {

/// A ring within one thread. `capacity` is a power of two.
template <typename T>
class PlainRing {
 public:
  explicit PlainRing(std::size_t capacity) : mask_{capacity - 1}, slots_(capacity) {}

  bool TryPush(const T& value) {
    if (tail_ - head_ > mask_) return false;
    slots_[tail_++ & mask_] = value;
    return true;
  }

  /// Steps to the next value, if any. It stays readable in Front until a push reuses its slot.
  bool TryPop(T& value) {
    if (head_ == tail_) return false;
    value = slots_[head_++ & mask_];
    return true;
  }

 private:
  std::uint32_t head_ = 0;
  std::uint32_t tail_ = 0;
  std::size_t mask_;
  std::vector<T> slots_;
};

/// A ring between two threads; each side caches the other's index.
template <typename T, std::size_t capacity>
class Ring {
 public:
  bool TryPush(const T& value) {
    if (!TryStage(value)) return false;
    Publish();
    return true;
  }

  /// Appends without publishing.
  bool TryStage(const T& value) {
    return TryStageBy([&](T& slot) { slot = value; });
  }
  /// The same: calls write(slot) in place, if there is room.
  template <typename Write>
  bool TryStageBy(Write&& write) {
    if (written_ - seen_head_ == capacity) {
      seen_head_ = head_.load(std::memory_order_acquire);
      if (written_ - seen_head_ == capacity) return false;
    }
    write(slots_[written_++ % capacity]);
    return true;
  }
  void Publish() { tail_.store(written_, std::memory_order_release); }

  /// Calls use(value) in place, if there is one.
  template <typename Use>
  bool TryPop(Use&& use) {
    if (read_ == seen_tail_) {
      seen_tail_ = tail_.load(std::memory_order_acquire);
      if (read_ == seen_tail_) return false;
    }
    use(slots_[read_++ % capacity]);
    head_.store(read_, std::memory_order_release);
    return true;
  }

  /// Calls use(newest) in place, and drops all others.
  template <typename Use>
  bool TryPopNewest(Use&& use) {
    const std::uint64_t tail = tail_.load(std::memory_order_acquire);
    if (read_ == tail) return false;
    use(slots_[(tail - 1) % capacity]);
    seen_tail_ = read_ = tail;
    head_.store(read_, std::memory_order_release);
    return true;
  }

 private:
  alignas(2 * uit::cache_line) std::atomic<std::uint64_t> tail_{0};
  std::uint64_t written_ = 0;
  std::uint64_t seen_head_ = 0;
  alignas(2 * uit::cache_line) std::atomic<std::uint64_t> head_{0};
  std::uint64_t read_ = 0;
  std::uint64_t seen_tail_ = 0;
  alignas(2 * uit::cache_line) std::array<T, capacity> slots_{};
};

/// A triple buffer: three slots, one of which is exchanged.
template <typename T>
class TripleBuffer {
 public:
  void Write(const T& value) {
    slots_[back_].value = value;
    back_ = middle_.exchange(back_ | fresh, std::memory_order_acq_rel) & ~fresh;
  }

  template <typename Use>
  bool TryRead(Use&& use) {
    if ((middle_.load(std::memory_order_relaxed) & fresh) == 0) return false;
    front_ = middle_.exchange(front_, std::memory_order_acq_rel) & ~fresh;
    use(slots_[front_].value);
    return true;
  }

 private:
  static constexpr std::uint32_t fresh = 4;
  struct alignas(uit::cache_line) Slot {
    T value{};
  };
  std::array<Slot, 3> slots_{};
  alignas(2 * uit::cache_line) std::atomic<std::uint32_t> middle_{0};
  alignas(2 * uit::cache_line) std::uint32_t back_ = 1;
  alignas(2 * uit::cache_line) std::uint32_t front_ = 2;
};

}  // namespace bench::hand
