#pragma once

#include <coroutine>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory_resource>
#include <new>
#include <utility>

namespace uit {

class Task;

namespace detail {

/// Memory for the frames of tasks that the calling thread starts now. Null: that of the program.
inline constinit thread_local std::pmr::memory_resource* task_memory = nullptr;

/// What tasks leave for Tasks.
struct TaskAccount {
  std::uint64_t num_started = 0;
  std::uint64_t num_ended = 0;
  std::exception_ptr failure{};  // what one has thrown
};

/// A task that has not ended, in the list of them.
struct TaskLink {
  TaskLink* before = this;
  TaskLink* after = this;
  TaskAccount* account = nullptr;

  TaskLink() = default;
  TaskLink(const TaskLink&) = delete;
  TaskLink& operator=(const TaskLink&) = delete;
  ~TaskLink() {
    before->after = after;
    after->before = before;
    if (account != nullptr) ++account->num_ended;
  }
  void Join(TaskLink& list, TaskAccount& of) {
    account = &of;
    ++of.num_started;
    before = list.before;
    after = &list;
    before->after = after->before = this;
  }
};

class TaskPromise : public TaskLink {
 public:
  Task get_return_object();
  std::suspend_always initial_suspend() noexcept { return {}; }
  std::suspend_never final_suspend() noexcept { return {}; }  // destroys the frame
  void return_void() {}
  void unhandled_exception() { account->failure = std::current_exception(); }

  static void* operator new(std::size_t size) {
    std::pmr::memory_resource* const memory = task_memory != nullptr ? task_memory : std::pmr::new_delete_resource();
    auto* const head = static_cast<std::byte*>(memory->allocate(size + head_bytes));
    new (head) std::pmr::memory_resource*(memory);
    return head + head_bytes;
  }
  static void operator delete(void* frame, std::size_t size) {
    std::byte* const head = static_cast<std::byte*>(frame) - head_bytes;
    (*std::launder(reinterpret_cast<std::pmr::memory_resource**>(head)))->deallocate(head, size + head_bytes);
  }

 private:
  static constexpr std::size_t head_bytes = alignof(std::max_align_t);
};

}  // namespace detail

/// What a coroutine returns that Tasks::Start runs:
///
///     tasks.Start([&](std::size_t i) -> uit::Task { sum += co_await ask(owner[i], word[i]); }, i);
///
/// A coroutine that is a lambda may use what the lambda captures as long as the lambda exists, so keep the lambda until Finish. Its
/// arguments are copied if they are passed by value. Refer to nothing that ends earlier.
class Task {
 public:
  using promise_type = detail::TaskPromise;  ///< required by the language

  /// For the language.
  explicit Task(std::coroutine_handle<promise_type> frame) : frame_(frame) {}
  Task(Task&& other) noexcept : frame_(std::exchange(other.frame_, nullptr)) {}  ///< `other` is then empty
  Task& operator=(Task&&) = delete;                                             ///< Not assigned.
  /// Destroys the coroutine unless Tasks has taken it.
  ~Task() {
    if (frame_) frame_.destroy();
  }
  /// For Tasks: hands over the coroutine.
  std::coroutine_handle<promise_type> Release() { return std::exchange(frame_, nullptr); }

 private:
  std::coroutine_handle<promise_type> frame_;
};

inline Task detail::TaskPromise::get_return_object() {
  return Task(std::coroutine_handle<TaskPromise>::from_promise(*this));
}

}  // namespace uit
