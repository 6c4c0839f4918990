#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <uit/config.hpp>
#include <uit/duct/ring_duct.hpp>
#include <uit/link/connection.hpp>
#include <uit/link/frame_box.hpp>
#include <uit/link/link.hpp>
#include <uit/link/pace.hpp>
#include <uit/support/error.hpp>
#include <uit/support/sync.hpp>

namespace uit {

template <Synchronization Sync>
void BasicIncomingBox<Sync>::Put(Frame& arrived) {
  if (arrived.Header().num_bytes > std::min(frame_bytes, arrived.Capacity())) throw Error("a frame is larger than its exchange agreed on");
  spare.Reserve(frame_bytes);
  spare.Take(arrived);
  if (!box->TryPut(spare)) throw Error("a peer has sent more frames than its window allows");
}

template <Synchronization Sync>
BasicConnection<Sync>::BasicConnection(AnyLink link, std::size_t num_slots, std::uint32_t start, std::uint32_t max_pace)
    : link_(std::move(link)),
      num_slots_(static_cast<std::uint32_t>(num_slots)),
      control_(0),
      pace_(max_pace),
      sent_(start),
      acknowledged_(start),
      received_(start),
      acknowledged_to_peer_(start) {}

template <Synchronization Sync>
void BasicConnection<Sync>::Reserve(std::size_t num_boxes) {
  auto larger = MakeRef<RingDuct<OutgoingBox*, Unsynchronized>>(std::max<std::size_t>(num_boxes, 1));
  while (waiting_ != nullptr && waiting_->TryStep(1) != 0) larger->TryPut(waiting_->Get());
  waiting_ = std::move(larger);
}

template <Synchronization Sync>
void BasicConnection<Sync>::Queue(OutgoingBox* outgoing) {
  waiting_->TryPut(outgoing);
  ++num_waiting_;
  num_waiting_paced_ += outgoing->keeps_pace ? 1 : 0;
}

template <Synchronization Sync>
std::size_t BasicConnection<Sync>::Receive(std::vector<std::unique_ptr<IncomingBox>>& incoming) {
  std::uint32_t num_frames = 0;
  while (num_frames <= num_slots_ && link_.TryReceive(arrived_)) {
    ++num_frames;
    Accept(incoming);
  }
  return num_frames;
}

template <Synchronization Sync>
bool BasicConnection<Sync>::TrySendNow(Frame& frame, const OutgoingBox& outgoing) {
  if (num_waiting_ != 0 || !HasCredit()) return false;
  if (pace_.NumTurns() != 0 && outgoing.keeps_pace) return false;
  SendData(frame, outgoing.remote_index);
  return true;
}

template <Synchronization Sync>
bool BasicConnection<Sync>::Send(bool is_urgent) {
  if (num_waiting_ != 0) {
    const bool is_held_back = !pace_.TakeTurn() && !is_urgent;
    const auto may_send = [&] { return num_waiting_ > (is_held_back ? num_waiting_paced_ : 0); };
    while (may_send() && HasCredit()) {
      OutgoingBox* const outgoing = TakeWaiting();
      if (is_held_back && outgoing->keeps_pace) Queue(outgoing);
      else TakeTurn(outgoing);
    }
    if (may_send() && num_waiting_ == num_waiting_paced_) pace_.NoteShut();
  }
  if (received_ - acknowledged_to_peer_ >= num_slots_ - num_slots_ / 2) SendCredit();
  return num_waiting_ == 0;
}

template <Synchronization Sync>
bool BasicConnection<Sync>::TrySendClose() {
  if (!close_sent_) close_sent_ = link_.HasRoom() && SendControl(FrameKind::close);
  return close_sent_;
}

template <Synchronization Sync>
bool BasicConnection<Sync>::IsQuiet() {
  if (!close_sent_ || !close_received_) return false;
  if (acknowledged_to_peer_ != received_) SendCredit();
  return acknowledged_to_peer_ == received_ && acknowledged_ == sent_;
}

template <Synchronization Sync>
typename BasicConnection<Sync>::OutgoingBox* BasicConnection<Sync>::TakeWaiting() {
  waiting_->TryStep(1);
  OutgoingBox* const outgoing = waiting_->Get();
  --num_waiting_;
  num_waiting_paced_ -= outgoing->keeps_pace ? 1 : 0;
  return outgoing;
}

template <Synchronization Sync>
void BasicConnection<Sync>::TakeTurn(OutgoingBox* outgoing) {
  // Pairs with the worker's exchange after its put: the steps below see every earlier put.
  outgoing->queued.exchange(false, std::memory_order_acq_rel);
  for (int i = 0; i < frames_per_turn && HasCredit(); ++i) {
    if (!outgoing->box->TryStep()) return;
    SendData(outgoing->box->Get(), outgoing->remote_index);
    if (outgoing->box->KeepsLatest()) return;  // a later put queues the box again
  }
  // The box may hold more frames: it goes to the back of the queue, unless its worker has queued it again. Relaxed:
  // this thread has done nothing since the exchange above that the worker needs to see, and an exchange passes on the
  // worker's earlier release.
  if (!outgoing->queued.exchange(true, std::memory_order_relaxed)) Queue(outgoing);
}

template <Synchronization Sync>
void BasicConnection<Sync>::SendData(Frame& frame, std::uint32_t remote_index) {
  frame.Header().entry = remote_index;
  frame.Header().kind = FrameKind::data;
  Stamp(frame);
  ++sent_;
  link_.TrySend(frame);
}

template <Synchronization Sync>
void BasicConnection<Sync>::SendCredit() {
  if (link_.HasRoom()) SendControl(FrameKind::credit);
}

template <Synchronization Sync>
bool BasicConnection<Sync>::SendControl(FrameKind kind) {
  control_.Header() = FrameHeader{};
  control_.Header().kind = kind;
  Stamp(control_);
  if (kind == FrameKind::close) ++sent_;
  return link_.TrySend(control_);
}

template <Synchronization Sync>
void BasicConnection<Sync>::Stamp(Frame& frame) {
  frame.Header().acknowledged = received_;
  acknowledged_to_peer_ = received_;
}

template <Synchronization Sync>
void BasicConnection<Sync>::Accept(std::vector<std::unique_ptr<IncomingBox>>& incoming) {
  ++num_received_;
  const FrameHeader& header = arrived_.Header();
  // Acknowledgements are cumulative and in order, so the newest is the largest, modulo 2^32.
  if (header.acknowledged != acknowledged_) {
    pace_.NoteAcknowledged();
    acknowledged_ = header.acknowledged;
  }
  if (header.kind == FrameKind::credit) return;
  ++received_;
  if (header.kind == FrameKind::close) {
    close_received_ = true;
    return;
  }
  if (header.entry >= incoming.size())
    throw Error("a peer has sent a frame to box " + std::to_string(header.entry) + ", which does not exist");
  incoming[header.entry]->Put(arrived_);
}

}  // namespace uit

#if UIT_COMPILED
template struct uit::BasicIncomingBox<uit::Spsc>;
template class uit::BasicConnection<uit::Spsc>;
#endif
