#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <numeric>
#include <optional>
#include <utility>
#include <vector>

#include <uit/config.hpp>
#include <uit/link/process_state.hpp>
#include <uit/support/clock.hpp>
#include <uit/support/error.hpp>
#include <uit/support/pause.hpp>
#include <uit/team/core_spread.hpp>
#include <uit/team/group.hpp>
#include <uit/team/leaving.hpp>
#include <uit/team/member.hpp>
#include <uit/team/team_runs.hpp>

namespace uit::detail {

UIT_DEFINE TeamRuns::TeamRuns(const World& world, const TeamOptions& options)
    : world_(world),
      private_world_(world.Duplicate()),
      num_threads_(options.threads),
      shares_memory_(options.shares_memory),
      patience_(options.peer_timeout),
      has_cores_(HasCoreForEach(world, options.threads)),
      loops_(num_threads_) {
  std::vector<std::size_t> ranks(world.Size() * num_threads_);
  std::iota(ranks.begin(), ranks.end(), std::size_t{0});
  everybody_ = MakeGroups(private_world_, num_threads_, {ranks}).front();
}

UIT_DEFINE TeamRuns::~TeamRuns() {
  try {
    const bool goes_on = !std::exchange(members_, {}).empty();
    if (world_.Process()->IsBroken()) {
      if (goes_on) Disconnect(Now());
      if (everybody_->rounds) everybody_->rounds->Close(Now());
      return;
    }
    const Deadline deadline = After(std::chrono::seconds(std::uncaught_exceptions() == 0 ? 10 : 2));
    if (goes_on && !Disconnect(deadline)) world_.Process()->Break();
    const bool is_clean = !everybody_->rounds || everybody_->rounds->Close(deadline);
    if (!is_clean || !private_world_.Release(deadline)) world_.Process()->Break();
  } catch (const std::exception& trouble) {  // a destructor cannot throw
    world_.Process()->Fail(trouble.what());
  }
}

UIT_DEFINE int TeamRuns::Run(ThreadPool& threads, FunctionRef<int(Member&)> work) {
  threads.Check();
  BeginRun();
  std::vector<int> codes(num_threads_, 0);
  std::vector<std::exception_ptr> failures(num_threads_);
  threads.Run([&](std::uint32_t thread) {
    std::unique_ptr<Member> me;
    Work(thread, me, failures[thread], [&] {
      codes[thread] = work(*me);
      me->rounds_->Leave();
      Linger(*me, After(patience_));
    });
  });
  return EndRun(codes, failures);
}

UIT_DEFINE void TeamRuns::GoOn(ThreadPool& threads, FunctionRef<void(Member&)> work) {
  threads.Check();
  if (members_.empty()) {
    BeginRun();
    members_.resize(num_threads_);
  }
  std::vector<std::exception_ptr> failures(num_threads_);
  threads.Run([&](std::uint32_t thread) { Work(thread, members_[thread], failures[thread], [&] { work(*members_[thread]); }); });
  const bool is_well = std::ranges::none_of(failures, [](const std::exception_ptr& failure) { return failure != nullptr; });
  if (is_well) return;
  members_.clear();
  EndRun({0}, failures);
}

UIT_DEFINE void TeamRuns::Work(std::uint32_t thread, std::unique_ptr<Member>& me, std::exception_ptr& failure,
                               FunctionRef<void()> work) {
  try {
    if (!me)
      me.reset(new Member(*this, *joints_, loops_, failure_, everybody_, world_.Rank() * num_threads_ + thread, thread, num_runs_,
                          SpinHabit(has_cores_)));
    work();
  } catch (...) {
    failure = std::current_exception();
    if (me) me->rounds_->Leave(Leaving::After(failure));
    failure_.Raise();
    if (me) Linger(*me, After(std::min<std::chrono::nanoseconds>(patience_, most_linger)), true);
  }
}

UIT_DEFINE void TeamRuns::Linger(Member& me, Deadline deadline, bool has_failed) {
  Rounds& rounds = *me.rounds_;
  try {
    if (!WaitUntil([&] { return rounds.TryLinger(); }, deadline, [&] { return me.Poll(); })) rounds.Leave(Leaving::Lost(std::nullopt));
  } catch (const std::exception&) {  // its own part is done; so only a loss concerns it
    rounds.Leave(Leaving::After(std::current_exception()));
  }
  if (!has_failed && rounds.Left().HasLost()) rounds.Left().Throw("a member of the team", "");
}

UIT_DEFINE void TeamRuns::BeginRun() {
  ++num_runs_;
  joints_.emplace(world_, num_threads_, shares_memory_);
  gate_.emplace(num_threads_);
  has_failed_alone_ = false;
  failure_.Lower();
}

UIT_DEFINE int TeamRuns::EndRun(const std::vector<int>& codes, const std::vector<std::exception_ptr>& failures) {
  const auto [failure, level] = FirstCause(failures);
  const bool is_broken = failure && KindOf(failure) == ErrorKind::peer_lost;
  if (is_broken) world_.Process()->Break();
  // If nothing has failed, all members have left; see Linger.
  if (!Disconnect(is_broken ? Now() : After(most_closing)) || is_broken) {
    world_.Process()->Break();
    if (failure) std::rethrow_exception(failure);
    throw Error("the other processes of the team do not close their connections");
  }
  // All processes throw if one does: those with the cause, if any has it, throw that.
  const Verdict own{*std::ranges::max_element(codes), level, failure ? KindOf(failure) : ErrorKind::other};
  const std::vector<Verdict> verdicts = world_.AllGatherValue(own, After(patience_));
  const auto worst = std::ranges::max_element(verdicts, {}, &Verdict::failure);
  if (failure && level == worst->failure) std::rethrow_exception(failure);
  if (worst->failure != Failure::none) throw FailedElsewhere(static_cast<std::size_t>(worst - verdicts.begin()), worst->kind);
  return std::ranges::max_element(verdicts, {}, &Verdict::code)->code;
}

UIT_DEFINE std::pair<std::exception_ptr, TeamRuns::Failure> TeamRuns::FirstCause(const std::vector<std::exception_ptr>& failures) {
  std::pair<std::exception_ptr, Failure> found{nullptr, Failure::none};
  for (const std::exception_ptr& failure : failures) {
    if (!failure) continue;
    Failure level = Failure::cause;
    try {
      std::rethrow_exception(failure);
    } catch (const MemberLeft&) {
      level = Failure::consequence;
    } catch (...) {
    }
    if (level > found.second) found = {failure, level};
  }
  return found;
}

UIT_DEFINE void TeamRuns::DoAlone(FunctionRef<void()> work) {
  const ThreadBarrier<>::Ticket ticket = gate_->Arrive([&] {
    has_failed_alone_ = true;
    work();
    has_failed_alone_ = false;
  });
  WaitUntil([&] { return gate_->HasPassed(ticket) || failure_.IsRaised(); });
  if (!gate_->HasPassed(ticket)) throw MemberLeft("another member of this process has failed");
  if (has_failed_alone_) throw MemberLeft("another thread of this process could not connect the team");
}

UIT_DEFINE void TeamRuns::MakeSplit(const std::vector<std::vector<std::size_t>>& lists) {
  EndUnusedSplits();
  MadeSplit& made = splits_.emplace_back(MadeSplit{.world = world_.Duplicate()});
  made.groups = MakeGroups(made.world, num_threads_, lists);
  for (const auto& group : made.groups) {
    ++num_groups_;
    if (group) group->number = num_groups_;
  }
}

UIT_DEFINE void TeamRuns::EndUnusedSplits() {
  std::vector<std::uint64_t> is_used;
  for (const MadeSplit& split : splits_)
    is_used.push_back(std::ranges::any_of(split.groups, [](const auto& group) { return group.use_count() > 1; }) ? 1 : 0);
  if (is_used.empty()) return;
  world_.Max(is_used);
  bool is_clean = true;
  for (std::size_t i = 0; i < splits_.size(); ++i)
    if (is_used[i] == 0) is_clean = End(splits_[i], After(std::chrono::seconds(10))) && is_clean;
  std::size_t next = 0;
  std::erase_if(splits_, [&](const MadeSplit&) { return is_used[next++] == 0; });
  if (is_clean) return;
  world_.Process()->Break();  // others may have released what this one has not
  world_.Process()->Watch().Check("in a split");
  throw Error("the other processes of the team do not close their connections");
}

UIT_DEFINE bool TeamRuns::End(MadeSplit& split, Deadline deadline) {
  bool is_clean = true;
  for (const auto& group : split.groups)
    if (group && group->rounds) is_clean = group->rounds->Close(deadline) && is_clean;
  split.groups.clear();
  if (!world_.Process()->IsBroken()) is_clean = split.world.Release(deadline) && is_clean;
  return is_clean;
}

UIT_DEFINE bool TeamRuns::Disconnect(Deadline deadline) {
  bool is_clean = joints_->Close(deadline);
  joints_.reset();
  for (MadeSplit& split : splits_) is_clean = End(split, deadline) && is_clean;
  splits_.clear();
  num_groups_ = 0;
  return is_clean;
}

}  // namespace uit::detail
