#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <netuit/barrier/process_barrier.hpp>
#include <netuit/barrier/reduced.hpp>
#include <netuit/barrier/vote.hpp>
#include <netuit/barrier/vote_bytes.hpp>
#include <uit/config.hpp>
#include <uit/exchange/fabric.hpp>
#include <uit/link/process_state.hpp>
#include <uit/link/world.hpp>
#include <uit/support/bytes.hpp>
#include <uit/support/clock.hpp>
#include <uit/support/error.hpp>
#include <uit/support/pause.hpp>
#include <uit/support/peer_watch.hpp>
#include <uit/team/round_board.hpp>

namespace netuit {

namespace detail {

/// The most bytes of a message between leaders: the number of the barrier, and a vote with the sums of a second window.
inline constexpr std::size_t max_barrier_message = sizeof(std::uint64_t) + max_extended_vote_bytes;

}  // namespace detail

UIT_DEFINE ProcessBarrier::ProcessBarrier(const uit::World& world, uit::Fabric& fabric, bool shares_memory)
    : fabric_(&fabric), process_(world.Process()), rank_(world.Rank()) {
  ShareBoards(world, shares_memory);
  OpenRounds(world);
}

UIT_DEFINE std::uint32_t ProcessBarrier::EarlyStop() {
  std::uint32_t stop = 0;
  for (const auto& [rank, board] : arrivals_) {
    if (const auto early = Read(board, epoch_ + 1)) stop = std::max(stop, early->stop);
  }
  fabric_->Exclusively([&] {
    for (Round& round : rounds_) {
      if (TryReceive(round)) stop = std::max(stop, round.early->vote.stop);
    }
  });
  return stop;
}

UIT_DEFINE void ProcessBarrier::Leave() {
  if (const auto own = arrivals_.find(rank_); own != arrivals_.end()) own->second.Leave(1);
}

UIT_DEFINE bool ProcessBarrier::HasLeft(std::size_t rank) const {
  const auto board = arrivals_.find(rank);
  return board != arrivals_.end() && board->second.HasLeft(1);
}

UIT_DEFINE bool ProcessBarrier::Close(uit::Deadline deadline) {
  bool is_clean = false;
  const auto is_over = [&] {
    const bool is_anybody_gone = process_->Watch().Gone().has_value();  // it will not answer
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

UIT_DEFINE void ProcessBarrier::Post(uit::RoundBoard& board, std::uint64_t epoch, const Vote& vote) {
  const std::size_t num_bytes = detail::StoreVote(vote, nullptr, board.Room(epoch));
  board.Post(epoch, 0, num_bytes, num_bytes);
}

UIT_DEFINE std::optional<Vote> ProcessBarrier::Read(const uit::RoundBoard& board, std::uint64_t epoch) {
  const auto brought = board.Read(epoch);
  if (!brought) return std::nullopt;
  return detail::LoadVote(brought->bytes, nullptr);
}

UIT_DEFINE void ProcessBarrier::ShareBoards(const uit::World& world, bool shares_memory) {
  // Each process has two boards: for its arrivals, and for results. Only the leader's second board is used.
  constexpr std::size_t num_bytes = uit::RoundBoard::NumBytes(detail::max_vote_bytes);
  uit::HostMemory memory;
  if (shares_memory) memory = world.ShareMemory(2 * num_bytes);
  leader_ = memory.empty() ? rank_ : memory.begin()->first;
  if (memory.empty()) return;
  for (const std::size_t offset : {std::size_t{0}, num_bytes})
    uit::RoundBoard::Create(memory.at(rank_).subspan(offset, num_bytes), detail::max_vote_bytes);
  for (auto& [rank, part] : memory) arrivals_.emplace(rank, uit::RoundBoard(part.data(), detail::max_vote_bytes));
  if (memory.size() > 1) result_.emplace(memory.at(leader_).data() + num_bytes, detail::max_vote_bytes);
}

UIT_DEFINE void ProcessBarrier::OpenRounds(const uit::World& world) {
  std::vector<std::size_t> leaders = world.AllGatherValue(leader_);
  is_other_alone_ = std::ranges::count_if(leaders, [this](std::size_t each) { return each != leader_; }) == 1;
  std::ranges::sort(leaders);
  leaders.erase(std::unique(leaders.begin(), leaders.end()), leaders.end());
  num_hosts_ = leaders.size();
  if (num_hosts_ == 1) result_.reset();  // every process reads the arrivals of all
  if (!IsLeader()) return;
  const auto number = static_cast<std::size_t>(std::ranges::find(leaders, rank_) - leaders.begin());
  for (std::size_t reach = 1; reach < num_hosts_; reach *= 2) {
    rounds_.push_back({.to = leaders[(number + reach) % num_hosts_],
                       .from = leaders[(number + num_hosts_ - reach) % num_hosts_]});
    for (const std::size_t peer : {rounds_.back().to, rounds_.back().from}) {
      if (links_.contains(peer)) continue;
      links_.emplace(peer,
                     world.OpenLink(peer, stream,
                                    {.num_sends = 4, .num_receives = 4, .payload_bytes = detail::max_barrier_message}));
    }
  }
}

UIT_DEFINE void ProcessBarrier::Begin(const Vote& mine) {
  ++epoch_;
  merged_ = mine;
  rest_.Clear();
  next_board_ = arrivals_.begin();
  next_round_ = 0;
  has_sent_ = false;
  if (arrivals_.size() > 1) Post(arrivals_.at(rank_), epoch_, mine);
}

UIT_DEFINE bool ProcessBarrier::TryEnd(Vote& outcome) {
  if (!IsLeader() && num_hosts_ > 1) {
    suspect_ = {leader_, false};
    const auto result = Read(*result_, epoch_);
    if (result) outcome = *result;
    return result.has_value();
  }
  for (; next_board_ != arrivals_.end(); ++next_board_) {
    const auto& [rank, board] = *next_board_;
    if (rank == rank_) continue;
    suspect_ = {rank, true};
    const auto vote = Read(board, epoch_);
    if (!vote) return false;
    merged_.Merge(*vote);
  }
  for (; next_round_ < rounds_.size(); ++next_round_) {
    Round& round = rounds_[next_round_];
    suspect_ = {round.from, is_other_alone_};
    has_sent_ = has_sent_ || Attempt([&] { return TrySend(round); });
    if (!has_sent_ || !Attempt([&] { return TryReceive(round); })) return false;
    if ((num_hosts_ >> next_round_) % 2 == 1) {
      rest_ = round.early->rest;
      rest_.Merge(merged_.reduced.sums);
    }
    merged_.Merge(round.early->vote);
    round.early.reset();
    has_sent_ = false;
  }
  if (!std::has_single_bit(num_hosts_)) merged_.reduced.sums = rest_;
  if (result_) Post(*result_, epoch_, merged_);
  outcome = merged_;
  return true;
}

UIT_DEFINE void ProcessBarrier::GiveUp(bool is_gone) {
  if (is_gone) process_->Watch().Check("at a barrier");
  const std::string name = "rank " + std::to_string(suspect_.rank);
  if (suspect_.is_sure) throw uit::PeerLost("no word from " + name + " at a barrier", suspect_.rank);
  throw uit::PeerLost("no word from " + name + ", or from a process for which it waits, at a barrier", std::nullopt);
}

UIT_DEFINE Vote ProcessBarrier::Wait(const Vote& mine, const uit::WaitLimit& limit, Try idle, const uit::Backoff& backoff) {
  Vote outcome;
  bool has_ended = false;
  Begin(mine);
  const bool is_over = uit::WaitUntil(
      [&] {
        const bool is_anybody_gone = process_->Watch().Gone().has_value();  // everything it did before has taken effect
        has_ended = TryEnd(outcome);
        return has_ended || is_anybody_gone;
      },
      limit, idle, backoff);
  if (!has_ended) GiveUp(is_over);
  return outcome;
}

UIT_DEFINE bool ProcessBarrier::Attempt(Try step) {
  bool is_done = false;
  return fabric_->Exclusively([&] { is_done = step(); }) && is_done;
}

UIT_DEFINE bool ProcessBarrier::TrySend(const Round& round) {
  frame_.Reserve(detail::max_barrier_message);
  const uit::MutableByteView room{frame_.Payload(), detail::max_barrier_message};
  uit::StoreBytes(epoch_, room);
  const std::size_t num_bytes = sizeof epoch_ + detail::StoreVote(merged_, &rest_, room.subspan(sizeof epoch_));
  frame_.Header() = uit::FrameHeader{};
  frame_.Header().num_bytes = static_cast<std::uint32_t>(num_bytes);
  return links_.at(round.to).TrySend(frame_);
}

UIT_DEFINE bool ProcessBarrier::TryReceive(Round& round) {
  if (round.early) return true;
  if (!links_.at(round.from).TryReceive(frame_)) return false;
  const uit::ByteView bytes{frame_.Payload(), std::min<std::size_t>(frame_.Header().num_bytes, detail::max_barrier_message)};
  if (bytes.size() < sizeof(RoundMessage::epoch)) detail::RefuseVote();
  RoundMessage message;
  uit::LoadBytes(message.epoch, bytes);
  message.vote = detail::LoadVote(bytes.subspan(sizeof message.epoch), &message.rest);
  round.early = message;
  return true;
}

}  // namespace netuit
