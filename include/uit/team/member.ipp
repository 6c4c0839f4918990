#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <uit/config.hpp>
#include <uit/support/clock.hpp>
#include <uit/support/error.hpp>
#include <uit/team/member.hpp>
#include <uit/team/team_runs.hpp>

namespace uit {

UIT_DEFINE int Team::RunOnAll(FunctionRef<int(Member&)> work) const {
  ThreadPool& threads = Threads();
  if (!state_->runs) state_->runs = std::make_shared<detail::TeamRuns>(GetWorld(), state_->options);
  return state_->runs->Run(threads, work);
}

UIT_DEFINE Member::Member(detail::TeamRuns& runs, detail::Joints& joints, LoopBoard<>& loops, const FailureFlag<>& failure,
                          std::shared_ptr<detail::Group> group, std::size_t seat, std::uint32_t thread, std::uint64_t run,
                          const SpinHabit& habit)
    : runs_(&runs),
      joints_(&joints),
      loops_(&loops),
      failure_(&failure),
      thread_(thread),
      run_(run),
      rounds_(std::make_shared<detail::Rounds>(std::move(group), seat, run, runs.Patience())),
      of_team_(rounds_),
      habit_(habit) {}

UIT_DEFINE Member Member::Split(std::int64_t color, std::int64_t key) {
  RoundsForCall();  // throws if this member can make no call
  struct Choice {
    std::int64_t color, key;
    std::uint64_t group, size, rank;
  };
  Member& whole = whole_ != nullptr ? *whole_ : *this;
  const Choice mine{color, key, rounds_->GetGroup().number, Size(), Rank()};
  const std::vector<Choice> choices = whole.AllGather(mine);
  std::map<std::pair<std::uint64_t, std::int64_t>, std::vector<std::size_t>> by_color;  // and by the group that is split
  for (std::size_t rank = 0; rank < choices.size(); ++rank) by_color[{choices[rank].group, choices[rank].color}].push_back(rank);
  std::map<std::uint64_t, std::uint64_t> num_in;  // by group
  for (const Choice& choice : choices) ++num_in[choice.group];
  for (const Choice& choice : choices) {
    if (num_in[choice.group] != choice.size) throw Error("some members of a group of a team split it, while others split another group");
  }
  std::vector<std::vector<std::size_t>> lists;
  std::size_t list = 0;
  std::size_t seat = 0;
  for (auto& [each, ranks] : by_color) {
    std::ranges::sort(ranks, {}, [&](std::size_t rank) { return std::pair(choices[rank].key, choices[rank].rank); });
    if (each == std::pair(mine.group, color)) {
      list = lists.size();
      seat = static_cast<std::size_t>(std::ranges::find(ranks, whole.Rank()) - ranks.begin());
    }
    lists.push_back(std::move(ranks));
  }
  runs_->DoAlone([&] { runs_->MakeSplit(lists); });
  Member member(*runs_, *joints_, *loops_, *failure_, runs_->SplitGroup(list), seat, thread_, run_, habit_);
  member.fabrics_ = whole.fabrics_;
  member.of_team_ = of_team_;
  member.whole_ = &whole;
  return member;
}

UIT_DEFINE void Member::Connect() {
  if (&rounds_->GetGroup() != runs_->Everybody().get())
    throw Error("call Connect on the member of the whole team, not on that of a group");
  Barrier();
  runs_->DoAlone([this] { joints_->Connect(); });
  fabrics_.clear();
  for (const auto& fabric : joints_->Fabrics()) fabrics_.push_back(fabric.get());
}

UIT_DEFINE std::size_t Member::Checked(std::size_t rank) const {
  if (rank < Size()) return rank;
  throw InputError("member " + std::to_string(rank) + " is not in this group of " + std::to_string(Size()));
}

UIT_DEFINE void Member::ThrowFailure() {
  of_team_->CheckNobodyFailed();  // throws, and says more
  throw MemberLeft("another member of this process has failed");
}

UIT_DEFINE detail::Rounds& Member::RoundsForCall() const {
  if (has_failed_call_) throw MemberLeft("a collective call of this member has failed, so it can make no other in this run");
  if (is_in_call_) throw Error("a member begins a collective call before its last one has ended");
  return *rounds_;
}

UIT_DEFINE void Member::FailCall() {
  has_failed_call_ = true;
  rounds_->Leave(Leaving::After(std::current_exception()));
}

UIT_DEFINE void Member::CheckOthers(Silence& silence, bool is_limited, FunctionRef<bool()> try_once) {
  if (runs_->IsOneProcess()) return;
  try {
    of_team_->CheckNobodyFailed();
    if (!is_limited || runs_->Patience() == std::chrono::nanoseconds::max()) return;
    const TimePoint now = Now();
    if (silence.num_tries == tries_per_look) silence.since = now;
    else if (now >= Later(silence.since, runs_->Patience()))
      throw PeerLost("a member has waited for peer_timeout, and nothing has come", std::nullopt);
  } catch (const Error&) {
    if (!try_once()) throw;
  }
}

}  // namespace uit
