#include <uit/uit.hpp>

int main() {
  constexpr uit::Policy latest{.retain = uit::Retain::latest};
  auto [inlet, outlet] = uit::Conduit<int, latest>{uit::Thread{}};
  const bool arrived = inlet.TryPut(42) && outlet.Jump() && outlet.Get() == 42;
  return arrived ? 0 : 1;
}
