#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include <netuit/balance/load_meter.hpp>
#include <netuit/mesh/delayed_slots.hpp>
#include <netuit/mesh/node_notes.hpp>
#include <netuit/mesh/partition.hpp>
#include <uit/config.hpp>
#include <uit/support/clock.hpp>

namespace netuit::detail {

UIT_DEFINE std::vector<double> LoadMeter::Take() {
  std::vector<double> loads;
  for (Seconds& seconds : nodes_) {
    const Seconds of = std::exchange(seconds, {});
    if (of.count >= 3) loads.push_back((of.sum - of.longest) / static_cast<double>(of.count - 1));
    else loads.push_back(of.count == 0 ? 0.0 : of.sum / static_cast<double>(of.count));
  }
  return loads;
}

UIT_DEFINE bool LoadMeter::Update(std::uint32_t thread, std::uint64_t update, std::span<const NodeRange> nodes, NodeNotes& notes,
                                  std::uint32_t& position) {
  if (update % every_ != 0) return watched_->Update(thread, update, nodes, notes, position);
  const std::size_t first_local = mesh_.Partitions()[thread]->first_local;
  bool wants_stop = false;
  uit::TimePoint begin = uit::Now();
  for (std::size_t range = 0; range < nodes.size(); ++range) {
    for (std::uint32_t node = nodes[range].begin; node < nodes[range].end; ++node) {
      const NodeRange one{node, node + 1};
      try {
        wants_stop |= watched_->Update(thread, update, {&one, 1}, notes, position);
      } catch (...) {  // the sweep has made this node silent; the later ones follow, as if it had been called for all
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
