#pragma once

#include <cstddef>
#include <memory>

#include <uit/config.hpp>
#include <uit/link/frame_box.hpp>
#include <uit/link/frame_trace.hpp>
#include <uit/link/progress_engine.hpp>

namespace uit {

/// The port through which the sending half of an exchange sends frames. If the receiving half is in this process or
/// shares memory with it, the port puts frames directly in that half's box. Otherwise a connection empties the box. The
/// exchange's worker only.
class OutPort {
 public:
  OutPort() = default;
  /// A port to a half in the same process, open for ever.
  explicit OutPort(std::shared_ptr<FrameBox> box);
  /// A port to a half in the same process, open as long as the engine.
  OutPort(std::shared_ptr<ProgressEngine> engine, std::shared_ptr<FrameBox> box);
  /// A port to another process.
  OutPort(std::shared_ptr<ProgressEngine> engine, OutgoingBox& outgoing, std::size_t worker);
  /// Another handle of the same port.
  OutPort(const OutPort& other);
  /// Takes over a port.
  OutPort(OutPort&& other) noexcept;
  /// Becomes another handle of that port.
  OutPort& operator=(const OutPort& other);
  /// Takes over a port.
  OutPort& operator=(OutPort&& other) noexcept;
  ~OutPort();

  /// Sends a frame, or queues it to be sent, if there is room; `frame` is then a spare buffer. Returns false, with
  /// nothing changed, if there is none.
  UIT_INLINE bool TryDepart(Frame& frame) {
    return trace_ == nullptr ? Send(frame) : SendTraced(frame);
  }
  /// Returns where to write a payload of up to `payload_bytes` so that it lies in the receiving half's memory, or null if the port
  /// cannot. Then Publish sends the frame. Frames that departed meanwhile take the memory away.
  std::byte* TryLend(std::size_t payload_bytes) {
    return trace_ == nullptr ? box_->TryLend(payload_bytes) : nullptr;
  }
  /// Sends the frame whose payload has been written there.
  void Publish(const FrameHeader& header) { box_->Publish(header); }
  /// Sends a frame that `fill(frame)` writes: where the receiving half reads it, if the port can lend such memory for a payload of up to
  /// `payload_bytes`, else in `spare`. `fill` gets a FrameDraft or a Frame with so much room. Returns false if there is no room.
  template <typename F>
  UIT_INLINE bool TryDepartFilled(std::size_t payload_bytes, Frame& spare, F&& fill) {
    if (std::byte* const place = TryLend(payload_bytes)) {
      FrameDraft draft{.payload = place};
      fill(draft);
      Publish(draft.header);
      return true;
    }
    spare.Reserve(payload_bytes);
    fill(spare);
    return TryDepart(spare);
  }
  /// Stamps frames with `trace` from now on; the receiving side must expect it. The port keeps the pointer; null: no
  /// stamps.
  void TraceBy(FrameTrace* trace) { trace_ = trace; }
  /// Returns whether all departed frames have left this process. Moves frames, those of all peers, if some have not.
  bool TryEmpty() { return IsDirect() || engine_->TryEmpty(*outgoing_); }
  /// Moves frames if the port leads to a connection. Never waits. Returns whether anything arrived.
  bool Poll() { return !IsDirect() && engine_->Poll(); }
  /// False once the fabric has closed; then do not send any more.
  bool IsOpen() const { return engine_ == nullptr || !engine_->IsShut(); }
  /// Whether the port leads to a process that is known to have ended, so that no room will appear.
  bool IsPeerGone() const { return outgoing_ != nullptr && engine_->Process().Watch().HasGone(outgoing_->peer); }

 private:
  UIT_INLINE bool Send(Frame& frame) {
    return IsDirect() ? box_->TryPut(frame) : engine_->TryDepart(*outgoing_, worker_, frame);
  }
  bool SendTraced(Frame& frame);
  bool IsDirect() const { return outgoing_ == nullptr || box_->IsShared(); }

  std::shared_ptr<FrameBox> box_;
  std::shared_ptr<ProgressEngine> engine_;
  OutgoingBox* outgoing_ = nullptr;
  std::size_t worker_ = 0;
  FrameTrace* trace_ = nullptr;
};

}  // namespace uit

#if !UIT_COMPILED
#include <uit/link/out_port.ipp>
#endif
