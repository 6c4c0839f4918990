#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <utility>
#include <vector>

#include <uit/config.hpp>
#include <uit/exchange/aggregated/aggregated_frame.hpp>
#include <uit/exchange/aggregated/aggregated_inbox.hpp>
#include <uit/exchange/pooled/every_frame.hpp>
#include <uit/exchange/pull_reports.hpp>
#include <uit/exchange/receiving_half.hpp>
#include <uit/support/bytes.hpp>
#include <uit/support/error.hpp>
#include <uit/link/frame_box.hpp>
#include <uit/link/out_port.hpp>

namespace uit {

class Fabric;

/// The outlets' half of an aggregated exchange under Retain::every. Copies each run of messages in a frame to its
/// channel's queue, and reports steps. If a frame contains one channel, and that channel has no waiting messages, the
/// frame is kept and read in place, unless it lies in shared memory and may not be read there. One thread owns it.
class AggregatedEveryReceiver final : public ReceivingHalf {
 public:
  /// Frames arrive in `box` through `fabric`. If `fabric` is null, they come from this process.
  AggregatedEveryReceiver(const AggregatedOptions& options, std::shared_ptr<FrameBox> box, OutPort report_port,
                          Fabric* fabric)
      : ReceivingHalf(std::move(box), fabric),
        options_(options),
        reports_(options.num_frames, std::move(report_port)),
        inboxes_(options.num_channels) {
    for (AggregatedInbox& inbox : inboxes_) inbox.report_at = HalfWindow();
    if (options.lends) LendFrom(min_lent_bytes, true);
    else LendFrom(min_scattered_bytes, false);
  }

  /// Reports the steps of the outlets to the inlets, if any are new. Always returns true.
  bool TryFlush() override {
    Report();
    return true;
  }
  bool TryFinish() override {
    Pull();
    if (reports_.IsAwaited()) Report();
    return true;
  }
  /// Pulls every frame that has arrived. Returns whether there was one. Throws if a frame is malformed.
  bool Pull() override {
    bool any = false;
    while (TryPull()) any = true;  // the last try saves what is unread in shared memory, which may go away
    return any;
  }
  /// Pulls frames until a message waits in the inbox, or no frame is left. Later calls pull the rest.
  void PullFor(const AggregatedInbox& inbox) {
    while (inbox.bytes.NumBytes() == 0 && TryPull()) {
    }
  }
  /// Returns the messages pulled for a channel. The reference stays valid as long as this half exists.
  AggregatedInbox& Inbox(std::size_t channel) { return inboxes_[channel]; }
  /// Counts a step that did not take the fast path.
  UIT_INLINE void NoteStep(AggregatedInbox& inbox, std::size_t message_bytes) {
    reports_.NoteNews();
    if (inbox.NumStepped(message_bytes) >= inbox.report_at) [[unlikely]]
      NoteDue();
  }
  /// Lets the following steps take the fast path if they would not change what is reported. That requires that a report
  /// is already needed, and that the steps do not make it due. If it is due, the outlet must be held, so that the report
  /// waits.
  UIT_INLINE void OpenFastPath(AggregatedInbox& inbox, std::size_t message_bytes, bool is_held) {
    if (!reports_.HasNews()) return;
    std::uint64_t count = inbox.NumUnread(message_bytes);
    if (reports_.IsDue()) {
      if (!is_held) return;
    } else {
      count = std::min(count, inbox.report_at - inbox.NumStepped(message_bytes) - 1);
    }
    inbox.SetFast(count, message_bytes);
  }
  /// Reports the steps of the outlets to the inlets if any are new. With `always`, sends a report in any case and marks
  /// it as the end of an update.
  void Report(bool always = false) override {
    if (!reports_.HasNews() && !always) return;
    reports_.Send(inboxes_.size() * sizeof(std::uint64_t), always, [this, always](std::byte* to) {
      for (AggregatedInbox& inbox : inboxes_) {
        if (always || !is_held_) inbox.num_reported = inbox.NumStepped(options_.message_bytes);
        inbox.report_at = inbox.num_reported + HalfWindow();
        inbox.ClearFast();  // the next step is to be reported
        std::memcpy(to, &inbox.num_reported, sizeof inbox.num_reported);
        to += sizeof inbox.num_reported;
      }
    });
  }
  /// Reports if, as far as this side knows, half a window is used or an inlet has no room.
  UIT_INLINE void ReportIfDue() override {
    if (reports_.IsDue()) [[unlikely]]
      Report();
  }
  /// Reports if many tries in a row found no message to step to.
  void ReportIfIdle() {
    if (reports_.IsIdle()) Report();
  }
  void Hold(bool hold) override { is_held_ = hold; }
  /// Sets the update number for reports that end an update from now on.
  void SetUpdate(std::uint64_t update) override { reports_.SetUpdate(update); }

 private:
  std::uint64_t HalfWindow() const { return (options_.depth + 1) / 2; }

  bool TryPull() {
    SaveLent();
    return TryPullOne([this](Frame& frame) { Scatter(frame); });
  }
  /// Copies messages that are unread in shared memory, before that is given back.
  void SaveLent() {
    if (!is_kept_lent_) return;
    if (keeper_->bytes.NumBytes() != 0) {
      keeper_->bytes.Append(nullptr, 0);  // if it throws, the memory stays lent
      keeper_->ClearFast();
    }
    is_kept_lent_ = false;
  }
  void Scatter(Frame& frame) {
    const FrameHeader header = frame.Header();
    ByteReader reader{{View().Payload(), header.num_bytes}};
    MessageRun run;
    while (reader.TryRead(run)) {
      ByteView messages;
      if (run.channel >= inboxes_.size() || !reader.TryTake(RunBytes(run, reader.Rest()), messages))
        throw Error("a peer has sent a frame that does not belong to its exchange");
      AggregatedInbox& inbox = inboxes_[run.channel];
      if (!Fits(run, messages, inbox)) throw Error("a peer has sent more messages than its window allows");
      const bool is_whole_frame = messages.size() + sizeof run == header.num_bytes;
      if (!is_whole_frame || !TryKeep(frame, inbox, messages)) Append(inbox, run, messages);
      inbox.num_arrived += run.num_messages;
      inbox.ClearFast();  // its bytes may have moved
      if (inbox.num_arrived - inbox.num_reported >= options_.depth) NoteFullWindow(inbox);
    }
    if (!reader.Rest().empty()) throw Error("a peer has sent a frame that is cut short");
    const bool was_due = reports_.IsDue();
    reports_.NotePulled(RequestOf(header) == FrameRequest::report);
    if (reports_.IsDue() && !was_due) CloseFastPaths();
  }
  /// Copies a run to its channel. In shared memory a peer may have changed lengths since the check, so those of the copy are checked.
  void Append(AggregatedInbox& inbox, const MessageRun& run, ByteView messages) {
    inbox.bytes.Append(messages.data(), messages.size());
    if (options_.message_bytes != 0 || Lent().empty()) return;
    if (RunBytes(run, inbox.bytes.Tail(messages.size())) == messages.size()) [[likely]] return;
    inbox.bytes.CutTail(messages.size());
    throw Error("a peer has changed a frame while it was read");
  }
  /// Keeps the frame, so that its messages need not be copied. Does so only if the inbox has no other messages and no
  /// inbox still needs the frame kept before. Returns whether it was kept.
  bool TryKeep(Frame& frame, AggregatedInbox& inbox, ByteView messages) {
    if (!Lent().empty() && !options_.lends) return false;  // a codec must not see bytes that a peer can change
    if (inbox.bytes.NumBytes() != 0 || (keeper_ != nullptr && keeper_->bytes.NumBytes() != 0)) return false;
    inbox.bytes.Borrow(messages);
    keeper_ = &inbox;
    is_kept_lent_ = !Lent().empty();
    if (!is_kept_lent_) kept_.Swap(frame);
    return true;
  }
  /// Returns the size of a run's messages in bytes. If the run claims more than `rest` holds, the result is larger than
  /// `rest`.
  std::size_t RunBytes(const MessageRun& run, ByteView rest) const {
    if (options_.message_bytes != 0) return run.num_messages * options_.message_bytes;
    ByteReader reader{rest};
    for (std::uint32_t i = 0; i < run.num_messages; ++i) {
      MessageLength length = 0;
      ByteView message;
      if (!reader.TryRead(length) || !reader.TryTake(length, message)) return rest.size() + 1;
    }
    return rest.size() - reader.Rest().size();
  }
  /// Whether the run's messages fit the channel's window.
  bool Fits(const MessageRun& run, ByteView messages, const AggregatedInbox& inbox) const {
    if (options_.message_bytes == 0) return run.num_messages + inbox.NumUnread(0) <= options_.depth;
    return messages.size() + inbox.bytes.NumBytes() <= options_.depth * options_.message_bytes;
  }
  /// Called when a whole window has arrived since the last report: the inlet may be waiting. If steps are unreported,
  /// makes a report due; otherwise the next step does.
  void NoteFullWindow(AggregatedInbox& inbox) {
    if (inbox.NumStepped(options_.message_bytes) != inbox.num_reported) NoteDue();
    inbox.report_at = std::min(inbox.report_at, inbox.num_reported + 1);
  }
  void NoteDue() {
    if (!reports_.IsDue()) CloseFastPaths();
    reports_.NoteDue();
  }
  /// Ends the fast path of all channels, so that the next step of each outlet can send a report.
  UIT_NOINLINE void CloseFastPaths() {
    for (AggregatedInbox& inbox : inboxes_) inbox.ClearFast();
  }

  AggregatedOptions options_;
  PullReports reports_;
  std::vector<AggregatedInbox> inboxes_;
  Frame kept_;                         // the frame that an inbox may read from
  AggregatedInbox* keeper_ = nullptr;  // the inbox that last did
  bool is_kept_lent_ = false;          // it reads in shared memory instead
  bool is_held_ = false;               // see Hold
};

}  // namespace uit
