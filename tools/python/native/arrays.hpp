#pragma once

#include <algorithm>
#include <cstddef>
#include <memory>
#include <new>
#include <span>
#include <type_traits>
#include <vector>

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

/// Large buffers that Python has given back, to be used again: fresh pages cost more than what is computed in them. Use it with
/// Python's lock held.
class SpareBuffers {
 public:
  /// Returns the buffers of this process.
  static SpareBuffers& Get() {
    static SpareBuffers* const buffers = new SpareBuffers;  // arrays may outlive static objects
    return *buffers;
  }

  /// Returns a buffer of so many bytes, aligned for any type.
  std::byte* Take(std::size_t num_bytes) {
    const auto found = std::ranges::find(spare_, num_bytes, &Spare::num_bytes);
    if (found == spare_.end()) return static_cast<std::byte*>(::operator new(num_bytes));
    std::byte* const memory = found->memory;
    spare_.erase(found);
    return memory;
  }
  /// Keeps a buffer that Take has returned, or frees it.
  void Give(std::byte* memory, std::size_t num_bytes) noexcept {
    if (num_bytes < least) {
      ::operator delete(memory);
      return;
    }
    if (spare_.size() == most) {  // the oldest may be of a size that nobody needs any more
      ::operator delete(spare_.front().memory);
      spare_.erase(spare_.begin());
    }
    spare_.push_back({memory, num_bytes});
  }
  /// Frees all.
  void Clear() noexcept {
    for (const Spare& spare : spare_) ::operator delete(spare.memory);
    spare_.clear();
  }

 private:
  static constexpr std::size_t least = std::size_t{64} << 10U;  // bytes; the allocator keeps smaller ones
  static constexpr std::size_t most = 4;

  struct Spare {
    std::byte* memory;
    std::size_t num_bytes;
  };
  SpareBuffers() { spare_.reserve(most); }

  std::vector<Spare> spare_;
};

/// A new array, to be filled and then given to Python. Made and destroyed with Python's lock held.
template <typename T>
class NewArray {
 public:
  /// With room for so many values.
  explicit NewArray(std::size_t size) : memory_(new Memory{SpareBuffers::Get().Take(size * sizeof(T)), size * sizeof(T)}), size_(size) {}

  /// The values.
  std::span<T> Values() { return {reinterpret_cast<T*>(memory_->bytes), size_}; }
  /// Gives the array to Python.
  nanobind::object Release() {
    const std::span<T> values = Values();
    const nanobind::capsule owner(memory_.release(), [](void* memory) noexcept { delete static_cast<Memory*>(memory); });
    return View(values, owner);
  }

 private:
  struct Memory {
    std::byte* bytes;
    std::size_t num_bytes;
    Memory(std::byte* of, std::size_t count) : bytes(of), num_bytes(count) {}
    Memory(const Memory&) = delete;
    Memory& operator=(const Memory&) = delete;
    ~Memory() { SpareBuffers::Get().Give(bytes, num_bytes); }
  };

  std::unique_ptr<Memory> memory_;
  std::size_t size_;
};

}  // namespace netuit::python
