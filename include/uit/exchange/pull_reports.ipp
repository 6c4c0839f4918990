#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>

#include <uit/config.hpp>
#include <uit/exchange/pull_reports.hpp>
#include <uit/link/out_port.hpp>
#include <uit/support/function_ref.hpp>

namespace uit {

UIT_DEFINE PullReports::PullReports(std::size_t num_frames, OutPort port) : num_frames_(num_frames), port_(std::move(port)) {}

UIT_DEFINE PullReports::PullReports(PullReports&& other) noexcept = default;
UIT_DEFINE PullReports& PullReports::operator=(PullReports&& other) noexcept = default;
UIT_DEFINE PullReports::~PullReports() = default;

UIT_DEFINE void PullReports::Send(std::size_t payload_bytes, bool ends_update, FunctionRef<void(std::byte*)> fill) {
  if (ends_update) update_ended_ = update_;
  frame_.Reserve(payload_bytes);
  fill(frame_.Payload());
  frame_.Header().num_bytes = static_cast<std::uint32_t>(payload_bytes);
  frame_.Header().base = num_pulled_;
  frame_.Header().update = update_ended_;
  port_.TryDepart(frame_);
  num_reported_ = num_pulled_;
  num_idle_tries_ = 0;
  has_news_ = is_due_ = false;
}

}  // namespace uit
