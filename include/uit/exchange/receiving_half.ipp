#pragma once

#include <memory>
#include <utility>

#include <uit/config.hpp>
#include <uit/exchange/fabric.hpp>
#include <uit/exchange/receiving_half.hpp>
#include <uit/link/frame.hpp>
#include <uit/link/frame_box.hpp>
#include <uit/link/frame_trace.hpp>
#include <uit/support/function_ref.hpp>

namespace uit {

UIT_DEFINE ReceivingHalf::ReceivingHalf(std::shared_ptr<FrameBox> box, Fabric* fabric)
    : box_(std::move(box)), engine_(fabric == nullptr ? nullptr : fabric->Engine()) {}

UIT_DEFINE ReceivingHalf::~ReceivingHalf() = default;

UIT_DEFINE void ReceivingHalf::TraceBy(FrameTrace* trace) {
  trace_ = trace;
  if (trace != nullptr) box_->LendFrom(0);  // a stamp is taken off a copy
}

UIT_DEFINE bool ReceivingHalf::TryPullOne(FunctionRef<void(Frame&)> take) {
  if (!box_->TryStep()) return false;
  Frame& frame = box_->Get();
  if (trace_ != nullptr) [[unlikely]] trace_->Take(frame);
  const FrameHeader header = frame.Header();
  take(frame);
  if (header.last != 0) {
    last_update_ = header.update;
    has_last_ = true;
  }
  return true;
}

UIT_DEFINE bool ReceivingHalf::PullAll(FunctionRef<void(Frame&)> take) {
  bool any = false;
  while (TryPullOne(take)) any = true;
  return any;
}

}  // namespace uit
