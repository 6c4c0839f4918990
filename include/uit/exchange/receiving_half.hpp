#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>

#include <uit/exchange/exchange.hpp>
#include <uit/exchange/fabric.hpp>
#include <uit/link/frame_box.hpp>
#include <uit/link/frame_trace.hpp>
#include <uit/link/progress_engine.hpp>

namespace uit {

/// What the receiving halves of all exchanges share: the box that frames arrive in, and which update was the last that
/// a frame has ended. The exchange's worker only.
class ReceivingHalf : public ExchangeHalf {
 public:
  /// Whether the frame that ends `update` was the newest of its kind to be pulled.
  bool HasLast(std::uint64_t update) const { return has_last_ && last_update_ == update; }
  /// Lets frames move, if they come from another process. Returns whether anything arrived.
  bool Poll() { return hub_ != nullptr && hub_->Poll(); }
  /// False once the fabric has closed: nothing will arrive any more.
  bool IsOpen() const { return hub_ == nullptr || !hub_->IsShut(); }
  /// Frames come from that process of the fabric's.
  void HearFrom(std::size_t peer) { peer_ = peer; }
  /// Whether it was found to have ended.
  bool IsPeerGone() const { return hub_ != nullptr && peer_ && hub_->Process().Watch().HasGone(*peer_); }
  /// Frames bear stamps, which are given to `trace`; the half refers to it. Null: they bear none.
  void TraceBy(FrameTrace* trace) { trace_ = trace; }

 protected:
  /// Frames come to `box` through `fabric`, or, if that is null, from this process.
  ReceivingHalf(std::shared_ptr<FrameBox> box, Fabric* fabric)
      : box_(std::move(box)), hub_(fabric == nullptr ? nullptr : fabric->Hub()) {}

  /// Gives the next frame that has arrived to `take`. Returns whether there was one.
  template <std::invocable<Frame&> F>
  bool TryPullOne(F&& take) {
    if (!box_->TryStep()) return false;
    Frame& frame = box_->Get();
    if (trace_ != nullptr) [[unlikely]] trace_->Take(frame);
    const FrameHeader header = frame.Header();
    std::forward<F>(take)(frame);
    if (header.last != 0) {
      last_update_ = header.update;
      has_last_ = true;
    }
    return true;
  }
  /// Gives every frame that has arrived to `take`. Returns whether there was one.
  template <std::invocable<Frame&> F>
  bool PullAll(F&& take) {
    bool any = false;
    while (TryPullOne(take)) any = true;
    return any;
  }

 private:
  std::shared_ptr<FrameBox> box_;
  std::shared_ptr<ProgressEngine> hub_;
  std::optional<std::size_t> peer_;
  FrameTrace* trace_ = nullptr;
  std::uint64_t last_update_ = 0;
  bool has_last_ = false;
};

}  // namespace uit
