#pragma once

#include <algorithm>
#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <string_view>
#include <type_traits>

#include <uit/support/type_fields.hpp>

namespace uit {

/// The version of a message type, a part of its TypeHash: a static member of the type, or else 0.
///
///     struct Position {
///       static constexpr std::uint32_t message_version = 2;  // 2: metres; it was feet
///       float x, y;
///     };
///
/// Increase it for a change that TypeHash cannot see. For a type that is not your own, specialise it:
///
///     template <>
///     inline constexpr std::uint64_t uit::message_version<other::Position> = 2;
template <typename T>
inline constexpr std::uint64_t message_version = [] {
  if constexpr (requires { { T::message_version } -> std::convertible_to<std::uint64_t>; })
    return std::uint64_t{T::message_version};
  else
    return std::uint64_t{0};
}();

namespace detail {

/// The FNV-1a hash of bytes and numbers.
class TypeHasher {
 public:
  void Add(std::string_view text) {
    for (const char c : text) AddByte(static_cast<unsigned char>(c));
    AddByte(0);
  }
  void Add(std::uint64_t number) {
    for (int shift = 0; shift < 64; shift += 8) AddByte(static_cast<unsigned char>(number >> shift));
  }
  std::uint64_t Value() const { return value_; }

 private:
  void AddByte(unsigned char byte) { value_ = (value_ ^ byte) * 1099511628211U; }

  std::uint64_t value_ = 14695981039346656037U;
};

template <typename T>
constexpr std::string_view SpeltName() {
  return __PRETTY_FUNCTION__;
}

template <typename T>
inline constexpr bool is_std_array = false;
template <typename T, std::size_t size>
inline constexpr bool is_std_array<std::array<T, size>> = true;

}  // namespace detail

/// A hash of a type. Programs built by the same compiler from the same source agree on it. If the type has changed between two
/// programs, their hashes differ, with the exceptions below. Two compilers may give different hashes for the same type.
///
/// It covers the type's name, size, alignment and message_version. For an aggregate of at most uit::max_fields fields it
/// also covers the number of fields and, for each field, its offset and its type's hash, recursively. For an array it
/// covers the hash of the element type, and for an enumeration that of the underlying type.
///
/// It does not cover:
/// - the names and meaning of fields, so two fields of the same type may swap places unnoticed;
/// - private members, base classes, and the contents of any class that is not an aggregate, such as the elements of a
///   std::vector;
/// - fields of an aggregate that has a base class, a union or a reference in it, that supports std::tuple_size, or that
///   has a field which {} cannot initialise;
/// - the position of a bit-field in its word, enumerators, and the code that encodes the type.
///
/// There it covers only the name, size, alignment and version of the enclosing class.
template <typename T>
std::uint64_t TypeHash() {
  detail::TypeHasher hasher;
  hasher.Add(detail::SpeltName<T>());
  hasher.Add(sizeof(T));
  hasher.Add(alignof(T));
  hasher.Add(message_version<T>);
  if constexpr (std::is_enum_v<T>) {
    hasher.Add(TypeHash<std::underlying_type_t<T>>());
  } else if constexpr (std::is_array_v<T>) {
    hasher.Add(TypeHash<std::remove_extent_t<T>>());
  } else if constexpr (detail::is_std_array<T>) {
    hasher.Add(TypeHash<typename T::value_type>());
  } else if constexpr (HasKnownFields<T>) {
    hasher.Add(num_fields<T>);
    // Memory for a T, which is not constructed. It is constant, so threads may share it. It may be too large for the stack.
    alignas(T) static constexpr std::array<std::byte, sizeof(T)> storage{};
    const T& fields = *std::launder(reinterpret_cast<const T*>(storage.data()));
    VisitFields(fields, [&hasher]<typename Field>(const Field& field) {
      const std::uint64_t offset =
          reinterpret_cast<std::uintptr_t>(std::addressof(field)) - reinterpret_cast<std::uintptr_t>(storage.data());
      hasher.Add(std::min<std::uint64_t>(offset, sizeof(T)));  // a bit-field arrives as a copy, at another address
      hasher.Add(TypeHash<Field>());
    });
  }
  return hasher.Value();
}

}  // namespace uit
