#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <utility>
#include <vector>

#include <uit/exchange/aggregated/aggregated_frame.hpp>
#include <uit/exchange/pull_reports.hpp>
#include <uit/exchange/receiving_half.hpp>
#include <uit/support/bytes.hpp>
#include <uit/support/error.hpp>
#include <uit/link/frame_box.hpp>
#include <uit/link/out_port.hpp>

namespace uit {

class Fabric;

/// The outlets' half of an aggregated exchange under Retain::latest. Copies each record of a frame to its channel's slot,
/// and reports the frames pulled. One thread owns it.
class AggregatedLatestReceiver final : public ReceivingHalf {
 public:
  /// Frames arrive in `box` through `fabric`. If `fabric` is null, they come from this process.
  AggregatedLatestReceiver(const AggregatedOptions& options, std::shared_ptr<FrameBox> box, OutPort report_port,
                           Fabric* fabric)
      : ReceivingHalf(std::move(box), fabric),
        options_(options),
        reports_(options.num_frames, std::move(report_port)),
        channels_(options.num_channels) {
    LendFrom(min_scattered_bytes, false);
  }

  /// Reports the pulled frames to the inlets, if any are new. Always returns true.
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
    return PullAll([this](Frame& frame) { Scatter(frame); });
  }
  /// Takes the channel's newest message. Returns how many messages that moves past: 0 if there is no newer one. All of
  /// them except the newest were replaced on the way.
  std::uint64_t Take(std::size_t channel) {
    const std::uint64_t num_new = NumUnread(channel);
    channels_[channel].num_seen += num_new;
    return num_new;
  }
  /// Returns the channel's newest message. Call it after a Take that returned more than 0. Valid until the next Pull.
  ByteView Newest(std::size_t channel) const { return channels_[channel].slot.Bytes(); }
  /// Returns the number of messages of a channel that were accepted up to the newest one received and are not taken yet.
  std::uint64_t NumUnread(std::size_t channel) const {
    return channels_[channel].num_accepted - channels_[channel].num_seen;
  }
  /// Reports the pulled frames to the inlets if any are new. With `always`, sends a report in any case and marks it as
  /// the end of an update.
  void Report(bool always = false) override {
    if (reports_.HasNews() || always) reports_.Send(0, always, [](std::byte*) {});
  }
  /// Reports if half the window of frames has arrived since the last report.
  void ReportIfDue() override {
    if (reports_.IsDue()) Report();
  }
  /// Reports if many tries in a row found no message to step to.
  void ReportIfIdle() {
    if (reports_.IsIdle()) Report();
  }
  /// Sets the update number for reports that end an update from now on.
  void SetUpdate(std::uint64_t update) override { reports_.SetUpdate(update); }

 private:
  struct Channel {
    ByteSlot slot{};
    std::uint64_t num_accepted = 0;
    std::uint64_t num_seen = 0;
  };

  void Scatter(const Frame& frame) {
    const FrameHeader& header = frame.Header();
    ByteReader reader{{View().Payload(), header.num_bytes}};
    NewestRecord record;
    while (reader.TryRead(record)) {
      ByteView message;
      const bool has_size = options_.message_bytes == 0 || record.num_bytes == options_.message_bytes;
      if (record.channel >= channels_.size() || !has_size || !reader.TryTake(record.num_bytes, message))
        throw Error("a peer has sent a frame that does not belong to its exchange");
      Channel& channel = channels_[record.channel];
      channel.num_accepted = record.num_accepted;
      std::byte* to = channel.slot.Resize(message.size());
      if (!message.empty()) std::memcpy(to, message.data(), message.size());
    }
    if (!reader.Rest().empty()) throw Error("a peer has sent a frame that is cut short");
    reports_.NotePulled(RequestOf(header) == FrameRequest::report);
  }

  AggregatedOptions options_;
  PullReports reports_;
  std::vector<Channel> channels_;
};

}  // namespace uit
