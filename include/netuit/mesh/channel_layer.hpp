#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include <netuit/graph/topology.hpp>
#include <netuit/mesh/channels.hpp>
#include <netuit/mesh/edge_conduits.hpp>
#include <netuit/mesh/initial.hpp>
#include <netuit/mesh/layer_base.hpp>
#include <netuit/mesh/worker_graph.hpp>
#include <netuit/quality/peer_trace.hpp>
#include <uit/exchange/exchange.hpp>
#include <uit/policy.hpp>
#include <uit/transport/limited.hpp>
#include <uit/transport/process.hpp>
#include <uit/transport/in_process.hpp>

namespace netuit {

namespace detail {

/// Joins the ends of a channel layer's edges.
template <uit::Encodable T, uit::Policy policy>
class EdgeJoiner {
 public:
  using Conduits = EdgeConduits<T, policy>;

  /// Takes the parts of the layer by thread. `number` is the layer's number in its mesh.
  EdgeJoiner(const LayerSite& site, std::uint32_t network, const std::vector<Conduits*>& parts, std::uint32_t number)
      : site_(site), network_(network), parts_(parts), number_(number), input_of_(parts.size()) {
    for (std::size_t thread = 0; thread < input_of_.size(); ++thread) {
      const auto& edges = GraphOf(thread).in_edges;
      for (std::uint32_t input = 0; input < edges.size(); ++input) input_of_[thread].emplace_back(edges[input], input);
      std::ranges::sort(input_of_[thread]);
    }
  }

  /// Joins both ends of the edges that stay in this process, and the inlets of those that lead to other processes.
  void JoinOutputs(std::size_t here) const {
    Conduits& layer = *parts_[here];
    const WorkerGraph& graph = GraphOf(here);
    auto reaches = PoolReaches(graph.target_workers, graph.out_edges);
    for (std::uint32_t output = 0; output < graph.targets.size(); ++output) {
      const std::uint32_t there = graph.target_workers[output];
      const EdgeId edge = graph.out_edges[output];
      if (there != graph.worker) layer.CrossingOutputs().push_back(output);
      if (!site_.IsHere(there)) {
        layer.Inlets()[output] = typename Conduits::Inlet(ReachOf(reaches, graph.worker, there, graph.worker, there, edge));
      } else {
        const std::size_t thread = site_.ThreadOf(there);
        auto& outlet = parts_[thread]->Outlets()[InputOf(thread, edge)];
        if (there == graph.worker) Join(layer.Inlets()[output], outlet, Within<uit::Intra>());
        else Join(layer.Inlets()[output], outlet, Within<uit::Thread>());
      }
    }
    CollectHalves(layer.Inlets(), layer.Senders());
    if (site_.is_traced) JoinBeacons(graph.worker, layer.Peers());
  }
  /// Joins the outlets of edges that come from other processes.
  void JoinInputs(std::size_t here) const {
    Conduits& layer = *parts_[here];
    const WorkerGraph& graph = GraphOf(here);
    auto reaches = PoolReaches(graph.source_workers, graph.in_edges);
    for (std::uint32_t input = 0; input < graph.sources.size(); ++input) {
      const std::uint32_t there = graph.source_workers[input];
      if (there != graph.worker) layer.CrossingInputs().push_back(input);
      if (site_.IsHere(there)) continue;
      layer.Outlets()[input] = typename Conduits::Outlet(
          ReachOf(reaches, graph.worker, there, there, graph.worker, graph.in_edges[input]));
    }
    CollectHalves(layer.Outlets(), layer.Receivers());
    layer.Hold(false);
  }

 private:
  const WorkerGraph& GraphOf(std::size_t thread) const { return site_.partitions[thread]->networks[network_]->graph; }
  void JoinBeacons(std::uint32_t here, EdgePeers& peers) const {
    for (auto& [there, peer] : peers.Map()) {
      if (site_.IsHere(there)) peers.JoinBeacons(here, there, parts_[site_.ThreadOf(there)]->Peers());
    }
  }
  /// The edges to or from each worker of another process, ascending. An edge's position is its channel number.
  using Pools = std::map<std::uint32_t, std::vector<EdgeId>>;

  Pools PoolReaches(const std::vector<std::uint32_t>& workers, const std::vector<EdgeId>& edges) const {
    Pools pools;
    for (std::size_t i = 0; i < workers.size(); ++i) {
      if (!site_.IsHere(workers[i])) pools[workers[i]].push_back(edges[i]);
    }
    for (auto& [worker, pool] : pools) std::ranges::sort(pool);
    return pools;
  }
  uit::Process ReachOf(const Pools& pools, std::uint32_t here, std::uint32_t there, std::uint32_t source,
                       std::uint32_t destination, EdgeId edge) const {
    uit::Process reach = site_.edge;
    reach.fabric = &site_.fabric;
    reach.peer = site_.ProcessOf(there);
    reach.key = {.layer = number_, .source = source, .destination = destination};
    reach.worker = site_.ThreadOf(here);
    if (PeerTrace* const trace = parts_[site_.ThreadOf(here)]->Peers().TraceOf(there); trace != nullptr)
      reach.trace = &trace->frames;
    if constexpr (policy.consolidate == uit::Consolidate::none) {
      reach.key.channel = edge;
    } else {
      const auto& pool = pools.at(there);
      reach.channel = static_cast<std::size_t>(std::ranges::lower_bound(pool, edge) - pool.begin());
      reach.num_channels = pool.size();
    }
    return reach;
  }
  template <typename Transport>
  uit::Limited<Transport> Within() const {
    return {.reach = {.depth = site_.edge.depth}, .max_message_bytes = site_.edge.max_message_bytes};
  }
  std::uint32_t InputOf(std::size_t thread, EdgeId edge) const {
    return std::ranges::lower_bound(input_of_[thread], edge, {}, [](const auto& entry) { return entry.first; })->second;
  }
  template <typename Inlet, typename Outlet, typename Transport>
  static void Join(Inlet& inlet, Outlet& outlet, const Transport& transport) {
    auto ends = transport.template OpenPair<T, policy>(T{});
    inlet = Inlet(typename Inlet::End(std::move(ends.first)));
    outlet = Outlet(typename Outlet::End(std::move(ends.second)));
  }
  template <typename End, typename Half>
  static void CollectHalves(std::span<End> ends, std::vector<std::shared_ptr<Half>>& halves) {
    for (const End& end : ends) {
      end.Bound().Visit([&halves]<typename D>(D* duct) {
        if constexpr (requires { duct->Exchange(); }) {
          if (duct != nullptr) halves.push_back(duct->Exchange());
        }
      });
    }
    std::ranges::sort(halves);
    halves.erase(std::unique(halves.begin(), halves.end()), halves.end());
  }

  const LayerSite& site_;
  std::uint32_t network_;
  const std::vector<Conduits*>& parts_;
  std::uint32_t number_;
  std::vector<std::vector<std::pair<EdgeId, std::uint32_t>>> input_of_;  // by thread, ascending by edge
};

}  // namespace detail

/// Returns the shape of a channel layer, for records.
template <typename T, uit::Policy policy>
LayerShape ShapeOfChannels(std::uint64_t period, std::uint32_t network = 0) {
  return {uit::TypeHash<T>(),
          sizeof(T),
          std::uint64_t{1} + (std::uint64_t{network} << 8U),
          static_cast<std::uint64_t>(policy.backlog),
          static_cast<std::uint64_t>(policy.retain),
          static_cast<std::uint64_t>(policy.consolidate),
          period};
}

/// The layer behind a Channels handle: a conduit per edge of one network.
template <uit::Encodable T, uit::Policy policy>
class ChannelLayer final : public LayerBase {
 public:
  /// Makes a part for each partition. Until a message arrives, an outlet shows `first(id of the edge's source)`.
  ChannelLayer(const std::vector<std::unique_ptr<Partition>>& partitions, std::uint32_t network, Initial<T> first)
      : network_(network), first_(std::move(first)) {
    const NetworkPart& last = *partitions.back()->networks[network];
    outlets_ = std::make_unique<Outlet[]>(last.first_input + last.graph.sources.size());
    inlets_ = std::make_unique<Inlet[]>(last.first_output + last.graph.targets.size());
    for (const auto& partition : partitions) {
      const NetworkPart& part = *partition->networks[network];
      owned_.push_back(std::make_unique<EdgeConduits<T, policy>>(part.graph, part.period, outlets_.get() + part.first_input,
                                                                 inlets_.get() + part.first_output));
      parts_.push_back(owned_.back().get());
    }
  }

  /// Returns the handle that users get.
  Channels<T, policy> Handle() const { return {outlets_.get(), inlets_.get()}; }

  EdgeConduits<T, policy>& Part(std::size_t thread) override { return *parts_[thread]; }
  LayerShape Shape() const override { return ShapeOfChannels<T, policy>(parts_.front()->Period(), network_); }

  void Join(const LayerSite& site, std::uint32_t number) override {
    for (std::size_t thread = 0; site.is_traced && thread < parts_.size(); ++thread) {
      parts_[thread]->Peers().TraceBy(site.partitions[thread]->clock, site.SameClock(),
                                      [&site](std::uint32_t worker) { return site.IsHere(worker); });
    }
    const detail::EdgeJoiner<T, policy> joiner{site, network_, parts_, number};
    for (std::size_t thread = 0; thread < parts_.size(); ++thread) joiner.JoinOutputs(thread);
    for (std::size_t thread = 0; thread < parts_.size(); ++thread) joiner.JoinInputs(thread);
    for (std::size_t thread = 0; thread < parts_.size(); ++thread)
      ShowFirst(site.partitions[thread]->networks[network_]->graph, *parts_[thread]);
  }

 private:
  void ShowFirst(const WorkerGraph& graph, EdgeConduits<T, policy>& part) const {
    for (std::size_t input = 0; input < part.Outlets().size(); ++input) {
      part.Outlets()[input].Bound().Visit([&](auto* duct) {
        if (duct != nullptr) duct->Get() = first_(graph.sources[input]);
      });
    }
  }

  using Outlet = typename Channels<T, policy>::Outlet;
  using Inlet = typename Channels<T, policy>::Inlet;

  std::uint32_t network_;
  Initial<T> first_;
  std::unique_ptr<Outlet[]> outlets_;                            // by input of the process
  std::unique_ptr<Inlet[]> inlets_;                              // by output of the process
  std::vector<std::unique_ptr<EdgeConduits<T, policy>>> owned_;  // by thread
  std::vector<EdgeConduits<T, policy>*> parts_;                  // by thread; the same objects
};

}  // namespace netuit
