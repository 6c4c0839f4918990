#pragma once

/// What a member of a team does in a run: collective calls, conduits to other members, and loops that others help with.
/// More than 300 lines, because it is one class with a short function for each call.

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <optional>
#include <span>
#include <type_traits>
#include <typeinfo>
#include <utility>
#include <vector>

#include <uit/codec/codec.hpp>
#include <uit/codec/span_codec.hpp>
#include <uit/codec/trivial_codec.hpp>
#include <uit/config.hpp>
#include <uit/exchange/fabric.hpp>
#include <uit/inlet.hpp>
#include <uit/outlet.hpp>
#include <uit/policy.hpp>
#include <uit/support/error.hpp>
#include <uit/support/function_ref.hpp>
#include <uit/support/pause.hpp>
#include <uit/support/ref.hpp>
#include <uit/team/collectives.hpp>
#include <uit/team/failure_flag.hpp>
#include <uit/team/group.hpp>
#include <uit/team/joints.hpp>
#include <uit/team/loop_board.hpp>
#include <uit/team/rounds.hpp>
#include <uit/team/span_collectives.hpp>
#include <uit/team/team.hpp>
#include <uit/transport/in_process.hpp>
#include <uit/transport/limited.hpp>
#include <uit/transport/process.hpp>
#include <uit/transport/transport_set.hpp>

namespace uit {

/// The transports between members: a queue between threads of a process, shared memory or MPI between processes.
using BetweenMembers = TransportSet<Limited<Thread>, Process>;
/// The sending end of a conduit to another member; see Member::InletTo.
template <Message T, Policy policy = Policy{}>
using MemberInlet = Inlet<T, policy, BetweenMembers>;
/// The receiving end; see Member::OutletFrom.
template <Message T, Policy policy = Policy{}>
using MemberOutlet = Outlet<T, policy, BetweenMembers>;

/// Options of a conduit between members. Both ends should state the same.
struct ConduitOptions {
  std::size_t depth = 64;                  ///< the number of messages that may wait, under Retain::every
  std::size_t max_message_bytes = 65'536;  ///< the largest message, encoded, if sizes vary; larger ones throw
  std::size_t buffer_bytes = 65'536;       ///< between processes: of a frame, at most, under Consolidate::aggregated
};

/// A collective call that has begun. Other members may wait for this one, so end it soon: TryFinish until it returns true, or Get.
/// Until then the member makes no other collective call.
template <typename Call>
class Started {
 public:
  /// Begins the call. For Member.
  template <typename... Args>
  explicit Started(Member& me, Args&&... args);
  Started(const Started&) = delete;
  Started& operator=(const Started&) = delete;
  /// Waits, unless the call has ended or failed, or an exception is in flight. Throws as Get.
  ~Started() noexcept(false) {
    if (!has_ended_ && std::uncaught_exceptions() == num_exceptions_) Get();
  }

  /// Returns whether the call has ended on this member. Never waits. Throws as all collective calls; it is then of no further use.
  bool TryFinish();
  /// Waits for the end, and returns the result. Call it once. Throws likewise.
  decltype(std::declval<Call&>().Take()) Get();

 private:
  /// Whether the call has ended. If it throws, it has.
  bool TryEnd();

  Member& me_;
  Call call_;
  bool has_ended_ = false;
  int num_exceptions_ = std::uncaught_exceptions();
};

/// One thread of a team in a run, with a number among all: thread t of process p is member p * threads + t. Its thread only.
///
/// Collective calls must be made by all members of a group, in the same order. Each is also a barrier: no member ends it before all
/// have begun it. Results combine values in order of the members, so they are the same on every layout of threads and processes,
/// also those of floating-point numbers. A call throws MemberLeft if another member has left the run, and PeerLost if a process of
/// this host has ended, if one does not come within TeamOptions::peer_timeout, or if a member of another host has found that.
class Member {
 public:
  /// Leaves the run or the group.
  ~Member() {
    if (rounds_) rounds_->Leave(std::uncaught_exceptions() > num_exceptions_ ? Leaving::Failed() : Leaving{});
  }
  /// `other` may then only be destroyed.
  Member(Member&& other) noexcept = default;
  Member& operator=(Member&& other) = delete;

  /// This member's number in its group, from 0.
  std::size_t Rank() const { return rounds_->Seat(); }
  /// The number of members of the group.
  std::size_t Size() const { return rounds_->Size(); }
  /// Whether this is member 0.
  bool IsRoot() const { return Rank() == 0; }
  /// The next member; the first after the last.
  std::size_t Right() const { return (Rank() + 1) % Size(); }
  /// The previous member; the last before the first.
  std::size_t Left() const { return (Rank() + Size() - 1) % Size(); }
  /// The number of this member's process, from 0.
  std::size_t Process() const { return SeatOf(Rank()).process; }
  /// The number of this member's host among those of its group, from 0. Processes that share no memory count as hosts of their own.
  std::size_t Host() const { return SeatOf(Rank()).host; }
  /// The number of this member's thread in its process, from 0.
  std::uint32_t Thread() const { return thread_; }

  /// Waits for all members.
  void Barrier() { Started<detail::BarrierCall>(*this).Get(); }
  /// Begins a barrier.
  auto StartBarrier() { return Started<detail::BarrierCall>(*this); }

  /// Returns `root`'s value on all members.
  template <Encodable T>
  T Broadcast(const T& value, std::size_t root = 0) {
    return StartBroadcast(value, root).Get();
  }
  /// Begins such a call.
  template <Encodable T>
  auto StartBroadcast(const T& value, std::size_t root = 0) {
    return Started<detail::BroadcastCall<T>>(*this, value, Checked(root));
  }
  /// Copies `root`'s elements to those of all members. All have the same number.
  template <TriviallyCopyable T>
  void Broadcast(std::span<T> data, std::size_t root = 0) {
    StartBroadcast(data, root).Get();
  }
  /// Begins such a call. `data` must stay until its end.
  template <TriviallyCopyable T>
  auto StartBroadcast(std::span<T> data, std::size_t root = 0) {
    return Started<detail::BroadcastSpanCall<T>>(*this, data, Checked(root));
  }

  /// Returns op(…op(op(v0, v1), v2)…) of the values of all members, on all members.
  template <Encodable T, std::invocable<T, T> Op>
  T AllReduce(const T& value, Op op) {
    return *StartAllReduce(value, std::move(op)).Get();
  }
  /// Begins such a call. Its result is optional, and always there.
  template <Encodable T, std::invocable<T, T> Op>
  auto StartAllReduce(const T& value, Op op) {
    return Started<detail::ReduceCall<T, Op>>(*this, value, std::move(op), detail::Getter{});
  }
  /// Combines element by element, in place. All members have the same number of elements.
  template <TriviallyCopyable T, std::invocable<T, T> Op>
  void AllReduce(std::span<T> data, Op op) {
    StartAllReduce(data, std::move(op)).Get();
  }
  /// Begins such a call. `data` must stay until its end, and holds nothing useful before.
  template <TriviallyCopyable T, std::invocable<T, T> Op>
  auto StartAllReduce(std::span<T> data, Op op) {
    return Started<detail::ReduceSpanCall<T, Op>>(*this, data, std::move(op), detail::Getter{});
  }
  /// Combines as AllReduce does. Returns the result on `root` and nothing elsewhere.
  template <Encodable T, std::invocable<T, T> Op>
  std::optional<T> Reduce(const T& value, Op op, std::size_t root = 0) {
    return StartReduce(value, std::move(op), root).Get();
  }
  /// Begins such a call.
  template <Encodable T, std::invocable<T, T> Op>
  auto StartReduce(const T& value, Op op, std::size_t root = 0) {
    return Started<detail::ReduceCall<T, Op>>(*this, value, std::move(op), detail::Getter{Checked(root)});
  }
  /// Combines element by element, in place on `root`. Elsewhere `data` holds nothing useful afterwards. All members have the same number
  /// of elements.
  template <TriviallyCopyable T, std::invocable<T, T> Op>
  void Reduce(std::span<T> data, Op op, std::size_t root = 0) {
    StartReduce(data, std::move(op), root).Get();
  }
  /// Begins such a call. `data` must stay until its end, and holds nothing useful before.
  template <TriviallyCopyable T, std::invocable<T, T> Op>
  auto StartReduce(std::span<T> data, Op op, std::size_t root = 0) {
    return Started<detail::ReduceSpanCall<T, Op>>(*this, data, std::move(op), detail::Getter{Checked(root)});
  }

  /// Returns the values of all members, in order, on all members.
  template <Encodable T>
  std::vector<T> AllGather(const T& value) {
    return StartAllGather(value).Get();
  }
  /// Begins such a call.
  template <Encodable T>
  auto StartAllGather(const T& value) {
    return Started<detail::GatherCall<T>>(*this, value, detail::Getter{});
  }
  /// Copies the elements of all members to `all`, in order. All have the same number; `all` has room for all of them.
  template <TriviallyCopyable T>
  void AllGather(std::span<const T> mine, std::span<T> all) {
    StartAllGather(mine, all).Get();
  }
  /// Begins such a call. `mine` and `all` must stay until its end.
  template <TriviallyCopyable T>
  auto StartAllGather(std::span<const T> mine, std::span<T> all) {
    return Started<detail::GatherSpanCall<T>>(*this, mine, all, detail::Getter{});
  }
  /// Returns the values of all members, in order, on `root`, and an empty vector elsewhere.
  template <Encodable T>
  std::vector<T> Gather(const T& value, std::size_t root = 0) {
    return StartGather(value, root).Get();
  }
  /// Begins such a call.
  template <Encodable T>
  auto StartGather(const T& value, std::size_t root = 0) {
    return Started<detail::GatherCall<T>>(*this, value, detail::Getter{Checked(root)});
  }
  /// Copies the elements of all members to `all` on `root`, in order. All have the same number; `all` has room for all of them. Elsewhere
  /// `all` is not used, and may be empty.
  template <TriviallyCopyable T>
  void Gather(std::span<const T> mine, std::span<T> all, std::size_t root = 0) {
    StartGather(mine, all, root).Get();
  }
  /// Begins such a call. `mine` and `all` must stay until its end.
  template <TriviallyCopyable T>
  auto StartGather(std::span<const T> mine, std::span<T> all, std::size_t root = 0) {
    return Started<detail::GatherSpanCall<T>>(*this, mine, all, detail::Getter{Checked(root)});
  }

  /// Sends parts[r] to member r, and returns what each member has sent to this one, in order.
  template <Encodable T>
  std::vector<T> AllToAll(const std::vector<T>& parts) {
    return StartAllToAll(parts).Get();
  }
  /// Begins such a call.
  template <Encodable T>
  auto StartAllToAll(const std::vector<T>& parts) {
    return Started<detail::ExchangeCall<T>>(*this, parts);
  }
  /// Sends equally many elements to each member, and copies what each has sent to `received`, in order. The two must not overlap.
  template <TriviallyCopyable T>
  void AllToAll(std::span<const T> parts, std::span<T> received) {
    StartAllToAll(parts, received).Get();
  }
  /// Begins such a call. `parts` and `received` must stay until its end.
  template <TriviallyCopyable T>
  auto StartAllToAll(std::span<const T> parts, std::span<T> received) {
    return Started<detail::ExchangeSpanCall<T>>(*this, parts, received);
  }

  /// Returns this thread as a member of a group: of those members of its present group that give the same color, in order of `key`,
  /// then of rank. All members of the whole team call it at the same time, each on its member of the group that it divides: the team,
  /// or a group, also one of another size. A group that is to stay as it is gives one color. Throws if only some members of a group
  /// split it. The memory of the groups of a Split is given back in the first Split after the last member of all of them has
  /// been destroyed.
  Member Split(std::int64_t color, std::int64_t key = 0);

  /// Returns an inlet of a conduit to another member, or to this one. The n-th inlet from one member to another joins the n-th outlet
  /// that the other opens from the first. Messages can be put at once, and arrive after Connect.
  template <Encodable T, Policy policy = Policy{}>
  MemberInlet<T, policy> InletTo(std::size_t to, const ConduitOptions& options = {}) {
    const std::size_t from_rank = SeatOf(Rank()).rank;
    const detail::Group::Seat& other = SeatOf(Checked(to));
    MemberInlet<T, policy> inlet;
    if (other.process == Process()) {
      JoinHere<T, policy>(from_rank, other.rank, true, options, [&](auto end) {
        const Limited<uit::Thread> limited{.max_message_bytes = options.max_message_bytes};
        inlet = MemberInlet<T, policy>{limited.template Limit<T, policy>(std::move(end))};
      });
    } else {
      joints_->JoinAcross(from_rank, other.rank, true, [&](Fabric& fabric, std::uint64_t number) {
        inlet = MemberInlet<T, policy>{Reach(fabric, other.process, from_rank, other.rank, number, options)};
      });
    }
    return inlet;
  }
  /// Returns an outlet of a conduit from another member, or from this one; see InletTo.
  template <Encodable T, Policy policy = Policy{}>
  MemberOutlet<T, policy> OutletFrom(std::size_t from, const ConduitOptions& options = {}) {
    const std::size_t to_rank = SeatOf(Rank()).rank;
    const detail::Group::Seat& other = SeatOf(Checked(from));
    MemberOutlet<T, policy> outlet;
    if (other.process == Process()) {
      JoinHere<T, policy>(other.rank, to_rank, false, options, [&](auto end) { outlet = MemberOutlet<T, policy>{std::move(end)}; });
    } else {
      joints_->JoinAcross(other.rank, to_rank, false, [&](Fabric& fabric, std::uint64_t number) {
        outlet = MemberOutlet<T, policy>{Reach(fabric, other.process, other.rank, to_rank, number, options)};
      });
    }
    return outlet;
  }
  /// Connects the ends that members have opened since the last call. All members of the whole team call it. Throws if an end has found
  /// no other end.
  void Connect();

  /// Calls `body(begin, end)` for ranges that together are [0, n), and waits until all are done. Threads of this process that wait
  /// meanwhile, in a collective call, in WaitUntil or in a loop of their own, run some of its chunks of `grain` indices. If chunks throw,
  /// throws the first exception. `body` must not use a Member. Throws InputError unless there are at most 2^32 - 1 chunks, of at least
  /// one index.
  template <std::invocable<std::size_t, std::size_t> F>
  void ParallelFor(std::size_t n, std::size_t grain, F&& body) {
    loops_->For(thread_, n, grain, body);
  }
  /// Calls `map(begin, end)` for each chunk likewise, and returns what `combine(sum, next)` makes of `initial` and the results, in order
  /// of chunks. So the result depends on `n` and `grain`, but not on who has run what.
  template <std::movable T, std::invocable<std::size_t, std::size_t> Map, std::invocable<T, T> Combine>
    requires std::default_initializable<T>
  T ParallelReduce(std::size_t n, std::size_t grain, T initial, Map&& map, Combine&& combine) {
    const std::size_t num_parts = LoopBoard<>::NumChunks(n, grain);
    const auto parts = std::make_unique<T[]>(num_parts);  // no std::vector, whose elements of type bool are none
    return loops_->Reduce(thread_, n, grain, std::span<T>(parts.get(), num_parts), std::move(initial), map, combine);
  }

  /// Throws if a wait that depends on another member can never end: MemberLeft if that member is on this host and has left the run, or if
  /// it is on another, and any member has thrown out of the run; PeerLost if its process has ended, or if a member has lost one.
  void CheckStays(std::size_t rank) const {
    rounds_->CheckStays(Checked(rank));
    if (!SeatOf(rank).board) of_team_->CheckNobodyFailed(true);
  }
  /// The same, for a wait that depends on any member.
  void CheckAllStay() const {
    bool are_all_here = true;
    for (std::size_t rank = 0; rank < Size(); ++rank) {
      rounds_->CheckStays(rank);
      are_all_here = are_all_here && SeatOf(rank).board;
    }
    if (!are_all_here) of_team_->CheckNobodyFailed(true);
  }

  /// Takes in what has arrived over the conduits between processes. Never waits. Returns whether anything has.
  bool Poll() {
    bool has_arrived = false;
    for (Fabric* const fabric : whole_ != nullptr ? whole_->fabrics_ : fabrics_) has_arrived = fabric->Poll() || has_arrived;
    return has_arrived;
  }
  /// Waits until `ready()` is true. Meanwhile polls, and runs chunks of other threads' loops. Returns false at the deadline. Throws
  /// MemberLeft if another member of the team has thrown out of the run, on whatever host, and PeerLost if one has lost a process.
  /// Without a deadline, also throws PeerLost if nothing new comes within TeamOptions::peer_timeout.
  template <std::predicate Ready>
  bool WaitUntil(Ready&& ready, Deadline deadline = never) {
    return WaitUntil(std::forward<Ready>(ready), deadline, [] { return false; });
  }
  /// The same. It rests shortly before the next try if `is_busy()` says that the last one has done something useful.
  template <std::predicate Ready, std::predicate Busy>
  bool WaitUntil(Ready&& ready, Deadline deadline, Busy&& is_busy) {
    return Wait(ready, deadline, is_busy, deadline == never);
  }

  /// Puts as inlet.Put(message, deadline) does, and meanwhile runs chunks of other threads' loops, which a plain Put does not. So it may
  /// end a chunk later than the deadline. Throws MemberLeft as WaitUntil does; such a put counts nowhere.
  template <Encodable T, Policy policy>
  bool Put(MemberInlet<T, policy>& inlet, const std::type_identity_t<T>& message, Deadline deadline = never) {
    return inlet.Put(message, deadline, Waiting{*this});
  }
  /// The same, by moving. The message stays with the caller unless the result is true.
  template <Encodable T, Policy policy>
  bool Put(MemberInlet<T, policy>& inlet, std::type_identity_t<T>&& message, Deadline deadline = never) {
    return inlet.Put(std::move(message), deadline, Waiting{*this});
  }
  /// Steps as outlet.Step(deadline) does, and meanwhile runs chunks likewise. Throws MemberLeft as WaitUntil does.
  template <Encodable T, Policy policy>
  bool Step(MemberOutlet<T, policy>& outlet, Deadline deadline = never) {
    return outlet.Step(deadline, Waiting{*this});
  }

 private:
  friend class detail::TeamRuns;
  template <typename Call>
  friend class Started;
  friend class Conveyors;

  Member(detail::TeamRuns& runs, detail::Joints& joints, LoopBoard<>& loops, const FailureFlag<>& failure,
         std::shared_ptr<detail::Group> group, std::size_t seat, std::uint32_t thread, std::uint64_t run, const SpinHabit& habit);

  /// Of a wait: the tries in which nothing new has come.
  struct Silence {
    unsigned num_tries = 0;
    TimePoint since{};
  };

  template <typename Ready, typename Busy>
  bool Wait(Ready&& ready, Deadline deadline, Busy&& is_busy, bool is_limited) {
    bool is_ready = false;
    const auto try_once = [&] { return is_ready = is_ready || ready(); };
    Silence silence;
    return uit::WaitUntil(try_once, deadline, [&] {
      if (failure_->IsRaised() && !try_once()) ThrowFailure();
      const bool has_arrived = Poll();
      const bool has_new = loops_->TrySteal(thread_) || has_arrived || is_busy();
      if (has_new) silence.num_tries = 0;
      else if (++silence.num_tries % tries_per_look == 0) CheckOthers(silence, is_limited, try_once);
      return has_new;
    }, Backoff(habit_));
  }
  /// Throws if a member elsewhere has failed, or if a wait that `is_limited` has been silent for too long; but not if the last try is
  /// successful.
  void CheckOthers(Silence& silence, bool is_limited, FunctionRef<bool()> try_once);
  static constexpr unsigned tries_per_look = 16;

  const detail::Group::Seat& SeatOf(std::size_t rank) const { return rounds_->GetGroup().seats[rank]; }
  std::size_t Checked(std::size_t rank) const;
  /// Throws if a collective call has begun and not ended, or if one has failed.
  detail::Rounds& RoundsForCall() const;
  /// Notes that a collective call has failed, and lets the others know.
  void FailCall();
  /// After another member of this process has failed.
  [[noreturn]] void ThrowFailure();
  /// A uit::Waiter: the member's WaitUntil.
  struct Waiting {
    Member& me;
    template <std::predicate Ready, std::predicate Busy>
    bool operator()(Ready&& ready, Deadline deadline, Busy&& is_busy) const {
      return me.WaitUntil(ready, deadline, is_busy);
    }
  };

  uit::Process Reach(Fabric& fabric, std::size_t process, std::size_t from, std::size_t to, std::uint64_t number,
                     const ConduitOptions& options) const {
    return {.fabric = &fabric,
            .peer = process,
            .key = {.channel = number, .source = static_cast<std::uint32_t>(from), .destination = static_cast<std::uint32_t>(to)},
            .depth = options.depth,
            .worker = thread_,
            .buffer_bytes = options.buffer_bytes,
            .max_message_bytes = options.max_message_bytes};
  }
  /// Opens an end of a conduit within this process, and passes it to `bind`.
  template <typename T, Policy policy, typename Bind>
  void JoinHere(std::size_t from, std::size_t to, bool is_inlet, const ConduitOptions& options, Bind&& bind) {
    using End = Ref<DuctFor<T, policy, Spsc>>;
    const std::size_t depth = policy.retain == Retain::every ? options.depth : 0;  // elsewhere it means nothing
    joints_->JoinHere(from, to, is_inlet, typeid(End), depth, [&](void* other) -> std::shared_ptr<void> {
      if (other != nullptr) return bind(*static_cast<End*>(other)), nullptr;
      auto [one, rest] = uit::Thread{.depth = options.depth}.template OpenPair<T, policy>(T{});
      bind(std::move(one));
      return std::make_shared<End>(std::move(rest));
    });
  }

  detail::TeamRuns* runs_;
  detail::Joints* joints_;
  LoopBoard<>* loops_;
  const FailureFlag<>* failure_;  // of a member of this process
  std::uint32_t thread_;
  std::uint64_t run_;
  std::shared_ptr<detail::Rounds> rounds_;
  std::shared_ptr<detail::Rounds> of_team_;  // of the member of the whole team
  Member* whole_ = nullptr;                  // that member, unless it is this one
  std::vector<Fabric*> fabrics_{};
  SpinHabit habit_;
  bool is_in_call_ = false;
  bool has_failed_call_ = false;
  int num_exceptions_ = std::uncaught_exceptions();
};

template <typename Call>
template <typename... Args>
Started<Call>::Started(Member& me, Args&&... args) : me_(me), call_(me.RoundsForCall(), std::forward<Args>(args)...) {
  me.is_in_call_ = true;
}

template <typename Call>
bool Started<Call>::TryFinish() {
  if (has_ended_) return true;
  me_.Poll();
  return TryEnd();
}

template <typename Call>
bool Started<Call>::TryEnd() {
  try {
    has_ended_ = call_.TryEnd();
  } catch (...) {
    has_ended_ = true;
    me_.FailCall();
    throw;
  }
  if (has_ended_) me_.is_in_call_ = false;
  return has_ended_;
}

template <typename Call>
decltype(std::declval<Call&>().Take()) Started<Call>::Get() {
  try {
    // Its rounds themselves tell who does not come.
    if (!has_ended_) me_.Wait([this] { return TryEnd(); }, never, [] { return false; }, false);
  } catch (...) {  // of the call, or of the wait
    if (!std::exchange(has_ended_, true)) me_.FailCall();
    throw;
  }
  return call_.Take();
}

}  // namespace uit

#if !UIT_COMPILED
#include <uit/team/member.ipp>
#endif
