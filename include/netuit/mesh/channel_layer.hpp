#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include <netuit/mesh/channels.hpp>
#include <netuit/mesh/edge_conduits.hpp>
#include <netuit/mesh/initial.hpp>
#include <netuit/mesh/layer_base.hpp>
#include <netuit/mesh/worker_graph.hpp>
#include <uit/codec/codec.hpp>
#include <uit/policy.hpp>
#include <uit/support/type_hash.hpp>

namespace netuit {

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
      parts_.push_back(std::make_unique<EdgeConduits<T, policy>>(part.graph, part.period, outlets_.get() + part.first_input,
                                                                 inlets_.get() + part.first_output));
    }
  }

  /// Returns the handle that users get.
  Channels<T, policy> Handle() const { return {outlets_.get(), inlets_.get()}; }

  EdgeConduits<T, policy>& Part(std::size_t thread) override { return *parts_[thread]; }
  LayerShape Shape() const override { return ShapeOfChannels<T, policy>(parts_.front()->Period(), network_); }

  void Join(const LayerSite& site, std::uint32_t number) override {
    for (std::size_t thread = 0; thread < parts_.size(); ++thread) {
      parts_[thread]->Join(site, number);
      ShowFirst(site.partitions[thread]->networks[network_]->graph, *parts_[thread]);
    }
  }
  void JoinAwaited(const LayerSite& site, std::uint32_t number) override {
    for (auto& part : parts_) part->JoinAwaited(site, number);
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
  std::vector<std::unique_ptr<EdgeConduits<T, policy>>> parts_;  // by thread
};

}  // namespace netuit
