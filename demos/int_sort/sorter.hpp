#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include <mpi.h>

#include <uit/conveyor/conveyor.hpp>
#include <uit/team/member.hpp>

#include "demos/common/complete.hpp"
#include "demos/common/exchange.hpp"
#include "keys.hpp"

namespace int_sort {

/// Which member gets which keys: a range for each, such that all get about as many.
class Split {
 public:
  /// For keys below 2^log2_most, which is at least 1024.
  explicit Split(unsigned log2_most)
      : shift_(log2_most - log2_buckets), counts_(std::size_t{1} << log2_buckets), owners_(counts_.size()) {}

  /// Counts the keys of this member by their first bits.
  std::span<std::uint64_t> Count(std::span<const Key> keys) {
    std::ranges::fill(counts_, 0);
    for (const Key key : keys) ++counts_[key >> shift_];
    return counts_;
  }
  /// Decides, once the counts are the sums over all members, which keys belong to which of `num_members` and to `member`.
  void Decide(std::size_t member, std::size_t num_members) {
    std::uint64_t total = 0;
    for (const std::uint64_t count : counts_) total += count;
    std::uint64_t num_before = 0;
    begin_ = end_ = 0;
    for (std::size_t bucket = 0; bucket < counts_.size(); ++bucket) {
      const std::uint64_t middle = num_before + counts_[bucket] / 2;
      owners_[bucket] = total == 0 ? 0 : static_cast<std::uint32_t>(middle * num_members / (total + 1));
      num_before += counts_[bucket];
      if (owners_[bucket] < member) begin_ = (bucket + 1) << shift_;
      if (owners_[bucket] <= member) end_ = (bucket + 1) << shift_;
    }
  }
  /// The member that gets a key.
  std::uint32_t OwnerOf(Key key) const { return owners_[key >> shift_]; }
  /// The least key of this member.
  std::size_t Begin() const { return begin_; }
  /// One more than the largest.
  std::size_t End() const { return end_; }

 private:
  static constexpr unsigned log2_buckets = 10;
  unsigned shift_;
  std::vector<std::uint64_t> counts_;
  std::vector<std::uint32_t> owners_;
  std::size_t begin_ = 0;
  std::size_t end_ = 0;
};

/// The keys that a member gets: how often each occurs.
class KeyCounts {
 public:
  /// Begins anew, for keys from `begin` to `end` - 1.
  void Reset(std::size_t begin, std::size_t end) {
    begin_ = begin;
    counts_.assign(end - begin, 0);
  }
  void Add(Key key) { ++counts_[key - begin_]; }
  /// Writes the keys in order.
  void WriteTo(std::vector<Key>& sorted) const {
    sorted.clear();
    for (std::size_t i = 0; i < counts_.size(); ++i) sorted.insert(sorted.end(), counts_[i], static_cast<Key>(begin_ + i));
  }

 private:
  std::size_t begin_ = 0;
  std::vector<std::uint32_t> counts_{};
};

/// Sorts keys that travel over a conveyor. A handler counts them.
class ByConveyor {
 public:
  /// Collective.
  ByConveyor(uit::Member& me, const Class& size, std::size_t buffer_bytes)
      : me_(me),
        split_(size.log2_most),
        conveyor_(me, [this](const Key& key) { counts_.Add(key); }, {.buffer_bytes = buffer_bytes}) {}

  /// Collective. `sorted` gets the keys of this member's range.
  void Run(std::span<const Key> keys, std::vector<Key>& sorted) {
    me_.AllReduce(split_.Count(keys), std::plus<>{});
    split_.Decide(me_.Rank(), me_.Size());
    counts_.Reset(split_.Begin(), split_.End());
    for (const Key key : keys) conveyor_.Push(split_.OwnerOf(key), key);
    conveyor_.Finish();
    counts_.WriteTo(sorted);
  }

 private:
  uit::Member& me_;
  Split split_;
  KeyCounts counts_{};
  uit::Conveyor<Key> conveyor_;
};

/// The same by hand with MPI: all keys are exchanged at once.
class ByAlltoallv {
 public:
  /// For process `rank` of `num_ranks`.
  ByAlltoallv(std::size_t rank, std::size_t num_ranks, const Class& size)
      : rank_(rank), num_ranks_(num_ranks), split_(size.log2_most), exchange_(num_ranks) {}

  /// Collective. `sorted` gets the keys of this process's range.
  void Run(std::span<const Key> keys, std::vector<Key>& sorted) {
    const std::span<std::uint64_t> counts = split_.Count(keys);
    demo::Complete("MPI_Iallreduce", [counts](MPI_Request* request) {
      return MPI_Iallreduce(MPI_IN_PLACE, counts.data(), static_cast<int>(counts.size()), MPI_UINT64_T, MPI_SUM, MPI_COMM_WORLD,
                            request);
    });
    split_.Decide(rank_, num_ranks_);
    counts_.Reset(split_.Begin(), split_.End());
    for (const Key key : keys) exchange_.Put(split_.OwnerOf(key), key);
    exchange_.Swap();
    for (const Key key : exchange_.Incoming()) counts_.Add(key);
    counts_.WriteTo(sorted);
  }

 private:
  std::size_t rank_;
  std::size_t num_ranks_;
  Split split_;
  KeyCounts counts_{};
  demo::Exchange<Key> exchange_;
};

}  // namespace int_sort
