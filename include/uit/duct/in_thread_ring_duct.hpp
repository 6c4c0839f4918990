#pragma once

#include <algorithm>
#include <bit>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <new>
#include <stdexcept>
#include <type_traits>
#include <utility>

#include <uit/config.hpp>
#include <uit/duct/duct.hpp>
#include <uit/support/assert.hpp>
#include <uit/support/ref.hpp>
#include <uit/support/sync.hpp>

namespace uit {

/// The largest depth of a ring.
inline constexpr std::size_t max_ring_depth = std::size_t{1} << 30;

namespace detail {

inline std::size_t CheckedRingDepth(std::size_t depth) {
  if (depth == 0 || depth > max_ring_depth)
    throw std::invalid_argument{"a ring's depth is between 1 and 2^30"};
  return depth;
}

}  // namespace detail

template <Message T, Synchronization Sync>
class RingDuct;

/// The ring with both ends in one thread. It is as small as possible, because a simulation has one per edge.
///
/// Its slots follow it in the same memory block, so a put or a step follows one pointer only. The number of slots is a
/// power of two, so a message's number gives its slot.
///
///     const auto ring = uit::RingDuct<int, uit::Unsynchronized>::Open(64);
///     ring->TryPut(1);
///     if (ring->TryStep(1) > 0) Use(ring->Get());
template <Message T>
class RingDuct<T, Unsynchronized> final : public RefCounted {
 public:
  /// Messages are numbered consecutively. Numbers wrap.
  using Number = std::uint64_t;

  /// Waiting cannot help.
  static constexpr bool in_thread = true;
  /// The largest depth.
  static constexpr std::size_t max_depth = max_ring_depth;

  /// Up to `depth` messages wait. Before the first step Get returns `initial`, which is message number `start`. Throws
  /// std::invalid_argument if the depth is zero or above max_depth.
  [[nodiscard]] static Ref<RingDuct> Open(std::size_t depth, T initial = T{}, Number start = 0) {
    const std::size_t num_bytes = NumBytes(depth);
    void* const memory = ::operator new(num_bytes, std::align_val_t{Alignment()});
    try {
      return Ref<RingDuct>{Construct(memory, depth, std::move(initial), start)};
    } catch (...) {
      ::operator delete(memory, num_bytes, std::align_val_t{Alignment()});
      throw;
    }
  }

  /// The same in the caller's memory: NumBytes(depth) bytes at a multiple of Alignment(). The memory must outlive all
  /// references. If T needs destruction, the caller destroys the ring by std::destroy_at.
  [[nodiscard]] static Ref<RingDuct> OpenAt(void* memory, std::size_t depth, T initial = T{}) {
    RingDuct* const ring = Construct(memory, depth, std::move(initial), 0);
    ring->Retain();
    return Ref<RingDuct>{ring};
  }

  /// The bytes that a ring of this depth takes, including its slots.
  [[nodiscard]] static std::size_t NumBytes(std::size_t depth) {
    return SlotsOffset() + std::bit_ceil(detail::CheckedRingDepth(depth) + 1) * sizeof(T);
  }
  /// The alignment of a ring, in bytes.
  [[nodiscard]] static constexpr std::size_t Alignment() {
    return std::max(alignof(RingDuct), alignof(T));
  }

  ~RingDuct() { std::destroy_n(Slots(), mask_ + std::size_t{1}); }

  /// Frees a ring made by Open.
  static void operator delete(RingDuct* ring, std::destroying_delete_t) {
    const std::size_t num_bytes = NumBytes(ring->Depth());
    ring->~RingDuct();
    ::operator delete(static_cast<void*>(ring), num_bytes, std::align_val_t{Alignment()});
  }

  /// Appends a copy. False if the ring is full.
  UIT_INLINE bool TryPut(const T& message)
    requires std::copyable<T>
  {
    return Append(message);
  }
  /// Appends by moving, if there is room.
  UIT_INLINE bool TryPut(T&& message) { return Append(std::move(message)); }

  /// Like TryPut: in one thread every message is visible at once.
  UIT_INLINE bool TryStage(const T& message)
    requires std::copyable<T>
  {
    return Append(message);
  }
  /// The same, by moving.
  UIT_INLINE bool TryStage(T&& message) { return Append(std::move(message)); }
  /// Always true.
  UIT_INLINE bool TryFlush() { return true; }

  /// Returns the slot of the next message, to be written in place, or null if the ring is full; see RingDuct.
  T* TryLend() {
    const bool is_full = depth_ < 0 ? room_ == 0 : static_cast<std::int32_t>(last_ - current_) >= depth_;
    return is_full ? nullptr : &At(last_ + 1);
  }
  /// Puts the slot that TryLend returned last. Nothing was put meanwhile.
  void PutLent() {
    if (depth_ < 0) --room_;
    ++last_;
  }

  /// Moves past up to `limit` messages, in constant time.
  UIT_INLINE std::size_t TryStep(std::size_t limit) {
    UIT_ASSERT(limit > 0, "a step needs a limit");
    std::size_t count = 0;
    if (is_outlet_held_) [[unlikely]] {  // reads nothing that a put writes
      if (visible_ == 0) return 0;
      count = std::min<std::size_t>(limit, visible_);
      visible_ = static_cast<std::uint16_t>(visible_ - count);
    } else {
      if (current_ == last_) return 0;
      count = limit == 1 ? 1 : std::min<std::size_t>(limit, last_ - current_);
    }
    current_ += count;
    return count;
  }

  /// The message last stepped to, until the next step that succeeds.
  UIT_INLINE const T& Get() const { return At(current_); }
  /// The same, to be moved from or changed.
  UIT_INLINE T& Get() { return At(current_); }

  /// While held, room depends only on the steps made before the last RefreshInlet, and at most `max_puts` puts are
  /// accepted until the next one.
  void HoldInlet(bool hold, std::size_t max_puts = no_limit) {
    depth_ = static_cast<std::int32_t>(Depth()) | (hold ? held : 0);
    RefreshInlet(max_puts);
  }
  /// Updates the room of a held inlet.
  void RefreshInlet(std::size_t max_puts = no_limit) {
    room_ = Budget(std::min<std::uint64_t>(Depth() - (last_ - current_), max_puts));
  }

  /// While held, a step passes only messages that were put before the last RefreshOutlet.
  void HoldOutlet(bool hold) {
    is_outlet_held_ = hold;
    RefreshOutlet();
  }
  /// Makes all messages put so far visible to a held outlet.
  void RefreshOutlet() { visible_ = Budget(last_ - current_); }

  /// Messages accepted so far, counted from `start`.
  [[nodiscard]] std::uint64_t NumAccepted() const { return last_; }
  /// Messages moved past so far, counted from `start`.
  [[nodiscard]] std::uint64_t NumPassed() const { return current_; }

  /// Calls `visit(message)` for each message that waits, in order.
  template <std::invocable<const T&> F>
  void ForEachUnread(F&& visit) const {
    for (Number number = current_; number != last_;) visit(At(++number));
  }

  /// The number of messages that may wait.
  [[nodiscard]] std::size_t Depth() const { return static_cast<std::size_t>(depth_ & ~held); }

 private:
  RingDuct(std::size_t depth, Number start)
      : mask_{static_cast<std::uint32_t>(std::bit_ceil(depth + 1) - 1)},
        depth_{static_cast<std::int32_t>(depth)},
        last_{start},
        current_{start} {}

  static RingDuct* Construct(void* memory, std::size_t depth, T initial, Number start) {
    auto* const ring = new (memory) RingDuct{detail::CheckedRingDepth(depth), start};
    std::uninitialized_value_construct_n(ring->Slots(), ring->mask_ + std::size_t{1});
    try {
      ring->Get() = std::move(initial);
    } catch (...) {
      ring->~RingDuct();
      throw;
    }
    return ring;
  }

  template <typename M>
  UIT_INLINE bool Append(M&& message) {
    const Number last = last_;
    if (depth_ < 0) [[unlikely]] {
      if (room_ == 0) return false;
      --room_;
    } else if (static_cast<std::int32_t>(last - current_) >= depth_) [[unlikely]] {
      return false;
    }
    if constexpr (std::is_nothrow_assignable_v<T&, M&&>) {
      At(last + 1) = std::forward<M>(message);
    } else {
      try {
        At(last + 1) = std::forward<M>(message);
      } catch (...) {
        if (depth_ < 0) ++room_;
        throw;
      }
    }
    last_ = last + 1;
    return true;
  }

  static std::uint16_t Budget(std::uint64_t count) {
    return static_cast<std::uint16_t>(std::min<std::uint64_t>(count, std::numeric_limits<std::uint16_t>::max()));
  }

  static constexpr std::size_t SlotsOffset() {
    return (sizeof(RingDuct) + alignof(T) - 1) / alignof(T) * alignof(T);
  }
  UIT_INLINE T* Slots() const {
    auto* const self = reinterpret_cast<std::byte*>(const_cast<RingDuct*>(this));
    return reinterpret_cast<T*>(self + SlotsOffset());
  }
  UIT_INLINE T& At(Number number) const { return Slots()[number & mask_]; }

  static constexpr auto held = std::numeric_limits<std::int32_t>::min();

  // While held, the steps and puts allowed until the next refresh; fewer if the number does not fit.
  std::uint16_t room_ = 0;     // puts
  std::uint16_t visible_ = 0;  // messages to move past
  bool is_outlet_held_ = false;
  std::uint32_t mask_;
  std::int32_t depth_;  // negative while the inlet is held, so that a put takes the slow path
  Number last_;     // newest message
  Number current_;  // message last stepped to
};

}  // namespace uit
