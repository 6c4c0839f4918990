#pragma once

#include <concepts>
#include <coroutine>
#include <cstddef>
#include <exception>
#include <memory_resource>
#include <type_traits>
#include <utility>
#include <vector>

#include <uit/config.hpp>
#include <uit/conveyor/conveyors.hpp>
#include <uit/conveyor/quiescence.hpp>
#include <uit/conveyor/task.hpp>
#include <uit/support/error.hpp>

namespace uit {

/// Options of Tasks.
struct TaskOptions {
  std::size_t max_tasks = 16'384;  ///< that live when Start is called outside of tasks and handlers; these may start more
};

/// Coroutines of one member that wait for answers of others; see Requests. While one waits, others run.
///
///     uit::Conveyors set{me};
///     uit::Tasks tasks{set};
///     uit::Requests<std::uint64_t, double> ask{tasks, [&](const std::uint64_t& i) { return values[i]; }};
///     const auto add = [&](std::size_t i) -> uit::Task { sum += co_await ask(i % me.Size(), i / me.Size()); };
///     for (std::size_t i = 0; i < n; ++i) tasks.Start(add, i);
///     set.Finish();   // until all tasks of all members have ended
///
/// Tasks run on their member's thread, when it starts them, waits or handles what has arrived. Between two waits a task is not
/// interrupted: no other task and no handler runs. What a task pushes to a conveyor of the set is treated like what a handler
/// pushes. A task waits only by `co_await`: for a request, Until, Next or Yield.
///
/// If a task throws, the exception leaves the call that has run it, as with handlers. Tasks that wait are then destroyed with this
/// object. One thread uses it: its member's.
class Tasks final : detail::Carrier {
 public:
  /// Not collective. `set` must stay, and this object must outlive all requests.
  explicit Tasks(Conveyors& set, const TaskOptions& options = {}) : scope_(set), set_(set.all_sets_), options_(options) {
    if (options.max_tasks == 0) throw InputError("max_tasks must be at least 1");
    Join(scope_);
  }
  Tasks(const Tasks&) = delete;             ///< Not copied: tasks refer to it.
  Tasks& operator=(const Tasks&) = delete;  ///< Not copied.
  /// Destroys the tasks that have not ended.
  ~Tasks() {
    Leave(scope_);
    while (live_.after != &live_)
      std::coroutine_handle<detail::TaskPromise>::from_promise(static_cast<detail::TaskPromise&>(*live_.after)).destroy();
  }

  /// Starts the coroutine that `f(args…)` returns. Outside of handlers and tasks, it runs at once until it waits; if max_tasks tasks or
  /// more have not ended, the call first waits until there are fewer, and handles what arrives meanwhile. It then throws MemberLeft or
  /// PeerLost if another member is gone. In a handler or task, the coroutine begins later, and nothing limits how many do.
  template <typename F, typename... Args>
    requires std::same_as<std::invoke_result_t<F&, Args...>, Task>
  void Start(F& f, Args&&... args) {
    const bool is_outside = set_.state_ != Conveyors::State::in_handler;
    if (is_outside) MakeRoom();
    std::pmr::memory_resource* const before = std::exchange(detail::task_memory, &memory_);
    try {
      Take(f(std::forward<Args>(args)...));
    } catch (...) {
      detail::task_memory = before;
      throw;
    }
    detail::task_memory = before;
    if (is_outside) HandleOwn();
  }
  /// The number of tasks that have begun and not ended.
  std::size_t NumLive() const { return static_cast<std::size_t>(account_.num_started - account_.num_ended); }

  /// `co_await tasks.Yield()` in a task lets messages and other tasks have their turn before it goes on.
  auto Yield() {
    struct Turn {
      Tasks& tasks;
      bool await_ready() const noexcept { return false; }
      void await_suspend(std::coroutine_handle<> task) const { tasks.Resume(task); }
      void await_resume() const noexcept {}
    };
    return Turn{*this};
  }
  /// `co_await tasks.Until(ready)` in a task waits until `ready()` returns true. The member's thread calls it between tasks, so it
  /// must be short and not wait; it is treated like a handler. All tasks that wait in this way cost a call each time.
  template <std::predicate F>
  auto Until(F ready) {
    return WaitUntil<F>(*this, std::move(ready));
  }
  /// `T message = co_await tasks.Next(outlet)` in a task waits for an outlet's next message, and returns a copy. The outlet may be of
  /// any kind, but must be the member's own and stay. One task waits for an outlet at a time. Nothing notices that the outlet's
  /// peer is gone, before Finish does.
  template <typename O>
  auto Next(O& outlet) {
    const auto has_stepped = [&outlet] { return outlet.TryStep() != 0; };
    struct Message : WaitUntil<decltype(has_stepped)> {
      Message(Tasks& of, decltype(has_stepped) ready, O& from) : WaitUntil<decltype(has_stepped)>(of, ready), outlet(from) {}
      O& outlet;
      auto await_resume() const { return outlet.Get(); }
    };
    return Message(*this, has_stepped, outlet);
  }
  /// For Requests: lets a task go on soon.
  void Resume(std::coroutine_handle<> task) { ready_.push_back(task); }
  /// For Requests: the set.
  Conveyors& Set() const { return scope_; }

 private:
  /// A task that waits for a condition. Part of its frame.
  class Condition {
   public:
    Condition() = default;
    Condition(const Condition&) = delete;
    Condition& operator=(const Condition&) = delete;
    virtual bool IsMet() = 0;
    std::coroutine_handle<> task{};

   protected:
    ~Condition() = default;
  };
  template <std::predicate F>
  class WaitUntil : public Condition {
   public:
    WaitUntil(Tasks& tasks, F ready) : tasks_(tasks), ready_(std::move(ready)) {}
    bool await_ready() { return ready_(); }
    void await_suspend(std::coroutine_handle<> waiting) {
      task = waiting;
      tasks_.conditions_.push_back(this);
    }
    void await_resume() const noexcept {}
    bool IsMet() override { return ready_(); }

   private:
    Tasks& tasks_;
    F ready_;
  };

  /// Lets those tasks go on whose conditions are met, in the order in which they have begun to wait.
  void CheckConditions() {
    const auto is_met = [this](Condition* const condition) {
      if (!condition->IsMet()) return false;
      Resume(condition->task);
      return true;
    };
    set_.InHandler([&] { std::erase_if(conditions_, is_met); });
  }
  void Take(Task task) {
    const auto frame = task.Release();
    frame.promise().Join(live_, account_);
    ready_.push_back(frame);
  }
  void MakeRoom() {
    set_.CheckOutside();
    if (NumLive() >= options_.max_tasks) set_.WaitUntil([&] { return NumLive() < options_.max_tasks; });
  }
  /// Runs the tasks that are ready now. Those that become ready meanwhile come next time, so that messages get their turn.
  bool HandleOwn() override {
    if (!conditions_.empty()) CheckConditions();
    if (ready_.empty()) return false;
    constexpr std::size_t distance = 4;  // tasks ahead whose frames are fetched
    running_.swap(ready_);
    set_.InHandler([&] {
      for (std::size_t i = 0; i < running_.size(); ++i) {
        if (i + distance < running_.size()) __builtin_prefetch(running_[i + distance].address());
        running_[i].resume();
        if (account_.failure) std::rethrow_exception(std::exchange(account_.failure, nullptr));
      }
    });
    running_.clear();
    return true;
  }
  void SendOwn(bool) override {}
  void AddCounts(detail::QuiescenceCounts& sum) const override {
    sum.num_sent += account_.num_started;
    sum.num_handled += account_.num_ended;
  }

  Conveyors& scope_;  // whose Finish ends them
  Conveyors& set_;    // the outermost around: its waits advance all
  TaskOptions options_;
  std::pmr::unsynchronized_pool_resource memory_{};  // of the frames
  detail::TaskAccount account_{};
  detail::TaskLink live_{};  // of all tasks that have not ended
  std::vector<std::coroutine_handle<>> ready_{};
  std::vector<std::coroutine_handle<>> running_{};
  std::vector<Condition*> conditions_{};  // that tasks wait for
};

}  // namespace uit
