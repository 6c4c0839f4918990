#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <utility>
#include <vector>

#include <netuit/checkpoint/block_route.hpp>
#include <uit/config.hpp>
#include <uit/link/world.hpp>
#include <uit/support/bytes.hpp>

namespace netuit::detail {

UIT_DEFINE BlockRoute::BlockRoute(const uit::World& world, std::uint64_t num_items, std::vector<std::uint64_t> items)
    : world_(world), num_items_(num_items), mine_(world.Size()), theirs_(world.Size()) {
  std::vector<std::uint64_t> ends;  // of the blocks, by rank
  for (std::size_t rank = 0; rank < world.Size(); ++rank) ends.push_back(Begin(rank + 1));
  std::vector<uit::Bytes> wanted(world.Size());
  for (std::size_t i = 0; i < items.size(); ++i) {
    const auto rank = static_cast<std::size_t>(std::ranges::upper_bound(ends, items[i]) - ends.begin());
    mine_[rank].push_back(i);
    const std::uint64_t number = items[i] - Begin(rank);
    const uit::ByteView bytes = uit::BytesOf(number);
    wanted[rank].insert(wanted[rank].end(), bytes.begin(), bytes.end());
  }
  const std::vector<uit::Bytes> asked = world_.AllToAll(std::move(wanted));
  for (std::size_t rank = 0; rank < asked.size(); ++rank) {
    theirs_[rank].resize(asked[rank].size() / sizeof(std::uint64_t));
    if (!asked[rank].empty()) std::memcpy(theirs_[rank].data(), asked[rank].data(), asked[rank].size());
  }
}

UIT_DEFINE uit::Bytes BlockRoute::Collect(std::size_t num_bytes, uit::FunctionRef<void(std::size_t, std::byte*)> copy) const {
  std::vector<uit::Bytes> outgoing(world_.Size());
  for (std::size_t rank = 0; rank < outgoing.size(); ++rank) {
    outgoing[rank].resize(mine_[rank].size() * num_bytes);
    for (std::size_t i = 0; i < mine_[rank].size(); ++i) copy(mine_[rank][i], outgoing[rank].data() + i * num_bytes);
  }
  const std::vector<uit::Bytes> incoming = world_.AllToAll(std::move(outgoing));
  uit::Bytes block(Count() * num_bytes);
  for (std::size_t rank = 0; rank < incoming.size(); ++rank) {
    for (std::size_t i = 0; i < theirs_[rank].size(); ++i)
      std::memcpy(block.data() + theirs_[rank][i] * num_bytes, incoming[rank].data() + i * num_bytes, num_bytes);
  }
  return block;
}

UIT_DEFINE VariedBlock BlockRoute::CollectVaried(uit::FunctionRef<void(std::size_t, uit::Bytes&)> append) const {
  std::vector<uit::Bytes> outgoing(world_.Size());
  for (std::size_t rank = 0; rank < outgoing.size(); ++rank) {
    for (const std::size_t i : mine_[rank]) {
      const std::size_t at = outgoing[rank].size();
      outgoing[rank].resize(at + sizeof(std::uint64_t));
      append(i, outgoing[rank]);
      const std::uint64_t size = outgoing[rank].size() - at - sizeof size;
      std::memcpy(outgoing[rank].data() + at, &size, sizeof size);
    }
  }
  const std::vector<uit::Bytes> incoming = world_.AllToAll(std::move(outgoing));
  std::vector<uit::ByteView> values(Count());
  for (std::size_t rank = 0; rank < incoming.size(); ++rank) {
    uit::ByteReader reader(incoming[rank]);
    std::uint64_t size = 0;
    for (const std::uint64_t item : theirs_[rank])
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
  std::vector<uit::Bytes> outgoing(world_.Size());
  for (std::size_t rank = 0; rank < outgoing.size(); ++rank) {
    outgoing[rank].resize(theirs_[rank].size() * num_bytes);
    for (std::size_t i = 0; i < theirs_[rank].size(); ++i)
      std::memcpy(outgoing[rank].data() + i * num_bytes, block.data() + theirs_[rank][i] * num_bytes, num_bytes);
  }
  const std::vector<uit::Bytes> incoming = world_.AllToAll(std::move(outgoing));
  for (std::size_t rank = 0; rank < incoming.size(); ++rank)
    for (std::size_t i = 0; i < mine_[rank].size(); ++i) take(mine_[rank][i], incoming[rank].data() + i * num_bytes);
}

UIT_DEFINE void BlockRoute::DistributeVaried(const VariedBlock& block,
                                             uit::FunctionRef<void(std::size_t, uit::ByteView)> take) const {
  std::vector<uit::ByteView> values;
  uit::ByteReader rest(block.bytes);
  for (const std::uint64_t size : block.sizes)
    if (!rest.TryTake(size, values.emplace_back())) break;
  values.resize(Count());
  std::vector<uit::Bytes> outgoing(world_.Size());
  for (std::size_t rank = 0; rank < outgoing.size(); ++rank) {
    for (const std::uint64_t item : theirs_[rank]) {
      const std::uint64_t size = values[item].size();
      const uit::ByteView head = uit::BytesOf(size);
      outgoing[rank].insert(outgoing[rank].end(), head.begin(), head.end());
      outgoing[rank].insert(outgoing[rank].end(), values[item].begin(), values[item].end());
    }
  }
  const std::vector<uit::Bytes> incoming = world_.AllToAll(std::move(outgoing));
  for (std::size_t rank = 0; rank < incoming.size(); ++rank) {
    uit::ByteReader reader(incoming[rank]);
    for (const std::size_t i : mine_[rank]) {
      std::uint64_t size = 0;
      uit::ByteView value;
      if (!reader.TryRead(size) || !reader.TryTake(size, value)) break;
      take(i, value);
    }
  }
}

}  // namespace netuit::detail
