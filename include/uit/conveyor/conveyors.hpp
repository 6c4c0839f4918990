#pragma once

#include <chrono>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <utility>
#include <vector>

#include <uit/config.hpp>
#include <uit/conveyor/quiescence.hpp>
#include <uit/support/clock.hpp>
#include <uit/support/error.hpp>
#include <uit/team/member.hpp>

namespace uit {

class Conveyors;

namespace detail {

template <TriviallyCopyable T>
class Outbox;

/// What carries work for a member: a conveyor of any type, or its tasks.
class Carrier {
 public:
  Carrier() = default;
  Carrier(const Carrier&) = delete;
  Carrier& operator=(const Carrier&) = delete;
  /// Handles items that have arrived, and sends what waits in the spill. Never waits. Returns whether it has done anything.
  virtual bool HandleOwn() = 0;
  /// Sends what waits, as far as there is room; if `only_here`, only to members of this process.
  virtual void SendOwn(bool only_here) = 0;
  /// Lets items go that it holds back to combine them with others, as far as there is room. Never waits.
  virtual void ReleaseHeld() {}
  /// Adds the items that this member has pushed and handled.
  virtual void AddCounts(QuiescenceCounts& sum) const = 0;
  /// Lets every later push ask Conveyors::CheckOutside, which throws: something has failed.
  virtual void Close() {}

 protected:
  ~Carrier() = default;
  void Join(Conveyors& set);
  void Leave(Conveyors& set);
  /// Throws Error if something has failed before.
  static void CheckWorks(const Conveyors& set);
};

}  // namespace detail

/// Conveyors that a member uses at the same time: a wait for one of them advances all, and no handler runs within another's.
///
///     uit::Conveyors both{me};
///     uit::Conveyor<Answer> answers{both, [&](const Answer& answer) { … }};
///     uit::Conveyor<Question> questions{both, [&](std::size_t from, const Question& question) { answers.Push(from, …); }};
///     for (…) questions.Push(owner, …);
///     both.Finish();   // until everything is answered
///
/// A scope within a set ends for itself, as often as need be, while conveyors of the whole set go on:
///
///     uit::Conveyors scope{both, me};
///     uit::Conveyor<Step> steps{scope, …};
///     for (…) scope.Finish();   // until all steps are handled; questions and answers may be under way
///
/// It must outlive its conveyors and the scopes within it. All members make the same ones in the same order. One thread uses it: its
/// member's.
class Conveyors {
 public:
  /// Not collective. `me` must stay.
  explicit Conveyors(Member& me) : me_(me), all_sets_(*this) {}
  /// A scope within `outer`, which must stay. Finish of `outer` also ends what this one carries. `me` is the member of `outer`, or the
  /// same thread as a member of a group, within which the scope carries items; all groups then have a scope. Open its conveyors before
  /// others carry items: that is collective over the whole team, and handles nothing. Not collective.
  Conveyors(Conveyors& outer, Member& me) : me_(me), outer_(&outer), all_sets_(outer.all_sets_) {}
  Conveyors(const Conveyors&) = delete;             ///< Not copied: conveyors refer to it.
  Conveyors& operator=(const Conveyors&) = delete;  ///< Not copied.

  /// A Finish that has begun. Until its end the member may do other work, but pushes nothing outside of handlers, and calls nothing else
  /// of its conveyors and nothing that is collective. It should try soon and often, because others wait for it.
  class Finishing {
   public:
    /// For StartFinish.
    explicit Finishing(Conveyors& scope) : scope_(scope), quiescence_(scope.me_) { scope.all_sets_.CheckOutside(); }
    Finishing(const Finishing&) = delete;             ///< Not copied: others wait for it.
    Finishing& operator=(const Finishing&) = delete;  ///< Not copied.
    /// Waits for the end, unless it has come or failed, or an exception is in flight.
    ~Finishing() noexcept(false) {
      if (!has_ended_ && std::uncaught_exceptions() == num_exceptions_) Get();
    }
    /// Handles what has arrived, and returns whether all has been handled. Never waits.
    bool TryFinish();
    /// Waits for the end.
    void Get() {
      try {
        scope_.all_sets_.Wait([this] { return TryFinish(); }, false);  // its rounds of counts tell who does not come
      } catch (...) {
        has_ended_ = true;
        throw;
      }
    }

   private:
    Conveyors& scope_;
    Quiescence quiescence_;
    bool has_ended_ = false;
    int num_exceptions_ = std::uncaught_exceptions();
  };

  /// As Conveyor::Finish, for all of them, also those of scopes within. Meanwhile handles items of the sets around, too. Collective.
  void Finish() { StartFinish().Get(); }
  /// Begins a Finish, and does not wait. Collective.
  Finishing StartFinish();
  /// As Conveyor::WaitUntil, for all of them.
  template <std::predicate Ready>
  void WaitUntil(Ready&& ready) {
    all_sets_.CheckOutside();
    std::size_t num_last_looks = 0;  // since a member was found to be gone
    all_sets_.Wait([&] {
      if (all_sets_.AdvanceUntil(ready, true)) return true;
      try {
        me_.CheckAllStay();
      } catch (const Error&) {  // it may have left something that is still to be handled
        if (num_last_looks++ == most_busy || !all_sets_.HandleAll()) throw;
      }
      return false;
    });
  }
  /// As Conveyor::HandleArrived, for all of them.
  bool HandleArrived() {
    const bool has_any = all_sets_.HandleAll();
    all_sets_.SendIfOld();
    return has_any;
  }

  /// Whether a handler or a task of theirs runs, or of the sets around and scopes within.
  bool IsInHandler() const { return all_sets_.state_ == State::in_handler; }
  /// The member that uses them.
  Member& GetMember() const { return me_; }

 private:
  template <TriviallyCopyable T>
    requires Encodable<T>
  friend class Conveyor;
  template <TriviallyCopyable T>
  friend class SpanConveyor;
  friend class Tasks;
  friend class detail::Carrier;
  template <TriviallyCopyable T>
  friend class detail::Outbox;
  enum class State : std::uint8_t { outside, in_handler, failed };
  // A busy member looks at arrivals this many times, then lets other members run.
  static constexpr std::size_t most_busy = 64;
  /// Of what waits for other processes while a member is busy. To send takes about a microsecond.
  static constexpr std::chrono::microseconds longest_age{50};

  bool HandleAll() {
    CheckOutside();
    bool has_any = me_.Poll();
    for (detail::Carrier* const conveyor : all_) has_any = conveyor->HandleOwn() || has_any;
    return has_any;
  }
  /// Sends what waits, as Carrier::SendOwn, and if `releases_held`, also what is held back.
  void SendAll(bool only_here, bool releases_held = false) {
    if (releases_held)
      for (detail::Carrier* const conveyor : all_) conveyor->ReleaseHeld();
    for (detail::Carrier* const conveyor : all_) conveyor->SendOwn(only_here);
  }
  /// Sends what waits if that was last done too long ago.
  void SendIfOld() {
    if (max_age_.count() == 0) return;
    const TimePoint now = Now();
    if (now - sent_ < max_age_) return;
    sent_ = now;
    SendAll(false, true);
  }
  /// Handles what has arrived. Then sends what waits to members of this process, and to others if nothing was handled or the last time
  /// is long ago; and then also what is held back, if others may wait for it. Returns whether anything was handled.
  bool Advance(bool releases_held = false) {
    const bool has_handled = HandleAll();
    const TimePoint now = Now();
    const bool only_here = has_handled && now - sent_ < longest_age;
    if (!only_here) sent_ = now;
    SendAll(only_here, releases_held && !only_here);
    has_advanced_ |= has_handled;
    return has_handled;
  }
  /// Advances until `ready()`, but only while something is handled, and not too long: whoever waits looks at other things now and
  /// then. Returns whether it has found `ready()` true.
  template <std::predicate Ready>
  bool AdvanceUntil(Ready&& ready, bool releases_held) {
    for (std::size_t i = 0; i < most_busy; ++i) {
      if (ready()) return true;
      if (!Advance(releases_held)) break;
    }
    return ready();
  }
  /// Waits until `try_once()`, which calls AdvanceUntil. Rests long only while nothing is handled.
  template <std::predicate Try>
  void Wait(Try&& try_once, bool is_limited = true) {
    me_.Wait(try_once, never, [this] { return std::exchange(has_advanced_, false); }, is_limited);
  }
  /// Handles what has arrived, and shows what waits to the members of this process, also what handlers have pushed to other conveyors
  /// than that of the caller.
  void Look() {
    HandleArrived();
    SendAll(true);
  }
  /// Lets what waits leave after that time also while the member does not wait; 0: as other conveyors want.
  void LimitAge(std::chrono::nanoseconds max_age) {
    if (max_age.count() != 0 && (max_age_.count() == 0 || max_age < max_age_)) max_age_ = max_age;
  }
  /// Lets further calls be refused, also pushes.
  UIT_NOINLINE void Refuse() {
    state_ = State::failed;
    for (detail::Carrier* const conveyor : all_) conveyor->Close();
  }
  /// Calls what runs handlers or tasks. If that throws, further calls are refused. Throws, too, if a conveyor has failed meanwhile and
  /// the handler has caught that.
  template <std::invocable F>
  void InHandler(F&& run) {
    state_ = State::in_handler;
    try {
      run();
    } catch (...) {
      Refuse();
      throw;
    }
    if (state_ == State::failed) CheckOutside();
    state_ = State::outside;
  }
  void CheckOutside() const {
    if (state_ == State::in_handler) throw Error("a handler of a conveyor may push, and call nothing else of it");
    if (state_ == State::failed) throw Error("this conveyor, or a handler of it, has thrown before, so it cannot be used any more");
  }

  Member& me_;
  Conveyors* outer_ = nullptr;  // unless this is the outermost
  Conveyors& all_sets_;         // the outermost, whose state all share
  std::vector<detail::Carrier*> all_{};
  std::chrono::nanoseconds max_age_{0};  // the least in the options of all so far, without 0
  TimePoint sent_{};                     // when what waited was last sent to all
  bool has_advanced_ = false;            // since the last rest of a wait
  State state_ = State::outside;
};

inline Conveyors::Finishing Conveyors::StartFinish() { return Finishing(*this); }

inline bool Conveyors::Finishing::TryFinish() {
  if (has_ended_) return true;
  has_ended_ = true;  // also if this throws
  scope_.all_sets_.AdvanceUntil([&] { return quiescence_.IsConfirming(); }, true);
  detail::QuiescenceCounts sum;
  for (const detail::Carrier* const conveyor : scope_.all_) conveyor->AddCounts(sum);
  return has_ended_ = quiescence_.TryEnd(sum.num_sent, sum.num_handled);
}

inline void detail::Carrier::Join(Conveyors& set) {
  for (Conveyors* each = &set; each != nullptr; each = each->outer_) each->all_.push_back(this);
}
inline void detail::Carrier::Leave(Conveyors& set) {
  for (Conveyors* each = &set; each != nullptr; each = each->outer_) std::erase(each->all_, this);
}
inline void detail::Carrier::CheckWorks(const Conveyors& set) {
  if (set.all_sets_.state_ == Conveyors::State::failed) set.all_sets_.CheckOutside();
}

}  // namespace uit
