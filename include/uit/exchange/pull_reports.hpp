#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <utility>

#include <uit/link/frame.hpp>
#include <uit/link/out_port.hpp>

namespace uit {

/// Tells the sending half of an exchange what has been taken in, seldom enough to cost little: when half the window of
/// frames has not been reported, when the owner says so, or after a while of idleness. The exchange's worker only.
class PullReports {
 public:
  /// Reports leave by `port`; the sender has at most `num_frames` frames under way.
  PullReports(std::size_t num_frames, OutPort port) : num_frames_(num_frames), port_(std::move(port)) {}

  /// A frame has been taken in. `wishes_report`: the sender waits for a report of it.
  void NotePulled(bool wishes_report = false) {
    ++num_pulled_;
    has_news_ = true;
    wishes_report_ = wishes_report;
    if (2 * (num_pulled_ - num_reported_) >= num_frames_ || wishes_report_) is_due_ = true;
  }
  /// There is something to report, at some time.
  void NoteNews() { has_news_ = true; }
  /// There is something that the sender may be waiting for.
  void NoteDue() { has_news_ = is_due_ = true; }

  /// Whether ReportIfDue would send.
  bool IsDue() const { return is_due_; }
  /// Whether there is anything to report.
  bool HasNews() const { return has_news_; }
  /// Whether the sender, which is closing, waits for a report: the frame taken in last said so.
  bool IsAwaited() const { return wishes_report_ && has_news_; }
  /// Whether it is time to report, called when there was nothing to do.
  bool IsIdle() { return has_news_ && ++num_idle_tries_ >= max_idle_tries; }

  /// Sends a report, of which `fill(payload)` writes the payload. The number of the update is that of the last report
  /// which ended one; `ends_update` makes this report another.
  template <std::invocable<std::byte*> F>
  void Send(std::size_t payload_bytes, bool ends_update, F&& fill) {
    if (ends_update) update_ended_ = update_;
    frame_.Reserve(payload_bytes);
    std::forward<F>(fill)(frame_.Payload());
    frame_.Header().num_bytes = static_cast<std::uint32_t>(payload_bytes);
    frame_.Header().base = num_pulled_;
    frame_.Header().update = update_ended_;
    port_.TryDepart(frame_);
    num_reported_ = num_pulled_;
    num_idle_tries_ = 0;
    has_news_ = is_due_ = false;
  }
  /// The number stamped on reports that end an update from here on.
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
  bool wishes_report_ = false;
  Frame frame_;
};

}  // namespace uit
