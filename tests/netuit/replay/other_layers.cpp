#include "tests/netuit/replay/other_layers.hpp"

#include <netuit/netuit.hpp>

#include <cstdint>
#include <string>

#include "tests/netuit/replay/replays.hpp"

using namespace netuit;

namespace {

// As in replay_trouble_mpi_test.cpp: but for the period of Each.
using Word = std::uint64_t;
struct Heard : Multicast<Word> {};
struct Each : Unicast<Word, uit::Policy{}, LayerOptions{.period = 2}> {};

}  // namespace

void netuit::testing::RecordOtherLayers(const Topology& topology, const std::string& folder) {
  RunChaos<Heard, Each>(topology, {.record = folder});
}
