#pragma once

#include <uit/codec/codec.hpp>
#include <uit/codec/span_codec.hpp>
#include <uit/codec/trivial_codec.hpp>
#include <uit/duct/fold.hpp>
#include <uit/exchange/aggregated/aggregated_duct.hpp>
#include <uit/exchange/pooled/accumulate_channel_duct.hpp>
#include <uit/exchange/pooled/channel_duct.hpp>
#include <uit/policy.hpp>

namespace uit {

/// True if messages of type `T` can leave their process under `policy`. A pool has a slot per channel, and a sum has a
/// slot of its own, so both need messages of fixed size.
template <typename T, Policy policy>
concept EncodableUnder =
    Encodable<T> && (FixedSizeEncodable<T> ||
                     (policy.consolidate != Consolidate::pooled && policy.retain != Retain::accumulate));

/// True if such messages use an aggregated exchange: because the policy says so, or because their sizes differ. Sums
/// always use pools.
template <Encodable T, Policy policy>
inline constexpr bool is_aggregated = policy.retain != Retain::accumulate &&
                                      (policy.consolidate == Consolidate::aggregated || encoded_bytes<T> == 0);

/// The ducts of the exchange that carries such messages between processes. A new exchange adds a specialization.
template <Encodable T, Policy policy>
  requires EncodableUnder<T, policy>
struct ExchangeFor {
  using InletDuct = ChannelInletDuct<T, policy.retain>;    ///< for one channel of a pool
  using OutletDuct = ChannelOutletDuct<T, policy.retain>;  ///< for one channel of a pool
};
/// For messages that share frames in any number, or whose sizes differ.
template <Encodable T, Policy policy>
  requires(EncodableUnder<T, policy> && is_aggregated<T, policy>)
struct ExchangeFor<T, policy> {
  using InletDuct = AggregatedInletDuct<T, policy>;    ///< for one of many channels, or for a single one
  using OutletDuct = AggregatedOutletDuct<T, policy>;  ///< for one of many channels, or for a single one
};
/// For messages that are added up.
template <Encodable T, Policy policy>
  requires(EncodableUnder<T, policy> && policy.retain == Retain::accumulate)
struct ExchangeFor<T, policy> {
  static_assert(RequireFoldable<T>::value);
  using InletDuct = AccumulateInletDuct<T>;    ///< for one channel of a pool of sums
  using OutletDuct = AccumulateOutletDuct<T>;  ///< for one channel of a pool of sums
};

}  // namespace uit
