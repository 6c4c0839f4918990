// An end with a transport set of one transport cannot be muted.
#include <uit/uit.hpp>
void Run() {
  auto [inlet, outlet] = uit::Conduit<int, uit::Policy{}, uit::TransportSet<uit::Thread>>{uit::Thread{}};
  uit::Mute(inlet);
}
