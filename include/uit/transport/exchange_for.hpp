#pragma once

#include <cstddef>

#include <uit/codec/codec.hpp>
#include <uit/codec/span_codec.hpp>
#include <uit/codec/trivial_codec.hpp>
#include <uit/duct/fold.hpp>
#include <uit/exchange/aggregated/aggregated_duct.hpp>
#include <uit/exchange/pooled/accumulate_channel_duct.hpp>
#include <uit/exchange/pooled/channel_duct.hpp>
#include <uit/policy.hpp>

namespace uit {

/// Can leave its process under such a policy: a pool has a slot for each channel, and a sum one for itself, and so they
/// need messages of one size.
template <typename T, Policy policy>
concept EncodableUnder =
    Encodable<T> && (FixedSizeEncodable<T> ||
                     (policy.consolidate != Consolidate::pooled && policy.retain != Retain::accumulate));

/// Whether such messages go by an aggregated exchange: by choice, or because each has its own size. Sums always go by
/// pools.
template <Encodable T, Policy policy>
inline constexpr bool is_aggregated = policy.retain != Retain::accumulate &&
                                      (policy.consolidate == Consolidate::aggregated || encoded_bytes<T> == 0);

/// The ducts of the exchange that carries such messages between processes; a new exchange adds a line.
template <Encodable T, Policy policy>
  requires EncodableUnder<T, policy>
struct ExchangeFor {
  using InletDuct = ChannelInletDuct<T, policy.retain>;    ///< of one channel of a pool
  using OutletDuct = ChannelOutletDuct<T, policy.retain>;  ///< of one channel of a pool
};
/// Of messages that share frames with any number of others, or have sizes of their own.
template <Encodable T, Policy policy>
  requires(EncodableUnder<T, policy> && is_aggregated<T, policy>)
struct ExchangeFor<T, policy> {
  using InletDuct = AggregatedInletDuct<T, policy>;    ///< of one of many channels, or of one alone
  using OutletDuct = AggregatedOutletDuct<T, policy>;  ///< of one of many channels, or of one alone
};
/// Of messages that add up.
template <Encodable T, Policy policy>
  requires(EncodableUnder<T, policy> && policy.retain == Retain::accumulate)
struct ExchangeFor<T, policy> {
  static_assert(RequireFoldable<T>::value);
  using InletDuct = AccumulateInletDuct<T>;    ///< of one channel of a pool of sums
  using OutletDuct = AccumulateOutletDuct<T>;  ///< of one channel of a pool of sums
};

}  // namespace uit
