#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include <uit/exchange/fabric.hpp>
#include <uit/inlet.hpp>
#include <uit/outlet.hpp>
#include <uit/policy.hpp>
#include <uit/transport/process.hpp>
#include <uit/transport/transport_set.hpp>

#include "message.hpp"
#include "rank_pair.hpp"

namespace bench {

/// Options of a conduit between two ranks.
struct ConduitOptions {
  std::size_t num_slots = 64;
  std::size_t depth = 64;
  std::size_t num_channels = 1;
  bool shares_memory = true;  ///< if false, MPI carries the messages
  std::size_t buffer_bytes = 65'536;  ///< of those that are aggregated
  std::size_t num_frames = 8;         ///< likewise
};

/// A fabric of two ranks, and as many conduits each way as there are channels; messages take turns.
template <typename T, uit::Policy policy = uit::Policy{}>
class ConduitSide {
 public:
  /// Collective.
  ConduitSide(const uit::World& world, const ConduitOptions& options)
      : fabric_{world, {.num_slots = options.num_slots, .shares_memory = options.shares_memory}},
        takes_turns_{options.num_channels > 1} {
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
    inlet_ = inlets_.data();
    outlet_ = outlets_.data();
  }

  bool TrySend(std::uint32_t number) {
    Mark(message_, number);
    if (!inlet_->TryPut(message_)) return false;
    Advance(inlet_, inlets_);
    return true;
  }
  bool TryTake(std::uint64_t& sum) {
    Outlet& outlet = *outlet_;
    if (outlet.TryStep() == 0) return false;
    sum += Check(outlet.Get());
    Advance(outlet_, outlets_);
    return true;
  }
  bool TryFlush() { return inlets_.front().TryFlush(); }

  /// Sends messages of the first channel in a row, from the first on. Returns how many had room.
  std::size_t SendSome(std::span<const T> messages) { return inlets_.front().StageSome(messages); }
  /// Takes messages of the first channel, and returns how many.
  std::size_t TakeSome(std::span<T> messages) { return outlets_.front().TakeSome(messages); }

 private:
  using Inlet = uit::Inlet<T, policy, uit::TransportSet<uit::Process>>;
  using Outlet = uit::Outlet<T, policy, uit::TransportSet<uit::Process>>;

  template <typename E>
  void Advance(E*& end, std::vector<E>& ends) const {
    if (!takes_turns_) return;  // with one conduit, no lookup and no store
    end = end == &ends.back() ? ends.data() : end + 1;
  }

  uit::Fabric fabric_;
  std::vector<Inlet> inlets_;
  std::vector<Outlet> outlets_;
  Inlet* inlet_ = nullptr;  // whose turn it is
  Outlet* outlet_ = nullptr;
  bool takes_turns_;
  T message_{};
};

/// The same with one channel, several messages in a row.
template <typename T, uit::Policy policy, std::size_t length>
class RowSide {
 public:
  /// Collective.
  RowSide(const uit::World& world, const ConduitOptions& options) : side_{world, options} {}

  bool TrySend(std::uint32_t number) {
    if (num_marked_ == length && !TrySendRow()) return false;
    Mark(row_[num_marked_++], number);
    return true;
  }
  bool TryTake(std::uint64_t& sum) {
    if (next_ == num_taken_) {
      next_ = 0;
      num_taken_ = side_.TakeSome(row_);
      if (num_taken_ == 0) return false;
    }
    sum += Check(row_[next_++]);
    return true;
  }
  bool TryFlush() { return TrySendRow() && side_.TryFlush(); }

 private:
  bool TrySendRow() {
    num_sent_ += side_.SendSome(std::span{row_}.subspan(num_sent_, num_marked_ - num_sent_));
    if (num_sent_ != num_marked_) return false;
    num_sent_ = num_marked_ = 0;
    return true;
  }

  ConduitSide<T, policy> side_;
  std::array<T, length> row_{};  // a rank either sends or takes
  std::size_t num_marked_ = 0;
  std::size_t num_sent_ = 0;
  std::size_t num_taken_ = 0;
  std::size_t next_ = 0;
};

}  // namespace bench
