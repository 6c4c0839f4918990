#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <uit/config.hpp>
#include <uit/support/bytes.hpp>
#include <uit/support/clock.hpp>
#include <uit/support/error.hpp>
#include <uit/support/peer_watch.hpp>
#include <uit/team/rounds.hpp>

namespace uit::detail {

UIT_DEFINE void Rounds::Begin(std::uint64_t kind, std::uint64_t total, ByteView piece, ByteView rest) {
  RoundBoard& board = *group_->seats[seat_].board;
  kind_ = kind;
  ++number_;
  const std::size_t num_bytes = piece.size() + rest.size();
  std::byte* const room = board.Room(number_).data();
  CopyBytes(room, piece.data(), piece.size());
  CopyBytes(room + piece.size(), rest.data(), rest.size());
  board.Post(number_, kind, total, num_bytes);
  // As others have read its board, the member's core would have to get the line back, if it were to read it itself.
  brought_[seat_] = {.kind = kind, .total = total, .bytes = ByteView(room, num_bytes)};
  num_read_ = 0;
  has_begun_ = false;
  awaited_.reset();
}

UIT_DEFINE bool Rounds::TryEnd() {
  if (!TryReadHost() || (group_->hosts.size() > 1 && !TryReadOthers())) return false;
  for (const Brought& brought : brought_) {
    if (brought.kind != kind_) [[unlikely]]
      throw Error("members of a team have made different collective calls, or the same with other types, sizes or roots");
  }
  return true;
}

UIT_DEFINE bool Rounds::TryReadHost() {
  const std::vector<std::size_t>& here = group_->hosts[group_->own_host].seats;
  for (; num_read_ < here.size(); ++num_read_) {
    if (here[num_read_] == seat_) continue;
    const Group::Seat& seat = group_->seats[here[num_read_]];
    if (!seat.board->TryRead(number_, brought_[here[num_read_]])) {
      CheckThere(seat, [&] { return seat.board->HasCome(number_); });
      CheckInTime(seat.process, patience_);
      return false;
    }
  }
  return true;
}

UIT_DEFINE bool Rounds::TryReadOthers() {
  if (Leads()) {
    if (!std::exchange(has_begun_, true)) {
      Bytes& block = group_->rounds->OwnBlock();
      block.clear();
      for (const std::size_t i : group_->hosts[group_->own_host].seats) {
        const Group::Record record{.kind = brought_[i].kind, .total = brought_[i].total, .num_bytes = brought_[i].bytes.size()};
        const ByteView head = BytesOf(record);
        block.insert(block.end(), head.begin(), head.end());
        block.insert(block.end(), brought_[i].bytes.begin(), brought_[i].bytes.end());
      }
      group_->rounds->Begin(run_, number_);
    }
    if (!group_->rounds->TryEnd()) {
      group_->process->Watch().Check("in a collective call");
      CheckInTime(group_->seats[group_->hosts[group_->rounds->Awaited()].leader].process, patience_);
      return false;
    }
    PostResults();
  }
  const auto results = group_->results->Read(number_);
  if (!results) {
    CheckThere(Leader(), [this] { return group_->results->HasCome(number_); });
    CheckInTime(Leader().process, patience_ > std::chrono::nanoseconds::max() / 2 ? patience_ : 2 * patience_);  // it gives up before
    return false;
  }
  for (std::size_t i = 0; i < group_->seats.size(); ++i) {
    if (group_->seats[i].board) continue;
    const ByteView record = results->bytes.subspan(group_->seats[i].record * group_->RecordBytes(), group_->RecordBytes());
    const auto head = LoadBytes<Group::Record>(record);
    brought_[i] = {.kind = head.kind,
                   .total = head.total,
                   .bytes = record.subspan(sizeof head, std::min<std::size_t>(head.num_bytes, group_->piece_bytes))};
  }
  return true;
}

UIT_DEFINE void Rounds::PostResults() {
  const MutableByteView room = group_->results->Room(number_);
  std::size_t num_bytes = 0;
  for (std::size_t host = 0; host < group_->hosts.size(); ++host) {
    if (host == group_->own_host) continue;
    ByteReader reader(group_->rounds->Block(host));
    for (const std::size_t i : group_->hosts[host].seats) {
      Group::Record record;
      ByteView bytes;
      if (!reader.TryRead(record) || record.num_bytes > group_->piece_bytes || !reader.TryTake(record.num_bytes, bytes))
        throw Error("what member " + std::to_string(i) + " has brought to a collective call arrives damaged");
      const MutableByteView to = room.subspan(group_->seats[i].record * group_->RecordBytes());
      StoreBytes(record, to);
      CopyBytes(to.data() + sizeof record, bytes.data(), bytes.size());
      num_bytes = std::max(num_bytes, (group_->seats[i].record + 1) * group_->RecordBytes());
    }
  }
  group_->results->Post(number_, 0, num_bytes, num_bytes);
}

UIT_DEFINE void Rounds::CheckThere(const Group::Seat& seat, FunctionRef<bool()> has_come) const {
  const bool has_gone = group_->process->Watch().HasGone(seat.process);
  const std::optional<Leaving> left = seat.board->Left(run_);
  if ((!has_gone && !left) || has_come()) return;
  if (has_gone) throw PeerLost(seat.process, "in a collective call");
  ThrowLeft(seat, *left, "in a collective call", "so a collective call of the others can never end");
}

UIT_DEFINE void Rounds::CheckInTime(std::size_t process, std::chrono::nanoseconds patience) {
  if (patience == std::chrono::nanoseconds::max() || process == group_->seats[seat_].process) return;
  const TimePoint now = Now();
  if (std::exchange(awaited_, process) != process) late_at_ = Later(now, patience);
  if (now < late_at_) return;
  const bool is_surely_that_one = group_->num_processes == 2;
  const std::string who = "rank " + std::to_string(process) + (is_surely_that_one ? "" : ", or one that it waits for,");
  throw PeerLost(who + " has not come to a collective call within peer_timeout",
                 is_surely_that_one ? std::optional(process) : std::nullopt);
}

UIT_DEFINE void Rounds::CheckStays(std::size_t seat) const {
  const Group::Seat& other = group_->seats[seat];
  if (group_->process->Watch().HasGone(other.process)) throw PeerLost(other.process, "while a member waits for it");
  const std::optional<Leaving> left = other.board ? other.board->Left(run_) : std::nullopt;
  if (left) ThrowLeft(other, *left, "while a member waits for it", "but another member waits for it");
}

UIT_DEFINE void Rounds::ThrowLeft(const Group::Seat& seat, Leaving how, const char* where, const char* why) const {
  const std::optional<std::size_t> lost = how.LostRank();
  if (lost && group_->process->Watch().HasGone(*lost)) throw PeerLost(*lost, where);
  how.Throw("member " + std::to_string(seat.rank), why);
}

UIT_DEFINE void Rounds::CheckNobodyFailed(bool looks_for_leader) {
  const std::vector<std::size_t>& here = group_->hosts[group_->own_host].seats;
  const auto has_gone = [this](std::size_t seat) { return group_->process->Watch().HasGone(group_->seats[seat].process); };
  const auto gone = std::ranges::find_if(here, has_gone);
  if (gone != here.end()) throw PeerLost(group_->seats[*gone].process, "while a member waits for it");
  for (const std::size_t i : here) {
    const std::optional<Leaving> left = group_->seats[i].board->Left(run_);
    if (left && left->HasFailed()) ThrowLeft(group_->seats[i], *left, "while a member waits for it", "so the run has failed");
  }
  if (!Leads() && !(looks_for_leader && group_->rounds)) return;
  std::size_t rank = 0;
  const Leaving failure = group_->rounds->FindFailure(run_, rank);
  if (failure.HasFailed()) failure.Throw("a member on the host of rank " + std::to_string(rank), "so the run has failed");
}

UIT_DEFINE void Rounds::Leave(Leaving how) {
  if (left_ && left_->Code() >= how.Code()) return;
  left_ = how;
  group_->seats[seat_].board->Leave(run_, how);
  if (Leads()) group_->rounds->Leave(run_, how);
}

UIT_DEFINE bool Rounds::TryLinger() {
  if (group_->num_processes == 1) return true;
  bool have_left = true;
  Leaving worst;
  const auto note = [&](Leaving how) {
    if (how.Code() > worst.Code()) worst = how;
  };
  for (const std::size_t i : group_->hosts[group_->own_host].seats) {
    const Group::Seat& seat = group_->seats[i];
    const bool has_gone = group_->process->Watch().HasGone(seat.process);
    const std::optional<Leaving> left = seat.board->Left(run_);
    have_left = have_left && (has_gone || left);
    note(left ? *left : has_gone ? Leaving::Lost(seat.process) : Leaving{});
  }
  std::size_t rank = 0;
  if (Leads()) note(group_->rounds->FindFailure(run_, rank));
  Leave(worst);
  if (worst.HasFailed()) return have_left || !Leads();
  if (!have_left || group_->hosts.size() == 1) return have_left;
  const std::uint64_t last = run_ << 32U | std::numeric_limits<std::uint32_t>::max();  // greater than the numbers of all other rounds
  if (!Leads()) return group_->results->HasCome(last);
  if (!std::exchange(is_last_, true)) {
    group_->rounds->OwnBlock().clear();
    group_->rounds->BeginLast(run_, last);
  }
  if (!group_->rounds->TryEnd()) return false;
  group_->results->Post(last, 0, 0, 0);
  return true;
}

}  // namespace uit::detail
