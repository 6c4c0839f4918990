#pragma once

#include <algorithm>
#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <utility>

#include <uit/support/bytes.hpp>

namespace uit {

/// A function for a conveyor's items: f(item), or f(rank of the member that has pushed it, item).
template <typename F, typename T>
concept ItemHandler = std::invocable<F&, const T&> || std::invocable<F&, std::size_t, const T&>;

namespace detail {

/// Handles up to `limit` items of an outlet. Counts those of which the handler has returned. Returns whether there were any.
template <typename Outlet>
using DealFunction = std::function<bool(std::size_t from, Outlet& outlet, std::size_t limit, std::uint64_t& num_handled)>;

/// Counts in a register, also if a handler throws.
struct HandledCounter {
  explicit HandledCounter(std::uint64_t& total) : total_(total) {}
  HandledCounter(const HandledCounter&) = delete;
  HandledCounter& operator=(const HandledCounter&) = delete;
  ~HandledCounter() { total_ += count; }
  mutable std::uint64_t count = 0;

 private:
  std::uint64_t& total_;
};

/// Returns a function that deals items to `handler`.
template <TriviallyCopyable T, typename Outlet, ItemHandler<T> F>
DealFunction<Outlet> Dealer(F handler) {
  constexpr std::size_t largest_gathered = 32;  // bytes of an item; larger ones are handled where they are
  return [handler = std::move(handler)](std::size_t from, Outlet& outlet, std::size_t limit, std::uint64_t& num_handled) mutable {
    const HandledCounter counter{num_handled};
    const auto handle = [&](const T& item) {
      if constexpr (std::invocable<F&, std::size_t, const T&>) handler(from, item);
      else handler(item);
      ++counter.count;
    };
    bool has_any = false;
    if constexpr (sizeof(T) <= largest_gathered) {
      // What a handler accesses is rarely in the cache. The processor fetches for many items at once if the accesses follow closely.
      std::array<T, 256> some;
      std::size_t count = some.size();
      for (std::size_t num_left = limit; num_left > 0 && count == some.size(); num_left -= count) {
        const std::size_t most = std::min(num_left, some.size());
        count = outlet.TakeSome(std::span(some).first(most));
        for (std::size_t i = 0; i < count; ++i) handle(some[i]);
        has_any |= count != 0;
      }
    } else {
      for (std::size_t count = 0; count < limit && outlet.TryStep() != 0; ++count) {
        handle(outlet.Get());
        has_any = true;
      }
    }
    return has_any;
  };
}

}  // namespace detail
}  // namespace uit
