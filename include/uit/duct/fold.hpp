#pragma once

#include <concepts>
#include <type_traits>

#include <uit/config.hpp>
#include <uit/duct/duct.hpp>

namespace uit {

namespace detail {

/// Knows by itself when a sum is too large.
template <typename T>
concept FoldsItself = requires(T& into, const T& from) {
  { into.TryFold(from) } -> std::same_as<bool>;
};
template <typename T>
concept WholeNumber = std::integral<T> && !std::same_as<T, bool>;
template <typename T>
concept AddsTo = !std::is_arithmetic_v<T> && requires(T& into, const T& from) { into += from; };

}  // namespace detail

/// A message that can be added to another, so that one stands for both. `T{}` is the sum of nothing, and the order of
/// adding should not matter.
///
/// Integers but bool; any type with a member `TryFold(other) -> bool` that adds `other`, or, if the sum would overflow,
/// changes nothing and returns false; any other type with `+=`, which must not overflow. Floating-point numbers are added
/// as they arrive: nothing is lost, but the last bits of a sum depend on the order of adding, which nobody knows.
template <typename T>
concept Foldable = Message<T> && std::copyable<T> &&
                   (detail::FoldsItself<T> || detail::WholeNumber<T> || std::floating_point<T> || detail::AddsTo<T>);

/// Refuses in words what cannot be sent under Retain::accumulate.
template <typename T>
struct RequireFoldable {
  static_assert(Foldable<T>,
                "Retain::accumulate wants a message that can be added: a number, or a type with += or TryFold");
  static constexpr bool value = Foldable<T>;  ///< so that nothing else is complained of
};

/// Adds `from` to `into`. False, with nothing changed, if the sum would overflow.
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
