#include "tests/netuit/run/chaos.hpp"

#include <uit/policy.hpp>
#include <vector>

#include <netuit/mesh/mesh.hpp>
#include <netuit/run/run.hpp>

#include "tests/netuit/run/policies.hpp"
#include "tests/netuit/run/serial_mesh.hpp"

namespace netuit::testing {

template Habit<Node> AddChaoticChannels<Mesh, Word, uit::every>(Mesh&, Network, Word);
template Habit<SerialNode> AddChaoticChannels<SerialMesh, Word, uit::every>(SerialMesh&, Network, Word);
template Habit<Node> AddChaoticChannels<Mesh, Word, uit::latest>(Mesh&, Network, Word);
template Habit<SerialNode> AddChaoticChannels<SerialMesh, Word, uit::latest>(SerialMesh&, Network, Word);
template Habit<Node> AddChaoticChannels<Mesh, Word, uit::summed>(Mesh&, Network, Word);
template Habit<SerialNode> AddChaoticChannels<SerialMesh, Word, uit::summed>(SerialMesh&, Network, Word);
template Habit<Node> AddChaoticChannels<Mesh, Word, pooled>(Mesh&, Network, Word);
template Habit<SerialNode> AddChaoticChannels<SerialMesh, Word, pooled>(SerialMesh&, Network, Word);
template Habit<Node> AddChaoticChannels<Mesh, Word, newest_pooled>(Mesh&, Network, Word);
template Habit<SerialNode> AddChaoticChannels<SerialMesh, Word, newest_pooled>(SerialMesh&, Network, Word);
template Habit<Node> AddChaoticChannels<Mesh, Word, sum_pooled>(Mesh&, Network, Word);
template Habit<SerialNode> AddChaoticChannels<SerialMesh, Word, sum_pooled>(SerialMesh&, Network, Word);
template Habit<Node> AddChaoticChannels<Mesh, std::vector<Word>, aggregated>(Mesh&, Network, Word);
template Habit<SerialNode> AddChaoticChannels<SerialMesh, std::vector<Word>, aggregated>(SerialMesh&, Network, Word);
template Habit<Node> AddChaoticChannels<Mesh, std::vector<Word>, newest_aggregated>(Mesh&, Network, Word);
template Habit<SerialNode> AddChaoticChannels<SerialMesh, std::vector<Word>, newest_aggregated>(SerialMesh&, Network, Word);

}  // namespace netuit::testing
