#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>

#include <netuit/mesh/levels.hpp>
#include <netuit/mesh/node_notes.hpp>
#include <netuit/run/update_loop.hpp>
#include <uit/config.hpp>

namespace netuit::detail {

UIT_DEFINE void UpdateLoop::Silence(NodeNotes& notes, std::uint32_t first, std::span<const NodeRange> nodes, std::size_t range) {
  for (; range < nodes.size(); ++range) {
    for (std::uint32_t node = std::max(nodes[range].begin, first); node < nodes[range].end; ++node) {
      if (notes.silent.empty() || notes.silent.back() != node) notes.silent.push_back(node);
    }
  }
}

UIT_DEFINE void UpdateLoop::SortSilent(NodeNotes& notes, std::size_t first) {
  const auto begin = notes.silent.begin() + static_cast<std::ptrdiff_t>(first);
  std::sort(begin, notes.silent.end());
  notes.silent.erase(std::unique(begin, notes.silent.end()), notes.silent.end());
}

}  // namespace netuit::detail
