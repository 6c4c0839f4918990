#pragma once

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>

#include <uit/conveyor/conveyor_sizes.hpp>
#include <uit/conveyor/own_lane.hpp>
#include <uit/conveyor/prefetching.hpp>
#include <uit/policy.hpp>
#include <uit/support/bytes.hpp>
#include <uit/team/member.hpp>

namespace uit {

/// A function for a conveyor's items: f(item), or f(rank of the member that has pushed it, item).
template <typename F, typename T>
concept ItemHandler = std::invocable<F&, const T&> || std::invocable<F&, std::size_t, const T&>;

namespace detail {

/// How items of a conveyor travel.
inline constexpr Policy in_frames{.consolidate = Consolidate::aggregated};

/// An item that goes over a relay. Has no initialisers, because arrays of it are made often.
template <TriviallyCopyable T>
struct Routed {
  std::uint32_t member;  // its destination on the first hop, the member that has pushed it on the second
  T item;
};

/// Passes items to a handler.
template <TriviallyCopyable T>
class Dealer {
 public:
  Dealer() = default;
  Dealer(const Dealer&) = delete;
  Dealer& operator=(const Dealer&) = delete;
  virtual ~Dealer() = default;
  /// Handles up to `limit` items of an outlet from member `from`. Counts those of which the handler has returned. Returns whether
  /// there were any.
  virtual bool Deal(std::size_t from, MemberOutlet<T, in_frames>& outlet, std::size_t limit, std::uint64_t& num_handled) = 0;
  /// The same for items of the member for itself.
  virtual bool DealOwn(std::size_t self, OwnLane<T>& lane, std::size_t limit, std::uint64_t& num_handled) = 0;
  /// The same for items on their second hop, in a team of so many members. Throws Error for an item that none of them can have pushed.
  virtual bool DealRouted(MemberOutlet<Routed<T>, in_frames>& outlet, std::size_t num_members, std::size_t limit,
                          std::uint64_t& num_handled) = 0;
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
template <TriviallyCopyable T, ItemHandler<T> F>
class DealerTo final : public Dealer<T> {
 public:
  explicit DealerTo(F handler) : handler_(std::move(handler)) {}

  bool Deal(std::size_t from, MemberOutlet<T, in_frames>& outlet, std::size_t limit, std::uint64_t& num_handled) override {
    return DealEach<T>(outlet, limit, num_handled, [&](const T& item) { HandleOne(from, item); });
  }
  bool DealOwn(std::size_t self, OwnLane<T>& lane, std::size_t limit, std::uint64_t& num_handled) override {
    return DealSome(limit, num_handled, [&](std::size_t most) { return lane.TakeSome(most); }, false,
                    [&](const T& item) { HandleOne(self, item); });
  }
  bool DealRouted(MemberOutlet<Routed<T>, in_frames>& outlet, std::size_t num_members, std::size_t limit,
                  std::uint64_t& num_handled) override {
    return DealEach<Routed<T>>(outlet, limit, num_handled, [&](const Routed<T>& routed) {
      if (routed.member >= num_members) [[unlikely]] RefuseOrigin();
      HandleOne(routed.member, routed.item);
    });
  }
  void Handle(std::size_t from, const T& item) override { HandleOne(from, item); }

 private:
  static constexpr std::size_t most_gathered = 256;

  template <typename Item, typename Outlet, std::invocable<const Item&> Call>
  bool DealEach(Outlet& outlet, std::size_t limit, std::uint64_t& num_handled, Call&& call) {
    constexpr std::size_t largest_gathered = 32;  // bytes of an item; larger ones are handled where they are
    if constexpr (sizeof(Item) <= largest_gathered) {
      Gathered<Item> gathered;
      const std::span<Item> some(gathered.items);
      const auto take = [&](std::size_t most) { return some.first(outlet.TakeSome(some.first(most))); };
      return DealSome(limit, num_handled, take, true, call);
    } else {
      const HandledCounter counter{num_handled};
      for (; counter.count < limit && outlet.TryStep() != 0; ++counter.count) call(outlet.Get());
      return counter.count != 0;
    }
  }
  /// Room that is not set to anything before.
  template <typename Item>
  struct Gathered {
    Gathered() {}
    union {
      Item items[most_gathered];
    };
  };
  /// What a handler accesses is rarely in the cache. The processor fetches for many items at once if the accesses follow closely.
  /// `take(most)` returns the next items, and none if there is none; if it `takes_all`, also fewer than `most` only if there is no other.
  template <std::invocable<std::size_t> Take, typename Call>
  bool DealSome(std::size_t limit, std::uint64_t& num_handled, Take&& take, bool takes_all, Call&& call) {
    constexpr std::size_t ahead = 32;
    const HandledCounter counter{num_handled};
    for (std::size_t num_left = limit; num_left != 0;) {
      const std::size_t most = std::min(num_left, most_gathered);
      const auto some = take(most);
      for (std::size_t i = 0; i < std::min(ahead, some.size()); ++i) FetchFor(some[i]);
      for (std::size_t i = 0; i < some.size(); ++i, ++counter.count) {
        if (i + ahead < some.size()) FetchFor(some[i + ahead]);
        call(some[i]);
      }
      if (some.empty() || (takes_all && some.size() != most)) break;
      num_left -= some.size();
    }
    return counter.count != 0;
  }
  /// Lets the processor fetch what the handler says that it accesses for an item, if it says so.
  void FetchFor([[maybe_unused]] const T& item) {
    if constexpr (is_prefetching<F>) __builtin_prefetch(handler_.place(item));
  }
  void FetchFor(const Routed<T>& routed) { FetchFor(routed.item); }
  void HandleOne([[maybe_unused]] std::size_t from, const T& item) {
    if constexpr (std::invocable<F&, std::size_t, const T&>) handler_(from, item);
    else handler_(item);
  }

  F handler_;
};

}  // namespace detail
}  // namespace uit
