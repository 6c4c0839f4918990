#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>

#include <netuit/mesh/delayed_slots.hpp>
#include <netuit/mesh/node_notes.hpp>
#include <netuit/run/sweep.hpp>
#include <uit/config.hpp>

namespace netuit::detail {

UIT_DEFINE void Sweep::Silence(NodeNotes& notes, std::uint32_t first, std::span<const NodeRange> nodes) {
  for (const NodeRange& range : nodes) {
    for (std::uint32_t node = std::max(range.begin, first); node < range.end; ++node) {
      if (notes.silent.empty() || notes.silent.back() != node) notes.silent.push_back(node);
    }
  }
}

UIT_DEFINE void Sweep::SortSilent(NodeNotes& notes, std::size_t first) {
  const auto begin = notes.silent.begin() + static_cast<std::ptrdiff_t>(first);
  std::sort(begin, notes.silent.end());
  notes.silent.erase(std::unique(begin, notes.silent.end()), notes.silent.end());
}

}  // namespace netuit::detail
