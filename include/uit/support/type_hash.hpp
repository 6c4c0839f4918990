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
#include <utility>

#include <uit/support/type_fields.hpp>

namespace uit {

/// The version of a message type, which is part of its TypeHash: a static member of the type, else 0.
///
///     struct Position {
///       static constexpr std::uint32_t message_version = 2;  // 2: metres; it was feet
///       float x, y;
///     };
///
/// Raise it when a change is one that TypeHash cannot see. Of a type that is not your own, specialise it:
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

/// FNV-1a, over bytes and numbers.
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

/// A number for a type that programs built by one compiler from one source agree on, and that others do not: of a type that
/// has changed in between, it is another. Two compilers need not agree on any.
///
/// It is made of the type's name, size, alignment and message_version; of an aggregate of at most uit::max_fields fields also
/// of their number and, for each, of its offset and of the same things of its type, and so on inside; of an array, of its
/// elements'; of an enumeration, of its underlying type's.
///
/// It does not see: the names and the meaning of fields, so two fields of one type may change places; private members, base
/// classes, and anything inside a class that is no aggregate, such as the elements of a std::vector; fields of an aggregate
/// that has a base class, a union or a reference in it, that is taken apart by std::get, or that has a field which {} cannot
/// initialise; where in its word a bit-field is; enumerators; the code that encodes it. Of these it sees no more than the
/// name, size, alignment and version of the class that they are in.
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
    alignas(T) static std::array<std::byte, sizeof(T)> storage{};  // what would be a T, which has not been made
    T& fields = *std::launder(reinterpret_cast<T*>(storage.data()));
    VisitFields(fields, [&hasher]<typename Field>(const Field& field) {
      const std::uint64_t offset =
          reinterpret_cast<std::uintptr_t>(std::addressof(field)) - reinterpret_cast<std::uintptr_t>(storage.data());
      hasher.Add(std::min<std::uint64_t>(offset, sizeof(T)));  // a bit-field comes as a copy, from elsewhere
      hasher.Add(TypeHash<Field>());
    });
  }
  return hasher.Value();
}

}  // namespace uit
