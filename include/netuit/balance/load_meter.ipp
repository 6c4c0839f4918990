#pragma once

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include <netuit/balance/load_meter.hpp>
#include <netuit/mesh/levels.hpp>
#include <netuit/mesh/node_notes.hpp>
#include <netuit/mesh/partition.hpp>
#include <uit/config.hpp>
#include <uit/support/clock.hpp>

namespace netuit::detail {

UIT_DEFINE std::vector<double> LoadMeter::Take() {
  const double overhead = Overhead();
  constexpr double least = 1.0 / 16;  // of what was measured: no node counts as free
  std::vector<double> loads;
  for (Seconds& seconds : nodes_) {
    const Seconds of = std::exchange(seconds, {});
    const double mean = of.count >= 3   ? (of.sum - of.longest) / static_cast<double>(of.count - 1)
                        : of.count != 0 ? of.sum / static_cast<double>(of.count)
                                        : 0.0;
    loads.push_back(std::max(mean - overhead, least * mean));
  }
  calls_.assign(calls_.size(), {});
  return loads;
}

UIT_DEFINE double LoadMeter::Overhead() const {
  double sum = 0;
  std::size_t num_nodes = 0;
  for (const Call& call : calls_) {
    if (std::isinf(call.measured) || std::isinf(call.whole)) continue;
    sum += call.measured - call.whole;
    num_nodes += call.num_nodes;
  }
  return sum > 0 ? sum / static_cast<double>(num_nodes) : 0;
}

UIT_DEFINE LoadMeter::Call& LoadMeter::CallOf(std::uint32_t thread, std::span<const NodeRange> nodes) {
  std::size_t num_nodes = 0;
  for (const NodeRange& range : nodes) num_nodes += range.end - range.begin;
  Call& call = calls_[mesh_.Partitions()[thread]->first_local + nodes.front().begin];
  if (call.num_nodes != num_nodes) call = {.num_nodes = num_nodes};
  return call;
}

UIT_DEFINE bool LoadMeter::Update(std::uint32_t thread, std::uint64_t update, std::span<const NodeRange> nodes, NodeNotes& notes,
                                  std::uint32_t& position) {
  const std::uint64_t turn = update % every_;
  const bool is_empty = std::ranges::all_of(nodes, [](const NodeRange& range) { return range.begin == range.end; });
  if (turn > 1 || is_empty) return watched_->Update(thread, update, nodes, notes, position);
  const uit::TimePoint begin = uit::Now();
  const bool wants_stop = turn == 0 ? UpdateEach(thread, update, nodes, notes, position)
                                    : watched_->Update(thread, update, nodes, notes, position);
  Call& call = CallOf(thread, nodes);
  double& shortest = turn == 0 ? call.measured : call.whole;
  shortest = std::min(shortest, std::chrono::duration<double>(uit::Now() - begin).count());
  return wants_stop;
}

UIT_DEFINE bool LoadMeter::UpdateEach(std::uint32_t thread, std::uint64_t update, std::span<const NodeRange> nodes,
                                      NodeNotes& notes, std::uint32_t& position) {
  const std::size_t first_local = mesh_.Partitions()[thread]->first_local;
  bool wants_stop = false;
  uit::TimePoint begin = uit::Now();
  for (std::size_t range = 0; range < nodes.size(); ++range) {
    for (std::uint32_t node = nodes[range].begin; node < nodes[range].end; ++node) {
      const NodeRange one{node, node + 1};
      try {
        wants_stop |= watched_->Update(thread, update, {&one, 1}, notes, position);
      } catch (...) {  // the loop has made this node silent; the later ones follow, as if it had been called for all
        for (std::uint32_t later = node + 1; later < nodes[range].end; ++later) notes.silent.push_back(later);
        for (const NodeRange& rest : nodes.subspan(range + 1))
          for (std::uint32_t later = rest.begin; later < rest.end; ++later) notes.silent.push_back(later);
        throw;
      }
      const uit::TimePoint end = uit::Now();
      const double took = std::chrono::duration<double>(end - std::exchange(begin, end)).count();
      Seconds& seconds = nodes_[first_local + node];
      seconds.sum += took;
      seconds.longest = std::max(seconds.longest, took);
      ++seconds.count;
    }
  }
  return wants_stop;
}

}  // namespace netuit::detail
