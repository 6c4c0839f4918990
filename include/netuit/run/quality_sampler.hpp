#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

#include <netuit/mesh/layer_part.hpp>
#include <netuit/mesh/mesh_core.hpp>
#include <netuit/mesh/partition.hpp>
#include <netuit/quality/exchange_counts.hpp>
#include <netuit/quality/latency_histogram.hpp>
#include <netuit/quality/peer_trace.hpp>
#include <netuit/quality/quality.hpp>
#include <netuit/run/observer.hpp>
#include <uit/support/clock.hpp>

namespace netuit::detail {

/// Takes one worker's snapshots between its updates. It notes the counts at the beginning of a window and their increase at its
/// end. No other worker is involved. That worker only.
class QualitySampler final : public Observer {
 public:
  /// Observes the worker of `partition`. The options set an interval.
  QualitySampler(MeshCore& mesh, Partition& partition, const QualityOptions& options)
      : partition_(partition),
        peer_table_(mesh.GetPeerTable()),
        num_threads_(mesh.NumThreads()),
        options_(options),
        length_(std::min(options.length, options.interval)) {}

  /// If snapshots follow each other without gaps, the first begins now.
  uit::TimePoint Start(uit::TimePoint now, std::chrono::nanoseconds duration) override {
    start_ = now;
    std::size_t num_peers = 0;
    ForEachPeer([&](auto&&...) { ++num_peers; });
    const std::int64_t num_expected = duration.count() > 0 ? duration / options_.interval : 64;
    const std::size_t max_sums = 3 * partition_.layers.size();  // by transport and layer
    sums_.reserve(max_sums);
    rows_.reserve((num_peers + max_sums) * std::min<std::size_t>(static_cast<std::size_t>(num_expected), options_.max_snapshots));
    before_.reserve(num_peers);
    return Look(now, 0);
  }
  /// Begins or ends a snapshot.
  uit::TimePoint Look(uit::TimePoint now, std::uint64_t num_updates) override {
    if (is_open_) {
      if (num_updates == begin_updates_) return now;  // it began late and needs at least one update
      End(now, num_updates);
      // Skips snapshots that the worker has missed because an update took longer.
      snapshot_ = std::max<std::uint64_t>(snapshot_ + 1, static_cast<std::uint64_t>((now - start_) / options_.interval));
    }
    const uit::TimePoint begin = Later(static_cast<std::int64_t>(snapshot_ + 1) * options_.interval - length_);
    if (snapshot_ >= options_.max_snapshots) return uit::never;
    if (now < begin) return begin;
    Begin(now, num_updates);
    return Later(static_cast<std::int64_t>(snapshot_ + 1) * options_.interval);
  }
  /// An open snapshot ends now, however short. Otherwise only the workers that notice the end last would have it.
  void Finish(uit::TimePoint now, std::uint64_t num_updates) override {
    if (is_open_ && num_updates > begin_updates_) End(now, num_updates);
  }
  /// Returns the snapshots taken.
  std::vector<QualityRow> TakeRows() { return std::move(rows_); }

 private:
  uit::TimePoint Later(std::chrono::nanoseconds span) const { return start_ + span; }

  void Begin(uit::TimePoint now, std::uint64_t num_updates) {
    is_open_ = true;
    begin_ = now;
    begin_updates_ = num_updates;
    before_.clear();
    ForEachPeer([this](std::uint32_t, std::uint32_t, const ExchangeCounts& counts, PeerTrace* trace) {
      before_.push_back(counts);
      if (trace != nullptr) trace->Clear();
    });
  }
  void End(uit::TimePoint now, std::uint64_t num_updates) {
    is_open_ = false;
    std::size_t i = 0;
    ForEachPeer([&](std::uint32_t layer, std::uint32_t peer, const ExchangeCounts& counts, const PeerTrace* trace) {
      QualityRow row;
      row.snapshot = static_cast<std::uint32_t>(snapshot_);
      row.layer = layer;
      row.worker = IdOf(partition_.graph.worker);
      row.peer = IdOf(peer);
      row.transport = peer_table_.TransportTo(row.peer.process);
      row.begin = begin_ - start_;
      row.end = now - start_;
      row.num_updates = num_updates - begin_updates_;
      row.counts = counts.Since(before_[i++]);
      if (trace != nullptr) {
        row.touch = trace->touch.Summary();
        row.age = trace->age.Summary();
        row.transit = trace->transit.Summary();
      }
      rows_.push_back(row);
      AddToSum(row, trace);
    });
    for (Sum& sum : sums_) {
      sum.row.touch = sum.touch.Summary();
      sum.row.age = sum.age.Summary();
      sum.row.transit = sum.transit.Summary();
      rows_.push_back(sum.row);
    }
    sums_.clear();
  }
  /// Adds a row to the sum over all peers with its layer and transport.
  void AddToSum(const QualityRow& row, const PeerTrace* trace) {
    auto sum = std::ranges::find_if(sums_, [&](const Sum& s) {
      return s.row.layer == row.layer && s.row.transport == row.transport;
    });
    if (sum == sums_.end()) {
      sum = sums_.insert(sums_.end(), Sum{.row = row});
      sum->row.scope = QualityScope::worker;
      sum->row.peer = row.worker;
    } else {
      sum->row.counts += row.counts;
      ++sum->row.num_peers;
    }
    if (trace == nullptr) return;
    sum->touch += trace->touch;
    sum->age += trace->age;
    sum->transit += trace->transit;
  }
  /// Calls `visit(layer, worker, counts, trace)`.
  template <typename F>
  void ForEachPeer(F&& visit) {
    std::uint32_t number = 0;
    for (LayerPart* const layer : partition_.layers) {
      const auto visit_peer = [&](std::uint32_t worker, const ExchangeCounts& counts, PeerTrace* trace) {
        visit(number, worker, counts, trace);
      };
      layer->ForEachPeer(std::ref(visit_peer));
      ++number;
    }
  }
  WorkerId IdOf(std::uint32_t worker) const { return {worker / num_threads_, worker % num_threads_}; }

  /// The sum over all peers that one transport reaches in one layer.
  struct Sum {
    QualityRow row;
    LatencyHistogram touch{};
    LatencyHistogram age{};
    LatencyHistogram transit{};
  };

  Partition& partition_;
  const PeerTable& peer_table_;
  std::uint32_t num_threads_;
  QualityOptions options_;
  std::chrono::nanoseconds length_;
  uit::TimePoint start_{};
  bool is_open_ = false;
  std::uint64_t snapshot_ = 0;
  uit::TimePoint begin_{};
  std::uint64_t begin_updates_ = 0;
  std::vector<ExchangeCounts> before_;  // by layer and peer
  std::vector<Sum> sums_;               // used only at the end of a snapshot
  std::vector<QualityRow> rows_;
};

}  // namespace netuit::detail
