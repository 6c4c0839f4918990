#pragma once

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <netuit/file/node_table.hpp>
#include <netuit/file/table.hpp>
#include <netuit/graph/graph.hpp>
#include <netuit/mesh/channel_layer.hpp>
#include <netuit/mesh/channels.hpp>
#include <netuit/mesh/edge_field.hpp>
#include <netuit/mesh/field.hpp>
#include <netuit/mesh/field_layer.hpp>
#include <netuit/mesh/gather.hpp>
#include <netuit/mesh/initial.hpp>
#include <netuit/mesh/mesh_core.hpp>
#include <netuit/mesh/node.hpp>
#include <netuit/mesh/node_data.hpp>
#include <netuit/mesh/root_networks.hpp>
#include <uit/codec/span_codec.hpp>
#include <uit/policy.hpp>
#include <uit/support/error.hpp>
#include <uit/team/team.hpp>

namespace netuit {

struct RunPlan;
struct RunOptions;
struct RunReport;

/// A value that says how a run goes: its limits, how values and messages move, and a schedule for each worker. A mode of your
/// own is such a type; see netuit/run/schedules.hpp for those of the library.
template <typename S>
concept ScheduleValue = requires(const S& schedule) {
  { schedule.MakePlan() } -> std::same_as<RunPlan>;
};

/// A graph of one or more networks over the same nodes, placed on the threads and processes of a team. It owns what its
/// nodes and edges hold and what travels between them.
///
///     netuit::Mesh mesh{team, netuit::Torus(64, 64)};
///     auto heat = mesh.AddPublishedField<double>([](netuit::NodeId id) { return id == 0 ? 4096.0 : 0.0; });
///     auto report = mesh.Run(netuit::Free{.duration = 5s}, [&](netuit::Node& node) { … });
///
/// METIS places the nodes, unless MeshOptions::placement does. Only rank 0 reads the graph; each process gets its own part.
/// Nodes of this process are numbered from 0 without gaps, those of a thread in a row, ascending by id. Every process adds
/// the same fields and channels in the same order, between runs.
class Mesh : public MeshCore {
 public:
  /// Of one network. Collective. Throws on every process if the graph cannot be read or placed: rank 0 what went wrong, the
  /// others RootFailed.
  Mesh(const uit::Team& team, const Graph& graph, const MeshOptions& options = {})
      : Mesh(team, std::vector{NamedNetwork{"", graph}}, options) {}
  /// Of several networks over the same nodes.
  Mesh(const uit::Team& team, const std::vector<NamedNetwork>& networks, const MeshOptions& options = {})
      : Mesh(team, detail::RootNetworks(team, networks, options.placement), networks, options) {}

  /// A network by its name. Throws uit::InputError if the mesh has none of that name.
  Network GetNetwork(const std::string& name) const {
    const auto found = std::ranges::find(names_, name);
    if (found == names_.end()) throw uit::InputError("the mesh has no network named '" + name + "'");
    return {static_cast<std::uint32_t>(found - names_.begin())};
  }

  /// Adds a value per node that no other node sees, of any type that can be moved; `T{}` by default. `initial` is the same
  /// on every process.
  template <typename T>
  Field<T> AddField(const Initial<T>& initial = {}) {
    auto& values = Own(std::make_unique<detail::OwnedField<detail::FieldValues<T>>>(NumOwnSlots()));
    ForEachNode([&](std::size_t, std::size_t slot, NodeId id) { values.own[slot] = initial(id); });
    return Field<T>(values);
  }
  /// The same, filled from a file: `mesh.AddField<double>(netuit::FromTable("grid.csv", "power"))`. Collective. Throws on every
  /// process if the table does not fit: rank 0 what is wrong with it, the others RootFailed.
  template <typename T>
    requires std::is_arithmetic_v<T>
  Field<T> AddField(const NodeTable& table) {
    return AddField<T>(Read<T>(table));
  }
  /// The same, filled from values that rank 0 has. Collective; throws as for a table.
  template <typename T>
  Field<T> AddField(const RootValues<T>& values) {
    return AddField<T>(Initial<T>(ScatterByNode<T>(*this, [&] { return values.by_node; })));
  }

  /// Adds a value per node that its out-neighbours see, in every network.
  template <uit::FixedSizeEncodable T>
    requires std::is_trivially_copyable_v<T>
  PublishedField<T> AddPublishedField(const Initial<T>& initial = {}) {
    std::vector<Network> all(NumNetworks());
    for (std::uint32_t number = 0; number < all.size(); ++number) all[number].number = number;
    return AddPublishedField<T>(initial, all);
  }
  /// The same in some networks only.
  template <uit::FixedSizeEncodable T>
    requires std::is_trivially_copyable_v<T>
  PublishedField<T> AddPublishedField(const Initial<T>& initial, const std::vector<Network>& along) {
    auto& values = Own(std::make_unique<detail::OwnedField<detail::PublishedValues<T>>>(NumSlots()));
    ForEachNode([&](std::size_t, std::size_t slot, NodeId id) { values.own[slot] = initial(id); });
    ForEachGhost([&](std::size_t slot, NodeId id) { values.own[slot] = initial(id); });
    bool is_first = true;
    for (const Network network : along) {
      AddLayer(std::make_unique<FieldLayer>(values.memory, uit::TypeHash<T>(), Partitions(), network.number,
                                            std::exchange(is_first, false)));
    }
    return PublishedField<T>(values);
  }
  /// The same in every network, filled from a file, as AddField.
  template <uit::FixedSizeEncodable T>
    requires std::is_arithmetic_v<T>
  PublishedField<T> AddPublishedField(const NodeTable& table) {
    return AddPublishedField<T>(Read<T>(table));
  }
  /// The same in every network, filled from values that rank 0 has, as AddField.
  template <uit::FixedSizeEncodable T>
  PublishedField<T> AddPublishedField(const RootValues<T>& values) {
    return AddPublishedField<T>(Initial<T>(ScatterByNode<T>(*this, [&] { return values.by_node; })));
  }

  /// Adds a value per edge of a network, kept where the edge ends.
  template <std::copyable T>
  EdgeField<T> AddEdgeField(const T& initial = {}, Network network = {}) {
    auto& values = Own(std::make_unique<detail::OwnedField<detail::EdgeValues<T>>>(NumInputs(network)));
    std::fill_n(values.values.get(), NumInputs(network), initial);
    return EdgeField<T>(values.values.get());
  }
  /// The weights of a network's edges, as its graph has them; 1 where it has none.
  EdgeWeights GetEdgeWeights(Network network = {}) {
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
  /// Adds a conduit per edge of a network. Until its first message an outlet shows `first` of the node that the edge comes
  /// from.
  template <uit::Encodable T, uit::Policy policy = uit::every>
  Channels<T, policy> AddChannels(Network network = {}, const Initial<T>& first = {}) {
    auto layer = std::make_unique<ChannelLayer<T, policy>>(Partitions(), network.number, first);
    const Channels<T, policy> channels = layer->Handle();
    AddLayer(std::move(layer));
    return channels;
  }

  /// Updates every node again and again, on all workers, as the schedule says; see netuit/run/run.hpp, which defines it.
  template <ScheduleValue S, std::invocable<Node&> F>
  RunReport Run(const S& schedule, F&& update, const RunOptions& options);
  /// The same, with everything else as it is by default.
  template <ScheduleValue S, std::invocable<Node&> F>
  RunReport Run(const S& schedule, F&& update);

  /// Calls `visit(node)` once for each node of this process, on the calling thread: to look at fields, and to read what the
  /// last run has left in channels. Between runs; nothing is sent.
  template <std::invocable<Node&> F>
  void Visit(F&& visit) {
    for (const auto& partition : Partitions()) {
      for (LayerPart* const layer : partition->layers) layer->HandOver();
      Node node(*partition, 0, 0);
      for (std::uint32_t i = 0; i < partition->NumNodes(); ++i) {
        node.GoTo(i);
        visit(node);
      }
      partition->silent.clear();
    }
  }

  /// Brings a field to rank 0: there the result is by node id, elsewhere it is empty. Collective.
  template <typename F>
    requires std::is_trivially_copyable_v<typename F::Value>
  std::vector<typename F::Value> Gather(const F& field) const {
    std::vector<typename F::Value> values(NumLocalNodes());
    ForEachNode([&](std::size_t local, std::size_t slot, NodeId) { values[local] = field.AtSlot(slot); });
    return GatherByNode<typename F::Value>(*this, values);
  }

  /// Writes a CSV file on rank 0: a row per node by id, of its label and its values in fields that Table can write.
  ///
  ///     mesh.WriteTable("theta.csv", netuit::Column{"theta", theta}, netuit::Column{"power", power});
  ///
  /// Collective; the file appears whole or not at all. Throws uit::OutputError on rank 0 if it cannot be written, RootFailed
  /// elsewhere.
  template <typename... Fs>
  void WriteTable(const std::filesystem::path& path, const Column<Fs>&... columns) const {
    const Table header{{"label", columns.name...}};
    std::vector<std::string> lines(NumLocalNodes());
    ForEachNode([&](std::size_t local, std::size_t slot, NodeId) {
      Table line{{Label(local)}};
      (line.Add(columns.field.AtSlot(slot)), ...);
      lines[local] = line.Text();
    });
    detail::WriteLines(*this, path, header.Text(), lines);
  }

  /// For the runner: whether values are shown update by update. Between runs.
  void ShowByUpdate(bool is_by_update) {
    for (const auto& field : fields_) field->SetByUpdate(is_by_update, NumOwnSlots());
  }

 private:
  Mesh(const uit::Team& team, const detail::RootNetworks& root, const std::vector<NamedNetwork>& networks,
       const MeshOptions& options)
      : MeshCore(team.GetWorld(), root.Placed(), options) {
    if (NumThreads() != team.NumThreads()) {
      throw uit::InputError("the placement is for " + std::to_string(NumThreads()) + " threads of each process, and the team has " +
                            std::to_string(team.NumThreads()));
    }
    for (const NamedNetwork& network : networks) names_.push_back(network.name);
    weights_.resize(networks.size());
  }
  template <typename T>
  Initial<T> Read(const NodeTable& table) const {
    const std::vector<std::string> labels = GatherLabels(*this);
    return Initial<T>(ScatterByNode<T>(*this, [&] { return LoadNodeTable<T>(table, labels); }));
  }
  template <typename V>
  V& Own(std::unique_ptr<detail::OwnedField<V>> values) {
    V& owned = *values;
    fields_.push_back(std::move(values));
    return owned;
  }

  std::vector<std::string> names_;                   // by network
  std::vector<std::optional<EdgeWeights>> weights_;  // by network, once asked for
  std::vector<std::unique_ptr<detail::AnyField>> fields_;
};

}  // namespace netuit
