#pragma once

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <map>
#include <span>
#include <utility>
#include <vector>

#include <uit/link/world.hpp>
#include <uit/support/bytes.hpp>

namespace netuit::detail {

/// Sends outgoing[r] to rank r, and returns what all ranks have sent to this one, in rank order. Makes several exchanges, so
/// that a process has at most about `max_at_once` bytes in flight. `max_at_once` must be the same on all ranks. Collective.
template <uit::TriviallyCopyable T>
std::vector<T> ExchangeItems(const uit::World& world, std::vector<std::vector<T>> outgoing,
                             std::size_t max_at_once = std::size_t{256} << 20U) {
  const std::size_t part = std::max<std::size_t>(max_at_once / sizeof(T) / world.Size(), 1);
  std::map<std::size_t, std::vector<T>> by_rank;
  by_rank[world.Rank()] = std::exchange(outgoing[world.Rank()], {});
  std::size_t longest = 0;
  for (const std::vector<T>& items : outgoing) longest = std::max(longest, items.size());
  longest = world.Max(longest);
  for (std::size_t at = 0; at < longest; at += part) {
    uit::BytesByRank pieces;
    for (std::size_t rank = 0; rank < world.Size(); ++rank) {
      const std::span<const T> items(outgoing[rank]);
      if (items.size() <= at) continue;
      const auto bytes = std::as_bytes(items.subspan(at, std::min(part, items.size() - at)));
      pieces.emplace(rank, uit::Bytes(bytes.begin(), bytes.end()));
    }
    for (const auto& [rank, bytes] : world.ExchangeSparsely(std::move(pieces))) {
      std::vector<T>& items = by_rank[rank];
      const std::size_t before = items.size();
      items.resize(before + bytes.size() / sizeof(T));
      std::memcpy(items.data() + before, bytes.data(), bytes.size());
    }
  }
  outgoing.clear();
  std::vector<T> all;
  for (auto& [rank, items] : by_rank) {
    if (all.empty()) all = std::move(items);
    else all.insert(all.end(), items.begin(), items.end());
    items = {};
  }
  return all;
}

}  // namespace netuit::detail
