#pragma once

#include <algorithm>
#include <cctype>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <netuit/graph/graph.hpp>
#include <netuit/mesh/edge_field.hpp>
#include <netuit/mesh/graph_in_parts.hpp>
#include <netuit/mesh/mesh.hpp>
#include <netuit/mesh/mesh_core.hpp>
#include <netuit/mesh/mesh_options.hpp>
#include <netuit/mesh/network_part.hpp>
#include <netuit/mesh/root_networks.hpp>
#include <uit/config.hpp>
#include <uit/support/error.hpp>
#include <uit/team/team.hpp>

namespace netuit {

namespace detail {

UIT_DEFINE DistributedNetworks DistributeInParts(const uit::Team& team, const GraphInParts& graph, const MeshOptions& options) {
  constexpr auto complaint = "a graph in parts is placed in blocks, so MeshOptions::placement must not be set";
  team.GetWorld().Agree<uit::InputError>(options.placement ? complaint : "");
  return {.graphs = {graph.Distribute(team.GetWorld(), team.NumThreads())}, .periods = {1}, .names = {""}};
}

}  // namespace detail

UIT_DEFINE Mesh::Mesh(const uit::Team& team, const Graph& graph, const MeshOptions& options)
    : Mesh(team, std::vector{NamedNetwork{"", graph}}, options) {}

UIT_DEFINE Mesh::Mesh(const uit::Team& team, const std::vector<NamedNetwork>& networks, const MeshOptions& options)
    : Mesh(team, detail::RootNetworks(team, networks, options.placement).Distribute(), options) {}

UIT_DEFINE Mesh::Mesh(const uit::Team& team, const GraphInParts& graph, const MeshOptions& options)
    : Mesh(team, detail::DistributeInParts(team, graph, options), options) {}

UIT_DEFINE Mesh::~Mesh() = default;

UIT_DEFINE void Mesh::Keep(std::unique_ptr<detail::AnyField> field) { fields_.push_back(std::move(field)); }

UIT_DEFINE Network Mesh::GetNetwork(const std::string& name) const {
  const auto found = std::ranges::find(names_, name);
  if (found == names_.end()) throw uit::InputError("the mesh has no network named '" + name + "'");
  return {static_cast<std::uint32_t>(found - names_.begin())};
}

UIT_DEFINE EdgeWeights Mesh::GetEdgeWeights(Network network) {
  std::optional<EdgeWeights>& weights = weights_[network.number];
  if (weights) return *weights;
  const EdgeField<double> by_input = AddEdgeField(1.0, network);
  fields_.back()->is_derived = true;
  auto& by_output = Own(std::make_unique<detail::OwnedField<detail::EdgeValues<double>>>(NumOutputs(network), network.number));
  fields_.back()->is_derived = true;
  std::fill_n(by_output.values.get(), NumOutputs(network), 1.0);
  ForEachPart(network, [&](const NetworkPart& part) {
    std::ranges::copy(part.graph.in_weights, by_input.Values() + part.first_input);
    std::ranges::copy(part.graph.out_weights, by_output.values.get() + part.first_output);
  });
  return weights.emplace(by_input.Values(), by_output.values.get());
}

UIT_DEFINE std::size_t Mesh::AddReductionNumber() {
  if (num_reductions_ == max_reductions)
    throw uit::InputError("a mesh may have at most " + std::to_string(max_reductions) + " reductions");
  return num_reductions_++;
}

UIT_DEFINE Reduction Mesh::AddReduction(ReductionKind which) {
  const std::size_t number = AddReductionNumber();
  if (which == ReductionKind::exact_sum) {
    for (const auto& partition : Partitions()) partition->none_given.sums.At(number).Add(0);
  }
  return {number, which};
}

UIT_DEFINE CutReduction Mesh::AddCutReduction(ReductionKind which, std::function<double(Node&)> evaluate, const CutOptions& options) {
  if (options.every == 0) throw uit::InputError("CutOptions::every must be at least 1");
  return CutReduction(AddCutRule({.number = AddReductionNumber(),
                                  .which = which,
                                  .every = options.every,
                                  .evaluate = std::move(evaluate)}));
}

UIT_DEFINE void Mesh::CheckCut() const {
  for (const auto& network : Partitions().front()->networks)
    if (network->period != 1) throw uit::InputError("a field cannot be copied at cuts in a mesh with a network whose period is above 1");
}

UIT_DEFINE void Mesh::SetNameOf(const void* first, const std::string& name) {
  constexpr std::size_t longest = 100;
  const auto is_plain = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '-'; };
  if (name.empty() || name.size() > longest || !std::ranges::all_of(name, is_plain))
    throw uit::InputError("a field's name has 1 to 100 letters, digits, '_' or '-', which '" + name + "' has not");
  const std::string kind = name.substr(0, name.find_last_not_of("0123456789") + 1);
  if (kind != name && (kind == "field" || kind == "edge_field" || kind == "channels"))
    throw uit::InputError("'" + name + "' is what a checkpoint calls something without a name");
  for (const auto& field : fields_) {
    if (field->name == name && field->First() != first) throw uit::InputError("the mesh has another field named '" + name + "'");
  }
  for (const auto& field : fields_) {
    if (field->First() == first) field->name = name;
  }
}

UIT_DEFINE void Mesh::ShowByUpdate(bool is_by_update) {
  for (const auto& field : fields_) field->SetByUpdate(is_by_update, NumOwnSlots());
}

UIT_DEFINE Mesh::Mesh(const uit::Team& team, DistributedNetworks networks, const MeshOptions& options)
    : MeshCalls(team, networks, options), names_(std::move(networks.names)) {
  if (NumThreads() != team.NumThreads()) {
    throw uit::InputError("the placement is for " + std::to_string(NumThreads()) +
                          " threads of each process, and the team has " + std::to_string(team.NumThreads()));
  }
  weights_.resize(names_.size());
}

}  // namespace netuit
