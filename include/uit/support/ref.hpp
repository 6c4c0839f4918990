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

/// Base of what several ends share: the count of its references sits in it.
///
/// An object made by MakeRef is deleted with its last reference. One that lives elsewhere (an
/// arena, the stack) holds a reference to itself by `Retain` and is never deleted. There may be up to
/// 65535 references at once: few ends share a duct, and a duct has to be small.
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

  /// Takes a reference away; true if it was the last. Any thread.
  [[nodiscard]] bool Release() const noexcept {
    // A release of each last use, and an acquire before the deletion that follows the last one.
    return count_.fetch_add(static_cast<Count>(-1), std::memory_order_acq_rel) == 1;
  }

 protected:
  BasicRefCounted() noexcept = default;
  ~BasicRefCounted() = default;

 private:
  using Count = std::uint16_t;
  mutable typename Sync::template Atomic<Count> count_{0};
};

/// The base of whatever is shared.
using RefCounted = BasicRefCounted<Spsc>;

/// The base of a duct that is synchronized by `Sync`. Its ends may be in two threads at the end even if it is used in one.
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
  /// Takes the reference over; `other` is null then.
  Ref(Ref&& other) noexcept : target_{std::exchange(other.target_, nullptr)} {}
  /// Drops its own reference for another.
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
  /// There is a target.
  [[nodiscard]] explicit operator bool() const noexcept { return target_ != nullptr; }
  /// They have one target.
  friend bool operator==(const Ref&, const Ref&) = default;
  /// There is no target.
  friend bool operator==(const Ref& ref, std::nullptr_t) { return ref.target_ == nullptr; }

  /// Gives the target away without counting: who adopts it owes a Release.
  [[nodiscard]] D* Detach() noexcept { return std::exchange(target_, nullptr); }

  /// Takes over a target from Detach.
  [[nodiscard]] static Ref Adopt(D* target) noexcept {
    Ref ref;
    ref.target_ = target;
    return ref;
  }

 private:
  D* target_ = nullptr;
};

/// A reference to one of a closed set of types, still one pointer wide: which of them it is stands
/// in the pointer's low bits. A lone member needs no bits, and costs what a Ref does.
///
/// The first member is the one that an empty AnyRef refers to, at no address.
template <typename... D>
class AnyRef {
  static_assert(sizeof...(D) >= 1 && sizeof...(D) <= 8, "between one and eight types");

 public:
  /// How many types it may refer to.
  static constexpr std::size_t num_members = sizeof...(D);

  constexpr AnyRef() noexcept = default;

  /// Takes over `ref`.
  template <typename Member>
    requires(std::same_as<Member, D> || ...)
  AnyRef(Ref<Member> ref) noexcept  // NOLINT: it is one of these
      : word_{reinterpret_cast<std::uintptr_t>(ref.Detach()) | IndexOf<Member>()} {
    static_assert(num_members == 1 || alignof(Member) >= 8, "the low bits are taken");
  }

  /// Takes the reference over; `other` is empty then.
  AnyRef(AnyRef&& other) noexcept : word_{std::exchange(other.word_, 0)} {}
  /// Drops its own reference and takes the other over.
  AnyRef& operator=(AnyRef&& other) noexcept {
    AnyRef old{std::move(other)};
    std::swap(word_, old.word_);
    return *this;
  }
  ~AnyRef() {
    if (word_ != 0) Drop();
  }

  /// Which member it refers to.
  [[nodiscard]] UIT_INLINE std::size_t Index() const noexcept {
    if constexpr (num_members == 1) return 0;
    return word_ & mask;
  }

  /// `f(pointer)` with the member's own type; the pointer is null only if this is empty. The first
  /// member is tried last, because it is the one that does nothing.
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
    using Member = std::tuple_element_t<index, std::tuple<D...>>;
    return reinterpret_cast<Member*>(word_ - index);
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

/// A new `D` and the first reference to it; made by `D::Open`, if it has one.
template <typename D, typename... Args>
[[nodiscard]] Ref<D> MakeRef(Args&&... args) {
  if constexpr (requires { D::Open(std::forward<Args>(args)...); })
    return D::Open(std::forward<Args>(args)...);
  else
    return Ref<D>{new D(std::forward<Args>(args)...)};
}

}  // namespace uit
