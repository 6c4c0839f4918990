// An inlet has one owner.
#include <uit/uit.hpp>
void Run() {
  auto [inlet, outlet] = uit::Conduit<int>{uit::Thread{}};
  uit::Inlet<int> second = inlet;
}
