#pragma once

#include <cstddef>
#include <cstdint>
#include <exception>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <uit/config.hpp>
#include <uit/support/error.hpp>
#include <uit/support/function_ref.hpp>
#include <uit/team/binding.hpp>
#include <uit/team/core_spread.hpp>
#include <uit/team/thread_pool.hpp>

namespace uit {

/// Waits for the other threads at the end of its scope, also if an exception leaves the scope.
struct ThreadPool::Join {
  ThreadPool& pool;
  ~Join() {
    std::unique_lock lock(pool.mutex_);
    pool.ends_.wait(lock, [this] { return pool.num_working_ == 0; });
    pool.is_busy_ = false;
  }
};

UIT_DEFINE ThreadPool::ThreadPool(std::uint32_t num_threads, std::size_t first_core, std::vector<std::uint32_t> cpus)
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

UIT_DEFINE ThreadPool::~ThreadPool() { Stop(); }

UIT_DEFINE void ThreadPool::Check() {
  const std::lock_guard lock(mutex_);
  CheckIdle();
}

UIT_DEFINE void ThreadPool::Run(FunctionRef<void(std::uint32_t)> work) {
  std::optional<detail::OnCpu> bound;  // until all threads are done
  if (!cpus_.empty()) bound.emplace(cpus_.front());
  {
    const std::lock_guard lock(mutex_);
    CheckIdle();
    is_busy_ = true;
    work_ = &work;
    num_working_ = threads_.size();
    ++round_;
  }
  begins_.notify_all();
  const Join join{*this};
  work(std::uint32_t{0});
}

UIT_DEFINE void ThreadPool::CheckIdle() const {
  if (is_busy_) throw Error("the threads of a team are at work: a run cannot begin inside another");
}

UIT_DEFINE void ThreadPool::Serve(std::uint32_t thread, std::size_t core) {
  if (cpus_.empty()) MoveToCore(core);
  std::unique_lock lock(mutex_);
  for (std::uint64_t seen = 0;;) {
    begins_.wait(lock, [&] { return round_ != seen || is_over_; });
    if (is_over_) return;
    seen = round_;
    lock.unlock();
    (*work_)(thread);
    lock.lock();
    if (--num_working_ == 0) ends_.notify_one();
  }
}

UIT_DEFINE void ThreadPool::Stop() {
  {
    const std::lock_guard lock(mutex_);
    is_over_ = true;
  }
  begins_.notify_all();
  threads_.clear();
}

}  // namespace uit
