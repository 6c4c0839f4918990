#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <iterator>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <netuit/barrier/process_barrier.hpp>
#include <netuit/graph/topology.hpp>
#include <netuit/mesh/capture_store.hpp>
#include <netuit/mesh/cut_layer.hpp>
#include <netuit/mesh/cut_reduction.hpp>
#include <netuit/mesh/delay_layout.hpp>
#include <netuit/mesh/delayed_slots.hpp>
#include <netuit/mesh/layer_base.hpp>
#include <netuit/mesh/levels.hpp>
#include <netuit/mesh/mesh_core.hpp>
#include <netuit/mesh/mesh_options.hpp>
#include <netuit/mesh/network_part.hpp>
#include <netuit/mesh/partition.hpp>
#include <netuit/mesh/shared_base.hpp>
#include <netuit/mesh/worker_graph.hpp>
#include <netuit/mesh/status_board.hpp>
#include <netuit/mesh/peer_table.hpp>
#include <netuit/mesh/turn_order.hpp>
#include <uit/config.hpp>
#include <uit/exchange/fabric.hpp>
#include <uit/support/assert.hpp>
#include <uit/support/clock.hpp>
#include <uit/support/error.hpp>
#include <uit/team/core_spread.hpp>
#include <uit/transport/process.hpp>
#include <uit/link/world.hpp>

namespace netuit {

UIT_DEFINE MeshCore::MeshCore(const uit::Team& team, DistributedNetworks& networks, MeshOptions options)
    : team_(team), world_(team.GetWorld()), options_(std::move(options)) {
  CheckOptions(options_);
  options_.placement.reset();  // it describes the whole graph, so it is not kept
  std::vector<ProcessGraph>& graphs = networks.graphs;
  num_threads_ = static_cast<std::uint32_t>(graphs.front().num_threads);
  num_nodes_ = static_cast<NodeId>(graphs.front().num_nodes);
  for (const ProcessGraph& graph : graphs) {
    num_edges_by_network_.push_back(graph.num_edges);
    num_edges_ += graph.num_edges;
  }
  const std::uint64_t max_delay = std::ranges::max_element(graphs, {}, &ProcessGraph::max_delay)->max_delay;
  MakePartitions(graphs, networks.periods);
  if (max_delay != 0) LayOutDelays(max_delay);
  fabric_ = std::make_unique<uit::Fabric>(
      world_, uit::FabricOptions{.num_workers = num_threads_,
                                 .num_slots = options_.num_slots,
                                 .max_pace = options_.max_pace,
                                 .shares_memory = options_.shares_memory,
                                 .joins_own = true});
  peer_table_ = PeerTable(world_, options_.shares_memory, options_.is_traced);
  private_world_ = world_.Duplicate();
  barrier_ = std::make_unique<ProcessBarrier>(private_world_, *fabric_, options_.shares_memory);
  for (const auto& partition : partitions_) partition->spin_habit = uit::SpinHabit(uit::HasCoreForEach(world_, num_threads_));
  if (options_.is_watched) board_ = std::make_unique<StatusBoard>(*fabric_, num_threads_);
}

UIT_DEFINE MeshCore::~MeshCore() {
  try {
    Close();
  } catch (const std::exception& trouble) {  // a destructor cannot return an error; Close() can
    world_.Process()->Fail(trouble.what());
  } catch (...) {
    world_.Process()->Fail("closing a mesh threw something that is not a std::exception");
  }
}

UIT_DEFINE bool MeshCore::Close() {
  if (is_closed_) return is_clean_;
  is_closed_ = true;
  if (is_broken_) {  // without waiting for any process
    fabric_->Close(uit::Now());
    barrier_->Close(uit::Now());
  } else {
    const std::chrono::seconds patience(std::uncaught_exceptions() == 0 ? 10 : 2);
    is_clean_ = fabric_->Close(uit::After(patience)) && barrier_->Close(uit::After(patience)) && private_world_.Release();
  }
  return is_clean_;
}

UIT_DEFINE NodeId MeshCore::Id(std::size_t local) const {
  const Partition& part = PartitionOf(local);
  return part.graph.nodes[local - part.first_local];
}

UIT_DEFINE std::string MeshCore::Label(std::size_t local) const {
  const Partition& part = PartitionOf(local);
  return part.graph.Label(local - part.first_local);
}

UIT_DEFINE LayerSite MeshCore::Site() {
  return {.partitions = partitions_,
          .fabric = *fabric_,
          .edge = {.depth = options_.depth,
                   .buffer_bytes = options_.buffer_bytes,
                   .max_message_bytes = options_.max_message_bytes,
                   .max_age = options_.max_age},
          .peer_table = peer_table_,
          .is_traced = options_.is_traced};
}

UIT_DEFINE void MeshCore::AddLayer(std::unique_ptr<LayerBase> layer) {
  layer->Join(Site(), static_cast<std::uint32_t>(layers_.size()));
  for (std::size_t thread = 0; thread < partitions_.size(); ++thread)
    partitions_[thread]->layers.push_back(&layer->Part(thread));
  layers_.push_back(std::move(layer));
  is_connected_ = false;
  has_older_values_ = false;  // the new layer has none
}

UIT_DEFINE void MeshCore::AddCutLayer(std::unique_ptr<CutLayer> layer) {
  cut_layers_.push_back(layer.get());
  AddLayer(std::move(layer));
}

UIT_DEFINE detail::CutRule& MeshCore::AddCutRule(detail::CutRule rule) {
  return *cut_rules_.emplace_back(std::make_unique<detail::CutRule>(std::move(rule)));
}

UIT_DEFINE void MeshCore::AddShared(std::unique_ptr<detail::SharedBase> object) { shared_.push_back(std::move(object)); }

UIT_DEFINE void MeshCore::Break() {
  is_broken_ = true;
  world_.Process()->Break();
}

UIT_DEFINE void MeshCore::UseDelays(bool is_on) {
  for (const auto& partition : partitions_)
    for (const auto& network : partition->networks)
      if (network->delayed) network->UseDelays(is_on);
}

UIT_DEFINE void MeshCore::JoinAwaited() {
  for (; num_awaited_ < layers_.size(); ++num_awaited_) {
    layers_[num_awaited_]->JoinAwaited(Site(), static_cast<std::uint32_t>(num_awaited_));
    is_connected_ = false;
  }
}

UIT_DEFINE void MeshCore::Connect() {
  if (is_connected_) return;
  fabric_->Connect();
  is_connected_ = true;
}

UIT_DEFINE detail::TurnOrder& MeshCore::AddTurns() {
  if (!turns_) turns_ = std::make_unique<detail::TurnOrder>(num_threads_);
  for (const auto& partition : partitions_) partition->turns = turns_.get();
  return *turns_;
}

UIT_DEFINE void MeshCore::CheckOptions(const MeshOptions& options) {
  constexpr std::size_t max_depth = 65'535;  // the limit of every duct in mode 0
  if (options.depth == 0 || options.depth > max_depth)
    throw uit::InputError("MeshOptions::depth must be between 1 and " + std::to_string(max_depth));
  if (options.num_slots == 0 || options.num_slots > uit::Fabric::max_requests / 4)
    throw uit::InputError("MeshOptions::num_slots must be between 1 and " + std::to_string(uit::Fabric::max_requests / 4));
}

UIT_DEFINE void MeshCore::MakePartitions(std::vector<ProcessGraph>& graphs, const std::vector<std::uint64_t>& periods) {
  num_inputs_.resize(graphs.size());
  num_outputs_.resize(graphs.size());
  for (std::size_t thread = 0; thread < num_threads_; ++thread) {
    for (std::size_t number = 0; number < graphs.size(); ++number) {
      WorkerGraph& graph = graphs[number].workers[thread];
      const std::size_t num_inputs = RoundUpSlots(graph.sources.size());
      const std::size_t num_outputs = RoundUpSlots(graph.targets.size());
      auto part = std::make_unique<NetworkPart>(std::move(graph), periods[number], num_own_slots_, num_inputs_[number],
                                                num_outputs_[number]);
      num_inputs_[number] += num_inputs;
      num_outputs_[number] += num_outputs;
      if (number == 0) partitions_.push_back(std::make_unique<Partition>(std::move(part), num_local_));
      else partitions_.back()->networks.push_back(std::move(part));
    }
    num_local_ += partitions_.back()->NumNodes();
    num_own_slots_ += RoundUpSlots(partitions_.back()->NumNodes());
  }
  num_slots_ = num_own_slots_;
  for (std::size_t number = 0; number < graphs.size(); ++number) {
    in_slots_.push_back(std::make_unique<std::uint32_t[]>(num_inputs_[number]));
    for (const auto& partition : partitions_) {
      NetworkPart& part = *partition->networks[number];
      part.PlaceGhosts(num_slots_, in_slots_.back().get());
      num_slots_ += RoundUpSlots(part.NumGhosts());
    }
  }
  num_slots_by_update_ = num_slots_;
}

UIT_DEFINE detail::CaptureStore& MeshCore::AddCapture(const std::byte* values, std::size_t num_bytes, std::uint64_t every,
                                                      std::size_t most) {
  if (every == 0) throw uit::InputError("CaptureOptions::every must be at least 1");
  captures_.push_back(std::make_unique<detail::CaptureStore>(values, num_bytes, num_own_slots_, every, most, num_threads_));
  return *captures_.back();
}

UIT_DEFINE void MeshCore::AlignCaptures() {
  for (const auto& capture : captures_) capture->Keep(world_.Min(capture->Count()));
}

UIT_DEFINE void MeshCore::LayOutDelays(std::uint64_t max_delay) {
  for (const auto& partition : partitions_) {
    partition->max_delay = static_cast<std::uint32_t>(max_delay);
    partition->levels = LevelsOf(partition->graph);
  }
  for (std::size_t number = 0; number < NumNetworks(); ++number) {
    delayed_slots_.push_back(std::make_unique<std::uint32_t[]>(num_inputs_[number]));
    for (const auto& partition : partitions_) {
      NetworkPart& part = *partition->networks[number];
      if (part.period != 1) continue;
      part.delayed = std::make_unique<DelayedSlots>(
          LayOutDelayed(part, partition->levels, num_slots_by_update_, delayed_slots_.back().get()));
      num_slots_by_update_ = RoundUpSlots(part.delayed->End());
    }
  }
}

UIT_DEFINE const Partition& MeshCore::PartitionOf(std::size_t local) const {
  UIT_ASSERT(local < num_local_, "a local number must be less than the number of local nodes");
  const auto after = std::ranges::upper_bound(partitions_, local, {}, [](const auto& part) { return part->first_local; });
  return **std::prev(after);
}

UIT_DEFINE std::map<std::size_t, std::size_t> MeshCore::TakeUnsharedExchanges() {
  const auto& unshared = fabric_->UnsharedExchanges();
  if (unshared == told_unshared_) return {};
  return told_unshared_ = unshared;
}

}  // namespace netuit
