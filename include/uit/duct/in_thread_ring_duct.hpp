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

template <Message T, Synchronization Sync, bool grows = false>
class RingDuct;

/// The ring with both ends in one thread. It is as small as possible, because a simulation has one per edge.
///
/// Its slots follow it in the same memory block, so a put or a step follows one pointer only. The number of slots is a
/// power of two, so a message's number gives its slot.
///
/// If it `grows`, it begins with slots for 3 messages. When more wait, it doubles its slots, up to the depth. So its memory, and the
/// cache that it takes, are those of the messages that wait, whatever the depth, until an end is held; but a put may allocate, and
/// each access takes a little longer. If messages cannot be copied, or may throw when they are moved, it has all slots from the start.
///
///     const auto ring = uit::RingDuct<int, uit::Unsynchronized>::Open(64);
///     ring->TryPut(1);
///     if (ring->TryStep(1) > 0) Use(ring->Get());
template <Message T, bool grows>
class RingDuct<T, Unsynchronized, grows> final : public RefCounted {
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
  /// references. If T needs destruction, or the ring grows, the caller destroys it by std::destroy_at.
  [[nodiscard]] static Ref<RingDuct> OpenAt(void* memory, std::size_t depth, T initial = T{}) {
    RingDuct* const ring = Construct(memory, depth, std::move(initial), 0);
    ring->Retain();
    return Ref<RingDuct>{ring};
  }

  /// The bytes that a ring of this depth takes, including its slots; of one that grows, the bytes before it does.
  [[nodiscard]] static std::size_t NumBytes(std::size_t depth) {
    if (CanGrow(detail::CheckedRingDepth(depth))) return GrowthOffset() + sizeof(Growth);
    return SlotsOffset() + std::bit_ceil(depth + 1) * sizeof(T);
  }
  /// The alignment of a ring, in bytes.
  [[nodiscard]] static constexpr std::size_t Alignment() {
    return std::max(alignof(RingDuct), alignof(T));
  }

  ~RingDuct() {
    if (IsGrown()) {
      T* slots = GetGrowth().slots;
      while (slots != FirstSlots()) {
        const Block block = Block::Of(slots);
        Block::Delete(slots, block.num_slots, block.num_slots);
        slots = block.before;
      }
      mask_ = num_first_slots - 1;
    }
    std::destroy_n(FirstSlots(), mask_ + std::size_t{1});
  }

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
    return HasSlot() || MakeSlot() ? &At(last_ + 1) : nullptr;
  }
  /// Puts the slot that TryLend returned last. Nothing was put meanwhile.
  void PutLent() {
    if (most_unread_ < 0) --room_;
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
  /// accepted until the next one. While both ends are held, one thread may put while another steps. So a ring that grows has all
  /// its slots from the first hold on.
  void HoldInlet(bool hold, std::size_t max_puts = no_limit) {
    if constexpr (is_growing) {
      if (hold && mask_ < Depth()) Grow(std::bit_ceil(Depth() + 1));
    }
    SetMostUnread(hold);
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
  [[nodiscard]] std::size_t Depth() const {
    return state_.can_grow ? GetGrowth().depth : static_cast<std::size_t>(most_unread_ & ~held);
  }

 private:
  static constexpr bool is_growing = grows && std::copyable<T> && std::is_nothrow_move_assignable_v<T>;
  static constexpr std::uint32_t num_first_slots = 4;  // of a ring that can grow

  struct Fixed {
    static constexpr bool can_grow = false;
    static constexpr bool is_grown = false;
  };
  struct Growing {
    bool can_grow : 4 = false;
    bool is_grown : 4 = false;
  };
  /// What follows the first slots of a ring that can grow.
  struct Growth {
    T* slots;  // once it has grown
    std::uint32_t depth;
  };
  /// A block of slots that a ring has added. Those before it stay, because somebody may hold what Get has returned.
  struct Block {
    T* before;
    std::size_t num_slots;

    static constexpr std::size_t SlotsOffset() { return RoundedUp(sizeof(Block), alignof(T)); }
    static constexpr std::align_val_t Alignment() { return std::align_val_t{std::max(alignof(Block), alignof(T))}; }
    static Block& Of(T* slots) { return *reinterpret_cast<Block*>(reinterpret_cast<std::byte*>(slots) - SlotsOffset()); }
    static T* New(std::size_t num_slots, T* before) {
      void* const memory = ::operator new(SlotsOffset() + num_slots * sizeof(T), Alignment());
      new (memory) Block{before, num_slots};
      T* const slots = reinterpret_cast<T*>(static_cast<std::byte*>(memory) + SlotsOffset());
      try {
        std::uninitialized_value_construct_n(slots, num_slots);
      } catch (...) {
        Delete(slots, num_slots, 0);
        throw;
      }
      return slots;
    }
    static void Delete(T* slots, std::size_t num_slots, std::size_t num_constructed) {
      std::destroy_n(slots, num_constructed);
      ::operator delete(static_cast<void*>(&Of(slots)), SlotsOffset() + num_slots * sizeof(T), Alignment());
    }
  };

  RingDuct(std::size_t depth, Number start)
      : mask_{CanGrow(depth) ? num_first_slots - 1 : static_cast<std::uint32_t>(std::bit_ceil(depth + 1) - 1)},
        most_unread_{static_cast<std::int32_t>(std::min<std::size_t>(mask_, depth))},
        last_{start},
        current_{start} {
    if constexpr (is_growing) {
      state_.can_grow = CanGrow(depth);
      if (state_.can_grow) new (GrowthMemory()) Growth{nullptr, static_cast<std::uint32_t>(depth)};
    }
  }

  static RingDuct* Construct(void* memory, std::size_t depth, T initial, Number start) {
    auto* const ring = new (memory) RingDuct{detail::CheckedRingDepth(depth), start};
    std::uninitialized_value_construct_n(ring->FirstSlots(), ring->mask_ + std::size_t{1});
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
    if (!HasSlot()) [[unlikely]] {
      if (!MakeSlot()) return false;
      At(last_ + 1) = std::forward<M>(message);
      PutLent();
      return true;
    }
    const Number next = last_ + 1;
    At(next) = std::forward<M>(message);
    last_ = next;
    return true;
  }
  /// False while the inlet is held: another thread may step then, so this does not look at what a step writes.
  UIT_INLINE bool HasSlot() const { return most_unread_ >= 0 && static_cast<std::int32_t>(last_ - current_) < most_unread_; }
  /// Whether a message may be put. Then there is a slot for it.
  bool MakeSlot() {
    if (most_unread_ < 0) return room_ > 0;
    if (last_ - current_ == Depth()) return false;
    if constexpr (is_growing) {
      if (last_ - current_ == mask_) Grow(2 * (mask_ + std::size_t{1}));
    }
    return true;
  }
  UIT_NOINLINE void Grow(std::size_t num_slots) {
    const auto mask = static_cast<std::uint32_t>(num_slots - 1);
    T* const slots = Block::New(num_slots, IsGrown() ? GetGrowth().slots : FirstSlots());
    try {
      slots[current_ & mask] = std::as_const(At(current_));  // which stays as it is
    } catch (...) {
      Block::Delete(slots, num_slots, num_slots);
      throw;
    }
    for (Number number = current_; number != last_;) {
      ++number;
      slots[number & mask] = std::move(At(number));
    }
    GetGrowth().slots = slots;
    state_.is_grown = true;
    mask_ = mask;
    SetMostUnread(most_unread_ < 0);
  }
  void SetMostUnread(bool is_held) {
    most_unread_ = static_cast<std::int32_t>(std::min<std::size_t>(mask_, Depth())) | (is_held ? held : 0);
  }

  UIT_INLINE bool IsGrown() const { return state_.is_grown; }

  static std::uint16_t Budget(std::uint64_t count) {
    return static_cast<std::uint16_t>(std::min<std::uint64_t>(count, std::numeric_limits<std::uint16_t>::max()));
  }

  static constexpr bool CanGrow(std::size_t depth) { return is_growing && depth >= num_first_slots; }
  static constexpr std::size_t RoundedUp(std::size_t size, std::size_t alignment) { return (size + alignment - 1) / alignment * alignment; }
  static constexpr std::size_t SlotsOffset() { return RoundedUp(sizeof(RingDuct), alignof(T)); }
  static constexpr std::size_t GrowthOffset() { return RoundedUp(SlotsOffset() + num_first_slots * sizeof(T), alignof(Growth)); }
  std::byte* Memory() const { return reinterpret_cast<std::byte*>(const_cast<RingDuct*>(this)); }
  UIT_INLINE T* FirstSlots() const { return reinterpret_cast<T*>(Memory() + SlotsOffset()); }
  void* GrowthMemory() const { return Memory() + GrowthOffset(); }
  Growth& GetGrowth() const { return *static_cast<Growth*>(GrowthMemory()); }
  UIT_INLINE T& At(Number number) const {
    T* slots = FirstSlots();
    if (IsGrown()) [[unlikely]] slots = GetGrowth().slots;
    return slots[number & mask_];
  }

  static constexpr auto held = std::numeric_limits<std::int32_t>::min();

  // With the count of references, which takes 2 bytes, a ring takes 32 bytes before its slots.
  bool is_outlet_held_ = false;
  [[no_unique_address]] std::conditional_t<is_growing, Growing, Fixed> state_{};
  // While held, the steps and puts allowed until the next refresh; fewer if the number does not fit.
  std::uint16_t room_ = 0;     // puts
  std::uint16_t visible_ = 0;  // messages to move past
  std::uint32_t mask_;
  std::int32_t most_unread_;  // with fewer, a put has a slot; negative while the inlet is held, so that a put takes the slow path
  Number last_;     // newest message
  Number current_;  // message last stepped to
};

}  // namespace uit
