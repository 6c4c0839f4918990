// A splice to a transport that is not in the transport set is refused.
#include <uit/uit.hpp>
void Run() {
  auto [inlet, outlet] = uit::Conduit<int, uit::Policy{}, uit::TransportSet<uit::Thread>>{uit::Thread{}};
  uit::Splice(inlet, outlet, uit::Intra{});
}
