#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <netuit/placement/placement.hpp>
#include <uit/exchange/exchange.hpp>
#include <uit/exchange/fabric.hpp>
#include <uit/policy.hpp>
#include <uit/support/error.hpp>
#include <uit/link/frame.hpp>
#include <uit/link/frame_box.hpp>
#include <uit/link/out_port.hpp>

namespace netuit {

/// A worker's status as it last reported it. Rates and latency are over the time since its previous report.
struct WorkerStatus {
  WorkerId worker;                         ///< the worker that reports
  std::chrono::nanoseconds elapsed{0};  ///< since the start barrier; 0: no report yet
  std::uint64_t num_updates = 0;        ///< since the start barrier
  double rate = 0;                      ///< updates per second
  double latency = 0;                   ///< seconds, one way, from touches, averaged over its peers; NaN if not measured
  double failure_rate = 0;              ///< puts refused / attempted, to other workers; NaN without puts
  double skip_rate = 0;                 ///< messages from others skipped / received; NaN without messages
};

/// Carries the status of all workers of a job to the first worker of process 0. Only the newest status of each worker counts.
/// No worker waits.
class StatusBoard {
 public:
  /// Joins `num_threads` workers of each process. Call it before the fabric connects.
  StatusBoard(uit::Fabric& fabric, std::uint32_t num_threads) : frames_(num_threads) {
    const uit::World& world = fabric.GetWorld();
    const auto num_workers = static_cast<std::uint32_t>(world.Size()) * num_threads;
    const auto first_worker = static_cast<std::uint32_t>(world.Rank()) * num_threads;
    for (std::uint32_t worker = 0; world.IsRoot() && worker < num_workers; ++worker) {
      const WorkerId place{worker / num_threads, worker % num_threads};
      boxes_.push_back(uit::FrameBox::Latest());
      if (place.process != 0) boxes_[worker] = fabric.AddIncoming(place.process, Spec(worker), std::move(boxes_[worker]));
      shown_.push_back({.worker = place});
    }
    for (std::uint32_t thread = 0; thread < num_threads; ++thread) {
      const std::uint32_t worker = first_worker + thread;
      ports_.push_back(world.IsRoot() ? uit::OutPort{boxes_[worker]}
                                      : fabric.AddOutgoing(0, thread, Spec(worker), uit::FrameBox::Latest()));
    }
  }

  /// Posts the status of a worker of this process. Only that worker may call it; never waits.
  void Say(std::uint32_t thread, const WorkerStatus& status) {
    uit::Frame& frame = frames_[thread];
    frame.Reserve(sizeof status);
    frame.Header().num_bytes = sizeof status;
    std::memcpy(frame.Payload(), &status, sizeof status);
    ports_[thread].TryDepart(frame);
  }
  /// Returns the last status of every worker on process 0, by worker, and nothing elsewhere. Only the first worker of process 0
  /// may call it. Throws if a frame is not a status.
  std::span<const WorkerStatus> Look() {
    for (std::size_t worker = 0; worker < boxes_.size(); ++worker) {
      if (!boxes_[worker]->TryStep()) continue;
      const uit::Frame& frame = boxes_[worker]->Get();
      if (frame.Header().num_bytes != sizeof(WorkerStatus))
        throw uit::Error("a peer sent a status of wrong length: " + std::to_string(frame.Header().num_bytes) + " bytes");
      std::memcpy(&shown_[worker], frame.Payload(), sizeof(WorkerStatus));
    }
    return shown_;
  }

 private:
  static uit::ExchangeSpec Spec(std::uint32_t worker) {
    constexpr std::uint32_t layer = 0xFFFF'FFFF;  // no layer of the mesh has this number
    return {.key = {.layer = layer, .source = worker, .destination = 0},
            .type = uit::TypeHash<WorkerStatus>(),
            .frame_bytes = sizeof(WorkerStatus),
            .slot_bytes = sizeof(WorkerStatus),
            .retain = static_cast<std::uint32_t>(uit::Retain::latest)};
  }

  std::vector<std::shared_ptr<uit::FrameBox>> boxes_;  // by worker
  std::vector<WorkerStatus> shown_;                    // likewise
  std::vector<uit::OutPort> ports_;                    // by thread
  std::vector<uit::Frame> frames_;                     // likewise
};

}  // namespace netuit
