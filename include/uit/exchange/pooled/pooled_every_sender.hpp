#pragma once

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include <uit/config.hpp>
#include <uit/duct/duct.hpp>
#include <uit/exchange/exchange.hpp>
#include <uit/exchange/frame_window.hpp>
#include <uit/exchange/pooled/every_frame.hpp>
#include <uit/exchange/pooled/pool_roll.hpp>
#include <uit/link/frame_box.hpp>
#include <uit/link/out_port.hpp>

namespace uit {

/// The inlets' half of an exchange under Retain::every; a pool of one channel serves Consolidate::none.
///
/// A frame departs when each member has put since the last one, or has tried in vain, or on a flush. A channel has at
/// most `depth` messages accepted and not stepped to, as far as its outlet has reported, and one of them in the pool;
/// so an outlet that nobody reads refuses its own inlet and no other. A second try before departure is refused, and,
/// once anybody has put, shows that the members that have not tried meanwhile skip this round: the frame departs
/// without them, and none is waited for until the member has put again. At most `depth` frames await their pull. One
/// thread owns it.
class PooledEverySender final : public ExchangeHalf {
 public:
  /// Frames leave by `port`, and counts of steps come back through `reports`. The window is `depth` messages per
  /// channel, at least 1.
  PooledEverySender(EveryFrame layout, std::size_t depth, OutPort port, std::shared_ptr<FrameBox> reports)
      : layout_(layout),
        depth_(depth),
        window_(depth, std::move(port), std::move(reports), ReportFrame{layout.num_channels}.MaxBytes()),
        num_beside_(layout.num_channels),
        roll_(layout.num_channels) {
    OpenFrame();
    Widen();
  }

  /// Accepts a message, which `encode(slot)` writes, in the usual case: the channel spoke for the frame before, has not
  /// been heard for this one, and no channel's window is near its end. Departs if that completes the pool. False, with
  /// nothing done, in any other case: see HasRoom.
  template <std::invocable<std::byte*> F>
  UIT_INLINE bool TryPutNext(std::size_t channel, std::size_t slot_bytes, F&& encode) {
    if (!is_wide_ || !roll_.IsNext(channel)) [[unlikely]]
      return false;
    encode(slots_ + channel * slot_bytes);
    if (roll_.NoteNext(channel)) DepartIfComplete();
    return true;
  }
  /// Whether a channel's put would be accepted: it has not spoken in this pool, and its window is open.
  bool HasRoom(std::size_t channel) {
    if (is_finished_ || roll_.HasSpoken(channel)) return false;
    if (NumAccepted(channel) - NumStepped(channel) < depth_) return true;
    return TryReadReport() && NumAccepted(channel) - NumStepped(channel) < depth_;
  }
  /// Where a channel's message goes, after HasRoom; call Commit once it is written.
  std::byte* Slot(std::size_t channel) { return slots_ + channel * layout_.slot_bytes; }
  /// Accepts what was written to the slot; departs if that completes the pool.
  void Commit(std::size_t channel) {
    roll_.Note(channel);
    DepartIfComplete();
  }
  /// A channel had no room, so that its siblings need not wait for it; departs if that completes the pool.
  void Refuse(std::size_t channel) {
    if (!roll_.NoteInVain(channel) && roll_.NumSpoken() != 0) roll_.ExcuseRest();
    DepartIfComplete();
  }
  /// The channel's inlet is gone; it is not waited for.
  void Yield(std::size_t channel) {
    ExchangeHalf::Yield(channel);
    roll_.Excuse(channel);
  }
  /// Messages of a channel accepted since the exchange began.
  std::uint64_t NumAccepted(std::size_t channel) const {
    return num_rounds_ + num_beside_[channel] + (roll_.HasSpoken(channel) ? 1 : 0);
  }

  /// Sends what is in the pool. False if the peer has no room for a frame yet: then nothing has changed.
  bool TryFlush() override { return roll_.NumSpoken() == 0 || TryDepart(false); }
  bool TryFinish() override {
    is_finished_ = true;
    is_wide_ = false;  // so that nothing more is accepted
    // One frame beyond the window finds room in the peer's box, and it is the last.
    return roll_.NumSpoken() == 0 || Depart(false);
  }
  /// Sends in any case, marked as the update's end. False if the peer has no room for a frame yet.
  bool TryEndUpdate() { return TryDepart(true); }
  /// The number stamped on frames from here on.
  void SetUpdate(std::uint64_t update) { window_.SetUpdate(update); }
  /// While held, steps are reported only by RefreshReport, and a pool departs only on a flush, if it has several channels
  /// or a channel has `max_puts` of 1 till then.
  void Hold(bool hold, std::size_t max_puts = no_limit) {
    is_held_ = hold;
    departs_complete_ = !hold || (layout_.num_channels == 1 && max_puts != 1);
  }
  /// Whether room comes only with RefreshReport.
  bool IsHeld() const { return is_held_; }
  /// Reads what the outlets have reported. True if the report ends `update` or a later one.
  bool RefreshReport(std::uint64_t update) {
    if (window_.TryReadReport()) Widen();
    return window_.HasReport(update);
  }
  /// Lets frames move, a full pool that had to wait among them. Returns whether anything arrived.
  bool Poll() {
    const bool has_arrived = window_.Poll();
    DepartIfComplete();
    return has_arrived;
  }
  /// Lets frames move, and tells whether all that departed has left.
  bool TryEmpty() { return window_.TryEmpty(); }
  /// False once the fabric has closed: nothing should be put any more.
  bool IsOpen() const { return window_.IsOpen(); }
  /// Whether the peer was found to have ended.
  bool IsPeerGone() const { return window_.IsPeerGone(); }

 private:
  std::uint64_t NumStepped(std::size_t channel) const {
    const Frame* const report = window_.Report();
    return report != nullptr ? ReportFrame::NumStepped(*report, channel) : 0;
  }
  bool TryReadReport() {
    if (is_held_ || !window_.TryReadReport()) return false;
    Widen();
    return true;
  }
  /// Works out for how many frames, this one included, no channel can fill its window: each takes one message at most.
  void Widen() {
    std::uint64_t num_free = depth_;
    for (std::size_t channel = 0; channel < layout_.num_channels; ++channel)
      num_free = std::min(num_free, NumStepped(channel) + depth_ - num_rounds_ - num_beside_[channel]);
    num_wide_ = num_free;
    is_wide_ = num_free != 0 && !is_finished_;
  }

  UIT_NOINLINE void DepartIfComplete() {
    if (roll_.IsComplete() && roll_.NumSpoken() != 0 && departs_complete_) TryDepart(false);
  }
  bool TryDepart(bool last) { return (is_held_ || window_.HasRoom()) && Depart(last); }
  bool Depart(bool last) {
    layout_.Seal(frame_, roll_.NumSpoken(), [this](std::size_t channel) { return roll_.HasSpoken(channel); });
    if (!window_.TryDepart(frame_, last)) return false;
    Count();
    roll_.Renew();
    OpenFrame();
    if (num_wide_ != 0) --num_wide_;
    if (num_wide_ == 0 && !TryReadReport()) is_wide_ = false;
    return true;
  }
  /// Counts the messages of a frame that departs.
  void Count() {
    if (roll_.NumSpoken() == layout_.num_channels) {
      ++num_rounds_;
    } else if (roll_.NumSpoken() != 0) {
      for (std::size_t channel = 0; channel < layout_.num_channels; ++channel)
        num_beside_[channel] += roll_.HasSpoken(channel) ? 1 : 0;
    }
  }
  void OpenFrame() {
    frame_.Reserve(layout_.MaxBytes());
    StoreIfNew(slots_, frame_.Payload());
  }

  EveryFrame layout_;
  std::size_t depth_;
  FrameWindow window_;
  std::uint64_t num_rounds_ = 0;           // frames for which all channels spoke, and which have departed
  std::vector<std::uint64_t> num_beside_;  // per channel: messages in other frames
  PoolRoll roll_;
  std::byte* slots_ = nullptr;   // of the pool
  std::uint64_t num_wide_ = 0;   // see Widen
  bool is_wide_ = false;         // num_wide_ is not 0, and the exchange not finished
  bool is_held_ = false;
  bool departs_complete_ = true;
  bool is_finished_ = false;
  Frame frame_;  // the pool
};

}  // namespace uit
