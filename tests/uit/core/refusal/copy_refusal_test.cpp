// An inlet cannot be copied.
#include <uit/uit.hpp>
void Run() {
  auto [inlet, outlet] = uit::Conduit<int>{uit::Thread{}};
  uit::Inlet<int> second = inlet;
}
