#pragma once

#include <cstddef>
#include <memory>
#include <utility>

#include <uit/config.hpp>
#include <uit/link/connection.hpp>
#include <uit/link/frame.hpp>
#include <uit/link/frame_box.hpp>
#include <uit/link/frame_trace.hpp>
#include <uit/link/out_port.hpp>
#include <uit/link/progress_engine.hpp>

namespace uit {

UIT_DEFINE OutPort::OutPort(std::shared_ptr<FrameBox> box) : box_(std::move(box)) {}

UIT_DEFINE OutPort::OutPort(std::shared_ptr<ProgressEngine> engine, std::shared_ptr<FrameBox> box)
    : box_(std::move(box)), engine_(std::move(engine)) {}

UIT_DEFINE OutPort::OutPort(std::shared_ptr<ProgressEngine> engine, OutgoingBox& outgoing, std::size_t worker)
    : box_(outgoing.box), engine_(std::move(engine)), outgoing_(&outgoing), worker_(worker) {}

UIT_DEFINE OutPort::OutPort(const OutPort& other) = default;
UIT_DEFINE OutPort::OutPort(OutPort&& other) noexcept = default;
UIT_DEFINE OutPort& OutPort::operator=(const OutPort& other) = default;
UIT_DEFINE OutPort& OutPort::operator=(OutPort&& other) noexcept = default;
UIT_DEFINE OutPort::~OutPort() = default;

UIT_NOINLINE UIT_DEFINE bool OutPort::SendTraced(Frame& frame) {
  trace_->Stamp(frame);
  if (Send(frame)) return true;
  FrameTrace::TakeBack(frame);
  return false;
}

}  // namespace uit
