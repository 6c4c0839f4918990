#pragma once

#include <concepts>
#include <cstdint>

#include <uit/support/pause.hpp>

namespace bench {

/// The ends of one of two members, one each way. No function waits.
template <typename S>
concept Side = requires(S& side, std::uint32_t number, std::uint64_t& sum) {
  { side.TrySend(number) } -> std::same_as<bool>;  // a message marked with the number
  { side.TryTake(sum) } -> std::same_as<bool>;     // adds the result of Check for the message
  { side.TryFlush() } -> std::same_as<bool>;       // true: the sent messages no longer need this side
};

/// Calls `step` until it is true.
template <std::predicate Step>
void Persist(Step&& step) {
  while (!step()) uit::Pause();
}

}  // namespace bench
