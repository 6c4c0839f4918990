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

/// The inlets' half of an exchange under Retain::every. A pool of one channel serves Consolidate::none.
///
/// A frame departs when each member has tried to put since the last frame, or on a flush. A try either contributes a
/// message or is refused.
///
/// A channel has at most `depth` messages accepted and not stepped to, as far as its outlet has reported, and at most one
/// of them in the pool. So an outlet that is not read refuses puts only of its own inlet.
///
/// A second try of a member before the departure is refused. If a member has contributed, the second try also shows that
/// the members without a try skip this round. Then the frame departs without them, and the pool waits for each of them
/// again only after its next try.
///
/// At most `depth` frames may be in flight and not yet pulled. One thread owns it.
class PooledEverySender final : public SendingHalf {
 public:
  /// Frames leave through `port`. Reports of steps come back through `reports`. The window is `depth` messages per
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

  /// Accepts a message, which `encode(slot)` writes, in the usual case: the channel contributed to the previous frame,
  /// has not tried for this one, and no channel's window is near its end. Sends the frame if the pool waits for no other channel.
  /// Otherwise returns false with nothing changed; see HasRoom.
  template <std::invocable<std::byte*> F>
  UIT_INLINE bool TryPutNext(std::size_t channel, std::size_t slot_bytes, F&& encode) {
    if (!is_wide_ || !roll_.IsNext(channel)) [[unlikely]]
      return false;
    encode(slots_ + channel * slot_bytes);
    if (roll_.NoteNext(channel)) DepartIfComplete();
    return true;
  }
  /// Whether a put of the channel would be accepted: it has not contributed to this pool, and its window has room.
  bool HasRoom(std::size_t channel) {
    if (is_finished_ || roll_.HasContributed(channel)) return false;
    if (NumAccepted(channel) - NumStepped(channel) < depth_) return true;
    return TryReadReport() && NumAccepted(channel) - NumStepped(channel) < depth_;
  }
  /// Returns where to write a channel's message. Call it after HasRoom, and then call Commit.
  std::byte* Slot(std::size_t channel) { return slots_ + channel * layout_.slot_bytes; }
  /// Accepts the message in the slot. Sends the frame if the pool waits for no other channel.
  void Commit(std::size_t channel) {
    roll_.NoteContribution(channel);
    DepartIfComplete();
  }
  /// Counts a refused put, so that the other channels do not wait for this one. Sends the frame if the pool waits for no other channel.
  void Refuse(std::size_t channel) {
    if (!roll_.NoteRefusal(channel) && roll_.NumContributors() != 0) roll_.SkipRest();
    DepartIfComplete();
  }
  /// Called when the channel's inlet is destroyed. The pool does not wait for this channel any more.
  void Yield(std::size_t channel) {
    ExchangeHalf::Yield(channel);
    roll_.Skip(channel);
  }
  /// Returns the number of messages of a channel accepted since the exchange began.
  std::uint64_t NumAccepted(std::size_t channel) const {
    return num_rounds_ + num_beside_[channel] + (roll_.HasContributed(channel) ? 1 : 0);
  }

  /// Sends the messages in the pool. Returns false, with nothing changed, if the peer has no room for a frame yet.
  bool TryFlush() override { return roll_.NumContributors() == 0 || TryDepart(false); }
  bool TryFinish() override {
    is_finished_ = true;
    is_wide_ = false;  // so that nothing more is accepted
    // One frame beyond the window finds room in the peer's box, and it is the last.
    return roll_.NumContributors() == 0 || Depart(false);
  }
  /// Sends a frame in any case and marks it as the update's end. Returns false if the peer has no room for a frame yet.
  bool TryEndUpdate() override { return TryDepart(true); }
  /// Sets the update number that is stamped on frames from now on.
  void SetUpdate(std::uint64_t update) override { window_.SetUpdate(update); }
  /// While held, only RefreshReport reads reports of steps, and a pool departs only on a flush.
  void Hold(bool hold) override { is_held_ = hold; }
  /// Reads the newest report of the outlets. Returns true if it ends `update` or a later one.
  bool RefreshReport(std::uint64_t update) override {
    if (window_.TryReadReport()) Widen();
    return window_.HasReport(update);
  }
  /// Moves frames, including a complete pool that had to wait. Returns whether anything arrived.
  bool Poll() {
    const bool has_arrived = window_.Poll();
    DepartIfComplete();
    return has_arrived;
  }
  /// Returns whether all departed frames have left this process. Moves frames if some may not have.
  bool TryEmpty() { return window_.TryEmpty(); }
  /// False once the fabric has closed; then do not put any more.
  bool IsOpen() const { return window_.IsOpen(); }
  /// Whether the peer process is known to have ended.
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
  /// Computes for how many frames, including this one, no channel can fill its window. Each frame takes at most one
  /// message per channel.
  void Widen() {
    std::uint64_t num_free = depth_;
    for (std::size_t channel = 0; channel < layout_.num_channels; ++channel)
      num_free = std::min(num_free, NumStepped(channel) + depth_ - num_rounds_ - num_beside_[channel]);
    num_wide_ = num_free;
    is_wide_ = num_free != 0 && !is_finished_;
  }

  UIT_NOINLINE void DepartIfComplete() {
    if (roll_.IsComplete() && roll_.NumContributors() != 0 && !is_held_) TryDepart(false);
  }
  bool TryDepart(bool last) {
    const bool has_room = last || (is_held_ ? window_.HasRoom() : window_.FindRoom());
    return has_room && Depart(last);
  }
  bool Depart(bool last) {
    layout_.Seal(frame_, roll_.NumContributors(), [this](std::size_t channel) { return roll_.HasContributed(channel); });
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
    if (roll_.NumContributors() == layout_.num_channels) {
      ++num_rounds_;
    } else if (roll_.NumContributors() != 0) {
      for (std::size_t channel = 0; channel < layout_.num_channels; ++channel)
        num_beside_[channel] += roll_.HasContributed(channel) ? 1 : 0;
    }
  }
  void OpenFrame() {
    frame_.Reserve(layout_.MaxBytes());
    StoreIfNew(slots_, frame_.Payload());
  }

  EveryFrame layout_;
  std::size_t depth_;
  FrameWindow window_;
  std::uint64_t num_rounds_ = 0;           // full rounds that have departed
  std::vector<std::uint64_t> num_beside_;  // per channel: messages in partial frames
  PoolRoll roll_;
  std::byte* slots_ = nullptr;   // the pool's slots, in frame_
  std::uint64_t num_wide_ = 0;   // see Widen
  bool is_wide_ = false;         // num_wide_ is not 0 and the exchange is not finished
  bool is_held_ = false;
  bool is_finished_ = false;
  Frame frame_;  // the pool
};

}  // namespace uit
