#pragma once

#include <cstddef>
#include <memory>
#include <utility>

#include <uit/config.hpp>
#include <uit/link/frame_box.hpp>
#include <uit/link/frame_trace.hpp>
#include <uit/link/progress_engine.hpp>

namespace uit {

/// Where the sending half of an exchange leaves its frames. The box is the receiving half's own if that is in this
/// process, or shares memory with it, else one that a wire empties. The exchange's worker only.
class OutPort {
 public:
  OutPort() = default;
  /// A port to a half in the same process.
  explicit OutPort(std::shared_ptr<FrameBox> box) : box_(std::move(box)) {}
  /// A port to another process.
  OutPort(std::shared_ptr<ProgressEngine> hub, OutgoingBox& outgoing, std::size_t worker)
      : box_(outgoing.box), hub_(std::move(hub)), outgoing_(&outgoing), worker_(worker) {}

  /// Sends a frame, or leaves it to be sent, if there is room; `frame` is then a spare buffer.
  UIT_INLINE bool TryDepart(Frame& frame) {
    return trace_ == nullptr ? Send(frame) : SendTraced(frame);
  }
  /// Frames are stamped from here on; the other side must expect it. The port refers to the trace; null: no stamps.
  void TraceBy(FrameTrace* trace) { trace_ = trace; }
  /// Lets frames move, and tells whether all that departed has left.
  bool TryEmpty() { return IsDirect() || hub_->TryEmpty(*outgoing_); }
  /// Lets frames move, if the port leads to a wire. Returns whether anything arrived.
  bool Poll() { return !IsDirect() && hub_->Poll(); }
  /// False once the fabric has closed: nothing should depart any more.
  bool IsOpen() const { return hub_ == nullptr || !hub_->IsShut(); }
  /// Whether it leads to a process that was found to have ended: it will give no room.
  bool IsPeerGone() const { return hub_ != nullptr && hub_->Process().Watch().HasGone(outgoing_->peer); }

 private:
  UIT_INLINE bool Send(Frame& frame) {
    return IsDirect() ? box_->TryPut(frame) : hub_->TryDepart(*outgoing_, worker_, frame);
  }
  UIT_NOINLINE bool SendTraced(Frame& frame) {
    trace_->Stamp(frame);
    if (Send(frame)) return true;
    FrameTrace::TakeBack(frame);
    return false;
  }
  bool IsDirect() const { return hub_ == nullptr || box_->IsShared(); }

  std::shared_ptr<FrameBox> box_;
  std::shared_ptr<ProgressEngine> hub_;
  OutgoingBox* outgoing_ = nullptr;
  std::size_t worker_ = 0;
  FrameTrace* trace_ = nullptr;
};

}  // namespace uit
