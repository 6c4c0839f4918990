#pragma once

#include <cstddef>
#include <type_traits>
#include <utility>

namespace uit {

/// The fields of an aggregate with more fields are not visited.
inline constexpr std::size_t max_fields = 16;

namespace detail {

/// Types that convert to the types in their names. The conversions are declared but never defined.
struct Anything {
  template <typename Field>
  operator Field() const;
};
struct AnyUnion {
  template <typename Field>
    requires std::is_union_v<Field>
  operator Field() const;
};
template <typename T>
struct AnyBaseOf {
  template <typename Base>
    requires(std::is_base_of_v<Base, T> && !std::is_same_v<Base, T>)
  operator Base() const;
};
struct Nothing {};  // accepted only by a constructor that takes any type

/// True if T can be initialised by `num_braces` times {}, then one value of each type in `Last`. Each {} is for one field;
/// an array is one field.
template <typename T, std::size_t num_braces, typename... Last>
constexpr bool TakesFields() {
  constexpr std::size_t n = num_braces;
  // clang-format off
  if constexpr (n == 0) return requires { T{std::declval<Last>()...}; };
  else if constexpr (n == 1) return requires { T{{}, std::declval<Last>()...}; };
  else if constexpr (n == 2) return requires { T{{}, {}, std::declval<Last>()...}; };
  else if constexpr (n == 3) return requires { T{{}, {}, {}, std::declval<Last>()...}; };
  else if constexpr (n == 4) return requires { T{{}, {}, {}, {}, std::declval<Last>()...}; };
  else if constexpr (n == 5) return requires { T{{}, {}, {}, {}, {}, std::declval<Last>()...}; };
  else if constexpr (n == 6) return requires { T{{}, {}, {}, {}, {}, {}, std::declval<Last>()...}; };
  else if constexpr (n == 7) return requires { T{{}, {}, {}, {}, {}, {}, {}, std::declval<Last>()...}; };
  else if constexpr (n == 8) return requires { T{{}, {}, {}, {}, {}, {}, {}, {}, std::declval<Last>()...}; };
  else if constexpr (n == 9) return requires { T{{}, {}, {}, {}, {}, {}, {}, {}, {}, std::declval<Last>()...}; };
  else if constexpr (n == 10) return requires { T{{}, {}, {}, {}, {}, {}, {}, {}, {}, {}, std::declval<Last>()...}; };
  else if constexpr (n == 11) return requires { T{{}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, std::declval<Last>()...}; };
  else if constexpr (n == 12) return requires { T{{}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, std::declval<Last>()...}; };
  else if constexpr (n == 13) return requires { T{{}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, std::declval<Last>()...}; };
  else if constexpr (n == 14) return requires { T{{}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, std::declval<Last>()...}; };
  else if constexpr (n == 15) return requires { T{{}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, std::declval<Last>()...}; };
  else if constexpr (n == 16) return requires { T{{}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, std::declval<Last>()...}; };
  else return false;
  // clang-format on
}

/// The number of {} that the aggregate takes.
template <typename T, std::size_t num_known = 0>
constexpr std::size_t CountFields() {
  if constexpr (num_known < max_fields && TakesFields<T, num_known + 1>()) return CountFields<T, num_known + 1>();
  else return num_known;
}

template <typename T, std::size_t... indices>
constexpr bool HasUnion(std::index_sequence<indices...>) {
  return (TakesFields<T, indices, AnyUnion>() || ...);
}

/// True if the aggregate's fields can be counted and bound. Needed beforehand: a structured binding that does not fit is a
/// compile error, not `false`.
template <typename T>
constexpr bool CanVisitFields() {
  if constexpr (!std::is_class_v<T> || !std::is_aggregate_v<T> || requires { std::tuple_size<T>::value; }) {
    return false;
  } else if constexpr (!TakesFields<T, 0>() || TakesFields<T, 0, AnyBaseOf<T>>()) {
    return false;
  } else {
    constexpr std::size_t count = CountFields<T>();
    // One more field, which {} cannot initialise.
    if constexpr (TakesFields<T, count, Anything>() || TakesFields<T, count, Nothing>()) return false;
    else return !HasUnion<T>(std::make_index_sequence<count>{});
  }
}

}  // namespace detail

/// An aggregate whose fields VisitFields can visit. TypeHash lists the exceptions.
template <typename T>
concept HasKnownFields = detail::CanVisitFields<T>();

/// The number of fields of an aggregate.
template <HasKnownFields T>
inline constexpr std::size_t num_fields = detail::CountFields<T>();

/// Calls `visit` with each field of an aggregate, in order, as a const reference. A bit-field is passed as a copy.
template <HasKnownFields T, typename Visit>
constexpr void VisitFields(const T& fields, Visit&& visit) {
  const auto each = [&visit](const auto&... field) { (visit(field), ...); };
  constexpr std::size_t n = num_fields<T>;
  // clang-format off
  if constexpr (n == 1) { const auto& [a] = fields; each(a); }
  else if constexpr (n == 2) { const auto& [a, b] = fields; each(a, b); }
  else if constexpr (n == 3) { const auto& [a, b, c] = fields; each(a, b, c); }
  else if constexpr (n == 4) { const auto& [a, b, c, d] = fields; each(a, b, c, d); }
  else if constexpr (n == 5) { const auto& [a, b, c, d, e] = fields; each(a, b, c, d, e); }
  else if constexpr (n == 6) { const auto& [a, b, c, d, e, f] = fields; each(a, b, c, d, e, f); }
  else if constexpr (n == 7) { const auto& [a, b, c, d, e, f, g] = fields; each(a, b, c, d, e, f, g); }
  else if constexpr (n == 8) { const auto& [a, b, c, d, e, f, g, h] = fields; each(a, b, c, d, e, f, g, h); }
  else if constexpr (n == 9) { const auto& [a, b, c, d, e, f, g, h, i] = fields; each(a, b, c, d, e, f, g, h, i); }
  else if constexpr (n == 10) { const auto& [a, b, c, d, e, f, g, h, i, j] = fields; each(a, b, c, d, e, f, g, h, i, j); }
  else if constexpr (n == 11) { const auto& [a, b, c, d, e, f, g, h, i, j, k] = fields; each(a, b, c, d, e, f, g, h, i, j, k); }
  else if constexpr (n == 12) { const auto& [a, b, c, d, e, f, g, h, i, j, k, l] = fields; each(a, b, c, d, e, f, g, h, i, j, k, l); }
  else if constexpr (n == 13) { const auto& [a, b, c, d, e, f, g, h, i, j, k, l, m] = fields; each(a, b, c, d, e, f, g, h, i, j, k, l, m); }
  else if constexpr (n == 14) { const auto& [a, b, c, d, e, f, g, h, i, j, k, l, m, o] = fields; each(a, b, c, d, e, f, g, h, i, j, k, l, m, o); }
  else if constexpr (n == 15) { const auto& [a, b, c, d, e, f, g, h, i, j, k, l, m, o, p] = fields; each(a, b, c, d, e, f, g, h, i, j, k, l, m, o, p); }
  else if constexpr (n == 16) { const auto& [a, b, c, d, e, f, g, h, i, j, k, l, m, o, p, q] = fields; each(a, b, c, d, e, f, g, h, i, j, k, l, m, o, p, q); }
  // clang-format on
}

}  // namespace uit
