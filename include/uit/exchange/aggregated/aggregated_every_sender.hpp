#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <memory>
#include <utility>
#include <vector>

#include <uit/config.hpp>
#include <uit/exchange/aggregated/aggregated_frame.hpp>
#include <uit/exchange/exchange.hpp>
#include <uit/exchange/frame_window.hpp>
#include <uit/exchange/pooled/every_frame.hpp>
#include <uit/support/clock.hpp>
#include <uit/link/frame_box.hpp>
#include <uit/link/out_port.hpp>

namespace uit {

/// The inlets' half of an aggregated exchange under Retain::every. A frame holds any number of messages of any size.
///
/// Messages are encoded directly into the frame that departs. It departs on a flush, when a message does not fit any
/// more, or, at a poll, when its first message is older than `max_age`. A channel has at most `depth` messages accepted
/// and not stepped to, as far as its outlet has reported. So an outlet that is not read refuses puts only of its own
/// inlet. At most `num_frames` frames may be in flight. One thread owns it.
class AggregatedEverySender final : public SendingHalf {
 public:
  /// Frames leave through `port`. Reports of steps come back through `reports`.
  AggregatedEverySender(const AggregatedOptions& options, OutPort port, std::shared_ptr<FrameBox> reports)
      : options_(options),
        window_(options.num_frames, std::move(port), std::move(reports), ReportFrame{options.num_channels}.MaxBytes()),
        channels_(options.num_channels, Channel{0, options.depth}) {}

  /// Whether the next message of the channel may be written to Next, because the channel's run continues. If not,
  /// TryReserve may find room. `num_bytes` includes the length before the message, if sizes vary. `message_bytes` is the
  /// value in the options.
  template <std::size_t message_bytes>
  UIT_INLINE bool HasRoom(std::uint32_t channel, std::size_t num_bytes) const {
    if (channel != run_channel_) return false;
    if constexpr (message_bytes != 0) return next_ < run_end_;
    else return num_in_run_ < max_in_run_ && num_bytes <= NumFree();
  }
  /// Returns how many messages of the channel may be written to Next one behind the other. All have the same size.
  template <std::size_t message_bytes>
  UIT_INLINE std::size_t NumFitting(std::uint32_t channel) const {
    return channel == run_channel_ ? static_cast<std::size_t>(run_end_ - next_) / message_bytes : 0;
  }
  /// Returns where the next message of a continued run is written.
  UIT_INLINE std::byte* Next() const { return next_; }
  /// Returns where to write the next `num_bytes` of a channel, or null if it has no room. Call Commit once they are
  /// written.
  template <std::size_t message_bytes>
  UIT_INLINE std::byte* TryReserve(std::uint32_t channel, std::size_t num_bytes) {
    const bool is_simple = channel != run_channel_ && num_bytes + sizeof(MessageRun) <= NumFree();
    if (!is_simple || !channels_[channel].HasRoom()) [[unlikely]]
      return MakeRoom(channel, num_bytes);
    CloseRun(message_bytes);
    OpenRun(channel, message_bytes);
    return next_;
  }
  /// The same for a message that gets a frame of its own, so that its place depends on nothing else; sizes vary.
  std::byte* TryReserveFrame(std::uint32_t channel, std::size_t num_bytes) {
    if (!TryFlush()) return nullptr;
    DropFrame();
    return MakeRoom(channel, num_bytes);
  }
  /// Accepts the message that was written to Next, or to the result of TryReserve, and that ends at `end`.
  template <std::size_t message_bytes>
  UIT_INLINE void Commit(std::byte* end) {
    next_ = end;
    if constexpr (message_bytes == 0) ++num_in_run_;
  }
  /// Returns the number of messages of a channel accepted since the exchange began.
  std::uint64_t NumAccepted(std::uint32_t channel) const {
    return channels_[channel].num_accepted + (channel == run_channel_ ? NumInRun(options_.message_bytes) : 0);
  }

  /// Sends all accepted messages. Returns false if the peer has no room for a frame yet.
  bool TryFlush() override { return TrySendBacklog(false) && (IsEmpty() || TryDepart(false)); }
  bool TryFinish() override {
    is_finished_ = true;
    end_ = run_end_ = next_;  // so that nothing more is accepted
    return TrySendBacklog(true) && (IsEmpty() || (window_.FindRoom(true) && Depart(false, FrameRequest::none)));
  }
  /// Sends the waiting frames, and in any case a frame marked as the update's end. Returns false if the peer has no room
  /// yet.
  bool TryEndUpdate() override {
    if (!TrySendBacklog(false) || !window_.FindRoom()) return false;
    if (begin_ == nullptr) OpenFrame(0);
    return Depart(true, FrameRequest::none);
  }
  /// Called in a run at the end of a node's update: sends the open frame if it is old enough.
  void EndTurn() override {
    if (options_.max_age.count() == 0 || IsOld()) TryFlush();
  }
  /// Sets the update number that is stamped on frames from now on.
  void SetUpdate(std::uint64_t update) override { window_.SetUpdate(update); }
  /// While held, only RefreshReport gives room for steps, and frames that find no room wait here.
  void Hold(bool hold) override { is_held_ = hold; }
  /// Reads the newest report of the outlets. If it ends `update` or a later one, gives the channels room for the reported
  /// steps and returns true.
  bool RefreshReport(std::uint64_t update) override {
    window_.TryReadReport();
    if (!window_.HasReport(update)) return false;
    if (!window_.TakeNews()) return true;
    for (std::uint32_t channel = 0; channel < channels_.size(); ++channel) Widen(channel);
    return true;
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
    std::uint64_t num_accepted;  // without the messages of the open run
    std::uint64_t num_allowed;   // upper limit of num_accepted, as far as reported
    bool HasRoom() const { return num_accepted < num_allowed; }
  };
  static constexpr std::uint32_t no_channel = std::numeric_limits<std::uint32_t>::max();

  std::size_t NumFree() const { return static_cast<std::size_t>(end_ - next_); }
  /// Whether the open frame has no message, though perhaps a run.
  UIT_INLINE bool IsEmpty() const {
    return next_ == begin_ || (options_.message_bytes == 0 && run_ == begin_ && num_in_run_ == 0);
  }
  /// Returns the number of messages in the open run. If all have one size, the bytes tell, so a put need not count.
  UIT_INLINE std::uint64_t NumInRun(std::size_t message_bytes) const {
    if (message_bytes == 0) return num_in_run_;
    return (static_cast<std::size_t>(next_ - run_) - sizeof(MessageRun)) / message_bytes;
  }

  UIT_NOINLINE std::byte* MakeRoom(std::uint32_t channel, std::size_t num_bytes) {
    if (is_finished_ || !IsOpen()) return nullptr;
    if (NumAccepted(channel) >= channels_[channel].num_allowed) {
      if (is_held_) return nullptr;
      window_.TryReadReport();
      Widen(channel);
      if (NumAccepted(channel) >= channels_[channel].num_allowed) return nullptr;
    }
    const std::size_t num_needed = num_bytes + (channel == run_channel_ ? 0 : sizeof(MessageRun));
    if (num_needed > NumFree()) {
      if (IsEmpty()) DropFrame();
      else if (!TryDepart(false) && !TrySetAside()) return nullptr;
      OpenFrame(num_bytes);
    }
    if (channel != run_channel_) {
      CloseRun(options_.message_bytes);
      OpenRun(channel, options_.message_bytes);
    }
    return next_;
  }
  void Widen(std::uint32_t channel) {
    const Frame* report = window_.Report();
    if (report == nullptr) return;
    channels_[channel].num_allowed = ReportFrame::NumStepped(*report, channel) + options_.depth;
    if (channel == run_channel_) BoundRun(options_.message_bytes);
  }

  /// Opens a frame for a message of `num_bytes`.
  void OpenFrame(std::size_t num_bytes) {
    if (!TryOpenLent(num_bytes)) {
      frame_.Reserve(options_.payload_bytes);
      begin_ = next_ = frame_.Payload();
      end_ = begin_ + options_.payload_bytes;
    }
    if (options_.max_age.count() != 0) opened_ = Now();
  }
  /// Opens a frame in memory that the receiver reads. If large messages are lent, only such a message gets a frame there, for
  /// itself: any other frame would reserve as much as the largest message. A frame that departs at once is small, and smaller
  /// still if it is copied, because its header can be left out. Frames that wait would have to depart before this one.
  bool TryOpenLent(std::size_t num_bytes) {
    if (num_waiting_ != 0 || (options_.lends ? num_bytes < min_lent_bytes : options_.departs_at_once)) return false;
    const std::size_t frame_bytes = options_.lends ? sizeof(MessageRun) + num_bytes : options_.payload_bytes;
    begin_ = next_ = window_.TryLend(frame_bytes);
    is_lent_ = begin_ != nullptr;
    if (is_lent_) end_ = begin_ + frame_bytes;
    return is_lent_;
  }
  /// Opens a run for a message that fits.
  UIT_INLINE void OpenRun(std::uint32_t channel, std::size_t message_bytes) {
    run_ = next_;
    run_channel_ = channel;
    next_ += sizeof(MessageRun);
    if (message_bytes == 0) num_in_run_ = 0;
    BoundRun(message_bytes);
  }
  /// Ends the open run at the end of the window or of the frame, whichever comes first.
  UIT_INLINE void BoundRun(std::size_t message_bytes) {
    const Channel& own = channels_[run_channel_];
    max_in_run_ = own.HasRoom() ? own.num_allowed - own.num_accepted : 0;
    if (message_bytes == 0) return;
    std::byte* const messages = run_ + sizeof(MessageRun);
    const auto num_free = static_cast<std::size_t>(end_ - messages);
    const std::size_t num_fitting = num_free / message_bytes;
    run_end_ = messages + std::min<std::uint64_t>(max_in_run_, num_fitting) * message_bytes;
  }
  UIT_INLINE void CloseRun(std::size_t message_bytes) {
    if (run_channel_ == no_channel) return;
    const std::uint64_t count = NumInRun(message_bytes);
    const MessageRun run{run_channel_, static_cast<std::uint32_t>(count)};
    channels_[run_channel_].num_accepted += count;
    run_channel_ = no_channel;
    std::memcpy(run_, &run, sizeof run);
  }
  void SealFrame() {
    CloseRun(options_.message_bytes);
    frame_.Header().num_bytes = static_cast<std::uint32_t>(next_ - begin_);
  }
  void ForgetFrame() {
    begin_ = next_ = end_ = run_end_ = nullptr;
    is_full_ = is_lent_ = false;
  }
  /// Forgets a frame without messages.
  void DropFrame() {
    run_channel_ = no_channel;
    ForgetFrame();
  }
  bool TryDepart(bool last) {
    if (TrySendBacklog(false) && window_.FindRoom() && Depart(last, FrameRequest::none)) return true;
    is_full_ = true;
    return false;
  }
  bool Depart(bool last, FrameRequest request) {
    if (is_lent_) {
      CloseRun(options_.message_bytes);
      window_.Publish(static_cast<std::size_t>(next_ - begin_), static_cast<std::uint64_t>(request), last);
      ForgetFrame();
      return true;
    }
    SealFrame();
    frame_.Header().base = static_cast<std::uint64_t>(request);
    if (!window_.TryDepart(frame_, last)) return false;
    ForgetFrame();
    return true;
  }
  /// Puts a full frame aside while held. The windows limit how many frames wait here.
  bool TrySetAside() {
    if (!is_held_ || is_lent_) return false;
    SealFrame();
    if (num_waiting_ == backlog_.size()) backlog_.emplace_back();
    backlog_[num_waiting_++].Swap(frame_);
    ForgetFrame();
    return true;
  }
  bool TrySendBacklog(bool is_closing) {
    for (; num_sent_ < num_waiting_; ++num_sent_) {
      const FrameRequest request = is_closing ? FrameRequest::report : FrameRequest::none;
      backlog_[num_sent_].Header().base = static_cast<std::uint64_t>(request);
      if (!window_.FindRoom(is_closing) || !window_.TryDepart(backlog_[num_sent_], false)) return false;
    }
    num_sent_ = num_waiting_ = 0;
    return true;
  }
  bool IsOld() const {
    return options_.max_age.count() != 0 && next_ != begin_ && Now() - opened_ >= options_.max_age;
  }

  AggregatedOptions options_;
  FrameWindow window_;
  std::vector<Channel> channels_;
  std::byte* begin_ = nullptr;  // start of the open frame's payload; null if no frame is open
  std::byte* next_ = nullptr;   // where the next message is written
  std::byte* end_ = nullptr;
  std::byte* run_ = nullptr;      // start of the open run
  std::byte* run_end_ = nullptr;  // if all messages have one size: its messages begin before
  std::uint32_t run_channel_ = no_channel;
  std::uint64_t num_in_run_ = 0;  // if sizes vary: messages in the open run
  std::uint64_t max_in_run_ = 0;  // messages that the window allows in the open run
  bool is_held_ = false;
  bool is_full_ = false;  // the frame is full and had to wait
  bool is_finished_ = false;
  bool is_lent_ = false;  // the open frame lies in memory that the receiver reads
  TimePoint opened_{};
  Frame frame_;
  std::vector<Frame> backlog_;   // waiting frames, then spare buffers
  std::size_t num_waiting_ = 0;  // waiting frames in backlog_
  std::size_t num_sent_ = 0;     // waiting frames that have departed
};

}  // namespace uit
