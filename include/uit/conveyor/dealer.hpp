#pragma once

#include <algorithm>
#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>

#include <uit/support/bytes.hpp>

namespace uit {

/// A function for a conveyor's items: f(item), or f(rank of the member that has pushed it, item).
template <typename F, typename T>
concept ItemHandler = std::invocable<F&, const T&> || std::invocable<F&, std::size_t, const T&>;

namespace detail {

/// Passes items to a handler.
template <typename T, typename Outlet>
class Dealer {
 public:
  Dealer() = default;
  Dealer(const Dealer&) = delete;
  Dealer& operator=(const Dealer&) = delete;
  virtual ~Dealer() = default;
  /// Handles up to `limit` items of an outlet. Counts those of which the handler has returned. Returns whether there were any.
  virtual bool Deal(std::size_t from, Outlet& outlet, std::size_t limit, std::uint64_t& num_handled) = 0;
  /// Handles one item.
  virtual void Handle(std::size_t from, const T& item) = 0;
};

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

/// Passes items to a handler of the type `F`.
template <TriviallyCopyable T, typename Outlet, ItemHandler<T> F>
class DealerTo final : public Dealer<T, Outlet> {
 public:
  explicit DealerTo(F handler) : handler_(std::move(handler)) {}

  bool Deal(std::size_t from, Outlet& outlet, std::size_t limit, std::uint64_t& num_handled) override {
    constexpr std::size_t largest_gathered = 32;  // bytes of an item; larger ones are handled where they are
    const HandledCounter counter{num_handled};
    bool has_any = false;
    if constexpr (sizeof(T) <= largest_gathered) {
      // What a handler accesses is rarely in the cache. The processor fetches for many items at once if the accesses follow closely.
      std::array<T, 256> some;
      std::size_t count = some.size();
      for (std::size_t num_left = limit; num_left > 0 && count == some.size(); num_left -= count) {
        const std::size_t most = std::min(num_left, some.size());
        count = outlet.TakeSome(std::span(some).first(most));
        for (std::size_t i = 0; i < count; ++i, ++counter.count) HandleOne(from, some[i]);
        has_any |= count != 0;
      }
    } else {
      for (std::size_t count = 0; count < limit && outlet.TryStep() != 0; ++count, ++counter.count) {
        HandleOne(from, outlet.Get());
        has_any = true;
      }
    }
    return has_any;
  }
  void Handle(std::size_t from, const T& item) override { HandleOne(from, item); }

 private:
  void HandleOne([[maybe_unused]] std::size_t from, const T& item) {
    if constexpr (std::invocable<F&, std::size_t, const T&>) handler_(from, item);
    else handler_(item);
  }

  F handler_;
};

}  // namespace detail
}  // namespace uit
