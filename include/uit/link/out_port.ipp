#pragma once

#include <uit/config.hpp>
#include <uit/link/frame.hpp>
#include <uit/link/frame_trace.hpp>
#include <uit/link/out_port.hpp>

namespace uit {

UIT_NOINLINE UIT_DEFINE bool OutPort::SendTraced(Frame& frame) {
  trace_->Stamp(frame);
  if (Send(frame)) return true;
  FrameTrace::TakeBack(frame);
  return false;
}

}  // namespace uit
