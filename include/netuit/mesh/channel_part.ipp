#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <numeric>
#include <utility>
#include <vector>

#include <netuit/mesh/channel_part.hpp>
#include <netuit/mesh/edge_peers.hpp>
#include <netuit/mesh/layer_base.hpp>
#include <netuit/mesh/worker_graph.hpp>
#include <netuit/quality/effective_updates.hpp>
#include <netuit/quality/exchange_counts.hpp>
#include <netuit/quality/peer_trace.hpp>
#include <netuit/quality/quality.hpp>
#include <uit/config.hpp>
#include <uit/exchange/exchange.hpp>
#include <uit/exchange/fabric.hpp>
#include <uit/exchange/receiving_half.hpp>
#include <uit/link/frame.hpp>
#include <uit/link/frame_box.hpp>
#include <uit/link/out_port.hpp>
#include <uit/policy.hpp>
#include <uit/support/clock.hpp>
#include <uit/tally.hpp>
#include <uit/transport/process.hpp>

namespace netuit {

namespace detail {

/// The edges from one worker to another, ascending. An edge's position is its channel number.
using EdgePools = std::map<std::uint32_t, std::vector<EdgeId>>;

UIT_DEFINE EdgePools PoolEdges(std::uint32_t worker, const std::vector<std::uint32_t>& peers, const std::vector<EdgeId>& edges) {
  EdgePools pools;
  for (std::size_t i = 0; i < peers.size(); ++i) {
    if (peers[i] != worker) pools[peers[i]].push_back(edges[i]);
  }
  for (auto& [peer, pool] : pools) std::ranges::sort(pool);
  return pools;
}

}  // namespace detail

UIT_DEFINE ChannelPart::ChannelPart(const WorkerGraph& graph, std::uint64_t period, const uit::Policy& policy, bool is_aggregated)
    : LayerPart(period), graph_(graph), policy_(policy), is_aggregated_(is_aggregated), peers_(std::make_unique<EdgePeers>(graph)) {}

UIT_DEFINE ChannelPart::~ChannelPart() = default;

UIT_DEFINE void ChannelPart::Join(const LayerSite& site, std::uint32_t number) {
  const std::size_t thread = site.ThreadOf(graph_.worker);
  if (site.is_traced) peers_->TraceBy(site.partitions[thread]->clock, site.SameClock());
  const auto reach_of = [&](const detail::EdgePools& pools, std::uint32_t peer, EdgeId edge, bool is_out) {
    const std::vector<EdgeId>& pool = pools.at(peer);
    uit::Process reach = site.edge;
    reach.fabric = &site.fabric;
    reach.peer = site.ProcessOf(peer);
    reach.key = {.layer = number, .source = is_out ? graph_.worker : peer, .destination = is_out ? peer : graph_.worker};
    reach.worker = thread;
    if (PeerTrace* const trace = peers_->TraceOf(peer); trace != nullptr) reach.trace = &trace->frames;
    reach.channel = static_cast<std::size_t>(std::ranges::lower_bound(pool, edge) - pool.begin());
    reach.num_channels = pool.size();
    return reach;
  };
  std::map<std::uint32_t, std::shared_ptr<uit::SendingHalf>> senders;  // by peer
  std::map<std::uint32_t, std::shared_ptr<uit::ReceivingHalf>> receivers;
  std::vector<std::pair<EdgeId, std::uint32_t>> own;  // inputs of edges within the worker
  const detail::EdgePools incoming = detail::PoolEdges(graph_.worker, graph_.source_workers, graph_.in_edges);
  for (std::uint32_t input = 0; input < graph_.sources.size(); ++input) {
    const std::uint32_t peer = graph_.source_workers[input];
    const EdgeId edge = graph_.in_edges[input];
    if (peer == graph_.worker) {
      own.emplace_back(edge, input);
    } else {
      crossing_inputs_.push_back(input);
      receivers[peer] = JoinInput(input, reach_of(incoming, peer, edge, false));
    }
  }
  std::ranges::sort(own);
  const detail::EdgePools outgoing = detail::PoolEdges(graph_.worker, graph_.target_workers, graph_.out_edges);
  for (std::uint32_t output = 0; output < graph_.targets.size(); ++output) {
    const std::uint32_t peer = graph_.target_workers[output];
    const EdgeId edge = graph_.out_edges[output];
    if (peer == graph_.worker) {
      const auto found = std::ranges::lower_bound(own, edge, {}, &std::pair<EdgeId, std::uint32_t>::first);
      JoinWithin(output, found->second, site.edge);
    } else {
      crossing_outputs_.push_back(output);
      senders[peer] = JoinOutput(output, reach_of(outgoing, peer, edge, true));
    }
  }
  for (auto& [peer, receiver] : receivers) receivers_.push_back(std::move(receiver));
  for (auto& [peer, sender] : senders) {
    sender->Hold(policy_.retain == uit::Retain::every);
    senders_.push_back(std::move(sender));
  }
}

UIT_DEFINE void ChannelPart::JoinAwaited(const LayerSite& site, std::uint32_t number) {
  if (HasReports()) return;
  const std::size_t thread = site.ThreadOf(graph_.worker);
  for (const auto& [peer, edges] : peers_->Map()) {
    uit::ExchangeSpec spec{.key = {.channel = 1, .layer = number, .source = peer, .destination = graph_.worker, .is_report = 1}};
    if (!edges.inputs.empty())
      acknowledgements_.push_back(site.fabric.AddOutgoing(site.ProcessOf(peer), thread, spec, uit::FrameBox::Latest()));
    std::swap(spec.key.source, spec.key.destination);
    if (!edges.outputs.empty())
      acknowledged_.push_back({.box = site.fabric.AddIncoming(site.ProcessOf(peer), spec, uit::FrameBox::Latest())});
  }
}

UIT_DEFINE void ChannelPart::Acknowledge() {
  for (uit::OutPort& port : acknowledgements_) {
    acknowledgement_.Reserve(0);
    acknowledgement_.Header().num_bytes = 0;
    acknowledgement_.Header().update = stamp_;
    port.TryDepart(acknowledgement_);
  }
}

UIT_DEFINE void ChannelPart::Prepare(const Delivery& delivery, const replay::WorkerRecord& record) {
  if (record.IsOn() && !delivery.is_by_update) Intercept(record);
  is_by_update_ = delivery.is_by_update;
  HoldInside(delivery.is_by_update);
  HoldSums(delivery.is_by_update);
  for (auto& receiver : receivers_) receiver->Hold(delivery.is_awaited);
  acknowledges_ = delivery.is_awaited && !HasReports();
  is_muted_ = delivery.is_muted;
  if (is_muted_) Mute();
}

UIT_DEFINE void ChannelPart::Pull() {
  for (auto& receiver : receivers_) receiver->Pull();
  for (auto& sender : senders_) sender->RefreshReport(0);
}

UIT_DEFINE void ChannelPart::Read(uit::TimePoint now) {
  peers_->Read(now, [this](std::uint32_t input) { return GetsOf(input).stepped; });
}

// Where messages become visible by update, all workers have made the same number of updates.
UIT_DEFINE void ChannelPart::NoteReads(std::uint64_t update, EffectiveUpdates& effective) const {
  if (!is_by_update_ && IsDue(update) && !crossing_inputs_.empty()) effective.ReadUncounted();
}

UIT_DEFINE void ChannelPart::Send(std::uint64_t update) {
  if (!IsDue(update)) return;
  for (auto& sender : senders_) sender->EndTurn();
  for (auto& receiver : receivers_) receiver->TryFlush();
}

UIT_DEFINE void ChannelPart::SetStamp(Phase phase) {
  if (!IsDue(phase)) return;
  for (auto& sender : senders_) sender->SetUpdate(Stamp(phase));
  for (auto& receiver : receivers_) receiver->SetUpdate(Stamp(phase));
  stamp_ = Stamp(phase);
  num_ended_ = 0;
}

// An update's frames end with its period, because the next period shows what was put in this one.
UIT_DEFINE bool ChannelPart::TryEnd(Phase phase) {
  if (!IsDueNext(phase)) return true;
  for (; num_ended_ < senders_.size(); ++num_ended_) {
    if (!senders_[num_ended_]->TryEndUpdate()) return false;
  }
  return true;
}

UIT_DEFINE void ChannelPart::MakeRoom(Phase phase) {
  if (IsDueNext(phase)) TakeInAggregated();
}

UIT_DEFINE bool ChannelPart::TryPullLast(Phase phase) {
  if (!IsDueNext(phase)) return true;
  bool all = true;
  TakeInAggregated();
  for (auto& receiver : receivers_) {
    receiver->Pull();
    all &= receiver->HasLast(PeriodStamp(phase));
  }
  return all;
}

UIT_DEFINE bool ChannelPart::TryReadReports(Phase phase) {
  if (!IsDueNext(phase)) return true;
  bool all = true;
  for (auto& sender : senders_) all &= sender->RefreshReport(PeriodStamp(phase));
  if (!acknowledges_) return all;
  for (Acknowledged& by : acknowledged_) {
    while (by.box->TryStep()) by.stamp = by.box->Get().Header().update;
    all &= by.stamp >= PeriodStamp(phase);
  }
  return all;
}

UIT_DEFINE void ChannelPart::BindNodes(std::vector<bool>& is_bound) const {
  const auto bind = [&](const std::vector<std::uint32_t>& first, const std::vector<std::uint32_t>& edges) {
    std::size_t node = 0;
    for (const std::uint32_t edge : edges) {  // ascending, as the nodes that have them
      while (first[node + 1] <= edge) ++node;
      is_bound[node] = true;
    }
  };
  bind(graph_.first_out, crossing_outputs_);
  bind(graph_.first_in, crossing_inputs_);
}

UIT_DEFINE void ChannelPart::BeginDrain(Phase drain) {
  if (is_muted_) Unmute();
  HoldSums(true);
  SetStamp(drain);
}

UIT_DEFINE void ChannelPart::ReportSteps() {
  for (auto& receiver : receivers_) receiver->Report(true);
  if (acknowledges_) Acknowledge();
}

UIT_DEFINE void ChannelPart::EndDrain() {
  HoldInside(false);
  HoldSums(false);
}

UIT_DEFINE void ChannelPart::ForEachPeer(const VisitPeer& visit) {
  for (auto& [worker, peer] : peers_->Map()) {
    ExchangeCounts counts{.channels_out = peer.outputs.size(), .channels_in = peer.inputs.size()};
    for (const std::uint32_t output : peer.outputs) counts += PutsOf(output);
    for (const std::uint32_t input : peer.inputs) counts += GetsOf(input);
    counts.pulls = peers_->NumReads() * peer.inputs.size();
    counts.laden = std::accumulate(peer.laden.begin(), peer.laden.end(), std::uint64_t{0});
    if (peer.trace) counts.touches = peer.trace->frames.NumTouches();
    visit(worker, counts, peer.trace ? &*peer.trace : nullptr);
  }
}

UIT_DEFINE void ChannelPart::ForEachChannel(const WorkerGraph& graph, const VisitChannel& visit) {
  for (auto& [worker, peer] : peers_->Map()) {
    for (const std::uint32_t output : peer.outputs) {
      ExchangeCounts counts{.channels_out = 1};
      counts += PutsOf(output);
      visit(Channel{graph.NodeOf(graph.first_out, output), graph.targets[output], worker}, counts);
    }
    for (std::size_t i = 0; i < peer.inputs.size(); ++i) {
      ExchangeCounts counts{.channels_in = 1};
      counts += GetsOf(peer.inputs[i]);
      counts.pulls = peers_->NumReads();
      if (peer.trace) {
        counts.laden = peer.laden[i];
        counts.touches = peer.trace->frames.NumTouches();
      }
      visit(Channel{graph.sources[peer.inputs[i]], graph.NodeOf(graph.first_in, peer.inputs[i]), worker}, counts);
    }
  }
}

UIT_DEFINE void ChannelPart::AddTallies(uit::Tally& crossing, uit::Tally& inside) const {
  for (std::uint32_t output = 0; output < graph_.targets.size(); ++output)
    (graph_.target_workers[output] != graph_.worker ? crossing : inside) += PutsOf(output);
  for (std::uint32_t input = 0; input < graph_.sources.size(); ++input) {
    uit::Tally& tally = graph_.source_workers[input] != graph_.worker ? crossing : inside;
    tally += GetsOf(input);
    tally.get.unread += NumWaiting(input);
  }
}

UIT_DEFINE void ChannelPart::HoldSums(bool hold) {
  if (policy_.retain != uit::Retain::accumulate) return;
  for (auto& sender : senders_) sender->Hold(hold);
}

UIT_DEFINE void ChannelPart::TakeInAggregated() {
  if (!is_aggregated_) return;
  for (auto& receiver : receivers_) {
    receiver->Pull();
    receiver->ReportIfDue();
  }
}

}  // namespace netuit
