#include <cstdio>
#include <uit/uit.hpp>
#if HAS_NETUIT
#include <netuit/netuit.hpp>
#endif

int main() {
  auto [inlet, outlet] = uit::Conduit<double, uit::latest>{uit::Thread{}};
  inlet.TryPut(1.0);
  if (!outlet.Jump() || outlet.Get() != 1.0) return 1;
#if HAS_NETUIT
  if (netuit::Torus(8, 8).Get().NumNodes() != 64) return 1;
#endif
  std::puts("netuit works");
}
