#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include <netuit/mesh/mesh_core.hpp>
#include <netuit/mesh/partition.hpp>
#include <netuit/mesh/status_board.hpp>
#include <netuit/quality/quality.hpp>
#include <netuit/run/quality_sampler.hpp>
#include <netuit/run/run_options.hpp>
#include <netuit/run/status_reporter.hpp>
#include <netuit/run/run_control.hpp>
#include <uit/support/clock.hpp>

namespace netuit::detail {

/// Takes the snapshots of the quality of service of one worker, and calls the user's on_sample, on_status and on_progress for it,
/// between its updates. If one throws, the run ends. That worker only.
class Observers {
 public:
  /// Observes `worker`, whose nodes are in `partition`.
  Observers(MeshCore& mesh, Partition& partition, RunControl& control, const RunOptions& options, WorkerId worker)
      : partition_(partition),
        control_(control),
        options_(options),
        worker_(worker),
        board_(mesh.Board()),
        status_(partition, worker),
        sampler_(mesh, partition, options.quality) {}

  /// Notes the time at which all workers left the start barrier. `duration` is the run's.
  void Start(uit::TimePoint now, std::chrono::nanoseconds duration) {
    start_ = now;
    sampler_.Start(now, duration);
  }
  /// Does what is due after `num_updates` updates.
  void Look(uit::TimePoint now, std::uint64_t num_updates) {
    if (now >= sampler_.Next()) [[unlikely]] sampler_.Look(now, num_updates);
    if (options_.on_sample && now >= next_sample_) [[unlikely]] TakeSample(now, num_updates);
    if (board_ != nullptr && now >= next_status_) [[unlikely]] SayStatus(now, num_updates);
    if (worker_.thread == 0 && options_.on_progress && now >= next_progress_) [[unlikely]] SayProgress(now, num_updates);
  }
  /// Ends the last snapshot, after the last update.
  void Finish(uit::TimePoint now, std::uint64_t num_updates) { sampler_.Finish(now, num_updates); }
  /// Returns the snapshots.
  std::vector<QualityRow> TakeQuality() { return sampler_.TakeRows(); }

 private:
  void TakeSample(uit::TimePoint now, std::uint64_t num_updates) {
    control_.Guard("on_sample", [&] {
      options_.on_sample({worker_, now - start_, num_updates, partition_.first_local, partition_.graph.nodes.size()});
    });
    next_sample_ = now + options_.sample_interval;
  }
  void SayStatus(uit::TimePoint now, std::uint64_t num_updates) {
    const bool is_first = std::exchange(next_status_, now + options_.status_interval) == uit::TimePoint{};
    if (is_first) return;
    board_->Say(worker_.thread, status_.Report(now - start_, num_updates));
    const auto all = worker_.thread == 0 ? board_->Look() : std::span<const WorkerStatus>{};
    if (options_.on_status && !all.empty()) control_.Guard("on_status", [&] { options_.on_status(all); });
  }
  void SayProgress(uit::TimePoint now, std::uint64_t num_updates) {
    const bool is_first = next_progress_ == uit::TimePoint{};
    if (!is_first) control_.Guard("on_progress", [&] { options_.on_progress({now - start_, num_updates}); });
    next_progress_ = now + std::max<std::chrono::nanoseconds>(options_.progress_interval, std::chrono::milliseconds(1));
  }

  Partition& partition_;
  RunControl& control_;
  const RunOptions& options_;
  WorkerId worker_;
  StatusBoard* board_;
  StatusReporter status_;
  QualitySampler sampler_;
  uit::TimePoint start_{};
  uit::TimePoint next_sample_{};
  uit::TimePoint next_status_{};
  uit::TimePoint next_progress_{};
};

}  // namespace netuit::detail
