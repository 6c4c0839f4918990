#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <vector>

#include <netuit/mesh/field_memory.hpp>
#include <netuit/mesh/layer_base.hpp>
#include <netuit/mesh/network_part.hpp>
#include <netuit/mesh/value_exchange.hpp>
#include <netuit/quality/peer_trace.hpp>
#include <uit/config.hpp>
#include <uit/exchange/exchange.hpp>
#include <uit/exchange/pooled/latest_frame.hpp>

namespace netuit {

/// The ends of one worker's exchanges of values along a network: a sender for each worker that has ghosts of its nodes, and a
/// receiver for each worker of whose nodes it has ghosts.
struct ValueEnds {
  /// Makes the ends for values that are stored as in `memory`.
  ValueEnds(const FieldMemory& memory, const NetworkPart& network);

  /// Opens the ports and boxes of a thread's worker. Frames hold values of the type with this hash. They carry the time stamps of
  /// `traces`, by worker, unless that is null.
  void Join(const LayerSite& site, std::size_t thread, std::uint32_t layer, std::uint64_t type,
            std::map<std::uint32_t, PeerTrace>* traces);

  std::vector<ValueSender> senders;      ///< by destination worker, ascending
  std::vector<ValueReceiver> receivers;  ///< by source worker, ascending
};

/// Returns the description of an exchange of frames with this layout that newer ones may replace.
uit::ExchangeSpec SpecOfValues(const uit::ExchangeKey& key, const uit::LatestFrame& layout, std::uint64_t type, bool is_traced);

}  // namespace netuit

#if !UIT_COMPILED
#include <netuit/mesh/value_ends.ipp>
#endif
