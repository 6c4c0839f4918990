#pragma once

#include <concepts>
#include <cstddef>
#include <tuple>
#include <utility>

#include <uit/uit.hpp>

#include "tests/support/catch.hpp"

namespace uit::testing {

/// A duct by itself. The pair counts as the ends would.
template <Policy policy, typename Sync>
struct DuctSubject {
  static constexpr Retain retain = policy.retain;
  static constexpr Backlog backlog = policy.backlog;
  static constexpr bool carries_values = true;
  static constexpr bool has_threads = Sync::concurrent;
  static constexpr bool can_stage = policy.retain != Retain::accumulate;

  template <typename T>
  struct Pair {
    explicit Pair(std::size_t depth, T initial = T{})
        : duct{OpenDuct<T, policy, Sync>(depth, default_max_bytes, std::move(initial))} {}

    bool TryPut(const T& message)
      requires std::copyable<T>
    {
      return Count(duct->TryPut(message));
    }
    bool TryPut(T&& message) { return Count(duct->TryPut(std::move(message))); }
    bool TryStage(const T& message)
      requires std::copyable<T> && can_stage
    {
      return Count(duct->TryStage(message));
    }
    bool TryFlush()
      requires can_stage
    {
      return duct->TryFlush();
    }
    std::size_t TryStep(std::size_t limit) {
      const std::size_t count = duct->TryStep(limit);
      tally.get.stepped += count > 0;
      tally.get.skipped += count > 0 ? count - 1 : 0;
      return count;
    }
    const T& Get() const { return std::as_const(*duct).Get(); }
    void Settle() {}
    uit::Tally Tally() {
      if constexpr (requires { duct->NumPreempted(); }) tally.put.preempted = duct->NumPreempted();
      if constexpr (requires { duct->NumFolded(); }) tally.get.folded = duct->NumFolded();
      CHECK(duct->NumAccepted() == tally.put.Accepted());
      CHECK(duct->NumPassed() == tally.get.stepped + tally.get.skipped);
      return tally;
    }
    void HoldInlet(bool hold)
      requires(!has_threads && backlog == Backlog::drop)
    {
      if constexpr (requires { duct->HoldInlet(hold); }) duct->HoldInlet(hold);
    }
    void HoldOutlet(bool hold) {
      if constexpr (requires { duct->HoldOutlet(hold); }) duct->HoldOutlet(hold);
    }
    void Refresh() {
      if constexpr (requires { duct->RefreshInlet(); }) duct->RefreshInlet();
      if constexpr (requires { duct->RefreshOutlet(); }) duct->RefreshOutlet();
    }

   private:
    bool Count(bool is_accepted) {
      ++tally.put.attempted;
      tally.put.dropped += !is_accepted;
      return is_accepted;
    }

    Ref<DuctFor<T, policy, Sync>> duct;
    uit::Tally tally;
  };
};

/// A conduit: the same through an Inlet and an Outlet, which count themselves.
template <Policy policy, typename Transport, typename W = InProcess>
struct ConduitSubject {
  static constexpr Retain retain = policy.retain;
  static constexpr Backlog backlog = policy.backlog;
  static constexpr bool carries_values = true;
  static constexpr bool has_threads = std::same_as<Transport, Thread>;

  template <typename T>
  struct Pair {
    explicit Pair(std::size_t depth, T initial = T{})
        : conduit{Transport{.depth = depth}, std::move(initial)} {}

    bool TryPut(const T& message)
      requires std::copyable<T>
    {
      return conduit.inlet.TryPut(message);
    }
    bool TryPut(T&& message) { return conduit.inlet.TryPut(std::move(message)); }
    bool TryStage(const T& message)
      requires std::copyable<T>
    {
      return conduit.inlet.TryStage(message);
    }
    bool TryFlush() { return conduit.inlet.TryFlush(); }
    std::size_t TryStep(std::size_t limit) { return conduit.outlet.TryStep(limit); }
    const T& Get() const { return conduit.outlet.Get(); }
    void Settle() {}
    uit::Tally Tally() const {
      uit::Tally tally;
      tally += conduit.inlet.Tally();
      tally += conduit.outlet.Tally();
      return tally;
    }
    void HoldInlet(bool hold)
      requires(!has_threads && backlog == Backlog::drop)
    {
      conduit.inlet.Hold(hold);
    }
    void HoldOutlet(bool hold) { conduit.outlet.Hold(hold); }
    void Refresh() {
      conduit.inlet.Refresh();
      conduit.outlet.Refresh();
    }

    Conduit<T, policy, W> conduit;
  };
};

inline constexpr Policy every_drop{};
inline constexpr Policy every_grow{.backlog = Backlog::grow};
inline constexpr Policy accumulate{.retain = Retain::accumulate};

/// One line per subject.
using InProcessSubjects = std::tuple<
    DuctSubject<every_drop, Unsynchronized>,
    DuctSubject<every_drop, Spsc>,
    DuctSubject<every_grow, Unsynchronized>,
    DuctSubject<every_grow, Spsc>,
    DuctSubject<latest, Unsynchronized>,
    DuctSubject<latest, Spsc>,
    DuctSubject<accumulate, Unsynchronized>,
    DuctSubject<accumulate, Spsc>,
    ConduitSubject<every_drop, Intra>,
    ConduitSubject<every_drop, Thread>,
    ConduitSubject<every_drop, Intra, TransportSet<Intra>>,
    ConduitSubject<every_drop, Thread, TransportSet<Thread>>,
    ConduitSubject<every_grow, Intra>,
    ConduitSubject<every_grow, Thread>,
    ConduitSubject<latest, Intra>,
    ConduitSubject<latest, Thread>,
    ConduitSubject<latest, Thread, TransportSet<Thread>>,
    ConduitSubject<accumulate, Intra>,
    ConduitSubject<accumulate, Thread, TransportSet<Thread>>,
    ConduitSubject<Policy{.consolidate = Consolidate::pooled}, Thread>,
    ConduitSubject<Policy{.backlog = Backlog::grow, .retain = Retain::latest}, Thread>>;

}  // namespace uit::testing
