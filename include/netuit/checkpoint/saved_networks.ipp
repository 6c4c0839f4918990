#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <limits>
#include <numeric>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <netuit/checkpoint/block_route.hpp>
#include <netuit/checkpoint/checkpoint_site.hpp>
#include <netuit/checkpoint/data_folder.hpp>
#include <netuit/checkpoint/edge_order.hpp>
#include <netuit/checkpoint/manifest.hpp>
#include <netuit/checkpoint/saved_data.hpp>
#include <netuit/checkpoint/saved_files.hpp>
#include <netuit/checkpoint/saved_networks.hpp>
#include <netuit/file/numpy_format.hpp>
#include <netuit/graph/edge_delays.hpp>
#include <netuit/graph/label.hpp>
#include <netuit/graph/topology.hpp>
#include <netuit/mesh/mesh.hpp>
#include <netuit/mesh/network_part.hpp>
#include <netuit/mesh/on_root.hpp>
#include <netuit/mesh/root_networks.hpp>
#include <netuit/mesh/worker_graph.hpp>
#include <uit/config.hpp>
#include <uit/link/world.hpp>
#include <uit/support/bytes.hpp>
#include <uit/support/error.hpp>

namespace netuit {

namespace detail {

/// Returns the names of a network's files, before what they have.
UIT_DEFINE std::string NameOfFiles(std::size_t network) { return "network" + std::to_string(network) + "."; }

/// Saves the parts of a graph that this process has.
class GraphSaver {
 public:
  GraphSaver(const Mesh& mesh, const std::filesystem::path& folder) : mesh_(mesh), site_(mesh), files_(mesh.GetWorld(), folder) {}

  GraphManifest Save() {
    GraphManifest manifest{.num_nodes = mesh_.NumNodes()};
    std::vector<std::string> labels;
    bool has_labels = false;
    for (const auto& partition : mesh_.Partitions()) {
      has_labels |= !partition->graph.label_ends.empty();
      for (std::size_t node = 0; node < partition->NumNodes(); ++node) labels.push_back(partition->graph.Label(node));
    }
    if (IsAny(has_labels)) {
      VariedBlock block = site_.Nodes().CollectVaried([&](std::size_t i, uit::Bytes& to) {
        const auto* const first = reinterpret_cast<const std::byte*>(labels[i].data());
        to.insert(to.end(), first, first + labels[i].size());
      });
      manifest.labels_digest = files_.WriteVaried("labels", site_.Nodes(), std::move(block));
    }
    for (std::uint32_t network = 0; network < mesh_.NumNetworks(); ++network) manifest.networks.push_back(SaveNetwork(network));
    files_.Sync();
    return manifest;
  }

 private:
  bool IsAny(bool is_here) const {
    return mesh_.GetWorld().Max(is_here ? 1 : 0) != 0;
  }
  SavedEdges SaveNetwork(std::uint32_t network) {
    std::vector<NodeId> targets;
    std::vector<double> weights;
    std::vector<std::uint16_t> delays;
    std::vector<std::uint32_t> positions;
    std::vector<std::uint32_t> counts;  // of outputs, by node
    SavedEdges saved{.name = mesh_.NetworkNames()[network]};
    mesh_.ForEachPart({network}, [&](const NetworkPart& part) {
      const WorkerGraph& graph = part.graph;
      saved.period = part.period;
      targets.insert(targets.end(), graph.targets.begin(), graph.targets.end());
      weights.insert(weights.end(), graph.out_weights.begin(), graph.out_weights.end());
      delays.insert(delays.end(), graph.out_delays.begin(), graph.out_delays.end());
      for (std::size_t node = 0; node < graph.nodes.size(); ++node) {
        counts.push_back(graph.first_out[node + 1] - graph.first_out[node]);
        for (std::uint32_t input = graph.first_in[node]; input < graph.first_in[node + 1]; ++input)
          positions.push_back(input - graph.first_in[node]);
      }
    });
    const BlockRoute outputs = site_.Outputs(network);
    saved.num_edges = outputs.NumItems();
    const auto save = [&](const std::string& what, const BlockRoute& route, const auto& values) {
      using T = typename std::remove_cvref_t<decltype(values)>::value_type;
      const uit::Bytes block =
          route.Collect(sizeof(T), [&](std::size_t i, std::byte* to) { std::memcpy(to, &values[i], sizeof(T)); });
      saved.digests[what] = files_.Write(NameOfFiles(network) + what, NumpyTypeOf<T>(), sizeof(T), route, block);
    };
    save("outputs", site_.Nodes(), counts);
    save("targets", outputs, targets);
    save("inputs", site_.Inputs(network), positions);
    if (IsAny(!weights.empty())) save("weights", outputs, weights);
    if (IsAny(!delays.empty())) save("delays", outputs, delays);
    return saved;
  }

  const Mesh& mesh_;
  CheckpointSite site_;
  SavedFiles files_;
};

/// Reads what a GraphSaver has saved, on one process.
class GraphLoader {
 public:
  GraphLoader(std::filesystem::path folder, const GraphManifest& manifest)
      : folder_(std::move(folder)), manifest_(manifest), files_({}, folder_ / graph_names.Subfolder(manifest.data)) {
    constexpr std::uint64_t most_edges = std::uint64_t{1} << 48U;
    bool is_possible = manifest.num_nodes < std::numeric_limits<NodeId>::max();
    for (const SavedEdges& network : manifest.networks) is_possible &= network.num_edges < most_edges;
    if (!is_possible) Refuse("it is too large");
  }

  /// Completes a network with the edges and delays of the given number.
  void Load(std::size_t number, NamedNetwork& network) const {
    const std::vector<Edge> edges = ReadEdges(number);
    const auto positions = Read<std::uint32_t>(number, "inputs", edges.size());
    const auto num_nodes = static_cast<NodeId>(manifest_.num_nodes);
    Labels labels = ReadLabels();
    try {
      network.graph = Topology(num_nodes, OrderForTopology(num_nodes, edges, positions), std::move(labels));
    } catch (const uit::InputError& error) {
      Refuse(error.what());
    }
    if (!Has(number, "delays")) return;
    const auto delays = Read<std::uint16_t>(number, "delays", manifest_.networks[number].num_edges);
    const std::vector<std::int64_t> by_edge(delays.begin(), delays.end());
    network.options.delays = [by_edge](const Topology&) { return by_edge; };
  }

 private:
  [[noreturn]] void Refuse(const std::string& why) const {
    throw uit::InputError(folder_.string() + ": has no graph that this program can read: " + why);
  }
  bool Has(std::size_t number, const std::string& what) const { return manifest_.networks[number].digests.contains(what); }
  template <typename T>
  std::vector<T> Read(std::size_t number, const std::string& what, std::uint64_t count) const {
    if (!Has(number, what)) Refuse("it lacks " + NameOfFiles(number) + what);
    const uit::Bytes bytes = files_.Read(NameOfFiles(number) + what, NumpyTypeOf<T>(), sizeof(T), BlockRoute({}, count, {}),
                                         manifest_.networks[number].digests.at(what));
    std::vector<T> values(count);
    if (!bytes.empty()) std::memcpy(values.data(), bytes.data(), bytes.size());
    return values;
  }
  std::vector<Edge> ReadEdges(std::size_t number) const {
    const std::uint64_t num_edges = manifest_.networks[number].num_edges;
    const auto counts = Read<std::uint32_t>(number, "outputs", manifest_.num_nodes);
    const auto targets = Read<NodeId>(number, "targets", num_edges);
    const auto weights = Has(number, "weights") ? Read<double>(number, "weights", num_edges) : std::vector<double>(num_edges, 1.0);
    if (std::accumulate(counts.begin(), counts.end(), std::uint64_t{0}) != num_edges) Refuse("the numbers of outputs of its nodes do not add up to its number of edges");
    std::vector<Edge> edges;
    for (NodeId node = 0; node < counts.size(); ++node)
      for (std::uint32_t i = 0; i < counts[node]; ++i) edges.push_back({node, targets[edges.size()], weights[edges.size()]});
    return edges;
  }
  Labels ReadLabels() const {
    Labels labels;
    if (!manifest_.labels_digest) return labels;
    const VariedBlock block = files_.ReadVaried("labels", BlockRoute({}, manifest_.num_nodes, {}), *manifest_.labels_digest);
    uit::ByteReader rest(block.bytes);
    for (const std::uint64_t size : block.sizes) {
      uit::ByteView label;
      if (rest.TryTake(size, label)) labels.Add({reinterpret_cast<const char*>(label.data()), label.size()});
    }
    return labels;
  }

  std::filesystem::path folder_;
  const GraphManifest& manifest_;
  SavedFiles files_;
};

}  // namespace detail

UIT_DEFINE void SaveNetworks(const Mesh& mesh, const std::filesystem::path& folder) {
  detail::SaveData(mesh.GetWorld(), folder, detail::graph_names, [&](std::uint64_t number, const std::filesystem::path& path) {
    detail::GraphManifest manifest = detail::GraphSaver(mesh, path).Save();
    manifest.data = number;
    return manifest.ToText();
  });
}

UIT_DEFINE std::vector<NamedNetwork> LoadNetworks(const uit::World& world, const std::filesystem::path& folder) {
  const auto manifest = detail::LoadManifest<detail::GraphManifest>(world, folder, detail::graph_names);
  std::vector<NamedNetwork> networks;
  for (const detail::SavedEdges& saved : manifest.networks)
    networks.push_back({.name = saved.name, .graph = Topology{}, .options = {.period = saved.period}});
  OnRoot(world, [&] {
    const detail::GraphLoader loader(folder, manifest);
    for (std::size_t number = 0; number < networks.size(); ++number) loader.Load(number, networks[number]);
    return 0;
  });
  return networks;
}

}  // namespace netuit
