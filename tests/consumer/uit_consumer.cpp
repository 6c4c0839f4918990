#include <uit/uit.hpp>

int main() {
  auto [inlet, outlet] = uit::Conduit<int, uit::latest>{uit::Thread{}};
  const bool arrived = inlet.TryPut(42) && outlet.Jump() && outlet.Get() == 42;
  return arrived ? 0 : 1;
}
