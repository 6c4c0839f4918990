#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include <uit/config.hpp>
#include <uit/exchange/frame_window.hpp>
#include <uit/link/frame.hpp>
#include <uit/link/frame_box.hpp>
#include <uit/link/out_port.hpp>
#include <uit/support/bytes.hpp>
#include <uit/support/error.hpp>

namespace uit {

UIT_DEFINE FrameWindow::FrameWindow(std::size_t num_frames, OutPort port, std::shared_ptr<FrameBox> reports,
                                    std::size_t report_bytes)
    : num_frames_(num_frames),
      port_(std::move(port)),
      reports_(std::move(reports)),
      report_bytes_(report_bytes),
      report_(report_bytes) {}

UIT_DEFINE FrameWindow::FrameWindow(FrameWindow&& other) noexcept = default;
UIT_DEFINE FrameWindow& FrameWindow::operator=(FrameWindow&& other) noexcept = default;
UIT_DEFINE FrameWindow::~FrameWindow() = default;

UIT_DEFINE bool FrameWindow::TryReadReport() {
  bool any = false;
  while (reports_->TryStep()) any = true;
  if (any) TakeReport(reports_->Get());
  return any;
}

UIT_DEFINE bool FrameWindow::TryDepart(Frame& frame, bool last) {
  StoreIfNew(frame.Header().update, update_);
  StoreIfNew(frame.Header().last, static_cast<std::uint16_t>(last ? 1 : 0));
  if (!port_.TryDepart(frame)) return false;
  NoteDeparture();
  return true;
}

UIT_DEFINE void FrameWindow::Publish(std::size_t num_bytes, std::uint64_t base, bool last) {
  port_.Publish({.last = static_cast<std::uint16_t>(last ? 1 : 0),
                 .num_bytes = static_cast<std::uint32_t>(num_bytes),
                 .update = update_,
                 .base = base});
  NoteDeparture();
}

UIT_DEFINE void FrameWindow::TakeReport(Frame& report) {
  const FrameHeader& header = report.Header();
  if (header.num_bytes < report_bytes_)
    throw Error("a peer has sent a report of " + std::to_string(header.num_bytes) + " bytes, not " +
                std::to_string(report_bytes_));
  if (header.base - num_pulled_ > NumUnderWay())
    throw Error("a peer reports that it has pulled frame " + std::to_string(header.base) + " of " +
                std::to_string(num_departed_));
  num_pulled_ = header.base;
  has_report_ = has_news_ = true;
  report_.Swap(report);
}

}  // namespace uit
