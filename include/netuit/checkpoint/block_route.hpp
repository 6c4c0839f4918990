#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <vector>

#include <uit/config.hpp>
#include <uit/link/world.hpp>
#include <uit/support/bytes.hpp>
#include <uit/support/function_ref.hpp>

namespace netuit::detail {

/// Values that differ in size: their sizes, and all of them one after another.
struct VariedBlock {
  std::vector<std::uint64_t> sizes;
  uit::Bytes bytes;
};

/// Moves values between the processes that hold them and those that write or read them in a file. Each process writes and reads
/// one block of consecutive items. An item is a node or an edge of a network. All functions are collective.
class BlockRoute {
 public:
  /// `items` are the numbers of the items whose values this process holds or wants, out of `num_items`; the same item may occur on
  /// several processes.
  BlockRoute(const uit::World& world, std::uint64_t num_items, std::vector<std::uint64_t> items);

  /// Returns the number of items of all processes.
  std::uint64_t NumItems() const { return num_items_; }
  /// Returns the first item of this process's block.
  std::uint64_t First() const { return Begin(world_.Rank()); }
  /// Returns the number of items in it.
  std::uint64_t Count() const { return Begin(world_.Rank() + 1) - First(); }

  /// Returns this process's block. `copy(i, to)` writes the value of `items[i]`.
  uit::Bytes Collect(std::size_t num_bytes, uit::FunctionRef<void(std::size_t, std::byte*)> copy) const;
  /// The same for values that differ in size. `append(i, to)` appends the value of `items[i]`.
  VariedBlock CollectVaried(uit::FunctionRef<void(std::size_t, uit::Bytes&)> append) const;
  /// Hands out the values of this process's block. `take(i, value)` receives that of `items[i]`.
  void Distribute(std::size_t num_bytes, uit::ByteView block, uit::FunctionRef<void(std::size_t, const std::byte*)> take) const;
  /// The same for values that differ in size.
  void DistributeVaried(const VariedBlock& block, uit::FunctionRef<void(std::size_t, uit::ByteView)> take) const;

 private:
  std::uint64_t Begin(std::size_t rank) const { return num_items_ / world_.Size() * rank + num_items_ % world_.Size() * rank / world_.Size(); }

  uit::World world_;
  std::uint64_t num_items_;
  std::map<std::size_t, std::vector<std::size_t>> mine_;      // by rank: positions in `items` of those in its block
  std::map<std::size_t, std::vector<std::uint64_t>> theirs_;  // by rank: the items that it has out of this process's block, from its first
};

}  // namespace netuit::detail

#if !UIT_COMPILED
#include <netuit/checkpoint/block_route.ipp>
#endif
