#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <utility>

#include <netuit/mesh/status_board.hpp>
#include <uit/config.hpp>
#include <uit/exchange/exchange.hpp>
#include <uit/exchange/fabric.hpp>
#include <uit/link/frame.hpp>
#include <uit/link/frame_box.hpp>
#include <uit/link/out_port.hpp>
#include <uit/policy.hpp>
#include <uit/support/error.hpp>

namespace netuit {

UIT_DEFINE StatusBoard::StatusBoard(uit::Fabric& fabric, std::uint32_t num_threads)
    : frames_(num_threads) {
  const uit::World& world = fabric.GetWorld();
  const auto num_workers = static_cast<std::uint32_t>(world.Size()) * num_threads;
  const auto first_worker = static_cast<std::uint32_t>(world.Rank()) * num_threads;
  for (std::uint32_t worker = 0; world.IsRoot() && worker < num_workers; ++worker) {
    const WorkerId place{worker / num_threads, worker % num_threads};
    boxes_.push_back(uit::FrameBox::Latest());
    if (place.process != 0) boxes_[worker] = fabric.AddIncoming(place.process, Spec(worker), std::move(boxes_[worker]));
    shown_.push_back({.worker = place});
  }
  for (std::uint32_t thread = 0; thread < num_threads; ++thread) {
    const std::uint32_t worker = first_worker + thread;
    ports_.push_back(world.IsRoot() ? uit::OutPort{boxes_[worker]}
                                    : fabric.AddOutgoing(0, thread, Spec(worker), uit::FrameBox::Latest()));
  }
}

UIT_DEFINE void StatusBoard::Say(std::uint32_t thread, const WorkerStatus& status) {
  uit::Frame& frame = frames_[thread];
  frame.Reserve(sizeof status);
  frame.Header().num_bytes = sizeof status;
  std::memcpy(frame.Payload(), &status, sizeof status);
  ports_[thread].TryDepart(frame);
}

UIT_DEFINE std::span<const WorkerStatus> StatusBoard::Look() {
  for (std::size_t worker = 0; worker < boxes_.size(); ++worker) {
    if (!boxes_[worker]->TryStep()) continue;
    const uit::Frame& frame = boxes_[worker]->Get();
    if (frame.Header().num_bytes != sizeof(WorkerStatus))
      throw uit::Error("a peer sent a status of wrong length: " + std::to_string(frame.Header().num_bytes) + " bytes");
    std::memcpy(&shown_[worker], frame.Payload(), sizeof(WorkerStatus));
  }
  return shown_;
}

UIT_DEFINE uit::ExchangeSpec StatusBoard::Spec(std::uint32_t worker) {
  constexpr std::uint32_t layer = 0xFFFF'FFFF;  // no layer of the mesh has this number
  return {.key = {.layer = layer, .source = worker, .destination = 0},
          .type = uit::TypeHash<WorkerStatus>(),
          .frame_bytes = sizeof(WorkerStatus),
          .slot_bytes = sizeof(WorkerStatus),
          .retain = static_cast<std::uint32_t>(uit::Retain::latest)};
}

}  // namespace netuit
