#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>

#include <uit/config.hpp>
#include <uit/support/error.hpp>
#include <uit/link/frame.hpp>
#include <uit/link/frame_box.hpp>
#include <uit/link/out_port.hpp>

namespace uit {

/// Sends the frames of an exchange and limits how many are in flight: at most `num_frames` may have departed without a
/// report that the receiver has pulled them. The exchange's worker only.
class FrameWindow {
 public:
  /// Frames that the receiving box must hold: the window, and one more when the exchange closes.
  static constexpr std::size_t BoxDepth(std::size_t num_frames) { return num_frames + 1; }

  /// Frames leave through `port`. Reports of at least `report_bytes` bytes come back through `reports`, a box that keeps
  /// the newest.
  FrameWindow(std::size_t num_frames, OutPort port, std::shared_ptr<FrameBox> reports, std::size_t report_bytes);
  /// Takes over a window with its port.
  FrameWindow(FrameWindow&& other) noexcept;
  /// Takes over a window with its port.
  FrameWindow& operator=(FrameWindow&& other) noexcept;
  ~FrameWindow();

  /// Whether another frame may depart, as far as the reports read so far tell. When closing, one frame beyond the window may.
  bool HasRoom(bool is_closing = false) const { return NumUnderWay() < num_frames_ + (is_closing ? 1 : 0); }
  /// The same; reads the newest report if it has to.
  bool FindRoom(bool is_closing = false) { return HasRoom(is_closing) || (TryReadReport() && HasRoom(is_closing)); }
  /// Sends a frame. The caller has written the payload, its size and the header's base, and there is room, unless the frame
  /// ends an update. `last` marks the frame as the end of the update. Returns false, with nothing changed,
  /// if the port is full. Afterwards `frame` is a spare buffer.
  bool TryDepart(Frame& frame, bool last);
  /// Returns where to write a payload of up to `payload_bytes` so that it departs without a copy. Returns null if the window
  /// or the port has no such room. Nothing departs before Publish.
  std::byte* TryLend(std::size_t payload_bytes) { return FindRoom() ? port_.TryLend(payload_bytes) : nullptr; }
  /// Sends `num_bytes` that were written to the result of the last TryLend, like TryDepart. Nothing has departed meanwhile.
  void Publish(std::size_t num_bytes, std::uint64_t base, bool last);
  /// Sends a frame that `fill(frame)` writes, as OutPort::TryDepartFilled does. There is room. `last`: see TryDepart.
  template <typename F>
  bool TryDepartFilled(std::size_t payload_bytes, Frame& spare, bool last, F&& fill) {
    const auto stamp_too = [&](auto& frame) {
      fill(frame);
      StoreIfNew(frame.Header().update, update_);
      StoreIfNew(frame.Header().last, static_cast<std::uint16_t>(last ? 1 : 0));
    };
    if (!port_.TryDepartFilled(payload_bytes, spare, stamp_too)) return false;
    NoteDeparture();
    return true;
  }
  /// Reads the newest report. Returns whether one has arrived. Throws if it is malformed. If it returns false or throws,
  /// the window is unchanged.
  bool TryReadReport();
  /// Returns the number of frames that have departed.
  std::uint64_t NumDeparted() const { return num_departed_; }
  /// Returns the newest report read, or null if none has arrived.
  const Frame* Report() const { return has_report_ ? &report_ : nullptr; }
  /// Whether a report has been read since the last call.
  bool TakeNews() { return std::exchange(has_news_, false); }
  /// Whether the newest report read ends `update` or a later one.
  bool HasReport(std::uint64_t update) const { return has_report_ && report_.Header().update >= update; }
  /// Sets the update number that is stamped on frames from now on.
  void SetUpdate(std::uint64_t update) { update_ = update; }

  /// Moves frames. Returns whether anything arrived.
  bool Poll() { return port_.Poll(); }
  /// Returns whether all departed frames have left this process. Moves frames, those of all peers, unless it is known already.
  bool TryEmpty() {
    if (may_wait_) may_wait_ = !port_.TryEmpty();
    return !may_wait_;
  }
  /// False once the fabric has closed; then do not put any more.
  bool IsOpen() const { return port_.IsOpen(); }
  /// Whether the peer process is known to have ended.
  bool IsPeerGone() const { return port_.IsPeerGone(); }

 private:
  std::uint64_t NumUnderWay() const { return num_departed_ - num_pulled_; }
  void NoteDeparture() {
    ++num_departed_;
    may_wait_ = true;
  }
  void TakeReport(Frame& report);

  std::size_t num_frames_;
  OutPort port_;
  std::shared_ptr<FrameBox> reports_;
  std::size_t report_bytes_;  // payload of the shortest report
  Frame report_;              // the newest report
  std::uint64_t num_departed_ = 0;
  std::uint64_t num_pulled_ = 0;  // departed frames that the receiver has pulled, as reported
  std::uint64_t update_ = 0;
  bool may_wait_ = false;  // departed frames, in this process
  bool has_report_ = false;
  bool has_news_ = false;  // see TakeNews
};

}  // namespace uit

#if !UIT_COMPILED
#include <uit/exchange/frame_window.ipp>
#endif
