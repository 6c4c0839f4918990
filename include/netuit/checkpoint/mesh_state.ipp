#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <netuit/checkpoint/block_route.hpp>
#include <netuit/checkpoint/checkpoint_site.hpp>
#include <netuit/checkpoint/manifest.hpp>
#include <netuit/checkpoint/mesh_state.hpp>
#include <netuit/checkpoint/older_values.hpp>
#include <netuit/checkpoint/put_back.hpp>
#include <netuit/checkpoint/value_store.hpp>
#include <netuit/file/numpy_format.hpp>
#include <netuit/mesh/capture_store.hpp>
#include <netuit/mesh/layer_base.hpp>
#include <netuit/mesh/mesh.hpp>
#include <netuit/mesh/shared_base.hpp>
#include <netuit/run/run_options.hpp>
#include <uit/config.hpp>
#include <uit/link/world.hpp>
#include <uit/support/bytes.hpp>
#include <uit/support/error.hpp>

namespace netuit::detail {

/// Saves the values of a mesh's fields and the messages in its channels.
class CheckpointSaver {
 public:
  CheckpointSaver(Mesh& mesh, const uit::World& world, ValueStore& store) : mesh_(mesh), store_(store), site_(mesh, world) {}

  /// Saves all fields and all messages. Returns what a manifest says of them.
  std::vector<SavedValues> SaveAll() {
    std::vector<SavedValues> all;
    for (std::size_t field = 0; field < mesh_.Fields().size(); ++field)
      if (!mesh_.Fields()[field]->is_derived) all.push_back(SaveField(field));
    for (std::size_t layer = 0; layer < mesh_.Layers().size(); ++layer) {
      auto messages = DescribeMessages(mesh_, layer);
      if (!messages) continue;
      SaveMessages(*mesh_.Layers()[layer], *messages);
      all.push_back(std::move(*messages));
    }
    return all;
  }

  std::vector<SavedNetwork> DescribeNetworks() const {
    std::vector<SavedNetwork> networks;
    for (std::uint32_t network = 0; network < mesh_.NumNetworks(); ++network) networks.push_back(site_.Describe(network));
    return networks;
  }

 private:
  SavedValues SaveField(std::size_t number) {
    const AnyField& field = *mesh_.Fields()[number];
    SavedValues saved = DescribeField(mesh_, number);
    if (saved.of == "edge") {
      Save(site_.Inputs(saved.network), field, saved, [&](std::size_t position) { return site_.Input(saved.network, position); });
      return saved;
    }
    Save(site_.Nodes(), field, saved, [this](std::size_t position) { return site_.Slot(position); });
    if (field.Published() != nullptr && mesh_.HasOlderValues()) SaveOlder(field, saved);
    return saved;
  }
  void SaveMessages(LayerBase& layer, SavedValues& saved) {
    const BlockRoute& route = site_.Inputs(saved.network);
    std::vector<std::pair<WaitingMessages*, std::uint32_t>> inputs;
    std::size_t thread = 0;
    mesh_.ForEachPart({saved.network}, [&](const NetworkPart& part) {
      LayerPart& of = layer.Part(thread++);
      for (std::uint32_t input = 0; input < part.graph.sources.size(); ++input) inputs.emplace_back(of.Messages(), input);
    });
    VariedBlock block = route.CollectVaried([&](std::size_t position, uit::Bytes& to) {
      inputs[position].first->ForEach(inputs[position].second, [&to](uit::ByteView message) {
        const std::uint64_t size = message.size();
        const uit::ByteView head = uit::BytesOf(size);
        to.insert(to.end(), head.begin(), head.end());
        to.insert(to.end(), message.begin(), message.end());
      });
    });
    saved.num_values = route.NumItems();
    saved.digest = store_.WriteVaried(saved.name, route, std::move(block));
  }
  void SaveOlder(const AnyField& field, SavedValues& saved) {
    const OlderValues& older = site_.Older(field.along);
    if (older.NumValues() == 0) return;
    const uit::Bytes block = older.Route().Collect(saved.num_bytes, [&](std::size_t position, std::byte* to) {
      std::memcpy(to, field.Published()->Shown(older.Slot(position)), saved.num_bytes);
    });
    saved.older = SavedOlderValues{
        .num_values = older.NumValues(),
        .digest = store_.Write(saved.name + ".older", saved.numpy, saved.num_bytes, older.Route(), block),
        .counts_digest = store_.Write(saved.name + ".older.counts", NumpyTypeOf<std::uint64_t>(), sizeof(std::uint64_t),
                                      site_.Nodes(), std::as_bytes(std::span(older.Counts())))};
  }
  template <typename F>
  void Save(const BlockRoute& route, const AnyField& field, SavedValues& saved, F&& index_of) {
    saved.num_values = route.NumItems();
    if (saved.num_bytes == 0) {
      saved.digest = store_.WriteVaried(saved.name, route, route.CollectVaried([&](std::size_t position, uit::Bytes& to) {
        field.Encode(index_of(position), to);
      }));
      return;
    }
    const std::byte* const first = field.First();
    const uit::Bytes block = route.Collect(saved.num_bytes, [&](std::size_t position, std::byte* to) {
      std::memcpy(to, first + index_of(position) * saved.num_bytes, saved.num_bytes);
    });
    saved.digest = store_.Write(saved.name, saved.numpy, saved.num_bytes, route, block);
  }

  Mesh& mesh_;
  ValueStore& store_;
  CheckpointSite site_;
};

/// Puts what a CheckpointSaver has saved back into a mesh.
class CheckpointLoader {
 public:
  CheckpointLoader(Mesh& mesh, const CheckpointManifest& manifest, const ValueStore& store, std::string name)
      : mesh_(mesh), name_(std::move(name)), manifest_(manifest), store_(store), site_(mesh) {}

  /// Returns the number of messages that this process has put into channels.
  std::uint64_t Load() {
    Check();
    std::size_t next = 0;
    for (const auto& field : mesh_.Fields()) {
      if (!field->is_derived) fields_.push_back({field.get(), &manifest_.values[next++]});
    }
    const std::uint64_t num_put = LoadMessages(next);  // first, because they take updates, in which values move
    const bool has_older = HasOlder();
    if (has_older) mesh_.ShowByUpdate(true);
    for (const auto& [field, saved] : fields_) {
      LoadField(*field, *saved);
      if (has_older) LoadOlder(*field, *saved);
    }
    mesh_.SetHasOlderValues(has_older);
    mesh_.SetNumUpdates(manifest_.num_updates);
    mesh_.UseSeed(manifest_.seed);
    return num_put;
  }

 private:
  [[noreturn]] void Refuse(const std::string& why) const { throw uit::InputError(name_ + ": " + why); }
  /// Throws unless the checkpoint is of a mesh like this. On every process alike.
  void Check() {
    if (manifest_.num_nodes != mesh_.NumNodes() || manifest_.networks.size() != mesh_.NumNetworks())
      Refuse("is of another graph: it has " + std::to_string(manifest_.num_nodes) + " nodes and " +
             std::to_string(manifest_.networks.size()) + " networks, and this mesh " + std::to_string(mesh_.NumNodes()) + " and " +
             std::to_string(mesh_.NumNetworks()));
    for (std::uint32_t network = 0; network < mesh_.NumNetworks(); ++network) {
      const SavedNetwork here = site_.Describe(network);
      const SavedNetwork& there = manifest_.networks[network];
      if (here.num_edges != there.num_edges || here.digest != there.digest)
        Refuse("is of another graph: network " + std::to_string(network) + " has other edges or weights");
    }
    std::vector<SavedValues> expected;
    for (std::size_t number = 0; number < mesh_.Fields().size(); ++number)
      if (!mesh_.Fields()[number]->is_derived) expected.push_back(DescribeField(mesh_, number));
    for (std::size_t number = 0; number < mesh_.Layers().size(); ++number)
      if (const auto messages = DescribeMessages(mesh_, number)) expected.push_back(*messages);
    if (expected.size() != manifest_.values.size())
      Refuse("is of another program: it has " + std::to_string(manifest_.values.size()) + " fields and channels, and this mesh " +
             std::to_string(expected.size()));
    for (std::size_t i = 0; i < expected.size(); ++i) {
      const SavedValues& here = expected[i];
      const SavedValues& there = manifest_.values[i];
      if (here.name != there.name || here.of != there.of || here.network != there.network || here.num_bytes != there.num_bytes ||
          here.type != there.type || here.numpy.name != there.numpy.name || here.numpy.extents != there.numpy.extents ||
          here.policy != there.policy)
        Refuse("is of another program: its '" + there.name + "' and '" + here.name +
               "' of this mesh differ in name, kind, network, type or policy");
    }
  }
  /// Whether the checkpoint has the older values that edges of this mesh show. Throws if it has only some of them, or others. A
  /// checkpoint has none if its last run was not by Dataflow with delays above 1.
  bool HasOlder() {
    if (mesh_.Partitions().front()->max_delay <= 1) return false;
    bool has_some = false;
    std::string lacking;
    for (const auto& [field, saved] : fields_) {
      if (field->along.empty() || site_.Older(field->along).NumValues() == 0) continue;
      has_some |= saved->older.has_value();
      if (!saved->older) lacking = saved->name;
    }
    if (!has_some) return false;
    if (!lacking.empty()) Refuse("is of other edge delays: '" + lacking + "' has no older values, and this mesh needs some");
    return true;
  }
  void LoadOlder(const AnyField& field, const SavedValues& saved) {
    if (field.along.empty()) return;
    const OlderValues& older = site_.Older(field.along);
    if (older.NumValues() == 0) return;
    const std::string why = "is of other edge delays: '" + saved.name + "' has ";
    if (saved.older->num_values != older.NumValues())
      Refuse(why + std::to_string(saved.older->num_values) + " older values, and this mesh needs " +
             std::to_string(older.NumValues()));
    const uit::Bytes counts = store_.Read(saved.name + ".older.counts", NumpyTypeOf<std::uint64_t>(), sizeof(std::uint64_t),
                                          site_.Nodes(), saved.older->counts_digest);
    const bool is_same = std::ranges::equal(counts, std::as_bytes(std::span(older.Counts())));
    mesh_.GetWorld().Agree<uit::InputError>(is_same ? "" : name_ + ": " + why + "older values of other nodes");
    const uit::Bytes block = store_.Read(saved.name + ".older", saved.numpy, saved.num_bytes, older.Route(), saved.older->digest);
    older.Route().Distribute(saved.num_bytes, block, [&](std::size_t position, const std::byte* value) {
      std::memcpy(field.Published()->Shown(older.Slot(position)), value, saved.num_bytes);
    });
  }
  void LoadField(AnyField& field, const SavedValues& saved) {
    if (saved.of == "edge") {
      LoadValues(site_.Inputs(saved.network), field, saved,
                 [&](std::size_t position) { return site_.Input(saved.network, position); });
      return;
    }
    const FieldMemory* const memory = field.Published();
    if (memory == nullptr) {
      LoadValues(site_.Nodes(), field, saved, [this](std::size_t position) { return site_.Slot(position); });
      return;
    }
    const BlockRoute& route = site_.NodesAndGhosts();
    const uit::Bytes block = store_.Read(saved.name, saved.numpy, saved.num_bytes, route, saved.digest);
    route.Distribute(saved.num_bytes, block, [&](std::size_t position, const std::byte* value) {
      const std::size_t slot = site_.Slot(position);
      if (position < site_.NumNodes()) std::memcpy(memory->Own(slot), value, saved.num_bytes);
      std::memcpy(memory->Shown(slot), value, saved.num_bytes);
    });
  }
  template <typename F>
  void LoadValues(const BlockRoute& route, AnyField& field, const SavedValues& saved, F&& index_of) {
    if (saved.num_bytes != 0) {
      const uit::Bytes block = store_.Read(saved.name, saved.numpy, saved.num_bytes, route, saved.digest);
      route.Distribute(saved.num_bytes, block, [&](std::size_t position, const std::byte* value) {
        std::memcpy(field.First() + index_of(position) * saved.num_bytes, value, saved.num_bytes);
      });
      return;
    }
    std::string complaint;
    route.DistributeVaried(store_.ReadVaried(saved.name, route, saved.digest), [&](std::size_t position, uit::ByteView value) {
      if (!field.TryDecode(index_of(position), value)) complaint = name_ + ": a value of '" + saved.name + "' cannot be read";
    });
    mesh_.GetWorld().Agree<uit::InputError>(complaint);
  }
  std::uint64_t LoadMessages(std::size_t next) {
    PutBack put_back(mesh_);
    for (const auto& layer : mesh_.Layers()) {
      if (layer->Part(0).Messages() == nullptr) continue;
      const SavedValues& saved = manifest_.values[next++];
      const VariedBlock block = store_.ReadVaried(saved.name, site_.Inputs(saved.network), saved.digest);
      put_back.Add(*layer, saved.network, site_.Inputs(saved.network), site_.Outputs(saved.network), block);
    }
    put_back.Run(name_);
    return put_back.NumMessages();
  }

  Mesh& mesh_;
  std::string name_;
  const CheckpointManifest& manifest_;
  const ValueStore& store_;
  CheckpointSite site_;
  std::vector<std::pair<AnyField*, const SavedValues*>> fields_;
};

UIT_DEFINE void CheckSavable(const Mesh& mesh) {
  if (!mesh.IsOpen()) throw uit::Error("the mesh cannot be saved, because it is closed or has lost a peer");
  for (const auto& field : mesh.Fields()) {
    if (!field->is_derived && !field->Storage().can_be_saved)
      throw uit::InputError("a checkpoint cannot save a field whose values are neither trivially copyable nor have a codec");
  }
}

UIT_DEFINE void CheckReplaceable(const Mesh& mesh, const RunOptions& options, const std::string& kind) {
  if (!options.record.empty() || !options.replay.empty())
    throw uit::InputError("a " + kind + " run cannot be recorded or replayed");
  if (!mesh.SharedObjects().empty() || !mesh.Captures().empty())
    throw uit::InputError("a " + kind + " mesh can have neither captures nor objects that nodes share, because they would stay " +
                          "behind when nodes move");
  CheckSavable(mesh);
}

UIT_DEFINE CheckpointManifest SaveState(Mesh& mesh, ValueStore& store) {
  if (mesh.HasOlderValues()) mesh.ShowByUpdate(true);  // no change, unless a run in another mode was refused since
  CheckpointManifest manifest{.num_updates = mesh.NumUpdates(), .seed = mesh.Seed(), .num_nodes = mesh.NumNodes()};
  CheckpointSaver saver(mesh, mesh.GetWorld(), store);
  manifest.networks = saver.DescribeNetworks();
  manifest.values = saver.SaveAll();
  return manifest;
}

UIT_DEFINE void SaveRest(Mesh& mesh, const uit::World& world, ValueStore& store) { CheckpointSaver(mesh, world, store).SaveAll(); }

UIT_DEFINE std::uint64_t LoadState(Mesh& mesh, const CheckpointManifest& manifest, const ValueStore& store,
                                   const std::string& name) {
  return CheckpointLoader(mesh, manifest, store, name).Load();
}

}  // namespace netuit::detail
