#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include <uit/exchange/fabric.hpp>
#include <uit/inlet.hpp>
#include <uit/outlet.hpp>
#include <uit/policy.hpp>
#include <uit/transport/process.hpp>
#include <uit/transport/wiring.hpp>

#include "message.hpp"
#include "rank_pair.hpp"

namespace bench {

/// What a conduit between two ranks is opened with.
struct ConduitOptions {
  std::size_t num_slots = 64;
  std::size_t depth = 64;
  std::size_t num_channels = 1;
  bool shares_memory = true;  ///< else MPI carries the messages
  std::size_t buffer_bytes = 65'536;  ///< of those that are aggregated
  std::size_t num_frames = 8;         ///< likewise
};

/// A fabric of two ranks, and as many conduits each way as there are channels; messages take turns.
template <typename T, uit::Policy policy = uit::Policy{}>
class ConduitSide {
 public:
  /// Collective.
  ConduitSide(const uit::World& world, const ConduitOptions& options)
      : fabric_{world, {.num_slots = options.num_slots, .shares_memory = options.shares_memory}} {
    const std::size_t peer = 1 - world.Rank();
    for (std::size_t channel = 0; channel < options.num_channels; ++channel) {
      const auto reach = [&](std::size_t source) {
        return uit::Process{.fabric = &fabric_,
                            .peer = peer,
                            .key = {.source = static_cast<std::uint32_t>(source)},
                            .channel = channel,
                            .num_channels = options.num_channels,
                            .depth = options.depth,
                            .buffer_bytes = options.buffer_bytes,
                            .num_frames = options.num_frames};
      };
      inlets_.emplace_back(reach(world.Rank()));
      outlets_.emplace_back(reach(peer));
    }
    fabric_.Connect();
  }

  bool TrySend(std::uint32_t number) {
    Mark(message_, number);
    if (!inlets_[next_inlet_].TryPut(message_)) return false;
    Advance(next_inlet_);
    return true;
  }
  bool TryTake(std::uint64_t& sum) {
    if (outlets_[next_outlet_].TryStep() == 0) return false;
    sum += Check(outlets_[next_outlet_].Get());
    Advance(next_outlet_);
    return true;
  }
  bool TryFlush() { return inlets_.front().TryFlush(); }

 private:
  void Advance(std::size_t& channel) const { channel = channel + 1 == inlets_.size() ? 0 : channel + 1; }

  uit::Fabric fabric_;
  std::vector<uit::Inlet<T, policy, uit::Wiring<uit::Process>>> inlets_;
  std::vector<uit::Outlet<T, policy, uit::Wiring<uit::Process>>> outlets_;
  std::size_t next_inlet_ = 0;
  std::size_t next_outlet_ = 0;
  T message_{};
};

}  // namespace bench
