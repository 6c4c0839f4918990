#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include <netuit/mesh/halo.hpp>
#include <netuit/mesh/layer_base.hpp>
#include <netuit/mesh/partition.hpp>
#include <netuit/quality/peer_trace.hpp>
#include <uit/exchange/exchange.hpp>
#include <uit/exchange/fabric.hpp>
#include <uit/policy.hpp>
#include <uit/wire/frame_box.hpp>
#include <uit/wire/frame_trace.hpp>
#include <uit/wire/out_port.hpp>

namespace netuit {

/// What a layer of a value per node is.
template <typename T>
LayerShape ShapeOfHalo(std::uint64_t period) {
  return {uit::TypeHash<T>(), sizeof(T), 0, 0, static_cast<std::uint64_t>(uit::Retain::latest),
          static_cast<std::uint64_t>(uit::Consolidate::pooled), period};
}

/// A layer of one value per node, heard by all its out-neighbours.
template <typename T>
class HaloLayer final : public LayerBase {
 public:
  /// With a part for each partition.
  HaloLayer(const std::vector<std::unique_ptr<Partition>>& partitions, std::uint32_t, std::uint64_t period) {
    for (const auto& partition : partitions) parts_.push_back(std::make_unique<Halo<T>>(partition->graph, period));
  }

  Halo<T>& Part(std::size_t thread) override { return *parts_[thread]; }
  LayerShape Shape() const override { return ShapeOfHalo<T>(parts_.front()->Period()); }

  void Wire(const WiringSite& site, std::uint32_t number) override {
    const auto spec = [&](std::uint32_t source, std::uint32_t destination, const uit::LatestFrame& layout) {
      return uit::ExchangeSpec{
          .key = {.layer = number, .source = source, .destination = destination},
          .type = uit::TypeHash<T>(),
          .frame_bytes = layout.MaxBytes() + (site.is_traced ? uit::FrameTrace::num_bytes : 0),
          .slot_bytes = static_cast<std::uint32_t>(layout.slot_bytes),
          .num_channels = static_cast<std::uint32_t>(layout.num_channels),
          .retain = static_cast<std::uint32_t>(uit::Retain::latest)};
    };
    for (std::size_t thread = 0; thread < parts_.size(); ++thread) {
      if (site.is_traced) parts_[thread]->TraceBy(site.partitions[thread]->clock, site.SameClock());
      const std::uint32_t here = site.partitions[thread]->graph.worker;
      for (auto& [there, receiver] : parts_[thread]->Receivers()) {
        receiver.box = uit::FrameBox::Latest();
        if (!site.IsHere(there)) {
          receiver.box = site.fabric.AddIncoming(site.ProcessOf(there), spec(there, here, receiver.layout),
                                                 std::move(receiver.box));
        }
      }
    }
    for (std::size_t thread = 0; thread < parts_.size(); ++thread) {
      const std::uint32_t here = site.partitions[thread]->graph.worker;
      for (auto& [there, sender] : parts_[thread]->Senders()) {
        if (site.IsHere(there)) {
          sender.port = uit::OutPort{parts_[site.ThreadOf(there)]->Receivers().at(here).box};
        } else {
          sender.port = site.fabric.AddOutgoing(site.ProcessOf(there), thread, spec(here, there, sender.layout),
                                                uit::FrameBox::Latest());
        }
        if (PeerTrace* const trace = parts_[thread]->TraceOf(there); trace != nullptr) sender.port.TraceBy(&trace->frames);
      }
    }
  }

 private:
  std::vector<std::unique_ptr<Halo<T>>> parts_;  // by thread
};

}  // namespace netuit
