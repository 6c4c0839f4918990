#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <new>
#include <utility>
#include <vector>

#include <uit/config.hpp>
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
  const auto count_different = [](std::vector<std::size_t> each) {
    std::ranges::sort(each);
    return static_cast<std::size_t>(std::unique(each.begin(), each.end()) - each.begin());
  };
  // Where sharing turns out to be impossible, each process is a host of its own.
  const BoardLayout layout(num_threads, lists, count_different(firsts));
  const std::size_t num_bytes = layout.ForEachBoard(own, [](auto...) {});
  HostMemory memory;
  if (world.Size() > 1) memory = world.ShareMemory(std::max<std::size_t>(num_bytes, 1));
  const bool is_apart = neighbors.size() > 1 && memory.empty();
  world.Agree(is_apart && count_different(firsts) == 1 ? "the processes of this host cannot share memory, which a team needs" : "");
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
      group->hosts[found->second].seats.push_back(i);
      group->seats.push_back({.rank = rank, .process = process, .host = found->second});
    }
    if (const auto own_host = host_of.find(firsts[own]); own_host != host_of.end()) group->own_host = own_host->second;
    std::size_t num_remote = 0;
    for (Group::Seat& seat : group->seats)
      if (seat.host != group->own_host) seat.record = num_remote++;
    std::vector<std::size_t> processes;
    for (const Group::Seat& seat : group->seats) processes.push_back(seat.process);
    group->num_processes = count_different(processes);
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

}  // namespace uit::detail
