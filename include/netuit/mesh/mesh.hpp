#pragma once

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <netuit/file/node_table.hpp>
#include <netuit/file/table.hpp>
#include <netuit/graph/graph.hpp>
#include <netuit/mesh/captured.hpp>
#include <netuit/mesh/channel_layer.hpp>
#include <netuit/mesh/channels.hpp>
#include <netuit/mesh/cut_field.hpp>
#include <netuit/mesh/cut_layer.hpp>
#include <netuit/mesh/cut_reduction.hpp>
#include <netuit/mesh/edge_field.hpp>
#include <netuit/mesh/field.hpp>
#include <netuit/mesh/field_layer.hpp>
#include <netuit/mesh/gather.hpp>
#include <netuit/mesh/graph_in_parts.hpp>
#include <netuit/mesh/initial.hpp>
#include <netuit/mesh/mesh_calls.hpp>
#include <netuit/mesh/mesh_core.hpp>
#include <netuit/mesh/node.hpp>
#include <netuit/mesh/node_data.hpp>
#include <netuit/mesh/part.hpp>
#include <netuit/mesh/reduction.hpp>
#include <netuit/mesh/root_networks.hpp>
#include <netuit/mesh/shared.hpp>
#include <uit/config.hpp>
#include <uit/codec/span_codec.hpp>
#include <uit/policy.hpp>
#include <uit/support/bytes.hpp>
#include <uit/support/error.hpp>
#include <uit/team/team.hpp>

namespace netuit {

struct RunPlan;
struct RunOptions;
struct RunReport;

/// Describes a run: its limits, how values and messages move, and a schedule for each worker.
///
/// You can define such a type for a mode of your own. netuit/run/schedules.hpp defines those of the library.
template <typename S>
concept ScheduleValue = requires(const S& schedule) {
  { schedule.MakePlan() } -> std::same_as<RunPlan>;
};

/// A graph placed on the threads and processes of a team: one or more networks over the same nodes.
///
///     netuit::Mesh mesh{team, netuit::Torus(64, 64)};
///     auto heat = mesh.AddPublishedField<double>([](netuit::NodeId id) { return id == 0 ? 4096.0 : 0.0; });
///     auto report = mesh.Run(netuit::Free{.duration = 5s}, [&](netuit::Node& node) { … });
///
/// The mesh owns the fields and channels that are added to it. Every process must add the same ones in the same order, between
/// runs. METIS places the nodes unless MeshOptions::placement is set. Only rank 0 reads the graph; each process receives its own
/// part. A graph that is too large for one process can be read or made in parts: see GraphInParts. The nodes of a process have
/// local numbers from 0 without gaps. Those of one thread are consecutive, in ascending order of id.
class Mesh : public MeshCalls {
 public:
  /// Makes a mesh of one network. Collective. If the graph cannot be read or placed, every process throws: rank 0 throws the
  /// cause, the others RootFailed.
  Mesh(const uit::Team& team, const Graph& graph, const MeshOptions& options = {});
  /// Makes a mesh of several networks over the same nodes. Collective; throws like the constructor for one network.
  Mesh(const uit::Team& team, const std::vector<NamedNetwork>& networks, const MeshOptions& options = {});

  /// Makes a mesh of one network, of which each process reads or makes its part. Collective. If a process fails, every process
  /// throws: the lowest that failed throws the cause, the others uit::FailedElsewhere. Throws uit::InputError if a placement is
  /// given.
  Mesh(const uit::Team& team, const GraphInParts& graph, const MeshOptions& options = {});
  /// Closes the mesh if Close has not been called.
  ~Mesh();

  /// Returns the names of the networks.
  const std::vector<std::string>& NetworkNames() const { return names_; }
  /// Returns the network with this name. Throws uit::InputError if the mesh has no such network.
  Network GetNetwork(const std::string& name) const;

  /// Adds a value per node that only this node reads. `T` may be any movable type. The default initial value is `T{}`;
  /// `initial` must be the same on every process.
  template <typename T>
  Field<T> AddField(const Initial<T>& initial = {}) {
    auto& values = Own(std::make_unique<detail::OwnedField<detail::FieldValues<T>>>(NumOwnSlots()));
    ForEachNode([&](std::size_t, std::size_t slot, NodeId id) { values.own[slot] = initial(id); });
    return Field<T>(values);
  }
  /// Adds a field and fills it from a file: `mesh.AddField<double>(netuit::FromTable("grid.csv", "power"))`. Collective. If the
  /// table does not fit the mesh, every process throws: rank 0 throws the cause, the others RootFailed.
  template <typename T>
    requires std::is_arithmetic_v<T>
  Field<T> AddField(const NodeTable& table) {
    return AddField<T>(Read<T>(table));
  }
  /// Adds a field and fills it from values that rank 0 has. Collective; throws like the overload for a table.
  template <typename T>
  Field<T> AddField(const RootValues<T>& values) {
    return AddField<T>(Initial<T>(ScatterByNode<T>(*this, [&] { return values.by_node; })));
  }

  /// Adds a value per node that the node's out-neighbours read, in every network.
  template <uit::FixedSizeEncodable T>
    requires std::is_trivially_copyable_v<T>
  PublishedField<T> AddPublishedField(const Initial<T>& initial = {}) {
    std::vector<Network> all(NumNetworks());
    for (std::uint32_t number = 0; number < all.size(); ++number) all[number].number = number;
    return AddPublishedField<T>(initial, all);
  }
  /// Adds a field that is published in the networks `along` only.
  template <uit::FixedSizeEncodable T>
    requires std::is_trivially_copyable_v<T>
  PublishedField<T> AddPublishedField(const Initial<T>& initial, const std::vector<Network>& along) {
    auto& values = Own(std::make_unique<detail::OwnedField<detail::PublishedValues<T>>>(NumSlots(), NumSlotsByUpdate()));
    ForEachNode([&](std::size_t, std::size_t slot, NodeId id) { values.own[slot] = initial(id); });
    ForEachGhost([&](std::size_t slot, NodeId id) { values.own[slot] = initial(id); });
    bool is_first = true;
    for (const Network network : along) {
      fields_.back()->along.push_back(network.number);
      AddLayer(std::make_unique<FieldLayer>(values.memory, uit::TypeHash<T>(), Partitions(), network.number,
                                            std::exchange(is_first, false)));
    }
    return PublishedField<T>(values);
  }
  /// Adds a field that is published in every network, and fills it from a file as AddField does. Collective.
  template <uit::FixedSizeEncodable T>
    requires std::is_arithmetic_v<T>
  PublishedField<T> AddPublishedField(const NodeTable& table) {
    return AddPublishedField<T>(Read<T>(table));
  }
  /// Adds a field that is published in every network, and fills it from rank 0's values as AddField does. Collective.
  template <uit::FixedSizeEncodable T>
  PublishedField<T> AddPublishedField(const RootValues<T>& values) {
    return AddPublishedField<T>(Initial<T>(ScatterByNode<T>(*this, [&] { return values.by_node; })));
  }

  /// Adds a value per edge of a network. The worker that updates the edge's target stores it.
  template <std::copyable T>
  EdgeField<T> AddEdgeField(const T& initial = {}, Network network = {}) {
    auto& values = Own(std::make_unique<detail::OwnedField<detail::EdgeValues<T>>>(NumInputs(network), network.number));
    std::fill_n(values.values.get(), NumInputs(network), initial);
    return EdgeField<T>(values.values.get());
  }
  /// Returns the weights of a network's edges from its graph. A weight is 1 if the graph has none.
  EdgeWeights GetEdgeWeights(Network network = {});
  /// Adds a conduit per edge of a network. Before its first message, an outlet shows `first(id of the edge's source)`.
  template <uit::Encodable T, uit::Policy policy = uit::every>
  Channels<T, policy> AddChannels(Network network = {}, const Initial<T>& first = {}) {
    auto layer = std::make_unique<ChannelLayer<T, policy>>(Partitions(), network.number, first);
    const Channels<T, policy> channels = layer->Handle();
    AddLayer(std::move(layer));
    return channels;
  }

  /// Adds an object of which each process has one, made from `args`, which its nodes use during updates in the given order. No other
  /// process sees it, and checkpoints do not keep it.
  template <typename T, Order order, typename... Args>
  Shared<T, order> AddShared(Args&&... args) {
    using Object = detail::SharedObject<T, order>;
    std::unique_ptr<Object> object;
    if constexpr (order == Order::sequential) object = std::make_unique<Object>(AddTurns(), std::forward<Args>(args)...);
    else if constexpr (order == Order::exclusive) object = std::make_unique<Object>(NumThreads(), std::forward<Args>(args)...);
    else object = std::make_unique<Object>(std::forward<Args>(args)...);
    const Shared<T, order> shared(*object, NumThreads());
    MeshCore::AddShared(std::move(object));
    return shared;
  }

  /// Adds the largest (`netuit::maximum`), smallest (`netuit::minimum`) or sum (`netuit::exact_sum`) of a number that nodes give in each
  /// update, for the schedules' `until`. Throws uit::InputError if the mesh has max_reductions already.
  Reduction AddReduction(ReductionKind which);

  /// Adds copies of a published field's values at cuts, for AddCutReduction. Throws uit::InputError if a network has a period above 1.
  template <typename T>
  CutField<T> AddCut(const PublishedField<T>& field) {
    CheckCut();
    const auto copy = std::make_shared<detail::PublishedValues<T>>(NumSlots(), 0);
    for (std::uint32_t network = 0; network < NumNetworks(); ++network)
      AddCutLayer(std::make_unique<CutLayer>(field.Memory(), copy->memory, copy, uit::TypeHash<T>(), Partitions(), network));
    return CutField<T>(*copy);
  }
  /// Adds the largest (`netuit::maximum`), smallest (`netuit::minimum`) or sum (`netuit::exact_sum`) of a number that `evaluate(node)`
  /// returns for each node at a consistent cut; see CutReduction. Every worker calls the function for its own nodes, all at once. It
  /// reads fields through AddCut; what it reads of others is not of the cut. Throws uit::InputError if `every` is 0, or if the mesh
  /// has max_reductions already.
  CutReduction AddCutReduction(ReductionKind which, std::function<double(Node&)> evaluate, const CutOptions& options = {});

  /// Updates every node repeatedly, on all workers, as the schedule says: `update(node)` one node, `update(part)` many at once, as
  /// arrays. Collective. Defined in netuit/run/run.hpp.
  template <ScheduleValue S, UpdateFunction F>
  RunReport Run(const S& schedule, F&& update, const RunOptions& options);
  /// Runs with default options.
  template <ScheduleValue S, UpdateFunction F>
  RunReport Run(const S& schedule, F&& update);

  /// Calls `visit(node)` once for each node of this process, on the calling thread. Call it between runs to read fields, and
  /// messages that the last run left in channels. Sends nothing.
  template <std::invocable<Node&> F>
  void Visit(F&& visit) const {
    for (const auto& partition : Partitions()) {
      for (LayerPart* const layer : partition->layers) layer->HandOver();
      Node node(*partition, 0, 0);
      for (std::uint32_t i = 0; i < partition->NumNodes(); ++i) {
        node.GoTo(i);
        visit(node);
      }
      partition->notes.silent.clear();
    }
  }

  /// Collects a field's values on rank 0. Returns them there by node id, and an empty vector elsewhere. Collective.
  template <typename F>
    requires std::is_trivially_copyable_v<typename F::Value>
  std::vector<typename F::Value> Gather(const F& field) const {
    std::vector<typename F::Value> values(NumLocalNodes());
    ForEachNode([&](std::size_t local, std::size_t slot, NodeId) { values[local] = field.AtSlot(slot); });
    return GatherByNode<typename F::Value>(*this, values);
  }

  /// Writes a CSV file on rank 0, with a row per node in order of id: its label and its values in the given fields.
  /// `netuit::Table` must be able to write the values.
  ///
  ///     mesh.WriteTable("theta.csv", netuit::Column{"theta", theta}, netuit::Column{"power", power});
  ///
  /// Collective. The file appears complete or not at all. If it cannot be written, rank 0 throws uit::OutputError and the
  /// others RootFailed.
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

  /// Copies a field's values now and then during the following runs, without a pause; see Captured. Every process must ask for the
  /// same copies in the same order. Throws uit::InputError if `every` is 0.
  template <typename F>
    requires std::is_trivially_copyable_v<typename F::Value>
  Captured<typename F::Value> Capture(const F& field, const CaptureOptions& options = {}) {
    return {*this, AddCapture(reinterpret_cast<const std::byte*>(&field.AtSlot(0)), sizeof(typename F::Value), options.every, options.most)};
  }
  /// Names a field in checkpoints; otherwise it has a number there. A name consists of letters, digits, '_' and '-'. Throws
  /// uit::InputError for any other.
  template <typename F>
  void SetName(const F& field, const std::string& name) {
    if constexpr (requires { field.AtSlot(0); }) SetNameOf(static_cast<const void*>(&field.AtSlot(0)), name);
    else SetNameOf(static_cast<const void*>(field.Values()), name);
  }
  /// For checkpoints: the fields, in the order in which they were added.
  const std::vector<std::unique_ptr<detail::AnyField>>& Fields() const { return fields_; }

  /// For the run: chooses whether neighbours see values of the previous update, or values in place. Between runs.
  void ShowByUpdate(bool is_by_update);

 private:
  Mesh(const uit::Team& team, DistributedNetworks networks, const MeshOptions& options);
  template <typename T>
  Initial<T> Read(const NodeTable& table) const {
    const std::vector<std::string> labels = GatherLabels(*this);
    return Initial<T>(ScatterByNode<T>(*this, [&] { return LoadNodeTable<T>(table, labels); }));
  }
  std::size_t AddReductionNumber();
  void CheckCut() const;
  void SetNameOf(const void* first, const std::string& name);
  template <typename V>
  V& Own(std::unique_ptr<detail::OwnedField<V>> values) {
    V& owned = *values;
    Keep(std::move(values));
    return owned;
  }
  void Keep(std::unique_ptr<detail::AnyField> field);

  std::vector<std::string> names_;                   // by network
  std::vector<std::optional<EdgeWeights>> weights_;  // by network, once they have been requested
  std::vector<std::unique_ptr<detail::AnyField>> fields_;
  std::size_t num_reductions_ = 0;
};

}  // namespace netuit

#if !UIT_COMPILED
#include <netuit/mesh/mesh.ipp>
#endif
