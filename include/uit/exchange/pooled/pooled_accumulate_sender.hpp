#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include <uit/config.hpp>
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

  /// Adds an encoded message, or a sum of `num_messages` messages, to the channel's sum. Sends the frame if the
  /// pool waits for no other channel. Returns false, with nothing changed, if the sum would overflow.
  ///
  /// While held, the sum together with the messages that waited at the outlet at the last RefreshReport must not overflow
  /// either. So acceptance does not depend on whether the outlet has stepped since.
  bool TryFold(std::size_t channel, const std::byte* message, std::uint64_t num_messages = 1);
  /// Called when the channel's inlet is destroyed. The pool does not wait for this channel any more.
  void Yield(std::size_t channel);

  /// Sends the messages put so far. Returns false if some of them have to wait for the receiver. While held, sums depart
  /// only at the end of the update.
  bool TryFlush() override;
  bool TryFinish() override;
  /// Sends a frame in any case and marks it as the update's end. Returns false if the peer has no room for a frame yet.
  bool TryEndUpdate() override { return TryDepart(true); }
  /// Sets the update number that is stamped on frames from now on.
  void SetUpdate(std::uint64_t update) override { window_.SetUpdate(update); }
  /// While held, frames depart only at the end of the update, and acceptance depends on the last RefreshReport.
  void Hold(bool hold) override { is_held_ = hold; }
  /// Reads the newest report of the outlets. Returns true if it ends `update` or a later one.
  bool RefreshReport(std::uint64_t update) override;
  /// Moves frames, including a complete pool that had to wait. Returns whether anything arrived.
  bool Poll();
  /// Returns whether all departed frames have left this process. Moves frames if some may not have.
  bool TryEmpty() { return window_.TryEmpty(); }
  /// False once the fabric has closed; then do not put any more.
  bool IsOpen() const { return window_.IsOpen(); }
  /// Whether the peer process is known to have ended.
  bool IsPeerGone() const { return window_.IsPeerGone(); }

 private:
  std::byte* At(std::vector<std::byte>& sums, std::size_t channel) { return sums.data() + channel * layout_.slot_bytes; }
  bool IsBlocked(std::size_t channel) const;

  void DepartIfComplete();
  bool TryDepart(bool last);
  bool Depart(bool last, bool heeds_blocks);

  /// Computes the messages that wait at the outlets from this barrier on: those reported, and those of the last frame if
  /// it departed after the report.
  void LearnWhatWaits();

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

#if !UIT_COMPILED
#include <uit/exchange/pooled/pooled_accumulate_sender.ipp>
#endif
