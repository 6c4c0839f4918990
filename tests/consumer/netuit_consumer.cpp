#include <netuit/netuit.hpp>

int main() {
  const auto topology = netuit::MakeRing(8);
  const auto placement = netuit::PlaceByMetis(topology, {.processes = 1, .threads = 2});
  return topology.NumNodes() == 8 && placement.NumNodes() == 8 ? 0 : 1;
}
