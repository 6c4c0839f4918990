#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <map>
#include <memory>
#include <new>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <uit/config.hpp>
#include <uit/support/bytes.hpp>
#include <uit/support/clock.hpp>
#include <uit/support/error.hpp>
#include <uit/support/pause.hpp>
#include <uit/support/peer_watch.hpp>
#include <uit/team/group.hpp>

namespace uit::detail {

/// Lays out the boards that the processes provide: by list, those of a process's members, then one for results. All processes find
/// the same places.
class BoardLayout {
 public:
  BoardLayout(std::uint32_t num_threads, const std::vector<std::vector<std::size_t>>& lists, std::size_t num_hosts)
      : num_threads_(num_threads), lists_(lists), num_hosts_(num_hosts) {}

  /// Returns the most bytes that a member of a list brings to a round. A round of many hosts is a message of at most 1 MiB or so.
  std::size_t PieceBytes(std::size_t list) const {
    constexpr std::size_t most = std::size_t{64} << 10U;
    constexpr std::size_t least = std::size_t{1} << 10U;
    if (num_hosts_ == 1) return most;
    const std::size_t fair = (std::size_t{1} << 20U) / lists_[list].size();
    return std::clamp(fair / RoundBoard::alignment * RoundBoard::alignment, least, most);
  }
  /// Returns the capacity of the board for results.
  std::size_t ResultBytes(std::size_t list) const {
    return num_hosts_ == 1 ? 0 : lists_[list].size() * (sizeof(Group::Record) + PieceBytes(list));
  }
  /// Calls `visit(list, position in the list, or its length for results, offset)` for each board of a process. Returns the bytes of all.
  template <typename F>
  std::size_t ForEachBoard(std::size_t process, F&& visit) const {
    std::size_t offset = 0;
    for (std::size_t list = 0; list < lists_.size(); ++list) {
      const std::vector<std::size_t>& ranks = lists_[list];
      bool has_any = false;
      for (std::size_t i = 0; i < ranks.size(); ++i) {
        if (ranks[i] / num_threads_ != process) continue;
        has_any = true;
        visit(list, i, offset);
        offset += RoundBoard::NumBytes(PieceBytes(list));
      }
      if (!has_any || num_hosts_ == 1) continue;
      visit(list, ranks.size(), offset);
      offset += RoundBoard::NumBytes(ResultBytes(list));
    }
    return offset;
  }

 private:
  std::uint32_t num_threads_;
  const std::vector<std::vector<std::size_t>>& lists_;
  std::size_t num_hosts_;
};

UIT_DEFINE std::vector<std::shared_ptr<Group>> MakeGroups(const World& world, std::uint32_t num_threads,
                                                          const std::vector<std::vector<std::size_t>>& lists) {
  const std::size_t own = world.Rank();
  const std::vector<std::size_t> neighbors = world.HostRanks();
  std::vector<std::size_t> firsts = world.AllGatherValue(neighbors.empty() ? own : neighbors.front());
  const auto count_hosts = [](std::vector<std::size_t> each) {
    std::ranges::sort(each);
    return static_cast<std::size_t>(std::unique(each.begin(), each.end()) - each.begin());
  };
  // Where sharing turns out to be impossible, each process is a host of its own.
  const BoardLayout layout(num_threads, lists, count_hosts(firsts));
  const std::size_t num_bytes = layout.ForEachBoard(own, [](auto...) {});
  HostMemory memory;
  if (world.Size() > 1) memory = world.ShareMemory(std::max<std::size_t>(num_bytes, 1));
  const bool is_apart = neighbors.size() > 1 && memory.empty();
  world.Agree(is_apart && count_hosts(firsts) == 1 ? "the processes of this host cannot share memory, which a team needs" : "");
  std::shared_ptr<std::byte> own_memory;
  if (memory.empty()) {
    constexpr std::align_val_t alignment{cache_line};
    own_memory.reset(static_cast<std::byte*>(::operator new(std::max<std::size_t>(num_bytes, 1), alignment)),
                     [](std::byte* block) { ::operator delete(block, alignment); });
    memory.emplace(own, MutableByteView{own_memory.get(), num_bytes});
  }
  firsts = world.AllGatherValue(memory.begin()->first);

  std::vector<std::shared_ptr<Group>> groups(lists.size());
  for (std::size_t list = 0; list < lists.size(); ++list) {
    auto group = std::make_shared<Group>();
    group->piece_bytes = layout.PieceBytes(list);
    group->process = world.Process();
    group->own_memory = own_memory;
    std::map<std::size_t, std::size_t> host_of;  // by first process
    for (std::size_t i = 0; i < lists[list].size(); ++i) {
      const std::size_t rank = lists[list][i];
      const std::size_t process = rank / num_threads;
      const auto [found, is_new] = host_of.emplace(firsts[process], group->hosts.size());
      if (is_new) group->hosts.push_back({.leader = i});
      Group::Host& host = group->hosts[found->second];
      host.seats.push_back(i);
      host.has_one_process = host.has_one_process && process == lists[list][host.leader] / num_threads;
      group->seats.push_back({.rank = rank, .process = process, .host = found->second});
    }
    if (const auto own_host = host_of.find(firsts[own]); own_host != host_of.end()) group->own_host = own_host->second;
    std::size_t num_remote = 0;
    for (Group::Seat& seat : group->seats)
      if (seat.host != group->own_host) seat.record = num_remote++;
    groups[list] = std::move(group);
  }
  for (const auto& entry : memory) {
    const std::size_t process = entry.first;
    const MutableByteView part = entry.second;
    layout.ForEachBoard(process, [&](std::size_t list, std::size_t position, std::size_t offset) {
      Group& group = *groups[list];
      const bool is_result = position == group.seats.size();
      const std::size_t capacity = is_result ? layout.ResultBytes(list) : group.piece_bytes;
      if (process == own) RoundBoard::Create(part.subspan(offset), capacity);
      const RoundBoard board(part.data() + offset, capacity);
      if (!is_result) group.seats[position].board = board;
      else if (group.hosts.size() > 1 && group.seats[group.hosts[group.own_host].leader].process == process) group.results = board;
    });
  }
  for (std::size_t list = 0; list < lists.size(); ++list) {
    Group& group = *groups[list];
    const bool is_here = std::ranges::any_of(group.seats, [&](const Group::Seat& seat) { return seat.process == own; });
    if (!is_here) {
      groups[list].reset();
      continue;
    }
    if (group.hosts.size() < 2 || group.seats[group.hosts[group.own_host].leader].process != own) continue;
    std::vector<std::size_t> leaders;
    for (const Group::Host& host : group.hosts) leaders.push_back(group.seats[host.leader].process);
    group.rounds = std::make_unique<HostRounds>(world, 1 + static_cast<int>(list), leaders, group.own_host,
                                                group.seats.size() * group.RecordBytes());
  }
  world.Agree("");  // all boards and links are ready
  return groups;
}

UIT_DEFINE void Rounds::Begin(std::uint64_t kind, std::uint64_t total, ByteView piece) {
  RoundBoard& board = *group_->seats[seat_].board;
  kind_ = kind;
  ++number_;
  CopyBytes(board.Room(number_).data(), piece.data(), piece.size());
  board.Post(number_, kind, total, piece.size());
  // As others have read its board, the member's core would have to get the line back, if it were to read it itself.
  brought_[seat_] = {.kind = kind, .total = total, .bytes = board.Room(number_).first(piece.size())};
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
      CheckInTime(seat.process, true);
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
      const Group::Host& host = group_->hosts[group_->rounds->Awaited()];
      CheckInTime(group_->seats[host.leader].process, host.has_one_process && group_->rounds->IsInFirstStep());
      return false;
    }
    PostResults();
  }
  const auto results = group_->results->Read(number_);
  if (!results) {
    CheckThere(Leader(), [this] { return group_->results->HasCome(number_); });
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
  left->Throw("member " + std::to_string(seat.rank), "so a collective call of the others can never end");
}

UIT_DEFINE void Rounds::CheckInTime(std::size_t process, bool is_surely_that_one) {
  if (patience_ == std::chrono::nanoseconds::max() || process == group_->seats[seat_].process) return;
  const TimePoint now = Now();
  const std::chrono::nanoseconds more = is_surely_that_one ? std::chrono::nanoseconds(0) : patience_ / 4;
  if (std::exchange(awaited_, process) != process) late_at_ = Later(Later(now, patience_), more);
  if (now < late_at_) return;
  const std::string who = "rank " + std::to_string(process) + (is_surely_that_one ? "" : ", or one that it waits for,");
  throw PeerLost(who + " has not come to a collective call within peer_timeout",
                 is_surely_that_one ? std::optional(process) : std::nullopt);
}

UIT_DEFINE void Rounds::CheckStays(std::size_t seat) const {
  const Group::Seat& other = group_->seats[seat];
  if (group_->process->Watch().HasGone(other.process)) throw PeerLost(other.process, "while a member waits for it");
  const std::optional<Leaving> left = other.board ? other.board->Left(run_) : std::nullopt;
  if (left) left->Throw("member " + std::to_string(other.rank), "but another member waits for it");
}

UIT_DEFINE void Rounds::CheckNobodyFailed() {
  for (const std::size_t i : group_->hosts[group_->own_host].seats) {
    const Group::Seat& seat = group_->seats[i];
    if (group_->process->Watch().HasGone(seat.process)) throw PeerLost(seat.process, "while a member waits");
    const std::optional<Leaving> left = seat.board->Left(run_);
    if (left && left->HasFailed()) left->Throw("member " + std::to_string(seat.rank), "so the run has failed");
  }
  if (Leads()) group_->rounds->CheckNobodyFailed(run_);
}

UIT_DEFINE void Rounds::Leave(Leaving how) {
  if (left_ && left_->Code() >= how.Code()) return;
  left_ = how;
  group_->seats[seat_].board->Leave(run_, how);
  if (Leads()) group_->rounds->Leave(run_, how);
}

UIT_DEFINE void Rounds::Linger() {
  if (!Leads()) return;
  const auto has_left = [this](std::size_t seat) { return group_->seats[seat].board->HasLeft(run_); };
  try {
    WaitUntil([&] {
      const bool have_left = std::ranges::all_of(group_->hosts[group_->own_host].seats, has_left);
      CheckNobodyFailed();  // after that, because the last to leave may have failed
      return have_left;
    });
  } catch (const Error&) {  // its own part is done; the others throw
    Leave(Leaving::After(std::current_exception()));
  }
}

}  // namespace uit::detail
