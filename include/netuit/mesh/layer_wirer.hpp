#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include <netuit/graph/topology.hpp>
#include <netuit/mesh/edge_conduits.hpp>
#include <netuit/mesh/layer.hpp>
#include <netuit/mesh/place_graph.hpp>
#include <netuit/mesh/place_share.hpp>
#include <netuit/mesh/surroundings.hpp>
#include <netuit/quality/peer_trace.hpp>
#include <uit/exchange/exchange.hpp>
#include <uit/exchange/fabric.hpp>
#include <uit/transport/process.hpp>
#include <uit/transport/shared_memory.hpp>
#include <uit/wire/frame_box.hpp>
#include <uit/wire/frame_trace.hpp>
#include <uit/wire/out_port.hpp>

namespace netuit::detail {

/// What there is to wire: this process's places, by thread, and what leads to other processes.
template <Layer... Ls>
struct WiringSite {
  const std::vector<std::unique_ptr<PlaceShare<Ls...>>>& places;
  uit::Fabric& fabric;
  std::size_t rank;
  uit::Process edge;  // options of every edge; where it leads is left open
  const Surroundings& surroundings;
  bool is_traced = false;

  std::size_t ProcessOf(std::uint32_t worker) const { return worker / places.size(); }
  std::size_t ThreadOf(std::uint32_t worker) const { return worker % places.size(); }
  bool IsHere(std::uint32_t worker) const { return ProcessOf(worker) == rank; }
  /// Whether stamps of a worker are by this computer's clock.
  auto SameClock() const {
    return [this](std::uint32_t worker) { return surroundings.IsSameClock(ProcessOf(worker)); };
  }
};

/// Joins the edges of a unicast layer.
template <UnicastLayer L, Layer... Ls>
class EdgeWirer {
 public:
  using T = typename L::Message;

  EdgeWirer(const WiringSite<Ls...>& site, std::uint32_t number)
      : site_(site), number_(number), input_of_(site.places.size()) {
    for (std::size_t thread = 0; thread < input_of_.size(); ++thread) {
      const auto& edges = site_.places[thread]->graph.in_edges;
      for (std::uint32_t input = 0; input < edges.size(); ++input) input_of_[thread].emplace_back(edges[input], input);
      std::ranges::sort(input_of_[thread]);
    }
  }

  /// Within the process both ends; beyond it the inlets.
  void JoinOutputs(PlaceShare<Ls...>& place) const {
    auto& layer = place.template Of<L>();
    const PlaceGraph& graph = place.graph;
    auto reaches = PoolReaches(graph.target_workers, graph.out_edges);
    for (std::uint32_t output = 0; output < graph.targets.size(); ++output) {
      const std::uint32_t there = graph.target_workers[output];
      const EdgeId edge = graph.out_edges[output];
      if (there != graph.worker) layer.CrossingOutputs().push_back(output);
      if (!site_.IsHere(there)) {
        layer.Inlets()[output] = typename EdgeConduits<L>::Inlet(ReachOf(reaches, graph.worker, there, graph.worker, there, edge));
      } else {
        const std::size_t thread = site_.ThreadOf(there);
        auto& outlet = site_.places[thread]->template Of<L>().Outlets()[InputOf(thread, edge)];
        if (there == graph.worker) Join(layer.Inlets()[output], outlet, uit::Intra{.depth = site_.edge.depth});
        else Join(layer.Inlets()[output], outlet, uit::Thread{.depth = site_.edge.depth});
      }
    }
    CollectHalves(layer.Inlets(), layer.Senders());
    if (site_.is_traced) JoinBeacons(graph.worker, layer.Peers());
  }
  /// Beyond the process, the outlets.
  void JoinInputs(PlaceShare<Ls...>& place) const {
    auto& layer = place.template Of<L>();
    const PlaceGraph& graph = place.graph;
    auto reaches = PoolReaches(graph.source_workers, graph.in_edges);
    for (std::uint32_t input = 0; input < graph.sources.size(); ++input) {
      const std::uint32_t there = graph.source_workers[input];
      if (there != graph.worker) layer.CrossingInputs().push_back(input);
      if (site_.IsHere(there)) continue;
      layer.Outlets()[input] = typename EdgeConduits<L>::Outlet(
          ReachOf(reaches, graph.worker, there, there, graph.worker, graph.in_edges[input]));
    }
    CollectHalves(layer.Outlets(), layer.Receivers());
    layer.Hold(false);
  }

 private:
  void JoinBeacons(std::uint32_t here, EdgePeers& peers) const {
    for (auto& [there, peer] : peers.Map()) {
      if (site_.IsHere(there)) peers.JoinBeacons(here, there, site_.places[site_.ThreadOf(there)]->template Of<L>().Peers());
    }
  }
  /// The edges to or from each worker of another process, ascending: an edge's place is its channel.
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
    if (PeerTrace* const trace = site_.places[site_.ThreadOf(here)]->template Of<L>().Peers().TraceOf(there); trace != nullptr)
      reach.trace = &trace->frames;
    if constexpr (L::policy.consolidate == uit::Consolidate::none) {
      reach.key.channel = edge;
    } else {
      const auto& pool = pools.at(there);
      reach.channel = static_cast<std::size_t>(std::ranges::lower_bound(pool, edge) - pool.begin());
      reach.num_channels = pool.size();
    }
    return reach;
  }
  std::uint32_t InputOf(std::size_t thread, EdgeId edge) const {
    return std::ranges::lower_bound(input_of_[thread], edge, {}, [](const auto& entry) { return entry.first; })->second;
  }
  template <typename Inlet, typename Outlet, typename Transport>
  static void Join(Inlet& inlet, Outlet& outlet, const Transport& transport) {
    auto ends = transport.template OpenPair<T, L::policy>(T{});
    inlet = Inlet(typename Inlet::End(std::move(ends.first)));
    outlet = Outlet(typename Outlet::End(std::move(ends.second)));
  }
  template <typename End, typename Half>
  static void CollectHalves(const std::vector<End>& ends, std::vector<std::shared_ptr<Half>>& halves) {
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

  const WiringSite<Ls...>& site_;
  std::uint32_t number_;
  std::vector<std::vector<std::pair<EdgeId, std::uint32_t>>> input_of_;  // by thread, ascending by edge
};

/// Joins the places of a mesh in every layer. Exchanges with other processes are left for the fabric to connect.
template <Layer... Ls>
class LayerWirer {
 public:
  explicit LayerWirer(const WiringSite<Ls...>& site) : site_(site) {}

  void Wire() {
    std::uint32_t number = 0;
    (WireLayer<Ls>(number++), ...);
  }

 private:
  template <MulticastLayer L>
  void WireLayer(std::uint32_t number) {
    const auto spec = [&](std::uint32_t source, std::uint32_t destination, const uit::LatestFrame& layout) {
      return uit::ExchangeSpec{
          .key = {.layer = number, .source = source, .destination = destination},
          .type = uit::TypeHash<typename L::Message>(),
          .frame_bytes = layout.MaxBytes() + (site_.is_traced ? uit::FrameTrace::num_bytes : 0),
          .slot_bytes = static_cast<std::uint32_t>(layout.slot_bytes),
          .num_channels = static_cast<std::uint32_t>(layout.num_channels),
          .retain = static_cast<std::uint32_t>(uit::Retain::latest)};
    };
    for (auto& place : site_.places) {
      if (site_.is_traced) place->template Of<L>().TraceBy(place->clock, site_.SameClock());
      const std::uint32_t here = place->graph.worker;
      for (auto& [there, receiver] : place->template Of<L>().Receivers()) {
        receiver.box = uit::FrameBox::Latest();
        if (!site_.IsHere(there)) {
          receiver.box = site_.fabric.AddIncoming(site_.ProcessOf(there), spec(there, here, receiver.layout),
                                                  std::move(receiver.box));
        }
      }
    }
    for (auto& place : site_.places) {
      const std::uint32_t here = place->graph.worker;
      for (auto& [there, sender] : place->template Of<L>().Senders()) {
        if (site_.IsHere(there)) {
          sender.port = uit::OutPort{site_.places[site_.ThreadOf(there)]->template Of<L>().Receivers().at(here).box};
        } else {
          sender.port = site_.fabric.AddOutgoing(site_.ProcessOf(there), site_.ThreadOf(here),
                                                 spec(here, there, sender.layout), uit::FrameBox::Latest());
        }
        if (PeerTrace* const trace = place->template Of<L>().TraceOf(there); trace != nullptr)
          sender.port.TraceBy(&trace->frames);
      }
    }
  }

  template <UnicastLayer L>
  void WireLayer(std::uint32_t number) {
    if (site_.is_traced) {
      for (auto& place : site_.places) {
        place->template Of<L>().Peers().TraceBy(place->clock, site_.SameClock(),
                                                [this](std::uint32_t worker) { return site_.IsHere(worker); });
      }
    }
    const EdgeWirer<L, Ls...> wirer{site_, number};
    for (auto& place : site_.places) wirer.JoinOutputs(*place);
    for (auto& place : site_.places) wirer.JoinInputs(*place);
  }

  WiringSite<Ls...> site_;
};

}  // namespace netuit::detail
