#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include <netuit/mesh/mesh_core.hpp>
#include <netuit/mesh/partition.hpp>
#include <netuit/mesh/status_board.hpp>
#include <netuit/quality/quality.hpp>
#include <netuit/run/observer.hpp>
#include <netuit/run/quality_sampler.hpp>
#include <netuit/run/run_control.hpp>
#include <netuit/run/run_options.hpp>
#include <netuit/run/status_reporter.hpp>
#include <uit/support/clock.hpp>

namespace netuit::detail {

/// Calls RunOptions::on_sample. If it throws, the run ends; so with the other callbacks.
class SampleObserver final : public Observer {
 public:
  SampleObserver(const Partition& partition, RunControl& control, const RunOptions& options, WorkerId worker)
      : partition_(partition), control_(control), options_(options), worker_(worker) {}

  uit::TimePoint Start(uit::TimePoint now, std::chrono::nanoseconds /*duration*/) override { return start_ = now; }
  uit::TimePoint Look(uit::TimePoint now, std::uint64_t num_updates) override {
    control_.Guard("on_sample", [&] {
      options_.on_sample({worker_, now - start_, num_updates, partition_.first_local, partition_.graph.nodes.size()});
    });
    return now + options_.sample_interval;
  }

 private:
  const Partition& partition_;
  RunControl& control_;
  const RunOptions& options_;
  WorkerId worker_;
  uit::TimePoint start_{};
};

/// Says the worker's status to the board. The first worker of a process also calls RunOptions::on_status with all that it finds there.
class StatusObserver final : public Observer {
 public:
  StatusObserver(StatusBoard& board, const Partition& partition, RunControl& control, const RunOptions& options, WorkerId worker)
      : board_(board), control_(control), options_(options), worker_(worker), status_(partition, worker) {}

  uit::TimePoint Start(uit::TimePoint now, std::chrono::nanoseconds /*duration*/) override {
    start_ = now;
    return now + options_.status_interval;
  }
  uit::TimePoint Look(uit::TimePoint now, std::uint64_t num_updates) override {
    board_.Say(worker_.thread, status_.Report(now - start_, num_updates));
    const auto all = worker_.thread == 0 ? board_.Look() : std::span<const WorkerStatus>{};
    if (options_.on_status && !all.empty()) control_.Guard("on_status", [&] { options_.on_status(all); });
    return now + options_.status_interval;
  }

 private:
  StatusBoard& board_;
  RunControl& control_;
  const RunOptions& options_;
  WorkerId worker_;
  StatusReporter status_;
  uit::TimePoint start_{};
};

/// Calls RunOptions::on_progress, at most once in a millisecond.
class ProgressObserver final : public Observer {
 public:
  ProgressObserver(RunControl& control, const RunOptions& options) : control_(control), options_(options) {}

  uit::TimePoint Start(uit::TimePoint now, std::chrono::nanoseconds /*duration*/) override {
    start_ = now;
    return now + Interval();
  }
  uit::TimePoint Look(uit::TimePoint now, std::uint64_t num_updates) override {
    control_.Guard("on_progress", [&] { options_.on_progress({now - start_, num_updates}); });
    return now + Interval();
  }

 private:
  std::chrono::nanoseconds Interval() const {
    return std::max<std::chrono::nanoseconds>(options_.progress_interval, std::chrono::milliseconds(1));
  }

  RunControl& control_;
  const RunOptions& options_;
  uit::TimePoint start_{};
};

/// The observers of one worker that the options of a run ask for. That worker only.
class Observers {
 public:
  /// Of `worker`, whose nodes are in `partition`.
  Observers(MeshCore& mesh, Partition& partition, RunControl& control, const RunOptions& options, WorkerId worker) {
    if (options.quality.interval.count() > 0) sampler_ = &Add<QualitySampler>(mesh, partition, options.quality);
    if (options.on_sample) Add<SampleObserver>(partition, control, options, worker);
    if (mesh.Board() != nullptr) Add<StatusObserver>(*mesh.Board(), partition, control, options, worker);
    if (worker.thread == 0 && options.on_progress) Add<ProgressObserver>(control, options);
  }

  /// As of Observer, for all of them.
  void Start(uit::TimePoint now, std::chrono::nanoseconds duration) {
    for (Entry& entry : entries_) entry.next = entry.observer->Start(now, duration);
    FindNext();
  }
  /// Has those look whose time has come.
  void Look(uit::TimePoint now, std::uint64_t num_updates) {
    if (now >= next_) [[unlikely]] LookIfDue(now, num_updates);
  }
  /// As of Observer, for all of them.
  void Finish(uit::TimePoint now, std::uint64_t num_updates) {
    for (const Entry& entry : entries_) entry.observer->Finish(now, num_updates);
  }
  /// Returns the snapshots of the quality of service.
  std::vector<QualityRow> TakeQuality() { return sampler_ == nullptr ? std::vector<QualityRow>{} : sampler_->TakeRows(); }

 private:
  struct Entry {
    std::unique_ptr<Observer> observer;
    uit::TimePoint next{};  // time to look
  };

  template <typename O, typename... Args>
  O& Add(Args&&... args) {
    auto observer = std::make_unique<O>(std::forward<Args>(args)...);
    O& added = *observer;
    entries_.push_back({std::move(observer)});
    return added;
  }
  UIT_NOINLINE void LookIfDue(uit::TimePoint now, std::uint64_t num_updates) {
    for (Entry& entry : entries_)
      if (now >= entry.next) entry.next = entry.observer->Look(now, num_updates);
    FindNext();
  }
  void FindNext() {
    next_ = uit::never;
    for (const Entry& entry : entries_) next_ = std::min(next_, entry.next);
  }

  std::vector<Entry> entries_;
  QualitySampler* sampler_ = nullptr;
  uit::TimePoint next_ = uit::never;
};

}  // namespace netuit::detail
