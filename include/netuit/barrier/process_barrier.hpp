#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include <uit/exchange/fabric.hpp>
#include <uit/support/clock.hpp>
#include <uit/support/error.hpp>
#include <uit/support/pause.hpp>

namespace netuit {

/// What the workers of a run agree on at a barrier: the maximum of what each brings, field by field.
struct Accord {
  std::uint32_t stop = 0;        ///< why to stop, or 0
  std::uint32_t is_pending = 0;  ///< 1: somebody has work left
  std::uint64_t next = 0;        ///< the number of the next barrier

  /// Takes another worker's view in.
  void Merge(const Accord& other) {
    stop = std::max(stop, other.stop);
    is_pending = std::max(is_pending, other.is_pending);
    next = std::max(next, other.next);
  }
};

/// A process did not come to the barrier in time.
class PeerLost : public uit::Error {
  using uit::Error::Error;
};

/// A barrier between processes: dissemination, in ceil(log2(processes)) rounds of one small message each
/// (Hensgen, Finkel, Manber 1988). What is agreed on rides in the messages. Never blocks inside MPI.
///
/// One thread of each process at a time.
class ProcessBarrier {
 public:
  /// Opens links of its own. Collective; nothing may be sent before the others are open too, so let the processes agree on
  /// something before the first use.
  ProcessBarrier(const uit::World& world, uit::Fabric& fabric) : fabric_(&fabric), rank_(world.Rank()), size_(world.Size()) {
    for (std::size_t reach = 1; reach < size_; reach *= 2) {
      Round& round = rounds_.emplace_back();
      round.to = (rank_ + reach) % size_;
      round.from = (rank_ + size_ - reach) % size_;
    }
    for (const Round& round : rounds_) {
      for (const std::size_t peer : {round.to, round.from}) {
        if (links_.contains(peer)) continue;
        links_.emplace(peer, world.OpenLink(peer, stream, {.num_sends = 4, .num_receives = 4, .payload_bytes = sizeof(Letter)}));
      }
    }
  }

  /// Waits until every process has arrived, and returns what all have brought. Calls `idle` between tries. Throws
  /// PeerLost at the deadline; the barrier is of no use from then on.
  template <std::invocable Idle>
  Accord ArriveAndWait(Accord mine, uit::Deadline deadline, Idle&& idle) {
    ++epoch_;
    for (Round& round : rounds_) {
      Letter letter{epoch_, mine};
      const auto attempt = [&](auto step) {
        bool is_done = false;
        return fabric_->Exclusively([&] { is_done = step(); }) && is_done;
      };
      if (!uit::WaitUntil([&] { return attempt([&] { return TrySend(round, letter); }); }, deadline, idle) ||
          !uit::WaitUntil([&] { return attempt([&] { return TryReceive(round); }); }, deadline, idle))
        throw PeerLost("no word from rank " + std::to_string(round.from) + " at a barrier");
      mine.Merge(round.early->accord);
      round.early.reset();
    }
    return mine;
  }

  /// The largest reason to stop that a process has already brought to the next barrier, or 0. Never waits.
  std::uint32_t EarlyStop() {
    std::uint32_t stop = 0;
    fabric_->Exclusively([&] {
      for (Round& round : rounds_) {
        if (TryReceive(round)) stop = std::max(stop, round.early->accord.stop);
      }
    });
    return stop;
  }

  /// Gives the links back, once all processes have passed their last barrier. False at the deadline.
  bool Close(uit::Deadline deadline) {
    const bool is_clean = uit::WaitUntil([&] {
      bool is_done = false;
      fabric_->Exclusively([&] {
        is_done = std::ranges::all_of(links_, [](auto& entry) { return entry.second.TryClose(); });
      });
      return is_done;
    }, deadline);
    if (!is_clean) {
      for (auto& [peer, link] : links_) link.Abandon();
    }
    links_.clear();
    return is_clean;
  }

 private:
  static constexpr int stream = 1;
  struct Letter {
    std::uint64_t epoch = 0;
    Accord accord;
  };
  struct Round {
    std::size_t to = 0;
    std::size_t from = 0;
    std::optional<Letter> early;  // received, and not yet used
  };

  bool TrySend(Round& round, const Letter& letter) {
    frame_.Reserve(sizeof(Letter));
    frame_.Header() = uit::FrameHeader{};
    frame_.Header().num_bytes = sizeof(Letter);
    std::memcpy(frame_.Payload(), &letter, sizeof letter);
    return links_.at(round.to).TrySend(frame_);
  }
  bool TryReceive(Round& round) {
    if (round.early) return true;
    if (!links_.at(round.from).TryReceive(frame_)) return false;
    Letter letter;
    std::memcpy(&letter, frame_.Payload(), sizeof letter);
    round.early = letter;
    return true;
  }

  uit::Fabric* fabric_;
  std::size_t rank_;
  std::size_t size_;
  std::uint64_t epoch_ = 0;
  std::vector<Round> rounds_;
  std::map<std::size_t, uit::AnyLink> links_;  // by peer
  uit::Frame frame_;
};

}  // namespace netuit
