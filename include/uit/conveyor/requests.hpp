#pragma once

#include <algorithm>
#include <concepts>
#include <coroutine>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <type_traits>
#include <utility>
#include <vector>

#include <uit/conveyor/conveyor.hpp>
#include <uit/conveyor/conveyors.hpp>
#include <uit/conveyor/spill.hpp>
#include <uit/conveyor/tasks.hpp>
#include <uit/support/bytes.hpp>
#include <uit/support/error.hpp>
#include <uit/team/member.hpp>

namespace uit {

/// Options of Requests. The same on all members.
struct RequestOptions {
  /// Requests of a member that are not answered, at most; further ones wait their turn. Fewer if a quarter of the budget has no room for
  /// the answers to as many of each member.
  std::size_t max_under_way = 4096;
  /// Of questions, and of answers. Answers have room for all that may be under way in any case. A question that finds none, neither in
  /// buffers nor in the spill, is an error.
  ConveyorOptions conveyor{};
};

/// What a member has asked.
struct RequestTally {
  std::uint64_t asked = 0;         ///< requests that were sent to other members
  std::uint64_t answered = 0;      ///< of these: the answer has come
  std::uint64_t own = 0;           ///< requests to the member itself, which it answers at once
  std::uint64_t waited = 0;        ///< requests that had to wait because too many were under way
};

/// Questions to other members, for which a task waits: `A answer = co_await ask(member, question)`. See Tasks.
///
/// The other member calls `answer(question)` or `answer(from, question)` on its thread, as a handler. Every question is answered once.
/// Those of a member to another are answered in order, except that a member answers its own at once. Answers always find room,
/// because the number of questions under way is limited.
template <TriviallyCopyable Q, TriviallyCopyable A>
  requires std::default_initializable<A>
class Requests {
 public:
  /// Collective. `tasks` must stay. Throws InputError if the budget is too small for the answers that may be under way.
  template <typename F>
    requires std::is_invocable_r_v<A, F&, const Q&> || std::is_invocable_r_v<A, F&, std::size_t, const Q&>
  Requests(Tasks& tasks, F answer, const RequestOptions& options = {})
      : Requests(tasks, std::make_shared<F>(std::move(answer)), options) {}
  Requests(const Requests&) = delete;             ///< Not copied: tasks wait for its answers.
  Requests& operator=(const Requests&) = delete;  ///< Not copied.

  /// What a task waits for: `co_await` it at once.
  class [[nodiscard]] Waiting {
   public:
    /// For the language: answers a question of the member to itself.
    bool await_ready() {
      if (to_ != requests_.rank_) return false;
      answer_ = requests_.answer_own_(question_);
      ++requests_.tally_.own;
      return true;
    }
    /// For the language: asks.
    void await_suspend(std::coroutine_handle<> task) {
      task_ = task;
      requests_.Begin(*this);
    }
    /// For the language.
    A await_resume() const { return answer_; }

   private:
    friend class Requests;
    Waiting(Requests& requests, std::size_t to, const Q& question) : requests_(requests), to_(to), question_(question) {}

    Requests& requests_;
    std::size_t to_;
    Q question_;
    A answer_{};
    std::coroutine_handle<> task_{};
    Waiting* next_ = nullptr;  // that waits for its turn, too
  };

  /// Asks member `to`. In tasks only.
  Waiting operator()(std::size_t to, const Q& question) { return {*this, to, question}; }
  /// What this member has done since the beginning.
  const RequestTally& Tally() const { return tally_; }

 private:
  struct Question {
    std::uint32_t slot = 0;  // of the one who waits, at the member that asks
    Q question{};
  };
  struct Answer {
    std::uint32_t slot = 0;
    A answer{};
  };

  template <typename F>
  Requests(Tasks& tasks, std::shared_ptr<F> answer, const RequestOptions& options)
      : tasks_(tasks),
        rank_(tasks.Set().GetMember().Rank()),
        answer_own_([answer, rank = rank_](const Q& question) { return Call(*answer, rank, question); }),
        slots_(NumSlots(options, tasks.Set().GetMember().Size()), nullptr),
        answers_(tasks.Set(), [this](const Answer& item) { Take(item); }, ForAnswers(options, slots_.size() * tasks.Set().GetMember().Size())),
        questions_(tasks.Set(), [this, answer](std::size_t from, const Question& item) {
          answers_.Push(from, {item.slot, Call(*answer, from, item.question)});
        }, options.conveyor) {
    for (std::size_t slot = slots_.size(); slot > 0; --slot) free_.push_back(static_cast<std::uint32_t>(slot - 1));
  }
  template <typename F>
  static A Call(F& answer, std::size_t from, const Q& question) {
    if constexpr (std::is_invocable_r_v<A, F&, std::size_t, const Q&>) return answer(from, question);
    else return answer(question);
  }
  /// Returns how many requests of a member may be under way.
  static std::size_t NumSlots(const RequestOptions& options, std::size_t num_members) {
    constexpr std::size_t most = std::numeric_limits<std::uint32_t>::max();
    if (options.max_under_way == 0 || options.max_under_way >= most) throw InputError("max_under_way must be between 1 and 2^32 - 2");
    const std::size_t num_places = options.conveyor.budget_bytes / 4 / detail::Spill<Answer>::place_bytes;
    return std::clamp<std::size_t>(num_places / num_members, 1, options.max_under_way);
  }
  static ConveyorOptions ForAnswers(const RequestOptions& options, std::size_t spill_items) {
    ConveyorOptions conveyor = options.conveyor;
    conveyor.spill_items = spill_items;
    return conveyor;
  }

  void Begin(Waiting& waiting) {
    if (!free_.empty()) return Send(waiting);
    ++tally_.waited;
    (first_ == nullptr ? first_ : last_->next_) = &waiting;
    last_ = &waiting;
  }
  void Send(Waiting& waiting) {
    const std::uint32_t slot = free_.back();
    questions_.Push(waiting.to_, {slot, waiting.question_});
    free_.pop_back();
    slots_[slot] = &waiting;
    ++tally_.asked;
  }
  void Take(const Answer& item) {
    if (item.slot >= slots_.size() || slots_[item.slot] == nullptr) throw Error("an answer has arrived that nobody waits for");
    Waiting& waiting = *std::exchange(slots_[item.slot], nullptr);
    waiting.answer_ = item.answer;
    free_.push_back(item.slot);
    ++tally_.answered;
    tasks_.Resume(waiting.task_);
    if (first_ != nullptr) Send(*std::exchange(first_, first_->next_));
  }

  Tasks& tasks_;
  std::size_t rank_;
  std::function<A(const Q&)> answer_own_;
  std::vector<Waiting*> slots_;        // that wait for answers
  std::vector<std::uint32_t> free_{};  // slots in which none does
  Waiting* first_ = nullptr;           // that waits for a slot
  Waiting* last_ = nullptr;
  RequestTally tally_{};
  Conveyor<Answer> answers_;
  Conveyor<Question> questions_;
};

}  // namespace uit
