#pragma once

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstddef>
#include <functional>
#include <memory>
#include <thread>
#include <utility>
#include <vector>

#include "machine.hpp"
#include "probe.hpp"

namespace bench {

/// The members that take a sample together: one thread, several threads, or the ranks of a job. Every rank calls all
/// functions.
class Team {
 public:
  Team() = default;
  Team(const Team&) = delete;
  Team& operator=(const Team&) = delete;
  virtual ~Team() = default;

  /// A probe of the machine's present speed, in ns; two probes can be compared.
  virtual double Probe() = 0;

  /// Compares the probes before and after a sample: whether they agree, and their class.
  [[nodiscard]] virtual Proximity Compare(double before, double after) const {
    return Classify(before) == Classify(after) ? Classify(before) : Proximity::unclear;
  }

  /// Run-queue delay of the worst member since the last call, in ns.
  virtual double TakeRunQueueDelay() = 0;

  /// Gives the lead's answer to all members.
  virtual bool Agree(bool answer) { return answer; }
  virtual double Agree(double answer) { return answer; }

  /// The lead keeps the record and prints.
  [[nodiscard]] virtual bool IsLead() const { return true; }
};

/// The calling thread alone, pinned.
class Solo final : public Team {
 public:
  Solo() { PinTo(AllowedCpus().front()); }

  double Probe() override { return CoreStep(); }
  [[nodiscard]] Proximity Compare(double before, double after) const override {
    return std::abs(before - after) < 0.05 * before ? Proximity::one_core : Proximity::unclear;
  }
  double TakeRunQueueDelay() override {
    const double now = RunQueueDelay();
    return now - std::exchange(delay_, now);
  }

 private:
  double delay_ = RunQueueDelay();
};

/// Threads of one process, pinned round robin over the CPUs allowed. Member 0 is the thread
/// that made the crew.
class Crew final : public Team {
 public:
  explicit Crew(std::size_t num_members) : cpus_{AllowedCpus()}, delays_(num_members, 0.0) {
    PinTo(cpus_.front());
    for (std::size_t member = 1; member < num_members; ++member)
      threads_.emplace_back([this, member] { Serve(member); });
  }
  ~Crew() override {
    job_ = nullptr;
    Announce();
    for (std::thread& thread : threads_) thread.join();
    RunOn(cpus_);
  }

  [[nodiscard]] std::size_t Size() const { return delays_.size(); }
  [[nodiscard]] bool HasTwoCores() const { return cpus_.size() >= 2; }

  /// Calls job(member) on every member at once, and returns when all have finished.
  template <std::invocable<std::size_t> Job>
  void Run(Job&& job) {
    job_ = std::ref(job);
    Announce();
    Take(0);
    uit::Backoff backoff;
    while (num_done_.load(std::memory_order_acquire) < Size()) backoff.Rest();
  }

  double Probe() override {
    double round_trip = 0;
    const std::vector<double> delays = delays_;
    Run([&](std::size_t member) {
      if (member == 0) round_trip = ping_pong_->Serve();
      if (member == 1) ping_pong_->Return();
    });
    delays_ = delays;
    return round_trip;
  }

  /// Lets threads that this one starts use all CPUs, for competitors with their own threads.
  void Unpin() { RunOn(cpus_); }
  void Pin() { PinTo(cpus_.front()); }
  /// Their waiting times.
  void AddRunQueueDelay(double delay) { delays_.front() += delay; }

  double TakeRunQueueDelay() override {
    const double worst = std::ranges::max(delays_);
    std::ranges::fill(delays_, 0.0);
    return worst;
  }

 private:
  void Announce() {
    num_ready_.store(0, std::memory_order_relaxed);
    num_done_.store(0, std::memory_order_relaxed);
    job_number_.fetch_add(1, std::memory_order_release);
    job_number_.notify_all();
  }

  void Serve(std::size_t member) {
    PinTo(cpus_[member % cpus_.size()]);
    for (std::uint32_t number = 0;;) {
      job_number_.wait(number++, std::memory_order_acquire);
      if (!job_) return;
      Take(member);
    }
  }

  void Take(std::size_t member) {
    const double before = RunQueueDelay();
    num_ready_.fetch_add(1, std::memory_order_acq_rel);
    uit::Backoff backoff;
    while (num_ready_.load(std::memory_order_acquire) < Size()) backoff.Rest();
    job_(member);
    delays_[member] += RunQueueDelay() - before;
    num_done_.fetch_add(1, std::memory_order_release);
  }

  std::vector<int> cpus_;
  std::vector<double> delays_;
  std::function<void(std::size_t)> job_;
  std::unique_ptr<PingPong> ping_pong_ = std::make_unique<PingPong>();
  alignas(2 * uit::cache_line) std::atomic<std::uint32_t> job_number_{0};
  alignas(2 * uit::cache_line) std::atomic<std::size_t> num_ready_{0};
  alignas(2 * uit::cache_line) std::atomic<std::size_t> num_done_{0};
  std::vector<std::thread> threads_;
};

}  // namespace bench
