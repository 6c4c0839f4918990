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
#include <uit/exchange/exchange.hpp>
#include <uit/exchange/frame_window.hpp>
#include <uit/support/clock.hpp>
#include <uit/link/frame_box.hpp>
#include <uit/link/out_port.hpp>

namespace uit {

/// The inlets' half of an aggregated exchange under Retain::latest. A frame carries the newest message of each channel
/// that has put since its last message departed.
///
/// Each message is encoded into a slot of its channel, and copied from there when a frame departs: to where the receiver reads it,
/// if they share memory. A frame departs on a flush, when the messages fill one, or, at a poll, when the first of them is older
/// than `max_age`. A put never fails: while a frame finds no room, a second message replaces the first. One thread owns it.
class AggregatedLatestSender final : public SendingHalf {
 public:
  /// Frames leave through `port`. Reports of pulled frames come back through `reports`.
  AggregatedLatestSender(const AggregatedOptions& options, OutPort port, std::shared_ptr<FrameBox> reports)
      : options_(options),
        window_(options.num_frames, std::move(port), std::move(reports), 0),
        channels_(options.num_channels) {
    waiting_.reserve(options.num_channels);
  }

  /// Returns where to write a channel's message, if all have one size; then call Commit.
  UIT_INLINE std::byte* Slot(std::uint32_t channel) { return channels_[channel].slot.Resize(options_.message_bytes); }
  /// Returns where to write a message of `num_bytes`, if sizes vary; then call CommitSpare.
  std::byte* SpareSlot(std::size_t num_bytes) { return spare_.Resize(num_bytes); }
  /// Accepts the message in the slot.
  UIT_INLINE void Commit(std::uint32_t channel) {
    Channel& own = channels_[channel];
    ++own.num_accepted;
    if (!own.is_waiting) NoteWaiting(channel);
  }
  /// Accepts the message in the spare slot.
  void CommitSpare(std::uint32_t channel) {
    channels_[channel].slot.Take(spare_);
    Commit(channel);
  }
  /// Returns the number of messages of a channel accepted since the exchange began.
  std::uint64_t NumAccepted(std::uint32_t channel) const { return channels_[channel].num_accepted; }

  /// Sends the newest message of each channel that has put since its last message departed. Returns false if the peer has
  /// no room for a frame yet. A newer message may replace one that waits.
  bool TryFlush() override { return TrySend(false, false); }
  bool TryFinish() override { return TrySend(false, true); }
  /// The same, and sends in any case a frame marked as the update's end.
  bool TryEndUpdate() override { return TrySend(true, false); }
  /// Called in a run at the end of a node's update: sends the messages if they are old enough.
  void EndTurn() override {
    if (options_.max_age.count() == 0 || IsOld()) TryFlush();
  }
  /// Sets the update number that is stamped on frames from now on.
  void SetUpdate(std::uint64_t update) override { window_.SetUpdate(update); }
  /// Reads the newest report of the outlets. Returns true if it ends `update` or a later one.
  bool RefreshReport(std::uint64_t update) override {
    window_.TryReadReport();
    return window_.HasReport(update);
  }
  /// Moves frames, and sends one if it had to wait or is old enough. Returns whether anything arrived.
  bool Poll() {
    const bool has_arrived = window_.Poll();
    if (is_full_ || options_.departs_at_once || IsOld()) TryFlush();
    return has_arrived;
  }
  /// Returns whether all departed frames have left this process. Moves frames if some may not have.
  bool TryEmpty() { return window_.TryEmpty(); }
  /// False once the fabric has closed; then do not put any more.
  bool IsOpen() const { return window_.IsOpen(); }
  /// Whether the peer process is known to have ended.
  bool IsPeerGone() const { return window_.IsPeerGone(); }
  /// Returns the size of the largest message, if sizes vary.
  std::size_t MaxMessageBytes() const { return options_.max_message_bytes; }

 private:
  struct Channel {
    ByteSlot slot{};
    std::uint64_t num_accepted = 0;
    bool is_waiting = false;  // the newest message has not departed
  };

  UIT_NOINLINE void NoteWaiting(std::uint32_t channel) {
    if (waiting_.empty() && options_.max_age.count() != 0) first_ = Now();
    channels_[channel].is_waiting = true;
    waiting_.push_back(channel);
    num_waiting_bytes_ += RecordBytes(channel);
    if (num_waiting_bytes_ >= options_.payload_bytes) TryFlush();
  }
  bool TrySend(bool last, bool is_closing) {
    is_full_ = true;
    for (bool is_over = waiting_.empty() && !last; !is_over;) {
      if (!window_.FindRoom(is_closing)) return false;
      const Fitting fitting = CountFitting();
      const bool is_rest = fitting.num_records == waiting_.size();
      const FrameRequest request = is_closing && !is_rest ? FrameRequest::report : FrameRequest::none;
      frame_.Reserve(options_.payload_bytes);
      const bool has_departed = window_.TryDepartFilled(fitting.num_bytes, frame_, last && is_rest, [&](auto& frame) {
        frame.Header().num_bytes = static_cast<std::uint32_t>(fitting.num_bytes);
        frame.Header().base = static_cast<std::uint64_t>(request);
        WriteRecords(fitting.num_records, frame.Payload());
      });
      if (!has_departed) return false;
      Forget(fitting.num_records);
      is_over = is_rest;
    }
    is_full_ = false;
    return true;
  }
  std::size_t RecordBytes(std::uint32_t channel) const { return sizeof(NewestRecord) + channels_[channel].slot.Bytes().size(); }
  /// How many of the first waiting channels fit in a frame.
  struct Fitting {
    std::size_t num_records;
    std::size_t num_bytes;
  };
  Fitting CountFitting() const {
    Fitting fitting{0, 0};
    for (const std::uint32_t channel : waiting_) {
      if (fitting.num_bytes + RecordBytes(channel) > options_.payload_bytes) break;
      fitting.num_bytes += RecordBytes(channel);
      ++fitting.num_records;
    }
    return fitting;
  }
  void WriteRecords(std::size_t num_records, std::byte* to) const {
    for (std::size_t i = 0; i < num_records; ++i) {
      const Channel& channel = channels_[waiting_[i]];
      const ByteView message = channel.slot.Bytes();
      const NewestRecord record{channel.num_accepted, waiting_[i], static_cast<std::uint32_t>(message.size())};
      std::memcpy(to, &record, sizeof record);
      if (!message.empty()) std::memcpy(to + sizeof record, message.data(), message.size());
      to += sizeof record + message.size();
    }
  }
  /// Removes the first `num_channels` from the waiting ones.
  void Forget(std::size_t num_channels) {
    const auto last = waiting_.begin() + static_cast<std::ptrdiff_t>(num_channels);
    std::for_each(waiting_.begin(), last, [this](std::uint32_t channel) { channels_[channel].is_waiting = false; });
    waiting_.erase(waiting_.begin(), last);
    num_waiting_bytes_ = 0;
    for (const std::uint32_t channel : waiting_) num_waiting_bytes_ += RecordBytes(channel);
  }
  bool IsOld() const {
    return options_.max_age.count() != 0 && !waiting_.empty() && Now() - first_ >= options_.max_age;
  }

  AggregatedOptions options_;
  FrameWindow window_;
  std::vector<Channel> channels_;
  std::vector<std::uint32_t> waiting_;  // channels, in the order of their first put since the last departure
  std::size_t num_waiting_bytes_ = 0;   // estimated size of the waiting records in a frame, from each first message
  bool is_full_ = false;                // messages fill a frame or a flush had to wait
  TimePoint first_{};
  ByteSlot spare_;
  Frame frame_;
};

}  // namespace uit
