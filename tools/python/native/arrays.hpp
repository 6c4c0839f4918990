#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <type_traits>

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

/// Arrays that Python gets.
namespace netuit::python {

/// Returns an array of Python's that shows memory which `owner` keeps alive.
template <typename T>
nanobind::object View(std::span<T> values, nanobind::handle owner) {
  using Plain = std::remove_const_t<T>;
  if constexpr (std::is_const_v<T>) {
    return nanobind::cast(nanobind::ndarray<nanobind::numpy, const Plain, nanobind::ndim<1>>(values.data(), {values.size()}, owner));
  } else {
    return nanobind::cast(nanobind::ndarray<nanobind::numpy, Plain, nanobind::ndim<1>>(values.data(), {values.size()}, owner));
  }
}

/// A new array, to be filled and then given to Python.
template <typename T>
class NewArray {
 public:
  /// With room for so many values.
  explicit NewArray(std::size_t size) : values_(std::make_unique_for_overwrite<T[]>(size)), size_(size) {}

  /// The values.
  std::span<T> Values() { return {values_.get(), size_}; }
  /// Gives the array to Python.
  nanobind::object Release() {
    T* const values = values_.release();
    const nanobind::capsule owner(values, [](void* memory) noexcept { delete[] static_cast<T*>(memory); });
    return View(std::span<T>(values, size_), owner);
  }

 private:
  std::unique_ptr<T[]> values_;
  std::size_t size_;
};

}  // namespace netuit::python
