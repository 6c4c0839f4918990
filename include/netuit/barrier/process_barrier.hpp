#pragma once

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <netuit/barrier/vote.hpp>
#include <netuit/barrier/host_board.hpp>
#include <uit/exchange/fabric.hpp>
#include <uit/support/bytes.hpp>
#include <uit/support/clock.hpp>
#include <uit/support/error.hpp>
#include <uit/support/pause.hpp>
#include <uit/support/peer_watch.hpp>
#include <uit/link/process_state.hpp>
#include <uit/link/world.hpp>

namespace netuit {

/// A barrier between processes. What is agreed on rides in it. Never blocks inside MPI.
///
/// Processes that share memory post what they bring on boards that the others of the node read. The first process of
/// each node, its speaker, meets those of other nodes by dissemination, in ceil(log2(nodes)) rounds of one small message
/// each (Hensgen, Finkel, Manber 1988), and posts what came of it.
///
/// One thread of each process at a time.
class ProcessBarrier {
 public:
  /// Opens links and shares memory of its own, the latter if `shares_memory` on every process. Collective; nothing may be
  /// sent before the others have come back from it, so let the processes agree on something before the first use.
  ProcessBarrier(const uit::World& world, uit::Fabric& fabric, bool shares_memory = true)
      : fabric_(&fabric), process_(world.Process()), rank_(world.Rank()) {
    ShareBoards(world, shares_memory);
    OpenRounds(world);
  }

  /// Waits until every process has arrived, and returns what all have brought. Calls `idle` between tries. Throws
  /// uit::PeerLost at the deadline, or as soon as a process is known to have ended; the barrier is of no use from then on.
  /// Of a silent process it tells the rank if nobody else can be meant: to who reads its board itself, and if there are two
  /// nodes and it is alone on the other.
  template <std::invocable Idle>
  Vote ArriveAndWait(Vote mine, uit::Deadline deadline, Idle&& idle) {
    ++epoch_;
    if (arrivals_.size() > 1) arrivals_.at(rank_).Post(epoch_, mine);
    if (!IsSpeaker() && num_nodes_ > 1) return Read({speaker_, false}, *result_, deadline, idle);
    for (const auto& [rank, board] : arrivals_) {
      if (rank != rank_) mine.Merge(Read({rank, true}, board, deadline, idle));
    }
    for (Round& round : rounds_) {
      Letter letter{epoch_, mine};
      const Suspect suspect{round.from, is_other_alone_};
      Await(suspect, [&] { return Attempt([&] { return TrySend(round, letter); }); }, deadline, idle);
      Await(suspect, [&] { return Attempt([&] { return TryReceive(round); }); }, deadline, idle);
      mine.Merge(round.early->accord);
      round.early.reset();
    }
    if (result_) result_->Post(epoch_, mine);
    return mine;
  }

  /// Whom ArriveAndWait is waiting for, or was last. Its thread, in `idle`.
  std::size_t Awaited() const { return awaited_; }

  /// The largest reason to stop that a process within sight has already brought to the next barrier, or 0. Never waits.
  std::uint32_t EarlyStop() {
    std::uint32_t stop = 0;
    for (const auto& [rank, board] : arrivals_) {
      if (const auto early = board.Read(epoch_ + 1)) stop = std::max(stop, early->stop);
    }
    fabric_->Exclusively([&] {
      for (Round& round : rounds_) {
        if (TryReceive(round)) stop = std::max(stop, round.early->accord.stop);
      }
    });
    return stop;
  }

  /// Tells those who share memory that this process ends without them, because one was lost: it is not another.
  void Leave() {
    if (const auto own = arrivals_.find(rank_); own != arrivals_.end()) own->second.Leave();
  }
  /// Whether those of this computer would be known to have told so.
  bool KnowsWhoLeft() const { return !arrivals_.empty(); }
  /// Whether a process has told so.
  bool HasLeft(std::size_t rank) const {
    const auto board = arrivals_.find(rank);
    return board != arrivals_.end() && board->second.HasLeft();
  }

  /// Gives the links back, once all processes have passed their last barrier. False at the deadline.
  bool Close(uit::Deadline deadline) {
    bool is_clean = false;
    const auto is_over = [&] {
      const bool is_anybody_gone = process_->Watch().Gone().has_value();  // and will not answer
      is_clean = Attempt([&] { return std::ranges::all_of(links_, [](auto& entry) { return entry.second.TryClose(); }); });
      return is_clean || is_anybody_gone;
    };
    uit::WaitUntil(is_over, deadline);
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
    Vote accord;
  };
  /// Who is waited for, and whether it cannot be waiting for another itself.
  struct Suspect {
    std::size_t rank;
    bool is_sure;
  };
  struct Round {
    std::size_t to = 0;
    std::size_t from = 0;
    std::optional<Letter> early{};  // received, and not yet used
  };

  void ShareBoards(const uit::World& world, bool shares_memory) {
    // A board for arrivals, and the speaker's for results.
    uit::HostMemory memory;
    if (shares_memory) memory = world.ShareMemory(2 * HostBoard::NumBytes());
    speaker_ = memory.empty() ? rank_ : memory.begin()->first;
    if (memory.empty()) return;
    HostBoard::Create(memory.at(rank_));
    HostBoard::Create(memory.at(rank_).subspan(HostBoard::NumBytes()));
    for (auto& [rank, part] : memory) arrivals_.emplace(rank, HostBoard(part.data()));
    if (memory.size() > 1) result_.emplace(memory.at(speaker_).data() + HostBoard::NumBytes());
  }
  void OpenRounds(const uit::World& world) {
    std::vector<std::size_t> speakers = world.AllGatherValue(speaker_);
    is_other_alone_ = std::ranges::count_if(speakers, [this](std::size_t each) { return each != speaker_; }) == 1;
    std::ranges::sort(speakers);
    speakers.erase(std::unique(speakers.begin(), speakers.end()), speakers.end());
    num_nodes_ = speakers.size();
    if (num_nodes_ == 1) result_.reset();  // everybody reads everybody's arrival
    if (!IsSpeaker()) return;
    const auto number = static_cast<std::size_t>(std::ranges::find(speakers, rank_) - speakers.begin());
    for (std::size_t reach = 1; reach < num_nodes_; reach *= 2) {
      rounds_.push_back({.to = speakers[(number + reach) % num_nodes_],
                         .from = speakers[(number + num_nodes_ - reach) % num_nodes_]});
      for (const std::size_t peer : {rounds_.back().to, rounds_.back().from}) {
        if (links_.contains(peer)) continue;
        links_.emplace(peer,
                       world.OpenLink(peer, stream, {.num_sends = 4, .num_receives = 4, .payload_bytes = sizeof(Letter)}));
      }
    }
  }

  bool IsSpeaker() const { return speaker_ == rank_; }
  template <std::invocable Idle>
  Vote Read(Suspect suspect, const HostBoard& board, uit::Deadline deadline, Idle& idle) {
    std::optional<Vote> accord;
    Await(suspect, [&] { return (accord = board.Read(epoch_)).has_value(); }, deadline, idle);
    return *accord;
  }
  template <std::predicate Ready, std::invocable Idle>
  void Await(Suspect suspect, Ready ready, uit::Deadline deadline, Idle& idle) {
    awaited_ = suspect.rank;
    const uit::PeerWatch& watch = process_->Watch();
    bool is_ready = false;
    const bool is_over = uit::WaitUntil(
        [&] {
          const bool is_anybody_gone = watch.Gone().has_value();  // what it did before is done
          is_ready = ready();
          return is_ready || is_anybody_gone;
        },
        deadline, idle);
    if (is_ready) return;
    if (is_over) watch.Check("at a barrier");
    const std::string who = "rank " + std::to_string(suspect.rank);
    if (suspect.is_sure) throw uit::PeerLost("no word from " + who + " at a barrier", suspect.rank);
    throw uit::PeerLost("no word from " + who + ", or whom it waits for, at a barrier", std::nullopt);
  }
  template <std::predicate Step>
  bool Attempt(Step step) {
    bool is_done = false;
    return fabric_->Exclusively([&] { is_done = step(); }) && is_done;
  }
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
  std::shared_ptr<uit::ProcessState> process_;
  std::size_t rank_;
  std::size_t awaited_ = 0;
  std::size_t speaker_ = 0;
  std::size_t num_nodes_ = 1;
  bool is_other_alone_ = false;  // of two nodes, the other has one process
  std::uint64_t epoch_ = 0;
  std::map<std::size_t, HostBoard> arrivals_;  // by rank, of this node; none without shared memory
  std::optional<HostBoard> result_;            // the speaker's, where there are several nodes
  std::vector<Round> rounds_;                  // the speaker's
  std::map<std::size_t, uit::AnyLink> links_;  // by peer
  uit::Frame frame_;
};

}  // namespace netuit
