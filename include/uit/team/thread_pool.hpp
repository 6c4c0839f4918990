#pragma once

#include <concepts>
#include <condition_variable>
#include <cstdint>
#include <exception>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <uit/support/error.hpp>
#include <uit/team/binding.hpp>
#include <uit/team/core_spread.hpp>

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
  explicit ThreadPool(std::uint32_t num_threads, std::size_t first_core = 0, std::vector<std::uint32_t> cpus = {})
      : cpus_(std::move(cpus)) {
    try {
      for (std::uint32_t thread = 1; thread < num_threads; ++thread) {
        threads_.emplace_back([this, thread, first_core] { Serve(thread, first_core + thread); });
        if (!cpus_.empty()) detail::BindToCpu(threads_.back().native_handle(), cpus_[thread]);
      }
    } catch (const std::exception& trouble) {
      Stop();
      throw Error("cannot start " + std::to_string(num_threads) + " threads: " + trouble.what());
    }
  }
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;
  ~ThreadPool() { Stop(); }

  /// The number of threads, including the calling one.
  std::uint32_t NumThreads() const { return static_cast<std::uint32_t>(threads_.size()) + 1; }

  /// Throws uit::Error if a task is under way.
  void Check() {
    const std::lock_guard lock(mutex_);
    CheckIdle();
  }
  /// Calls `work(thread)` on every thread, including the calling one, and waits for all. `work` may throw only on the
  /// calling thread. Throws as Check does, and if the calling thread cannot be bound.
  template <std::invocable<std::uint32_t> F>
  void Run(F&& work) {
    std::optional<detail::OnCpu> bound;  // until all threads are done
    if (!cpus_.empty()) bound.emplace(cpus_.front());
    {
      const std::lock_guard lock(mutex_);
      CheckIdle();
      is_busy_ = true;
      work_ = std::ref(work);
      num_working_ = threads_.size();
      ++round_;
    }
    begins_.notify_all();
    const Join join{*this};
    work(std::uint32_t{0});
  }

 private:
  /// Waits for the other threads at the end of its scope, also if an exception leaves the scope.
  struct Join {
    ThreadPool& pool;
    ~Join() {
      std::unique_lock lock(pool.mutex_);
      pool.ends_.wait(lock, [this] { return pool.num_working_ == 0; });
      pool.is_busy_ = false;
    }
  };

  void CheckIdle() const {
    if (is_busy_) throw Error("the threads of a team are at work: a run cannot begin inside another");
  }
  void Serve(std::uint32_t thread, std::size_t core) {
    if (cpus_.empty()) MoveToCore(core);
    std::unique_lock lock(mutex_);
    for (std::uint64_t seen = 0;;) {
      begins_.wait(lock, [&] { return round_ != seen || is_over_; });
      if (is_over_) return;
      seen = round_;
      lock.unlock();
      work_(thread);
      lock.lock();
      if (--num_working_ == 0) ends_.notify_one();
    }
  }
  void Stop() {
    {
      const std::lock_guard lock(mutex_);
      is_over_ = true;
    }
    begins_.notify_all();
    threads_.clear();
  }

  const std::vector<std::uint32_t> cpus_;  // by thread; empty if threads are free to move
  std::mutex mutex_;
  std::condition_variable begins_;
  std::condition_variable ends_;
  std::function<void(std::uint32_t)> work_;
  std::uint64_t round_ = 0;
  std::size_t num_working_ = 0;
  bool is_busy_ = false;
  bool is_over_ = false;
  std::vector<std::jthread> threads_;
};

}  // namespace uit
