#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include <netuit/placement/placement.hpp>
#include <uit/config.hpp>
#include <uit/link/frame.hpp>
#include <uit/link/frame_box.hpp>
#include <uit/link/out_port.hpp>

namespace uit {
class Fabric;
struct ExchangeSpec;
}  // namespace uit

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
  StatusBoard(uit::Fabric& fabric, std::uint32_t num_threads);

  /// Posts the status of a worker of this process. Only that worker may call it; never waits.
  void Say(std::uint32_t thread, const WorkerStatus& status);
  /// Returns the last status of every worker on process 0, by worker, and nothing elsewhere. Only the first worker of process 0
  /// may call it. Throws if a frame is not a status.
  std::span<const WorkerStatus> Look();

 private:
  static uit::ExchangeSpec Spec(std::uint32_t worker);

  std::vector<std::shared_ptr<uit::FrameBox>> boxes_;  // by worker
  std::vector<WorkerStatus> shown_;                    // likewise
  std::vector<uit::OutPort> ports_;                    // by thread
  std::vector<uit::Frame> frames_;                     // likewise
};

}  // namespace netuit

#if !UIT_COMPILED
#include <netuit/mesh/status_board.ipp>
#endif
