#pragma once

#include <concepts>
#include <utility>

namespace uit {

/// A handler for items of a Conveyor that says which memory it accesses, so that the processor fetches it for later items while earlier
/// ones are handled. Is faster if that memory is mostly in no cache and the handler does more than a few operations; a short handler
/// overlaps with others by itself. Nothing is fetched for items of more than 32 bytes from other members, and for those that a relay
/// handles one by one.
///
///     uit::Conveyor<Word> requests{set, uit::Prefetching{
///         [&](const Word& word) { return &table[word]; },
///         [&](std::size_t from, const Word& word) { answers.Push(from, table[word]); }}};
template <typename Place, typename Handler>
struct Prefetching {
  /// place(item): the address of what `handler` accesses for the item. It is called before the item is handled, perhaps while earlier
  /// ones wait. Any address is allowed.
  Place place;
  /// An ItemHandler.
  Handler handler;

  /// Handles an item.
  template <typename... Args>
    requires std::invocable<Handler&, Args...>
  void operator()(Args&&... args) {
    handler(std::forward<Args>(args)...);
  }
};
/// `Prefetching{place, handler}` needs no template arguments.
template <typename Place, typename Handler>
Prefetching(Place, Handler) -> Prefetching<Place, Handler>;

namespace detail {

template <typename F>
inline constexpr bool is_prefetching = false;
template <typename Place, typename Handler>
inline constexpr bool is_prefetching<Prefetching<Place, Handler>> = true;

}  // namespace detail
}  // namespace uit
