#pragma once

#include <cstddef>
#include <cstdint>

#include <uit/config.hpp>
#include <uit/link/frame.hpp>
#include <uit/link/out_port.hpp>
#include <uit/support/function_ref.hpp>

namespace uit {

/// Reports to the sending half which frames have been pulled, seldom enough to cost little. A report is due when half the
/// window of frames is unreported, when the owner asks for one, or after a while without work. The exchange's worker
/// only.
class PullReports {
 public:
  /// Reports leave through `port`. The sender has at most `num_frames` frames in flight.
  PullReports(std::size_t num_frames, OutPort port);
  /// Takes over the counts and the port of `other`, which reports no more.
  PullReports(PullReports&& other) noexcept;
  /// Takes over the counts and the port of `other`, which reports no more.
  PullReports& operator=(PullReports&& other) noexcept;
  ~PullReports();

  /// Counts a frame that has been pulled. `wants_report`: the sender waits for a report on it.
  void NotePulled(bool wants_report = false) {
    ++num_pulled_;
    has_news_ = true;
    wants_report_ = wants_report;
    if (2 * (num_pulled_ - num_reported_) >= num_frames_ || wants_report_) is_due_ = true;
  }
  /// Notes a change that needs a report at some time.
  void NoteNews() { has_news_ = true; }
  /// Notes a change that the sender may be waiting for, so that a report is due.
  void NoteDue() { has_news_ = is_due_ = true; }

  /// Whether a report is due now.
  bool IsDue() const { return is_due_; }
  /// Whether anything has changed since the last report.
  bool HasNews() const { return has_news_; }
  /// Whether the sender is closing and waits for a report, as the frame pulled last said.
  bool IsAwaited() const { return wants_report_ && has_news_; }
  /// Whether to report because there was nothing else to do. Call it once for each such try; every call counts.
  bool IsIdle() { return has_news_ && ++num_idle_tries_ >= max_idle_tries; }

  /// Sends a report; `fill(payload)` writes its payload of `payload_bytes`. If `ends_update`, the report ends the update
  /// set by SetUpdate. Otherwise it repeats the number of the last update that a report ended.
  void Send(std::size_t payload_bytes, bool ends_update, FunctionRef<void(std::byte*)> fill);
  /// Sets the update number for reports that end an update from now on.
  void SetUpdate(std::uint64_t update) { update_ = update; }

 private:
  static constexpr int max_idle_tries = 64;

  std::size_t num_frames_;
  OutPort port_;
  std::uint64_t num_pulled_ = 0;
  std::uint64_t num_reported_ = 0;
  std::uint64_t update_ = 0;
  std::uint64_t update_ended_ = 0;
  int num_idle_tries_ = 0;
  bool has_news_ = false;
  bool is_due_ = false;
  bool wants_report_ = false;
  Frame frame_;
};

}  // namespace uit

#if !UIT_COMPILED
#include <uit/exchange/pull_reports.ipp>
#endif
