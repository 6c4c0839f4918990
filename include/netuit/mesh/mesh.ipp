#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <netuit/graph/graph.hpp>
#include <netuit/mesh/edge_field.hpp>
#include <netuit/mesh/mesh.hpp>
#include <netuit/mesh/mesh_core.hpp>
#include <netuit/mesh/network_part.hpp>
#include <netuit/mesh/root_networks.hpp>
#include <uit/config.hpp>
#include <uit/support/error.hpp>
#include <uit/team/team.hpp>

namespace netuit {

UIT_DEFINE Mesh::Mesh(const uit::Team& team, const Graph& graph, const MeshOptions& options)
    : Mesh(team, std::vector{NamedNetwork{"", graph}}, options) {}

UIT_DEFINE Mesh::Mesh(const uit::Team& team, const std::vector<NamedNetwork>& networks, const MeshOptions& options)
    : Mesh(team, detail::RootNetworks(team, networks, options.placement), networks, options) {}

UIT_DEFINE Network Mesh::GetNetwork(const std::string& name) const {
  const auto found = std::ranges::find(names_, name);
  if (found == names_.end()) throw uit::InputError("the mesh has no network named '" + name + "'");
  return {static_cast<std::uint32_t>(found - names_.begin())};
}

UIT_DEFINE EdgeWeights Mesh::GetEdgeWeights(Network network) {
  std::optional<EdgeWeights>& weights = weights_[network.number];
  if (weights) return *weights;
  const EdgeField<double> by_input = AddEdgeField(1.0, network);
  auto& by_output = Own(std::make_unique<detail::OwnedField<detail::EdgeValues<double>>>(NumOutputs(network)));
  std::fill_n(by_output.values.get(), NumOutputs(network), 1.0);
  ForEachPart(network, [&](const NetworkPart& part) {
    std::ranges::copy(part.graph.in_weights, by_input.Values() + part.first_input);
    std::ranges::copy(part.graph.out_weights, by_output.values.get() + part.first_output);
  });
  return weights.emplace(by_input.Values(), by_output.values.get());
}

UIT_DEFINE void Mesh::ShowByUpdate(bool is_by_update) {
  for (const auto& field : fields_) field->SetByUpdate(is_by_update, NumOwnSlots());
}

UIT_DEFINE Mesh::Mesh(const uit::Team& team, const detail::RootNetworks& root, const std::vector<NamedNetwork>& networks,
                      const MeshOptions& options)
    : MeshCore(team.GetWorld(), root.Placed(), options) {
  if (NumThreads() != team.NumThreads()) {
    throw uit::InputError("the placement is for " + std::to_string(NumThreads()) +
                          " threads of each process, and the team has " + std::to_string(team.NumThreads()));
  }
  for (const NamedNetwork& network : networks) names_.push_back(network.name);
  weights_.resize(networks.size());
}

}  // namespace netuit
