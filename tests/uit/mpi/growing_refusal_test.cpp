// A conduit between processes that keeps every message must not grow without bound.
#include <uit/inlet.hpp>
#include <uit/transport/process.hpp>

constexpr uit::Policy policy{.backlog = uit::Backlog::grow};

bool PutOne(uit::Fabric& fabric) {
  uit::Inlet<int, policy, uit::TransportSet<uit::Process>> inlet{uit::Process{.fabric = &fabric}};
  return inlet.TryPut(1);
}
