#pragma once

#include <atomic>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <tuple>
#include <type_traits>
#include <utility>

#include <uit/config.hpp>
#include <uit/support/assert.hpp>
#include <uit/support/sync.hpp>

namespace uit {

/// The base of objects shared by several ends. It holds the reference count.
///
/// An object made by MakeRef is deleted with its last reference. An object in other memory (an arena, the stack) holds a
/// reference to itself by `Retain` and is never deleted. At most 65535 references may exist at once: few ends share a
/// duct, and a duct must be small.
template <Synchronization Sync>
class alignas(8) BasicRefCounted {
 public:
  BasicRefCounted(const BasicRefCounted&) = delete;
  BasicRefCounted& operator=(const BasicRefCounted&) = delete;

  /// Adds a reference. Any thread.
  void Retain() const {
    [[maybe_unused]] const Count before = count_.fetch_add(1, std::memory_order_relaxed);
    UIT_ASSERT(before < std::numeric_limits<Count>::max(), "at most 65535 references");
  }

  /// Removes a reference. True if it was the last. Any thread.
  [[nodiscard]] bool Release() const noexcept {
    // Releases each last use; acquires them before the deletion that follows the last one.
    return count_.fetch_add(static_cast<Count>(-1), std::memory_order_acq_rel) == 1;
  }

  /// Whether the caller's reference is the last. Then what was done through the others has taken effect.
  [[nodiscard]] bool IsLastReference() const noexcept { return count_.load(std::memory_order_acquire) == 1; }

 protected:
  BasicRefCounted() noexcept = default;
  ~BasicRefCounted() = default;

 private:
  using Count = std::uint16_t;
  mutable typename Sync::template Atomic<Count> count_{0};
};

/// The base of shared objects.
using RefCounted = BasicRefCounted<Spsc>;

/// The base of a duct synchronized by `Sync`. Even if one thread uses the duct, two threads may destroy its ends.
template <Synchronization Sync>
using RefCountedBy = std::conditional_t<Sync::concurrent, BasicRefCounted<Sync>, RefCounted>;

/// A shared, counted reference to a `D` that derives from RefCounted: one pointer wide.
template <typename D>
class Ref {
 public:
  constexpr Ref() noexcept = default;
  /// Adds a reference to `*target`, which may be null.
  explicit Ref(D* target) : target_{target} {
    if (target_ != nullptr) target_->Retain();
  }
  /// Adds a reference.
  Ref(const Ref& other) : Ref{other.target_} {}
  /// Takes the reference over; `other` is then null.
  Ref(Ref&& other) noexcept : target_{std::exchange(other.target_, nullptr)} {}
  /// Replaces its own reference by the other.
  Ref& operator=(Ref other) noexcept {
    std::swap(target_, other.target_);
    return *this;
  }
  ~Ref() {
    if (target_ != nullptr && target_->Release()) delete target_;
  }

  /// The target, which is not null.
  [[nodiscard]] D& operator*() const { return *target_; }
  /// The target, which is not null.
  [[nodiscard]] D* operator->() const { return target_; }
  /// The target, or null.
  [[nodiscard]] D* get() const noexcept { return target_; }
  /// True if the reference has a target.
  [[nodiscard]] explicit operator bool() const noexcept { return target_ != nullptr; }
  /// True if both have the same target.
  friend bool operator==(const Ref&, const Ref&) = default;
  /// True if the reference has no target.
  friend bool operator==(const Ref& ref, std::nullptr_t) { return ref.target_ == nullptr; }

  /// Gives the target away without counting. The caller must pass it to Adopt.
  [[nodiscard]] D* Detach() noexcept { return std::exchange(target_, nullptr); }

  /// Takes over a target that Detach returned.
  [[nodiscard]] static Ref Adopt(D* target) noexcept {
    Ref ref;
    ref.target_ = target;
    return ref;
  }

 private:
  D* target_ = nullptr;
};

/// A reference to one of a closed set of types, one pointer wide. The pointer's low bits say which type. A single member
/// needs no bits and costs the same as a Ref.
///
/// An empty AnyRef counts as a null reference to the first member.
template <typename... D>
class AnyRef {
  static_assert(sizeof...(D) >= 1 && sizeof...(D) <= 8, "between one and eight types");

 public:
  /// The number of types that it may refer to.
  static constexpr std::size_t num_members = sizeof...(D);

  constexpr AnyRef() noexcept = default;

  /// Takes over `ref`.
  template <typename Member>
    requires(std::same_as<Member, D> || ...)
  AnyRef(Ref<Member> ref) noexcept  // NOLINT: implicit by intent
      : word_{reinterpret_cast<std::uintptr_t>(ref.Detach()) | IndexOf<Member>()} {
    static_assert(num_members == 1 || alignof(Member) >= 8, "the low bits are taken");
  }

  /// Takes the reference over; `other` is then empty.
  AnyRef(AnyRef&& other) noexcept : word_{std::exchange(other.word_, 0)} {}
  /// Replaces its own reference by the other.
  AnyRef& operator=(AnyRef&& other) noexcept {
    AnyRef old{std::move(other)};
    std::swap(word_, old.word_);
    return *this;
  }
  ~AnyRef() {
    if (word_ != 0) Drop();
  }

  /// The index of the member that it refers to.
  [[nodiscard]] UIT_INLINE std::size_t Index() const noexcept {
    if constexpr (num_members == 1) return 0;
    return word_ & mask;
  }

  /// Calls `f(pointer)` with the member's own type. The pointer is null only if this AnyRef is empty. The first member is
  /// tried last, because it is the one that does nothing.
  template <typename F>
  UIT_INLINE decltype(auto) Visit(F&& f) const {
    return VisitFrom<1 % num_members>(std::forward<F>(f));
  }

 private:
  static constexpr std::uintptr_t mask = num_members == 1 ? 0 : num_members <= 4 ? 3 : 7;

  template <typename Member>
  static consteval std::uintptr_t IndexOf() {
    std::uintptr_t index = 0;
    bool found = false;
    ((found = found || std::same_as<Member, D>, index += found ? 0 : 1), ...);
    return index;
  }

  template <std::size_t index>
  UIT_INLINE auto* As() const noexcept {
    using Chosen = std::tuple_element_t<index, std::tuple<D...>>;
    return reinterpret_cast<Chosen*>(word_ - index);
  }

  template <std::size_t index, typename F>
  UIT_INLINE decltype(auto) VisitFrom(F&& f) const {
    if constexpr (index == 0)
      return f(As<0>());
    else if (((word_ - index) & mask) == 0) [[likely]]
      return f(As<index>());
    else
      return VisitFrom<(index + 1) % num_members>(std::forward<F>(f));
  }

  void Drop() {
    Visit([]<typename Member>(Member* target) { const auto last = Ref<Member>::Adopt(target); });
  }

  std::uintptr_t word_ = 0;
};

/// Makes a new `D` and the first reference to it; by `D::Open`, if it exists.
template <typename D, typename... Args>
[[nodiscard]] Ref<D> MakeRef(Args&&... args) {
  if constexpr (requires { D::Open(std::forward<Args>(args)...); })
    return D::Open(std::forward<Args>(args)...);
  else
    return Ref<D>{new D(std::forward<Args>(args)...)};
}

}  // namespace uit
