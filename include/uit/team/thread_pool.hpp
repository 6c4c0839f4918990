#pragma once

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <thread>
#include <vector>

#include <uit/config.hpp>
#include <uit/support/function_ref.hpp>

namespace uit {

/// Threads that are reused from one task to the next, spread over the cores that the process may use.
///
///     uit::ThreadPool pool{4};
///     pool.Run([](std::uint32_t thread) { … });   // on this thread and three others; returns when all are done
///
/// The calling thread is number 0 of its own pool. The pool runs one task at a time.
class ThreadPool {
 public:
  /// Starts all threads except the calling one. `first_core` is the number of threads that other processes of the host
  /// start before these. If `cpus` is not empty, it has a CPU for each thread: thread i stays on cpus[i], the calling one during
  /// each task, the others always. Throws uit::Error if the threads cannot be started or bound.
  explicit ThreadPool(std::uint32_t num_threads, std::size_t first_core = 0, std::vector<std::uint32_t> cpus = {});
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;
  ~ThreadPool();

  /// The number of threads, including the calling one.
  std::uint32_t NumThreads() const { return static_cast<std::uint32_t>(threads_.size()) + 1; }

  /// Throws uit::Error if a task is under way.
  void Check();
  /// Calls `work(thread)` on every thread, including the calling one, and waits for all. `work` may throw only on the
  /// calling thread. Throws as Check does, and if the calling thread cannot be bound.
  void Run(FunctionRef<void(std::uint32_t)> work);

 private:
  struct Join;

  void CheckIdle() const;
  void Serve(std::uint32_t thread, std::size_t core);
  void Stop();

  const std::vector<std::uint32_t> cpus_;  // by thread; empty if threads are free to move
  std::mutex mutex_;
  std::condition_variable begins_;
  std::condition_variable ends_;
  const FunctionRef<void(std::uint32_t)>* work_ = nullptr;  // during a run
  std::uint64_t round_ = 0;
  std::size_t num_working_ = 0;
  bool is_busy_ = false;
  bool is_over_ = false;
  std::vector<std::jthread> threads_;
};

}  // namespace uit

#if !UIT_COMPILED
#include <uit/team/thread_pool.ipp>
#endif
