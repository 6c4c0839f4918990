#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <uit/config.hpp>
#include <uit/exchange/aggregated/aggregated_frame.hpp>
#include <uit/exchange/aggregated/aggregated_inbox.hpp>
#include <uit/exchange/fabric.hpp>
#include <uit/exchange/pooled/every_frame.hpp>
#include <uit/exchange/pull_reports.hpp>
#include <uit/exchange/receiving_half.hpp>
#include <uit/support/bytes.hpp>
#include <uit/support/error.hpp>
#include <uit/link/frame_box.hpp>
#include <uit/link/out_port.hpp>

namespace uit {

/// The outlets' half of an aggregated exchange under Retain::every: copies each run of a frame to its channel's queue,
/// and reports steps. A frame of one channel that has nothing waiting is kept, and read where it arrived. One thread
/// owns it.
class AggregatedEveryReceiver final : public ReceivingHalf {
 public:
  /// Frames come to `box` through `fabric`, or, if that is null, from this process.
  AggregatedEveryReceiver(const AggregatedOptions& options, std::shared_ptr<FrameBox> box, OutPort report_port,
                          Fabric* fabric)
      : ReceivingHalf(std::move(box), fabric),
        options_(options),
        reports_(options.num_frames, std::move(report_port)),
        inboxes_(options.num_channels) {
    for (AggregatedInbox& inbox : inboxes_) inbox.report_at = HalfWindow();
  }

  /// Tells the inlets how far the outlets have come.
  bool TryFlush() override {
    Report();
    return true;
  }
  bool TryFinish() override {
    Pull();
    if (reports_.IsAwaited()) Report();
    return true;
  }
  /// Takes in every frame that has arrived. Returns whether there was one. Throws for what is no frame of the exchange.
  bool Pull() {
    return PullAll([this](Frame& frame) { Scatter(frame); });
  }
  /// Takes in frames until something waits in the inbox; others may take in the rest.
  void PullFor(const AggregatedInbox& inbox) {
    while (inbox.bytes.NumBytes() == 0 && TryPullOne([this](Frame& frame) { Scatter(frame); })) {
    }
  }
  /// What has been pulled for a channel; it stays where it is.
  AggregatedInbox& Inbox(std::size_t channel) { return inboxes_[channel]; }
  /// Messages of the inbox have been stepped past, by a step that was not light.
  UIT_INLINE void NoteStep(AggregatedInbox& inbox, std::size_t message_bytes) {
    reports_.NoteNews();
    if (inbox.NumStepped(message_bytes) >= inbox.report_at) [[unlikely]]
      NoteDue();
  }
  /// Makes those steps light that would change nothing about reports: there is news already, and they make none due, or
  /// one that is due has to wait, since the outlet is held.
  UIT_INLINE void Lighten(AggregatedInbox& inbox, std::size_t message_bytes, bool is_held) {
    if (!reports_.HasNews()) return;
    std::uint64_t count = inbox.NumUnread(message_bytes);
    if (reports_.IsDue()) {
      if (!is_held) return;
    } else {
      count = std::min(count, inbox.report_at - inbox.NumStepped(message_bytes) - 1);
    }
    inbox.SetLight(count, message_bytes);
  }
  /// Tells the inlets how far the outlets have come, if that has changed; with `always`, in any case, and as what ends
  /// an update.
  void Report(bool always = false) {
    if (!reports_.HasNews() && !always) return;
    reports_.Send(inboxes_.size() * sizeof(std::uint64_t), always, [this](std::byte* to) {
      for (AggregatedInbox& inbox : inboxes_) {
        inbox.num_reported = inbox.NumStepped(options_.message_bytes);
        inbox.report_at = inbox.num_reported + HalfWindow();
        inbox.ClearLight();  // the next step is news
        std::memcpy(to, &inbox.num_reported, sizeof inbox.num_reported);
        to += sizeof inbox.num_reported;
      }
    });
  }
  /// Reports if half a window is used, or an inlet has no room, so far as can be known here.
  UIT_INLINE void ReportIfDue() {
    if (reports_.IsDue()) [[unlikely]]
      Report();
  }
  /// Reports if nothing has been there to step to for a while.
  void ReportIfIdle() {
    if (reports_.IsIdle()) Report();
  }
  /// The number stamped on reports that end an update from here on.
  void SetUpdate(std::uint64_t update) { reports_.SetUpdate(update); }

 private:
  std::uint64_t HalfWindow() const { return (options_.depth + 1) / 2; }

  void Scatter(Frame& frame) {
    const FrameHeader header = frame.Header();
    ByteReader reader{ByteView{frame.Payload(), header.num_bytes}};
    MessageRun run;
    while (reader.TryRead(run)) {
      ByteView messages;
      if (run.channel >= inboxes_.size() || !reader.TryTake(RunBytes(run, reader.Rest()), messages))
        throw Error("a peer has sent a frame that is none of its exchange");
      AggregatedInbox& inbox = inboxes_[run.channel];
      if (!Fits(run, messages, inbox)) throw Error("a peer has sent more messages than its window allows");
      inbox.num_arrived += run.num_messages;
      const bool is_whole_frame = messages.size() + sizeof run == header.num_bytes;
      if (!is_whole_frame || !TryKeep(frame, inbox, messages)) inbox.bytes.Append(messages.data(), messages.size());
      inbox.ClearLight();  // its bytes may have moved
      if (inbox.num_arrived - inbox.num_reported >= options_.depth) NoteFullWindow(inbox);
    }
    if (!reader.Rest().empty()) throw Error("a peer has sent a frame that is cut short");
    const bool was_due = reports_.IsDue();
    reports_.NotePulled(WishOf(header) == FrameWish::report);
    if (reports_.IsDue() && !was_due) Burden();
  }
  /// Keeps the frame, so that its messages need not be copied: if the inbox has no others, and no inbox needs the frame
  /// kept before.
  bool TryKeep(Frame& frame, AggregatedInbox& inbox, ByteView messages) {
    if (inbox.bytes.NumBytes() != 0 || (keeper_ != nullptr && keeper_->bytes.NumBytes() != 0)) return false;
    inbox.bytes.Borrow(messages);
    keeper_ = &inbox;
    kept_.Swap(frame);
    return true;
  }
  /// Bytes of a run's messages, which may be more than there are.
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
  /// Whether the channel's window allows for the run's messages.
  bool Fits(const MessageRun& run, ByteView messages, const AggregatedInbox& inbox) const {
    if (options_.message_bytes == 0) return run.num_messages + inbox.NumUnread(0) <= options_.depth;
    return messages.size() + inbox.bytes.NumBytes() <= options_.depth * options_.message_bytes;
  }
  /// The inlet may be waiting: what has been stepped past is worth a report, or else the next step is.
  void NoteFullWindow(AggregatedInbox& inbox) {
    if (inbox.NumStepped(options_.message_bytes) != inbox.num_reported) NoteDue();
    inbox.report_at = std::min(inbox.report_at, inbox.num_reported + 1);
  }
  void NoteDue() {
    if (!reports_.IsDue()) Burden();
    reports_.NoteDue();
  }
  /// The next step of each outlet sends a report, if it may.
  UIT_NOINLINE void Burden() {
    for (AggregatedInbox& inbox : inboxes_) inbox.ClearLight();
  }

  AggregatedOptions options_;
  PullReports reports_;
  std::vector<AggregatedInbox> inboxes_;
  Frame kept_;                         // what an inbox may borrow from
  AggregatedInbox* keeper_ = nullptr;  // the last that did
};

}  // namespace uit
