#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <map>
#include <memory>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include <uit/config.hpp>
#include <uit/link/process_state.hpp>
#include <uit/support/clock.hpp>
#include <uit/support/error.hpp>
#include <uit/team/member.hpp>
#include <uit/team/core_spread.hpp>
#include <uit/team/team_runs.hpp>

namespace uit {

UIT_DEFINE int Team::RunOnAll(FunctionRef<int(Member&)> work) const {
  ThreadPool& threads = Threads();
  if (!state_->runs) state_->runs = std::make_shared<detail::TeamRuns>(GetWorld(), state_->options);
  return state_->runs->Run(threads, work);
}

UIT_DEFINE Member::Member(detail::TeamRuns& runs, detail::Joints& joints, LoopBoard<>& loops, const std::atomic<bool>& has_failed,
                          std::shared_ptr<detail::Group> group, std::size_t seat, std::uint32_t thread, std::uint64_t run,
                          const SpinHabit& habit)
    : runs_(&runs),
      joints_(&joints),
      loops_(&loops),
      has_failed_(&has_failed),
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
  Member member(*runs_, *joints_, *loops_, *has_failed_, runs_->SplitGroup(list), seat, thread_, run_, habit_);
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
      me.reset(new Member(*this, *joints_, loops_, has_failed_, everybody_, world_.Rank() * num_threads_ + thread, thread, num_runs_,
                          SpinHabit(has_cores_)));
    work();
  } catch (...) {
    failure = std::current_exception();
    if (me) me->rounds_->Leave(Leaving::After(failure));
    has_failed_.store(true, std::memory_order_release);  // pairs with the acquire of those who then look why
    if (me) Linger(*me, After(std::min<std::chrono::nanoseconds>(patience_, std::chrono::seconds(10))), true);
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
  has_failed_.store(false, std::memory_order_relaxed);
}

UIT_DEFINE int TeamRuns::EndRun(const std::vector<int>& codes, const std::vector<std::exception_ptr>& failures) {
  const auto [failure, level] = FirstCause(failures);
  const bool is_broken = failure && KindOf(failure) == ErrorKind::peer_lost;
  if (is_broken) world_.Process()->Break();
  // If nothing has failed, all members have left; see Linger.
  if (!Disconnect(is_broken ? Now() : After(std::chrono::seconds(10))) || is_broken) {
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
  WaitUntil([&] { return gate_->HasPassed(ticket) || has_failed_.load(std::memory_order_relaxed); });
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
