#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <utility>
#include <vector>

#include <uit/exchange/exchange.hpp>
#include <uit/exchange/frame_window.hpp>
#include <uit/exchange/pooled/accumulate_frame.hpp>
#include <uit/exchange/pooled/pool_roll.hpp>
#include <uit/link/frame_box.hpp>
#include <uit/link/out_port.hpp>

namespace uit {

/// The inlets' half of an exchange under Retain::accumulate. A pool of one channel serves Consolidate::none.
///
/// Adds up the messages that each channel puts. A frame with the sums departs when each member has put since the last
/// frame, or on a flush. A second put of a member before the departure shows that the members that have not put skip this
/// round. Then the frame departs without them, and the pool waits for each of them again only after its next put.
///
/// If `depth` frames are in flight, as far as the receiver has reported, the sums here continue to grow. So a put is
/// refused only if a sum would overflow. If a channel's sum at the receiver could not take in more, that channel stays
/// behind when frames depart. One thread owns it.
class PooledAccumulateSender final : public SendingHalf {
 public:
  /// Frames leave through `port`. Reports of pulled frames come back through `reports`. `depth` is at least 1.
  PooledAccumulateSender(AccumulateFrame layout, std::size_t depth, FoldFunction fold, OutPort port,
                         std::shared_ptr<FrameBox> reports)
      : layout_(layout),
        report_layout_{layout.num_channels, layout.slot_bytes},
        fold_(fold),
        window_(depth, std::move(port), std::move(reports), report_layout_.BitsBytes()),
        sums_(layout.SlotsBytes()),
        counts_(layout.num_channels),
        leaving_(layout.num_channels),
        roll_(layout.num_channels),
        sent_sums_(layout.SlotsBytes()),
        waiting_(layout.num_channels),
        bounds_(layout.SlotsBytes()),
        scratch_(layout.slot_bytes) {}

  /// Adds an encoded message, or a sum of `num_messages` messages, to the channel's sum. Departs if that completes the
  /// pool. Returns false, with nothing changed, if the sum would overflow.
  ///
  /// While held, the sum together with the messages that waited at the outlet at the last RefreshReport must not overflow
  /// either. So acceptance does not depend on whether the outlet has stepped since.
  bool TryFold(std::size_t channel, const std::byte* message, std::uint64_t num_messages = 1) {
    const bool is_bounded = is_held_ && waiting_[channel] != 0;
    if (is_bounded) {
      std::memcpy(scratch_.data(), At(bounds_, channel), layout_.slot_bytes);
      if (!fold_(scratch_.data(), message)) return false;
    }
    if (counts_[channel] == 0) {
      std::memcpy(At(sums_, channel), message, layout_.slot_bytes);
      ++num_contributing_;
    } else if (!fold_(At(sums_, channel), message)) {
      return false;
    }
    counts_[channel] += num_messages;
    if (is_bounded) std::memcpy(At(bounds_, channel), scratch_.data(), layout_.slot_bytes);
    if (!roll_.NoteContribution(channel)) roll_.SkipRest();
    DepartIfComplete();
    return true;
  }
  /// Called when the channel's inlet is destroyed. The pool does not wait for this channel any more.
  void Yield(std::size_t channel) {
    ExchangeHalf::Yield(channel);
    roll_.Skip(channel);
  }

  /// Sends the messages put so far. Returns false if some of them have to wait for the receiver. While held, sums depart
  /// only at the end of the update.
  bool TryFlush() override { return num_contributing_ == 0 || is_held_ || (TryDepart(false) && num_contributing_ == 0); }
  bool TryFinish() override {
    // One frame beyond the window finds room in the peer's box, and it is the last.
    return num_contributing_ == 0 || Depart(false, false);
  }
  /// Sends a frame in any case and marks it as the update's end. Returns false if the peer has no room for a frame yet.
  bool TryEndUpdate() override { return TryDepart(true); }
  /// Sets the update number that is stamped on frames from now on.
  void SetUpdate(std::uint64_t update) override { window_.SetUpdate(update); }
  /// While held, frames depart only at the end of the update, and acceptance depends on the last RefreshReport.
  void Hold(bool hold) override { is_held_ = hold; }
  /// Reads the newest report of the outlets. Returns true if it ends `update` or a later one.
  bool RefreshReport(std::uint64_t update) override {
    window_.TryReadReport();
    if (!window_.HasReport(update)) return false;
    if (is_held_) LearnWhatWaits();
    return true;
  }
  /// Moves frames, including a complete pool that had to wait. Returns whether anything arrived.
  bool Poll() {
    const bool has_arrived = window_.Poll();
    DepartIfComplete();
    return has_arrived;
  }
  /// Moves frames. Returns whether all departed frames have left this process.
  bool TryEmpty() { return window_.TryEmpty(); }
  /// False once the fabric has closed; then do not put any more.
  bool IsOpen() const { return window_.IsOpen(); }
  /// Whether the peer process is known to have ended.
  bool IsPeerGone() const { return window_.IsPeerGone(); }

 private:
  std::byte* At(std::vector<std::byte>& sums, std::size_t channel) { return sums.data() + channel * layout_.slot_bytes; }
  bool IsBlocked(std::size_t channel) const {
    return window_.Report() != nullptr && AccumulateReport::IsBlocked(*window_.Report(), channel);
  }

  void DepartIfComplete() {
    if (roll_.IsComplete() && num_contributing_ != 0 && !is_held_) TryDepart(false);
  }
  bool TryDepart(bool last) {
    if (is_held_) return Depart(last, false);
    window_.TryReadReport();  // it may tell which channels are blocked
    return window_.HasRoom() && Depart(last, true);
  }
  bool Depart(bool last, bool heeds_blocks) {
    std::size_t num_leaving = 0;
    for (std::size_t channel = 0; channel < layout_.num_channels; ++channel) {
      leaving_[channel] = heeds_blocks && IsBlocked(channel) ? 0 : counts_[channel];
      num_leaving += leaving_[channel] != 0 ? 1 : 0;
    }
    if (num_leaving == 0 && !last) return false;
    frame_.Reserve(layout_.MaxBytes());
    layout_.Write(frame_, sums_.data(), leaving_.data());
    if (!window_.TryDepart(frame_, last)) return false;
    if (is_held_) std::memcpy(sent_sums_.data(), sums_.data(), sums_.size());
    for (std::size_t channel = 0; channel < layout_.num_channels; ++channel) counts_[channel] -= leaving_[channel];
    num_contributing_ -= num_leaving;
    roll_.Renew();
    return true;
  }

  /// Computes the messages that wait at the outlets from this barrier on: those reported, and those of the last frame if
  /// it departed after the report.
  void LearnWhatWaits() {
    const Frame& report = *window_.Report();
    if (!report_layout_.HasSums(report)) return;
    std::memcpy(waiting_.data(), report_layout_.Counts(report.Payload()), report_layout_.CountsBytes());
    std::memcpy(bounds_.data(), report_layout_.Sums(report.Payload()), bounds_.size());
    if (report.Header().base == window_.NumDeparted()) return;
    for (std::size_t channel = 0; channel < layout_.num_channels; ++channel) {
      if (leaving_[channel] == 0) continue;
      if (waiting_[channel] == 0) std::memcpy(At(bounds_, channel), At(sent_sums_, channel), layout_.slot_bytes);
      else fold_(At(bounds_, channel), At(sent_sums_, channel));
      waiting_[channel] += leaving_[channel];
    }
  }

  AccumulateFrame layout_;
  AccumulateReport report_layout_;
  FoldFunction fold_;
  FrameWindow window_;
  std::vector<std::byte> sums_;         // put since the last departure
  std::vector<std::uint64_t> counts_;   // messages in sums_
  std::vector<std::uint64_t> leaving_;  // messages in the last frame
  PoolRoll roll_;
  std::vector<std::byte> sent_sums_;    // of the last frame, if it departed while held
  std::vector<std::uint64_t> waiting_;  // messages at the outlets at the last refresh
  std::vector<std::byte> bounds_;       // their sums, with the messages put since
  std::vector<std::byte> scratch_;
  std::size_t num_contributing_ = 0;  // channels that have put since the last departure
  bool is_held_ = false;
  Frame frame_;
};

}  // namespace uit
