#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>

#include <uit/config.hpp>
#include <uit/exchange/exchange.hpp>
#include <uit/link/frame.hpp>
#include <uit/link/frame_box.hpp>
#include <uit/link/frame_trace.hpp>
#include <uit/link/progress_engine.hpp>
#include <uit/support/bytes.hpp>
#include <uit/support/function_ref.hpp>

namespace uit {

class Fabric;

/// Messages are copied from shared memory straight to their channels if the frame has at least so many bytes. A smaller frame is copied
/// as a whole, so that its room is free at once.
inline constexpr std::size_t min_scattered_bytes = 1024;

/// Common base of all receiving halves: the box in which frames arrive, and the last update that a frame has ended. The
/// exchange's worker only.
class ReceivingHalf : public ExchangeHalf {
 public:
  ~ReceivingHalf() override;
  /// Takes in the frames that have arrived. Returns whether there were any. Throws if one is malformed.
  virtual bool Pull() = 0;
  /// Reports the outlets' steps to the inlets, if any are new. With `always`, sends a report in any case and marks it as the end
  /// of an update. Without reports, does nothing.
  virtual void Report(bool) {}
  /// Reports if inlets may be waiting for it.
  virtual void ReportIfDue() {}
  /// While held, only reports that end an update tell of new steps; others tell only that frames have been taken in.
  virtual void Hold(bool) {}
  /// Sets the update number for reports that end an update from now on.
  virtual void SetUpdate(std::uint64_t) {}

  /// Whether `update` is the one that the newest end-of-update frame ended, among the frames pulled so far.
  bool HasLast(std::uint64_t update) const { return has_last_ && last_update_ == update; }
  /// Moves frames if they come from another process. Never waits. Returns whether anything arrived.
  bool Poll() { return engine_ != nullptr && engine_->Poll(); }
  /// False once the fabric has closed; then nothing more will arrive.
  bool IsOpen() const { return engine_ == nullptr || !engine_->IsShut(); }
  /// Sets the process that the frames come from, by its rank in the fabric's world.
  void ReceiveFrom(std::size_t peer) { peer_ = peer; }
  /// Whether that process is known to have ended. False if none was set.
  bool IsPeerGone() const { return engine_ != nullptr && peer_ && engine_->Process().Watch().HasGone(*peer_); }
  /// Expects a stamp on every frame and passes it to `trace`, to which the half keeps a pointer. Null: frames carry no
  /// stamps.
  void TraceBy(FrameTrace* trace);

 protected:
  /// Frames arrive in `box` through `fabric`. If `fabric` is null, they come from this process.
  ReceivingHalf(std::shared_ptr<FrameBox> box, Fabric* fabric);

  /// Passes the next frame that has arrived to `take`. Returns whether there was one.
  bool TryPullOne(FunctionRef<void(Frame&)> take);
  /// Passes every frame that has arrived to `take`. Returns whether there was one.
  bool PullAll(FunctionRef<void(Frame&)> take);

  /// Asks for payloads of at least `payload_bytes` where they lie in shared memory. `may_be_large`: see FrameBox::LendFrom. Call it
  /// before the fabric connects.
  void LendFrom(std::size_t payload_bytes, bool may_be_large) { box_->LendFrom(payload_bytes, may_be_large); }
  /// Returns the payload of the frame that is being taken, if it lies in shared memory; else an empty view. Valid until the
  /// next pull.
  ByteView Lent() const { return box_->Lent(); }
  /// Returns the frame that is being taken, wherever its payload lies. Valid like Lent.
  FrameView View() const { return box_->View(); }

 private:
  std::shared_ptr<FrameBox> box_;
  std::shared_ptr<ProgressEngine> engine_;
  std::optional<std::size_t> peer_;
  FrameTrace* trace_ = nullptr;
  std::uint64_t last_update_ = 0;
  bool has_last_ = false;
};

}  // namespace uit

#if !UIT_COMPILED
#include <uit/exchange/receiving_half.ipp>
#endif
