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
template <uit::Encodable T, uit::Policy asked>
class EdgeJoiner {
 public:
  using Conduits = EdgeConduits<T, asked>;
  static constexpr uit::Policy policy = Conduits::policy;

  /// Takes the parts of the layer by thread. `number` is the layer's number in its mesh.
  EdgeJoiner(const LayerSite& site, std::uint32_t network, const std::vector<Conduits*>& parts, std::uint32_t number)
      : site_(site), network_(network), parts_(parts), number_(number) {}

  /// Joins the edges within a worker, and the worker's ends of those to and from others.
  void JoinPart(std::size_t thread) const {
    Conduits& layer = *parts_[thread];
    const WorkerGraph& graph = GraphOf(thread);
    const Pools outgoing = PoolEdges(graph, graph.target_workers, graph.out_edges);
    const Pools incoming = PoolEdges(graph, graph.source_workers, graph.in_edges);
    std::vector<std::pair<EdgeId, std::uint32_t>> own;  // inputs of edges within the worker
    for (std::uint32_t input = 0; input < graph.sources.size(); ++input) {
      const std::uint32_t source = graph.source_workers[input];
      const EdgeId edge = graph.in_edges[input];
      if (source == graph.worker) {
        own.emplace_back(edge, input);
        continue;
      }
      layer.CrossingInputs().push_back(input);
      layer.Outlets()[input] = typename Conduits::Outlet(ReachOf(incoming.at(source), source, graph.worker, source, edge));
    }
    std::ranges::sort(own);
    for (std::uint32_t output = 0; output < graph.targets.size(); ++output) {
      const std::uint32_t target = graph.target_workers[output];
      const EdgeId edge = graph.out_edges[output];
      if (target == graph.worker) {
        const auto input = std::ranges::lower_bound(own, edge, {}, &std::pair<EdgeId, std::uint32_t>::first)->second;
        JoinWithin(layer.Inlets()[output], layer.Outlets()[input]);
        continue;
      }
      layer.CrossingOutputs().push_back(output);
      layer.Inlets()[output] = typename Conduits::Inlet(ReachOf(outgoing.at(target), graph.worker, target, target, edge));
    }
    CollectHalves(layer.Inlets(), layer.Senders());
    CollectHalves(layer.Outlets(), layer.Receivers());
    layer.HoldCrossing();
  }

 private:
  const WorkerGraph& GraphOf(std::size_t thread) const { return site_.partitions[thread]->networks[network_]->graph; }
  /// The edges to or from each other worker, ascending. An edge's position is its channel number.
  using Pools = std::map<std::uint32_t, std::vector<EdgeId>>;

  static Pools PoolEdges(const WorkerGraph& graph, const std::vector<std::uint32_t>& workers, const std::vector<EdgeId>& edges) {
    Pools pools;
    for (std::size_t i = 0; i < workers.size(); ++i) {
      if (workers[i] != graph.worker) pools[workers[i]].push_back(edges[i]);
    }
    for (auto& [worker, pool] : pools) std::ranges::sort(pool);
    return pools;
  }
  /// Returns the way from one worker to another, one of which is `peer` and the other is of this process.
  uit::Process ReachOf(const std::vector<EdgeId>& pool, std::uint32_t source, std::uint32_t destination, std::uint32_t peer,
                       EdgeId edge) const {
    const std::size_t thread = site_.ThreadOf(peer == source ? destination : source);
    uit::Process reach = site_.edge;
    reach.fabric = &site_.fabric;
    reach.peer = site_.ProcessOf(peer);
    reach.key = {.layer = number_, .source = source, .destination = destination};
    reach.worker = thread;
    if (PeerTrace* const trace = parts_[thread]->Peers().TraceOf(peer); trace != nullptr) reach.trace = &trace->frames;
    reach.channel = static_cast<std::size_t>(std::ranges::lower_bound(pool, edge) - pool.begin());
    reach.num_channels = pool.size();
    return reach;
  }
  void JoinWithin(typename Conduits::Inlet& inlet, typename Conduits::Outlet& outlet) const {
    const uit::Limited<uit::Intra> transport{.reach = {.depth = site_.edge.depth},
                                             .max_message_bytes = site_.edge.max_message_bytes};
    auto ends = transport.template OpenPair<T, policy>(T{});
    inlet = typename Conduits::Inlet(typename Conduits::Inlet::End(std::move(ends.first)));
    outlet = typename Conduits::Outlet(typename Conduits::Outlet::End(std::move(ends.second)));
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
    const detail::EdgeJoiner<T, policy> joiner{site, network_, parts_, number};
    for (std::size_t thread = 0; thread < parts_.size(); ++thread) {
      if (site.is_traced) parts_[thread]->Peers().TraceBy(site.partitions[thread]->clock, site.SameClock());
      joiner.JoinPart(thread);
      ShowFirst(site.partitions[thread]->networks[network_]->graph, *parts_[thread]);
    }
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
