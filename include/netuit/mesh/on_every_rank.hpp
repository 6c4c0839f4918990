#pragma once

#include <concepts>
#include <cstddef>
#include <exception>
#include <type_traits>
#include <utility>

#include <uit/link/world.hpp>
#include <uit/support/error.hpp>

namespace netuit {

/// Calls `f()` on every process and returns its result. Collective. If `f` throws anywhere, every process throws: the lowest rank
/// that failed the same exception, all others uit::FailedElsewhere, because one report is enough.
template <std::invocable F>
  requires std::default_initializable<std::invoke_result_t<F>>
std::invoke_result_t<F> OnEveryRank(const uit::World& world, F&& f) {
  std::invoke_result_t<F> result{};
  std::exception_ptr failure;
  try {
    result = std::forward<F>(f)();
  } catch (...) {
    failure = std::current_exception();
  }
  struct Verdict {
    bool has_failed = false;
    uit::ErrorKind kind{};
  };
  const Verdict mine{.has_failed = failure != nullptr, .kind = failure ? uit::KindOf(failure) : uit::ErrorKind{}};
  std::size_t rank = 0;
  for (const Verdict verdict : world.AllGatherValue(mine)) {
    if (verdict.has_failed && rank == world.Rank()) std::rethrow_exception(failure);
    if (verdict.has_failed) throw uit::FailedElsewhere(rank, verdict.kind);
    ++rank;
  }
  return result;
}

}  // namespace netuit
