#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include <mpi.h>

#include <netuit/graph/topology.hpp>
#include <uit/link/world.hpp>

#include "demos/common/complete.hpp"
#include "demos/common/exchange.hpp"
#include "demos/graphs/part.hpp"
#include "neighbors.hpp"

namespace triangle_count {

/// A hand-written version over MPI. A process sends the larger neighbours of a node once to each process that owns one of them, and
/// looks at once for triangles of its own nodes. The lists travel in batches, which all exchange.
class ByMpi {
 public:
  /// Collective.
  ByMpi(const uit::World& world, const graphs::Part& part)
      : rank_(static_cast<std::uint32_t>(world.Rank())), part_(part), degrees_(world.Size()), lists_(world.Size()),
        larger_(part.NumNodes()), sent_by_(world.Size()) {}

  /// Collective. Returns the number of triangles.
  std::uint64_t Count() {
    FindLarger();
    count_ = 0;
    sent_by_.assign(sent_by_.size(), 0);
    for (std::uint32_t node = 0;;) {
      for (num_words_ = 0; node < part_.NumNodes() && num_words_ < batch_words; ++node) SendList(node);
      if (!lists_.Swap(node < part_.NumNodes())) break;
      TakeLists(lists_.Incoming());
    }
    demo::Complete("MPI_Iallreduce", [&](MPI_Request* request) {
      return MPI_Iallreduce(MPI_IN_PLACE, &count_, 1, MPI_UINT64_T, MPI_SUM, MPI_COMM_WORLD, request);
    });
    return count_;
  }

 private:
  static constexpr std::size_t batch_words = 65'536;
  struct Degree {
    std::uint32_t node = 0;  // that is told, by its number at its process
    Neighbor neighbor{};
  };

  Neighbor AsNeighbor(std::uint32_t node) const {
    return {static_cast<netuit::NodeId>(part_.Targets(node).size()), part_.Id(node)};
  }
  /// Each node tells its neighbours how many it has.
  void FindLarger() {
    for (Larger& larger : larger_) larger.Clear();
    const auto tell = [&](const Degree& degree) {
      if (AsNeighbor(degree.node) < degree.neighbor) larger_[degree.node].Add(degree.neighbor);
    };
    for (std::uint32_t node = 0; node < part_.NumNodes(); ++node)
      for (const graphs::Place target : part_.Targets(node)) {
        const Degree degree{target.node, AsNeighbor(node)};
        if (target.rank == rank_) tell(degree);
        else degrees_.Put(target.rank, degree);
      }
    degrees_.Swap(true);
    for (const Degree& degree : degrees_.Incoming()) tell(degree);
    for (Larger& larger : larger_) larger.Finish();
  }
  /// A list has its length before it.
  void SendList(std::uint32_t node) {
    list_.clear();
    for (const Neighbor& neighbor : larger_[node].List()) list_.push_back(neighbor.id);
    CountOwn(list_);
    for (const netuit::NodeId id : list_) {
      const std::uint32_t rank = part_.Find(id).rank;
      if (rank == rank_ || sent_by_[rank] == node + 1) continue;
      sent_by_[rank] = node + 1;
      lists_.Put(rank, static_cast<std::uint32_t>(list_.size()));
      for (const netuit::NodeId each : list_) lists_.Put(rank, each);
      num_words_ += list_.size() + 1;
    }
  }
  void TakeLists(std::span<const std::uint32_t> words) {
    for (; !words.empty(); words = words.subspan(words[0] + 1)) CountOwn(words.subspan(1, words[0]));
  }
  /// Counts the triangles of a list whose second node is here.
  void CountOwn(std::span<const netuit::NodeId> list) {
    for (; list.size() > 1; list = list.subspan(1))
      if (const graphs::Place place = part_.Find(list[0]); place.rank == rank_)
        count_ += larger_[place.node].NumAmong(list.subspan(1));
  }

  std::uint32_t rank_;
  const graphs::Part& part_;
  demo::Exchange<Degree> degrees_;
  demo::Exchange<std::uint32_t> lists_;
  std::vector<Larger> larger_;          // by node, as it is numbered here
  std::vector<std::uint32_t> sent_by_;  // by rank: one more than the node whose list it got last
  std::vector<netuit::NodeId> list_;
  std::size_t num_words_ = 0;
  std::uint64_t count_ = 0;
};

}  // namespace triangle_count
