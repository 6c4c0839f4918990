#pragma once

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <span>
#include <utility>
#include <vector>

#include <uit/link/world.hpp>
#include <uit/support/bytes.hpp>

namespace netuit::detail {

/// Sends outgoing[r] to rank r, and returns what all ranks have sent to this one, in rank order. Works in several exchanges, so
/// that a process has at most about `max_at_once` bytes under way in each. `max_at_once` must be the same on all ranks. Collective.
template <uit::TriviallyCopyable T>
std::vector<T> ExchangeItems(const uit::World& world, std::vector<std::vector<T>> outgoing,
                             std::size_t max_at_once = std::size_t{256} << 20U) {
  const std::size_t part = std::max<std::size_t>(max_at_once / sizeof(T) / world.Size(), 1);
  std::vector<std::vector<T>> by_rank(world.Size());
  by_rank[world.Rank()] = std::move(outgoing[world.Rank()]);
  outgoing[world.Rank()] = {};
  std::size_t longest = 0;
  for (const std::vector<T>& items : outgoing) longest = std::max(longest, items.size());
  longest = std::ranges::max(world.AllGatherValue(longest));
  for (std::size_t at = 0; at < longest; at += part) {
    std::vector<uit::Bytes> pieces(world.Size());
    for (std::size_t rank = 0; rank < world.Size(); ++rank) {
      const std::span<const T> items(outgoing[rank]);
      const std::size_t begin = std::min(at, items.size());
      const auto bytes = std::as_bytes(items.subspan(begin, std::min(part, items.size() - begin)));
      pieces[rank].assign(bytes.begin(), bytes.end());
    }
    const std::vector<uit::Bytes> incoming = world.AllToAll(std::move(pieces));
    for (std::size_t rank = 0; rank < world.Size(); ++rank) {
      const std::size_t before = by_rank[rank].size();
      by_rank[rank].resize(before + incoming[rank].size() / sizeof(T));
      if (!incoming[rank].empty()) std::memcpy(by_rank[rank].data() + before, incoming[rank].data(), incoming[rank].size());
    }
  }
  outgoing.clear();
  std::vector<T> all = std::move(by_rank[0]);
  for (std::size_t rank = 1; rank < world.Size(); ++rank) {
    all.insert(all.end(), by_rank[rank].begin(), by_rank[rank].end());
    by_rank[rank] = {};
  }
  return all;
}

}  // namespace netuit::detail
