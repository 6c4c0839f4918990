#pragma once

#include <concepts>
#include <cstddef>
#include <cstring>
#include <exception>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include <uit/link/world.hpp>
#include <uit/support/bytes.hpp>
#include <uit/support/error.hpp>

namespace netuit {

/// Calls `f()` on rank 0 and returns its result there; returns a default-constructed value elsewhere. Use it for data that one
/// process reads or makes and a mesh then distributes. Collective. If `f` throws, every process throws: rank 0 the same
/// exception, the others RootFailed, because one report is enough.
template <std::invocable F>
  requires std::default_initializable<std::invoke_result_t<F>>
auto OnRoot(const uit::World& world, F&& f);

/// Returns rank 0's values on every process; those of other ranks are ignored. Collective.
template <uit::TriviallyCopyable T>
std::vector<T> ValuesOfRoot(const uit::World& world, const std::vector<T>& values) {
  const auto bytes = std::as_bytes(std::span(values));
  const uit::Bytes from_root = world.Broadcast(uit::Bytes(bytes.begin(), bytes.end()));
  std::vector<T> all(from_root.size() / sizeof(T));
  if (!all.empty()) std::memcpy(all.data(), from_root.data(), from_root.size());
  return all;
}

/// Thrown on the other ranks if rank 0 failed. Rank 0's own exception describes the cause.
struct RootFailed : uit::FailedElsewhere {
  /// Takes the kind of error that rank 0 had.
  explicit RootFailed(uit::ErrorKind kind) : FailedElsewhere(0, kind) {}
};

template <std::invocable F>
  requires std::default_initializable<std::invoke_result_t<F>>
auto OnRoot(const uit::World& world, F&& f) {
  std::invoke_result_t<F> result{};
  std::exception_ptr failure;
  if (world.IsRoot()) {
    try {
      result = std::forward<F>(f)();
    } catch (...) {
      failure = std::current_exception();
    }
  }
  uit::Bytes verdict;
  if (failure) verdict.push_back(static_cast<std::byte>(uit::KindOf(failure)));
  verdict = world.Broadcast(std::move(verdict));
  if (failure) std::rethrow_exception(failure);
  if (!verdict.empty()) throw RootFailed(static_cast<uit::ErrorKind>(verdict[0]));
  return result;
}

}  // namespace netuit
