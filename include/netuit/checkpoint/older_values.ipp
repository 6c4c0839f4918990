#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <numeric>
#include <span>
#include <utility>
#include <vector>

#include <netuit/checkpoint/block_route.hpp>
#include <netuit/checkpoint/older_values.hpp>
#include <netuit/mesh/delayed_slots.hpp>
#include <netuit/mesh/mesh.hpp>
#include <netuit/mesh/network_part.hpp>
#include <uit/config.hpp>
#include <uit/support/bytes.hpp>

namespace netuit::detail {

/// Returns how many older values each node of this process has.
UIT_DEFINE std::vector<std::uint64_t> CountOlder(const Mesh& mesh, const std::vector<std::uint32_t>& along) {
  std::vector<std::uint64_t> counts;
  for (const auto& partition : mesh.Partitions()) {
    const std::size_t first = counts.size();
    counts.resize(first + partition->NumNodes());
    for (const std::uint32_t network : along) {
      const NetworkPart& part = *partition->networks[network];
      if (!part.delayed || part.graph.out_delays.empty()) continue;
      for (std::size_t node = 0; node < partition->NumNodes(); ++node) {
        for (std::size_t output = part.graph.first_out[node]; output < part.graph.first_out[node + 1]; ++output) {
          const std::uint64_t delay = part.graph.out_delays[output];
          counts[first + node] = std::max(counts[first + node], std::max<std::uint64_t>(delay, 1) - 1);
        }
      }
    }
  }
  return counts;
}

UIT_DEFINE OlderValues::OlderValues(const Mesh& mesh, const std::vector<std::uint32_t>& along, const BlockRoute& nodes,
                                    const BlockRoute& nodes_and_ghosts, const std::vector<std::size_t>& slots)
    : counts_(nodes.Count()) {
  const std::vector<std::uint64_t> mine = CountOlder(mesh, along);
  const uit::Bytes block = nodes.Collect(sizeof(std::uint64_t), [&](std::size_t position, std::byte* to) {
    std::memcpy(to, &mine[position], sizeof(std::uint64_t));
  });
  if (!block.empty()) std::memcpy(counts_.data(), block.data(), block.size());
  const std::vector<std::uint64_t> sums =
      mesh.GetWorld().AllGatherValue(std::accumulate(counts_.begin(), counts_.end(), std::uint64_t{0}));
  num_values_ = std::accumulate(sums.begin(), sums.end(), std::uint64_t{0});
  if (num_values_ == 0) return;

  std::vector<std::uint64_t> firsts(counts_.size());  // number of the node's youngest older value
  const auto before = sums.begin() + static_cast<std::ptrdiff_t>(mesh.GetWorld().Rank());
  std::exclusive_scan(counts_.begin(), counts_.end(), firsts.begin(), std::accumulate(sums.begin(), before, std::uint64_t{0}));
  std::vector<std::uint64_t> first_by_slot(mesh.NumSlots());
  const uit::ByteView first_bytes = std::as_bytes(std::span(firsts));
  nodes_and_ghosts.Distribute(sizeof(std::uint64_t), first_bytes, [&](std::size_t position, const std::byte* value) {
    std::memcpy(&first_by_slot[slots[position]], value, sizeof(std::uint64_t));
  });
  std::vector<std::uint64_t> numbers;
  for (const std::uint32_t network : along) {
    mesh.ForEachPart({network}, [&](const NetworkPart& part) {
      if (!part.delayed) return;
      const DelayedSlots& delayed = *part.delayed;
      for (std::size_t i = 0; i < delayed.origins.size(); ++i) {
        if (delayed.delays[i] < 2) continue;
        numbers.push_back(first_by_slot[delayed.origins[i]] + delayed.delays[i] - 2U);
        slots_.push_back(delayed.first + i);
      }
    });
  }
  route_.emplace(mesh.GetWorld(), num_values_, std::move(numbers));
}

}  // namespace netuit::detail
