#pragma once

#include <cstddef>
#include <type_traits>
#include <utility>

#include <uit/duct/accumulator_duct.hpp>
#include <uit/duct/fold.hpp>
#include <uit/duct/mailbox_duct.hpp>
#include <uit/duct/queue_duct.hpp>
#include <uit/duct/ring_duct.hpp>
#include <uit/policy.hpp>
#include <uit/support/ref.hpp>
#include <uit/support/sync.hpp>
#include <uit/transport/transport.hpp>

namespace uit {

namespace detail {

template <typename T, typename Sync>
consteval auto ChooseAccumulator() {
  if constexpr (RequireFoldable<T>::value) return std::type_identity<AccumulatorDuct<T, Sync>>{};
  else return std::type_identity<MailboxDuct<T, Sync>>{};  // RequireFoldable gives the compile error
}

template <typename T, Policy policy, typename Sync, bool grows>
consteval auto ChooseDuct() {
  if constexpr (policy.retain == Retain::latest)
    return std::type_identity<MailboxDuct<T, Sync>>{};
  else if constexpr (policy.retain == Retain::accumulate)
    return ChooseAccumulator<T, Sync>();
  else if constexpr (policy.backlog == Backlog::grow)
    return std::type_identity<QueueDuct<T, Sync>>{};
  else
    return std::type_identity<RingDuct<T, Sync, grows>>{};
}

}  // namespace detail

/// The duct in memory that fulfils `policy` within a process. If it is a ring, it `grows` or not; see RingDuct.
template <Message T, Policy policy, Synchronization Sync, bool grows = false>
using DuctFor = typename decltype(detail::ChooseDuct<T, policy, Sync, grows>())::type;

/// A new duct for `depth` messages. A duct that grows does so up to `max_bytes` bytes of messages.
template <Message T, Policy policy, Synchronization Sync, bool grows = false>
[[nodiscard]] Ref<DuctFor<T, policy, Sync, grows>> OpenDuct(std::size_t depth, std::size_t max_bytes, T initial) {
  using D = DuctFor<T, policy, Sync, grows>;
  if constexpr (policy.retain != Retain::every)
    return MakeRef<D>(std::move(initial));
  else if constexpr (policy.backlog == Backlog::grow)
    return MakeRef<D>(depth, max_bytes, std::move(initial));
  else
    return MakeRef<D>(depth, std::move(initial));
}

/// Both ends in one thread.
///
///     auto [inlet, outlet] = uit::Conduit<int>{uit::Intra{.depth = 4}};
struct Intra {
  std::size_t depth = 2;                      ///< The number of messages that may wait, before any growth.
  std::size_t max_bytes = default_max_bytes;  ///< The limit of a buffer that grows, in bytes.

  /// The duct that an inlet refers to.
  template <Message T, Policy policy>
  using InletDuctFor = DuctFor<T, policy, Unsynchronized>;
  /// The duct that an outlet refers to.
  template <Message T, Policy policy>
  using OutletDuctFor = DuctFor<T, policy, Unsynchronized>;

  /// Throws std::invalid_argument if the duct cannot have this depth.
  template <Message T, Policy policy>
  [[nodiscard]] auto OpenPair(T initial) const {
    auto duct = OpenDuct<T, policy, Unsynchronized>(depth, max_bytes, std::move(initial));
    return std::pair{duct, duct};
  }
};

/// The same, with memory for as many messages as have waited at once, whatever the depth: for the edges of a simulation. A put may
/// then allocate memory.
struct GrowingIntra {
  std::size_t depth = 2;                      ///< The number of messages that may wait.
  std::size_t max_bytes = default_max_bytes;  ///< The limit of a buffer that grows beyond its depth, in bytes.

  /// The duct that an inlet refers to.
  template <Message T, Policy policy>
  using InletDuctFor = DuctFor<T, policy, Unsynchronized, true>;
  /// The duct that an outlet refers to.
  template <Message T, Policy policy>
  using OutletDuctFor = DuctFor<T, policy, Unsynchronized, true>;

  /// Throws std::invalid_argument if the duct cannot have this depth.
  template <Message T, Policy policy>
  [[nodiscard]] auto OpenPair(T initial) const {
    auto duct = OpenDuct<T, policy, Unsynchronized, true>(depth, max_bytes, std::move(initial));
    return std::pair{duct, duct};
  }
};

/// The inlet in one thread, the outlet in another (or the same).
///
///     auto [inlet, outlet] = uit::Conduit<int>{uit::Thread{.depth = 1024}};
struct Thread {
  std::size_t depth = 64;                     ///< The number of messages that may wait, before any growth.
  std::size_t max_bytes = default_max_bytes;  ///< The limit of a buffer that grows, in bytes.

  /// The duct that an inlet refers to.
  template <Message T, Policy policy>
  using InletDuctFor = DuctFor<T, policy, Spsc>;
  /// The duct that an outlet refers to.
  template <Message T, Policy policy>
  using OutletDuctFor = DuctFor<T, policy, Spsc>;

  /// Throws std::invalid_argument if the duct cannot have this depth.
  template <Message T, Policy policy>
  [[nodiscard]] auto OpenPair(T initial) const {
    auto duct = OpenDuct<T, policy, Spsc>(depth, max_bytes, std::move(initial));
    return std::pair{duct, duct};
  }
};

static_assert(PairTransport<Intra> && PairTransport<GrowingIntra> && PairTransport<Thread>);

}  // namespace uit
