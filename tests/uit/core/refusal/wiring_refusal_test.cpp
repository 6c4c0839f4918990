// A splice to a transport that the wiring does not have.
#include <uit/uit.hpp>
void Run() {
  auto [inlet, outlet] = uit::Conduit<int, uit::Policy{}, uit::TransportSet<uit::Thread>>{uit::Thread{}};
  uit::Splice(inlet, outlet, uit::Intra{});
}
