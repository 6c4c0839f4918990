#pragma once

#include <array>
#include <bit>
#include <complex>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <string>
#include <type_traits>

#include <uit/config.hpp>

namespace netuit {

/// How numpy describes a value.
struct NumpyType {
  std::string name{};     ///< its `dtype` in an .npy file, such as "<f8"
  std::string extents{};  ///< of a value that is an array, such as ", 3"; else empty
};

namespace detail {

template <typename T>
inline constexpr bool is_array = false;
template <typename T, std::size_t size>
inline constexpr bool is_array<std::array<T, size>> = true;

template <typename T>
consteval char NumpyKind() {
  if constexpr (std::same_as<T, bool>) return 'b';
  else if constexpr (std::same_as<T, float> || std::same_as<T, double>) return 'f';
  else if constexpr (std::same_as<T, std::complex<float>> || std::same_as<T, std::complex<double>>) return 'c';
  else if constexpr (std::unsigned_integral<T>) return 'u';
  else if constexpr (std::integral<T>) return 'i';
  else return 'V';
}

}  // namespace detail

/// Returns numpy's description of a number, a truth, or a std::array of such. Any other type is bytes to numpy.
template <typename T>
NumpyType NumpyTypeOf() {
  if constexpr (std::is_enum_v<T>) {
    return NumpyTypeOf<std::underlying_type_t<T>>();
  } else if constexpr (detail::is_array<T>) {
    NumpyType type = NumpyTypeOf<typename T::value_type>();
    type.extents.insert(0, ", " + std::to_string(std::tuple_size_v<T>));
    return type;
  } else {
    constexpr char kind = detail::NumpyKind<T>();
    constexpr bool has_order = sizeof(T) > 1 && kind != 'V';
    const char order = !has_order ? '|' : std::endian::native == std::endian::little ? '<' : '>';
    return {.name = std::string{order} + kind + std::to_string(sizeof(T))};
  }
}

/// Returns what comes before the values in an .npy file of `count` values (format 1.0 of numpy.lib.format).
std::string NumpyHeader(const NumpyType& type, std::uint64_t count);

}  // namespace netuit

#if !UIT_COMPILED
#include <netuit/file/numpy_format.ipp>
#endif
