#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <netuit/checkpoint/block_route.hpp>
#include <netuit/checkpoint/checkpoint_site.hpp>
#include <netuit/checkpoint/manifest.hpp>
#include <netuit/checkpoint/older_values.hpp>
#include <netuit/graph/random_stream.hpp>
#include <netuit/mesh/layer_base.hpp>
#include <netuit/mesh/mesh.hpp>
#include <netuit/mesh/network_part.hpp>
#include <netuit/mesh/worker_graph.hpp>
#include <uit/config.hpp>

namespace netuit::detail {

UIT_DEFINE CheckpointSite::CheckpointSite(const Mesh& mesh, const uit::World& world)
    : mesh_(mesh), world_(world), inputs_(mesh.NumNetworks()) {
  const auto add = [this](std::size_t slot, NodeId id) { ids_.push_back(id), slots_.push_back(slot); };
  mesh_.ForEachNode([&](std::size_t, std::size_t slot, NodeId id) { add(slot, id); });
  mesh_.ForEachGhost(add);
  for (std::uint32_t network = 0; network < mesh.NumNetworks(); ++network) {
    std::vector<std::size_t>& numbers = input_numbers_.emplace_back();
    mesh_.ForEachPart({network}, [&](const NetworkPart& part) {
      for (std::size_t i = 0; i < part.graph.sources.size(); ++i) numbers.push_back(part.first_input + i);
    });
  }
}

UIT_DEFINE const BlockRoute& CheckpointSite::Nodes() {
  if (!nodes_) {
    std::vector<std::uint64_t> ids = ids_;
    ids.resize(NumNodes());
    nodes_.emplace(world_, mesh_.NumNodes(), ids);
  }
  return *nodes_;
}

UIT_DEFINE const BlockRoute& CheckpointSite::NodesAndGhosts() {
  if (!nodes_and_ghosts_) nodes_and_ghosts_.emplace(world_, mesh_.NumNodes(), ids_);
  return *nodes_and_ghosts_;
}

UIT_DEFINE const OlderValues& CheckpointSite::Older(const std::vector<std::uint32_t>& along) {
  const auto found = older_.find(along);
  if (found != older_.end()) return found->second;
  return older_.try_emplace(along, mesh_, along, Nodes(), NodesAndGhosts(), slots_).first->second;
}

UIT_DEFINE const BlockRoute& CheckpointSite::Inputs(std::uint32_t network) {
  if (!inputs_[network]) inputs_[network].emplace(Edges(network, &WorkerGraph::in_edges));
  return *inputs_[network];
}

UIT_DEFINE SavedNetwork CheckpointSite::Describe(std::uint32_t network) const {
  SavedNetwork mine;
  mesh_.ForEachPart({network}, [&](const NetworkPart& part) {
    const WorkerGraph& graph = part.graph;
    for (std::size_t node = 0; node < graph.nodes.size(); ++node) {
      for (std::size_t input = graph.first_in[node]; input < graph.first_in[node + 1]; ++input) {
        const double weight = graph.in_weights.empty() ? 1.0 : graph.in_weights[input];
        std::uint64_t bits = 0;
        std::memcpy(&bits, &weight, sizeof bits);
        const std::uint64_t ends = MixBits(MixBits(MixBits(graph.in_edges[input] + 1) ^ graph.sources[input]) ^ graph.nodes[node]);
        mine.digest += MixBits(ends ^ bits);
        ++mine.num_edges;
      }
    }
  });
  SavedNetwork all;
  for (const SavedNetwork& theirs : world_.AllGatherValue(mine)) {
    all.num_edges += theirs.num_edges;
    all.digest += theirs.digest;
  }
  return all;
}

UIT_DEFINE BlockRoute CheckpointSite::Edges(std::uint32_t network, std::vector<EdgeId> WorkerGraph::*edges) const {
  std::vector<std::uint64_t> ids;
  mesh_.ForEachPart({network}, [&](const NetworkPart& part) {
    ids.insert(ids.end(), (part.graph.*edges).begin(), (part.graph.*edges).end());
  });
  return {world_, mesh_.NumEdges({network}), std::move(ids)};
}

UIT_DEFINE SavedValues DescribeField(const Mesh& mesh, std::size_t number) {
  const AnyField& field = *mesh.Fields()[number];
  const FieldStorage storage = field.Storage();
  const std::string kind = storage.network ? "edge_field" : "field";
  return {.name = field.name.empty() ? kind + std::to_string(number) : field.name,
          .of = storage.network ? "edge" : "node",
          .network = storage.network.value_or(0),
          .type = storage.num_bytes != 0 && storage.numpy.name.find('V') == std::string::npos ? 0 : storage.type,
          .numpy = storage.numpy,
          .num_bytes = storage.num_bytes};
}

UIT_DEFINE std::optional<SavedValues> DescribeMessages(const Mesh& mesh, std::size_t number) {
  LayerBase& layer = *mesh.Layers()[number];
  if (layer.Part(0).Messages() == nullptr) return std::nullopt;
  const LayerShape shape = layer.Shape();
  return SavedValues{.name = "channels" + std::to_string(number),
                     .of = "message",
                     .network = NetworkOf(shape),
                     .type = shape[0],
                     .policy = {shape[3], shape[4], shape[5]}};
}

}  // namespace netuit::detail
