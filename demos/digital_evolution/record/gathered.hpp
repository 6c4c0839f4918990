#pragma once

#include <cstddef>
#include <cstring>
#include <span>
#include <type_traits>
#include <uit/link/world.hpp>
#include <vector>

namespace digital_evolution {

/// Collective. Brings every process's values to rank 0, in order of rank; none elsewhere.
template <typename T>
  requires std::is_trivially_copyable_v<T>
std::vector<T> Gathered(const uit::World& world, std::span<const T> mine) {
  const auto bytes = std::as_bytes(mine);
  std::vector<T> all;
  for (const uit::Bytes& part : world.Gather(bytes)) {
    const std::size_t at = all.size();
    all.resize(at + part.size() / sizeof(T));
    if (!part.empty()) std::memcpy(static_cast<void*>(all.data() + at), part.data(), part.size());
  }
  return all;
}

/// Collective. The sum over all processes on rank 0; zero elsewhere.
template <typename T>
  requires std::is_trivially_copyable_v<T>
T SumOnRoot(const uit::World& world, const T& mine) {
  T sum{};
  for (const T& theirs : Gathered(world, std::span<const T>(&mine, 1))) sum += theirs;
  return sum;
}

}  // namespace digital_evolution
