#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <tuple>
#include <typeindex>
#include <utility>
#include <vector>

#include <uit/exchange/fabric.hpp>
#include <uit/link/world.hpp>
#include <uit/support/clock.hpp>
#include <uit/support/error.hpp>

namespace uit::detail {

/// The ends of conduits that the members of a process open during one run of a team, until each has found its other end.
///
/// The n-th inlet from one member to another joins the n-th outlet that the other opens from the first.
class Joints {
 public:
  Joints(World world, std::uint32_t num_threads, bool shares_memory)
      : world_(std::move(world)), num_threads_(num_threads), shares_memory_(shares_memory) {}

  /// Runs `open(other end, number)` alone. `other end` is null, or what the other member of this process has left here for this end:
  /// an object of type `type`. `open` returns what to leave for it. Throws if the other end has another type or depth. Any member.
  template <typename F>
  void JoinHere(std::size_t from, std::size_t to, bool is_inlet, std::type_index type, std::size_t depth, F&& open) {
    const std::lock_guard lock(mutex_);
    const std::uint64_t number = counts_[{from, to, is_inlet}]++;
    const auto waiting = waiting_.find({from, to, number});
    if (waiting == waiting_.end()) {
      waiting_.emplace(std::tuple{from, to, number}, Waiting{is_inlet, type, depth, open(nullptr)});
      return;
    }
    if (waiting->second.type != type)
      throw Error("members " + std::to_string(from) + " and " + std::to_string(to) + " open the ends of a conduit with different types or policies");
    if (waiting->second.depth != depth)
      throw Error("members " + std::to_string(from) + " and " + std::to_string(to) + " open the ends of a conduit with different depths");
    open(waiting->second.duct.get());
    waiting_.erase(waiting);
  }
  /// Runs `open(fabric, number)` alone, for an end whose other end is in another process. Any member.
  template <typename F>
  void JoinAcross(std::size_t from, std::size_t to, bool is_inlet, F&& open) {
    const std::lock_guard lock(mutex_);
    if (!next_) next_ = MakeFabric();
    open(*next_, counts_[{from, to, is_inlet}]++);
  }

  /// Connects the ends that were opened since the last call. Collective over the processes; one thread calls it while no other opens
  /// ends. Throws on every process if an end has found no other end.
  void Connect() {
    std::string complaint;
    if (!waiting_.empty()) {
      const auto& [key, end] = *waiting_.begin();
      const std::string from = "member " + std::to_string(std::get<0>(key));
      const std::string to = "member " + std::to_string(std::get<1>(key));
      complaint = end.is_inlet ? from + " has opened an inlet to " + to + ", which has opened no outlet from it"
                               : to + " has opened an outlet from " + from + ", which has opened no inlet to it";
      waiting_.clear();
    }
    world_.Agree(complaint);
    if (world_.Size() == 1) return;
    if (!next_) next_ = MakeFabric();
    next_->Connect();
    fabrics_.push_back(std::move(next_));
  }
  /// Returns the connected fabrics, which members poll. Not while a thread calls Connect.
  const std::vector<std::unique_ptr<Fabric>>& Fabrics() const { return fabrics_; }

  /// Closes the connections; all ends become unusable, but what has arrived can still be read. Collective. Returns false at the deadline.
  bool Close(Deadline deadline) {
    bool is_clean = true;
    for (const auto& fabric : fabrics_) is_clean = fabric->Close(deadline) && is_clean;
    fabrics_.clear();
    if (next_) next_->Close(Now());  // never connected
    next_.reset();
    return is_clean;
  }

 private:
  struct Waiting {
    bool is_inlet = false;
    std::type_index type;
    std::size_t depth = 0;
    std::shared_ptr<void> duct;
  };

  std::unique_ptr<Fabric> MakeFabric() const {
    return std::make_unique<Fabric>(world_, FabricOptions{.num_workers = num_threads_, .shares_memory = shares_memory_});
  }

  World world_;
  std::uint32_t num_threads_;
  bool shares_memory_;
  std::mutex mutex_;
  std::map<std::tuple<std::size_t, std::size_t, bool>, std::uint64_t> counts_;          // of ends, by from, to and direction
  std::map<std::tuple<std::size_t, std::size_t, std::uint64_t>, Waiting> waiting_;       // by from, to and number
  std::unique_ptr<Fabric> next_;                                                         // not connected yet
  std::vector<std::unique_ptr<Fabric>> fabrics_;
};

}  // namespace uit::detail
