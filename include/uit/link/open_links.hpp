#pragma once

#include <cstddef>
#include <optional>

#include <uit/config.hpp>
#include <uit/support/function_ref.hpp>
#include <uit/link/link.hpp>
#include <uit/link/peer_request.hpp>
#include <uit/link/world.hpp>

namespace uit {

/// Opens the links and shared boxes requested for each peer, and passes them to `take(peer, link, boxes)`.
///
/// If the world shares memory with the peer, and `shares_memory` is true on every process, the link uses that memory and
/// boxes get memory of their own. Otherwise the link comes from the world, and there are no shared boxes. Collective,
/// also for a process without requests. Nothing may be sent before all processes have returned. Throws the world's
/// exceptions, then only on this process.
void OpenLinks(const World& world, int stream, const PeerRequests& requests, bool shares_memory,
               FunctionRef<void(std::size_t, std::optional<AnyLink>, SharedBoxes)> take);

}  // namespace uit

#if !UIT_COMPILED
#include <uit/link/open_links.ipp>
#endif
