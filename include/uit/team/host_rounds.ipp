#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <string>
#include <utility>
#include <vector>

#include <uit/config.hpp>
#include <uit/support/bytes.hpp>
#include <uit/support/error.hpp>
#include <uit/support/pause.hpp>
#include <uit/support/peer_watch.hpp>
#include <uit/team/host_rounds.hpp>

namespace uit {

UIT_DEFINE HostRounds::HostRounds(const World& world, int stream, std::vector<std::size_t> leaders, std::size_t own,
                                  std::size_t max_bytes)
    : process_(world.Process()), blocks_(leaders.size()), own_(own), max_bytes_(max_bytes + leaders.size() * sizeof(std::uint64_t)) {
  const LinkOptions options{.num_sends = 4, .num_receives = 4, .payload_bytes = max_bytes_};
  for (std::size_t reach = 1; reach < leaders.size(); reach *= 2) {
    steps_.push_back({.to = leaders[HostAfter(leaders.size() - reach)],
                      .from = leaders[HostAfter(reach)],
                      .num_blocks = std::min(reach, leaders.size() - reach)});
    for (const std::size_t peer : {steps_.back().to, steps_.back().from})
      if (!peers_.contains(peer)) peers_.emplace(peer, Peer{.link = world.OpenLink(peer, stream, options)});
  }
  outgoing_.Reserve(max_bytes_);
  incoming_.Reserve(max_bytes_);
}

UIT_DEFINE void HostRounds::Begin(std::uint64_t run, std::uint64_t number) {
  run_ = run;
  number_ = number;
  next_ = 0;
  is_packed_ = has_sent_ = is_last_ = false;
}

UIT_DEFINE bool HostRounds::TryEnd() {
  for (; next_ < steps_.size(); ++next_) {
    const Step& step = steps_[next_];
    if (!std::exchange(is_packed_, true)) Pack(step);
    bool has_received = false;
    process_->Exclusively([&] {
      has_sent_ = has_sent_ || peers_.at(step.to).link.TrySend(outgoing_);
      has_received = has_sent_ && TryReceive(std::size_t{1} << next_, step);
    });
    if (!has_received) return false;
    is_packed_ = has_sent_ = false;
  }
  return true;
}

UIT_DEFINE void HostRounds::Leave(std::uint64_t run, Leaving how) {
  try {
    WaitUntil([&] {
      return process_->Exclusively([&] {
        for (const Step& step : steps_) peers_.at(step.to).untold = how;  // those that receive from this host, and tell others
        TellUntold(run);
      });
    });
  } catch (const std::exception& trouble) {  // the others then learn it from what has failed here
    process_->Note(trouble.what());
  }
}

UIT_DEFINE void HostRounds::TellUntold(std::uint64_t run) {
  for (auto& entry : peers_) {
    Peer& peer = entry.second;
    if (!peer.untold || !peer.link.HasRoom()) continue;
    notice_.Reserve(0);
    notice_.Header() = FrameHeader{.kind = FrameKind::close, .update = peer.untold->Code(), .base = run};
    if (peer.link.TrySend(notice_)) peer.untold.reset();
  }
}

UIT_DEFINE Leaving HostRounds::FindFailure(std::uint64_t run, std::size_t& rank) {
  Leaving worst;
  process_->Exclusively([&] {
    TellUntold(run);
    for (auto& [from, peer] : peers_) {
      TakeIn(peer, run);
      if (peer.left_run != run || peer.left.Code() <= worst.Code()) continue;
      worst = peer.left;
      rank = from;
    }
  });
  return worst;
}

UIT_DEFINE bool HostRounds::Close(Deadline deadline) {
  constexpr std::uint64_t last = ~std::uint64_t{0};
  OwnBlock().clear();
  Begin(last, last);  // after this round no frame is under way: links keep the order
  bool has_ended = false;
  bool is_clean = false;
  WaitUntil(
      [&] {
        const bool is_anybody_gone = process_->Watch().Gone().has_value();  // it will not answer
        has_ended = has_ended || TryEnd();
        if (has_ended)
          process_->Exclusively([&] { is_clean = std::ranges::all_of(peers_, [](auto& entry) { return entry.second.link.TryClose(); }); });
        return is_clean || is_anybody_gone;
      },
      deadline);
  if (!is_clean) {
    for (auto& [rank, peer] : peers_) peer.link.Abandon();
  }
  peers_.clear();
  steps_.clear();
  return is_clean;
}

UIT_DEFINE void HostRounds::Pack(const Step& step) {
  outgoing_.Reserve(max_bytes_);
  std::byte* to = outgoing_.Payload();
  for (std::size_t i = 0; i < step.num_blocks; ++i) {
    const Bytes& block = blocks_[HostAfter(i)];
    StoreBytes(std::uint64_t{block.size()}, {to, sizeof(std::uint64_t)});
    to += sizeof(std::uint64_t);
    CopyBytes(to, block.data(), block.size());
    to += block.size();
  }
  outgoing_.Header() = FrameHeader{.num_bytes = static_cast<std::uint32_t>(to - outgoing_.Payload()), .update = number_, .base = run_};
}

UIT_DEFINE void HostRounds::TakeFirst(Peer& peer) {
  arrived_.Swap(peer.waiting[0]);
  --peer.num_waiting;
  for (std::size_t i = 0; i < peer.num_waiting; ++i) peer.waiting[i].Swap(peer.waiting[i + 1]);
}

UIT_DEFINE void HostRounds::TakeIn(Peer& peer, std::uint64_t run) {
  while (peer.num_waiting != 0 && peer.waiting[0].Header().base < run) TakeFirst(peer);  // left of a run that has failed
  while (peer.num_waiting < peer.waiting.size() && peer.link.TryReceive(incoming_)) {
    const FrameHeader& header = incoming_.Header();
    if (header.kind == FrameKind::close) {
      const Leaving how = Leaving::FromCode(static_cast<std::uint32_t>(header.update));
      if (header.base > peer.left_run || (header.base == peer.left_run && how.Code() > peer.left.Code())) peer.left = how;
      peer.left_run = std::max(peer.left_run, header.base);
    } else if (header.base >= run) {
      peer.waiting[peer.num_waiting++].Swap(incoming_);
      incoming_.Reserve(max_bytes_);
    }
  }
}

UIT_DEFINE bool HostRounds::TryReceive(std::size_t reach, const Step& step) {
  Peer& peer = peers_.at(step.from);
  TakeIn(peer, run_);
  const bool has_come = peer.num_waiting != 0 && peer.waiting[0].Header().update == number_ && peer.waiting[0].Header().base == run_;
  if (has_come) {
    TakeFirst(peer);
    Unpack(reach, step);
    return true;
  }
  if (peer.left_run >= run_ && (!is_last_ || peer.left.HasFailed()))
    peer.left.Throw("a member on the host of rank " + std::to_string(step.from), "so a collective call of the others can never end");
  if (peer.num_waiting != 0) Refuse(step);
  return false;
}

UIT_DEFINE void HostRounds::Unpack(std::size_t reach, const Step& step) {
  ByteReader reader({arrived_.Payload(), std::min<std::size_t>(arrived_.Header().num_bytes, arrived_.Capacity())});
  for (std::size_t i = 0; i < step.num_blocks; ++i) {
    std::uint64_t num_bytes = 0;
    ByteView block;
    if (!reader.TryRead(num_bytes) || !reader.TryTake(num_bytes, block)) Refuse(step);
    blocks_[HostAfter(reach + i)].assign(block.begin(), block.end());
  }
}

UIT_DEFINE void HostRounds::Refuse(const Step& step) const {
  throw Error("rank " + std::to_string(step.from) + " has sent something else than its part of round " + std::to_string(number_));
}

}  // namespace uit
