#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <utility>
#include <vector>

#include <netuit/checkpoint/block_route.hpp>
#include <uit/config.hpp>
#include <uit/link/world.hpp>
#include <uit/support/bytes.hpp>

namespace netuit::detail {

UIT_DEFINE BlockRoute::BlockRoute(const uit::World& world, std::uint64_t num_items, std::vector<std::uint64_t> items)
    : world_(world), num_items_(num_items) {
  std::vector<std::uint64_t> ends;  // of the blocks, by rank
  for (std::size_t rank = 0; rank < world.Size(); ++rank) ends.push_back(Begin(rank + 1));
  uit::BytesByRank wanted;
  for (std::size_t i = 0; i < items.size(); ++i) {
    const auto rank = static_cast<std::size_t>(std::ranges::upper_bound(ends, items[i]) - ends.begin());
    mine_[rank].push_back(i);
    const std::uint64_t number = items[i] - Begin(rank);
    const uit::ByteView bytes = uit::BytesOf(number);
    wanted[rank].insert(wanted[rank].end(), bytes.begin(), bytes.end());
  }
  for (const auto& [rank, asked] : world_.ExchangeSparsely(std::move(wanted))) {
    std::vector<std::uint64_t>& theirs = theirs_[rank];
    theirs.resize(asked.size() / sizeof(std::uint64_t));
    std::memcpy(theirs.data(), asked.data(), asked.size());
  }
}

UIT_DEFINE uit::Bytes BlockRoute::Collect(std::size_t num_bytes, uit::FunctionRef<void(std::size_t, std::byte*)> copy) const {
  uit::BytesByRank outgoing;
  for (const auto& [rank, mine] : mine_) {
    uit::Bytes& bytes = outgoing[rank];
    bytes.resize(mine.size() * num_bytes);
    for (std::size_t i = 0; i < mine.size(); ++i) copy(mine[i], bytes.data() + i * num_bytes);
  }
  uit::Bytes block(Count() * num_bytes);
  for (const auto& [rank, bytes] : world_.ExchangeSparsely(std::move(outgoing))) {
    const std::vector<std::uint64_t>& theirs = theirs_.at(rank);
    for (std::size_t i = 0; i < theirs.size(); ++i)
      std::memcpy(block.data() + theirs[i] * num_bytes, bytes.data() + i * num_bytes, num_bytes);
  }
  return block;
}

UIT_DEFINE VariedBlock BlockRoute::CollectVaried(uit::FunctionRef<void(std::size_t, uit::Bytes&)> append) const {
  uit::BytesByRank outgoing;
  for (const auto& [rank, mine] : mine_) {
    uit::Bytes& bytes = outgoing[rank];
    for (const std::size_t i : mine) {
      const std::size_t at = bytes.size();
      bytes.resize(at + sizeof(std::uint64_t));
      append(i, bytes);
      const std::uint64_t size = bytes.size() - at - sizeof size;
      std::memcpy(bytes.data() + at, &size, sizeof size);
    }
  }
  const uit::BytesByRank incoming = world_.ExchangeSparsely(std::move(outgoing));
  std::vector<uit::ByteView> values(Count());
  for (const auto& [rank, bytes] : incoming) {
    uit::ByteReader reader(bytes);
    std::uint64_t size = 0;
    for (const std::uint64_t item : theirs_.at(rank))
      if (!reader.TryRead(size) || !reader.TryTake(size, values[item])) break;
  }
  VariedBlock block;
  for (const uit::ByteView value : values) {
    block.sizes.push_back(value.size());
    block.bytes.insert(block.bytes.end(), value.begin(), value.end());
  }
  return block;
}

UIT_DEFINE void BlockRoute::Distribute(std::size_t num_bytes, uit::ByteView block,
                                       uit::FunctionRef<void(std::size_t, const std::byte*)> take) const {
  uit::BytesByRank outgoing;
  for (const auto& [rank, theirs] : theirs_) {
    uit::Bytes& bytes = outgoing[rank];
    bytes.resize(theirs.size() * num_bytes);
    for (std::size_t i = 0; i < theirs.size(); ++i)
      std::memcpy(bytes.data() + i * num_bytes, block.data() + theirs[i] * num_bytes, num_bytes);
  }
  for (const auto& [rank, bytes] : world_.ExchangeSparsely(std::move(outgoing))) {
    const std::vector<std::size_t>& mine = mine_.at(rank);
    for (std::size_t i = 0; i < mine.size(); ++i) take(mine[i], bytes.data() + i * num_bytes);
  }
}

UIT_DEFINE void BlockRoute::DistributeVaried(const VariedBlock& block,
                                             uit::FunctionRef<void(std::size_t, uit::ByteView)> take) const {
  std::vector<uit::ByteView> values;
  uit::ByteReader rest(block.bytes);
  for (const std::uint64_t size : block.sizes)
    if (!rest.TryTake(size, values.emplace_back())) break;
  values.resize(Count());
  uit::BytesByRank outgoing;
  for (const auto& [rank, theirs] : theirs_) {
    uit::Bytes& bytes = outgoing[rank];
    for (const std::uint64_t item : theirs) {
      const std::uint64_t size = values[item].size();
      const uit::ByteView head = uit::BytesOf(size);
      bytes.insert(bytes.end(), head.begin(), head.end());
      bytes.insert(bytes.end(), values[item].begin(), values[item].end());
    }
  }
  for (const auto& [rank, bytes] : world_.ExchangeSparsely(std::move(outgoing))) {
    uit::ByteReader reader(bytes);
    for (const std::size_t i : mine_.at(rank)) {
      std::uint64_t size = 0;
      uit::ByteView value;
      if (!reader.TryRead(size) || !reader.TryTake(size, value)) break;
      take(i, value);
    }
  }
}

}  // namespace netuit::detail
