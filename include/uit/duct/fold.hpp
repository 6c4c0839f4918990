#pragma once

#include <concepts>
#include <type_traits>

#include <uit/config.hpp>
#include <uit/duct/duct.hpp>

namespace uit {

namespace detail {

/// A type whose TryFold detects overflow itself.
template <typename T>
concept FoldsItself = requires(T& into, const T& from) {
  { into.TryFold(from) } -> std::same_as<bool>;
};
template <typename T>
concept WholeNumber = std::integral<T> && !std::same_as<T, bool>;
template <typename T>
concept AddsTo = !std::is_arithmetic_v<T> && requires(T& into, const T& from) { into += from; };

}  // namespace detail

/// A message that can be added to another, so that one message stands for both. `T{}` must be the empty sum, and the order
/// of addition should not matter.
///
/// Allowed are: integers except bool; any type with a member `TryFold(other) -> bool`, which adds `other`, or changes
/// nothing and returns false if the sum would overflow; any other type with `+=`, which must not overflow; floating-point
/// numbers. These are added in order of arrival. Nothing is lost, but the order, and so the last bits of a sum, may differ
/// between runs.
template <typename T>
concept Foldable = Message<T> && std::copyable<T> &&
                   (detail::FoldsItself<T> || detail::WholeNumber<T> || std::floating_point<T> || detail::AddsTo<T>);

/// Gives a readable compile error for a type that cannot be sent under Retain::accumulate.
template <typename T>
struct RequireFoldable {
  static_assert(Foldable<T>,
                "Retain::accumulate needs a message that can be added: a number, or a type with += or TryFold");
  static constexpr bool value = Foldable<T>;  ///< avoids further compile errors
};

/// Adds `from` to `into`. If the sum would overflow, changes nothing and returns false.
template <Foldable T>
UIT_INLINE constexpr bool TryFold(T& into, const T& from) {
  if constexpr (detail::FoldsItself<T>) {
    return into.TryFold(from);
  } else if constexpr (detail::WholeNumber<T>) {
    T sum{};
    if (__builtin_add_overflow(into, from, &sum)) return false;
    into = sum;
    return true;
  } else {
    into += from;
    return true;
  }
}

static_assert(Foldable<int> && Foldable<unsigned char> && Foldable<double> && !Foldable<bool>);

}  // namespace uit
