#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <set>
#include <utility>
#include <vector>

#include <uit/config.hpp>
#include <uit/duct/ring_duct.hpp>
#include <uit/link/connection.hpp>
#include <uit/link/frame_box.hpp>
#include <uit/link/process_state.hpp>
#include <uit/link/progress_engine.hpp>
#include <uit/support/sync.hpp>

namespace uit {

template <Synchronization Sync>
BasicProgressEngine<Sync>::BasicProgressEngine(std::shared_ptr<ProcessState> process, std::size_t num_workers)
    : process_(std::move(process)), ready_(num_workers) {}

template <Synchronization Sync>
BasicProgressEngine<Sync>::~BasicProgressEngine() = default;

template <Synchronization Sync>
typename BasicProgressEngine<Sync>::OutgoingBox& BasicProgressEngine<Sync>::AddOutgoing(
    std::size_t peer, std::size_t worker, std::shared_ptr<FrameBox> box, bool is_urgent) {
  outgoing_.push_back(std::make_unique<OutgoingBox>());
  outgoing_.back()->keeps_pace = box->KeepsLatest() && !is_urgent;
  outgoing_.back()->box = std::move(box);
  outgoing_.back()->peer = peer;
  ++ready_[worker].num_boxes;
  return *outgoing_.back();
}

template <Synchronization Sync>
void BasicProgressEngine<Sync>::AddIncoming(std::size_t peer, std::shared_ptr<FrameBox> box, std::size_t frame_bytes) {
  incoming_.push_back(std::make_unique<IncomingBox>(IncomingBox{std::move(box), frame_bytes, peer}));
}

template <Synchronization Sync>
void BasicProgressEngine<Sync>::AddConnection(std::size_t peer, AnyLink link, std::size_t num_slots,
                                              std::uint32_t max_pace) {
  connections_.push_back(std::make_unique<Connection>(std::move(link), num_slots, 0, max_pace));
  by_peer_[peer].push_back(connections_.back().get());
}

template <Synchronization Sync>
void BasicProgressEngine<Sync>::Activate() {
  for (auto& connection : connections_) connection->Reserve(outgoing_.size());
  QueueReady();
  for (Ready& ready : ready_) ready.queue = std::make_unique<ReadyQueue>(std::max<std::size_t>(ready.num_boxes, 1));
  for (auto& outgoing : outgoing_) {
    if (outgoing->connection != nullptr || outgoing->box->IsShared()) continue;
    outgoing->connection = by_peer_.at(outgoing->peer).back();
    outgoing->connection->Queue(outgoing.get());
  }
  for (auto& incoming : incoming_) {
    if (incoming->connection == nullptr && !incoming->box->IsShared()) incoming->connection = by_peer_.at(incoming->peer).back();
  }
  NoteBusyConnections();
}

template <Synchronization Sync>
bool BasicProgressEngine<Sync>::TryDepart(OutgoingBox& outgoing, std::size_t worker, Frame& frame) {
  if (TrySendNow(outgoing, frame)) return true;
  if (!outgoing.box->TryPut(frame)) return false;
  // Pairs with the connection's exchange before its steps. Each box is queued at most once, so there is room.
  if (!outgoing.queued.exchange(true, std::memory_order_acq_rel)) ready_[worker].queue->TryPut(&outgoing);
  return true;
}

template <Synchronization Sync>
bool BasicProgressEngine<Sync>::TryEmpty(OutgoingBox& outgoing) {
  bool is_empty = false;
  process_->Exclusively([&] {
    const auto look = [&] { is_empty = !outgoing.queued.load(std::memory_order_relaxed); };
    look();
    if (is_empty) return;  // others need not move for it
    MoveFrames(true);
    look();
  });
  return is_empty;
}

template <Synchronization Sync>
bool BasicProgressEngine<Sync>::Poll() {
  if (busy_.empty()) return false;
  bool has_arrived = false;
  process_->Exclusively([&] { has_arrived = MoveFrames(); });
  return has_arrived;
}

template <Synchronization Sync>
bool BasicProgressEngine<Sync>::Shut() {
  const bool was_shut = std::exchange(is_shut_, true);
  NoteBusyConnections();
  return was_shut;
}

template <Synchronization Sync>
bool BasicProgressEngine<Sync>::TrySayGoodbye() {
  bool all_quiet = true;
  QueueReady();
  for (auto& connection : connections_)
    all_quiet &= connection->Send(true) && connection->TrySendClose() && connection->IsQuiet();
  return all_quiet;
}

template <Synchronization Sync>
bool BasicProgressEngine<Sync>::TryCloseLinks(std::size_t first) {
  return std::all_of(connections_.begin() + static_cast<std::ptrdiff_t>(first), connections_.end(),
                     [](auto& connection) { return connection->TryCloseLink(); });
}

template <Synchronization Sync>
std::size_t BasicProgressEngine<Sync>::DropConnections(std::size_t first) {
  std::size_t num_leaked = 0;
  for (std::size_t i = first; i < connections_.size(); ++i) {
    num_received_ += connections_[i]->NumReceived();
    num_leaked += connections_[i]->Abandon();
    for (auto& [peer, connections] : by_peer_) std::erase(connections, connections_[i].get());
    for (auto& outgoing : outgoing_) {
      if (outgoing->connection == connections_[i].get()) outgoing->connection = nullptr;
    }
    for (auto& incoming : incoming_) {
      if (incoming->connection == connections_[i].get()) incoming->connection = nullptr;
    }
  }
  std::erase_if(by_peer_, [](const auto& entry) { return entry.second.empty(); });
  connections_.resize(std::min(first, connections_.size()));
  NoteBusyConnections();
  if (num_leaked != 0) process_->Break();
  return num_leaked;
}

template <Synchronization Sync>
void BasicProgressEngine<Sync>::DetachBoxes() {
  for (auto& outgoing : outgoing_) outgoing->box->Detach();
  for (auto& incoming : incoming_) incoming->box->Detach();
}

template <Synchronization Sync>
std::uint64_t BasicProgressEngine<Sync>::NumFramesReceived() const {
  std::uint64_t sum = num_received_;
  for (const auto& connection : connections_) sum += connection->NumReceived();
  for (const auto& incoming : incoming_) sum += incoming->box->NumReceived();
  return sum;
}

template <Synchronization Sync>
bool BasicProgressEngine<Sync>::TrySendNow(OutgoingBox& outgoing, Frame& frame) {
  if (outgoing.connection == nullptr) return false;
  bool has_left = false;
  process_->Exclusively([&] {
    Connection& connection = *outgoing.connection;
    // Besides this worker, only the thread that holds the lock sets the flag, and only that one clears it. This is that thread. So if
    // the flag is not set, the box is empty.
    const auto attempt = [&] {
      return !outgoing.queued.load(std::memory_order_relaxed) && connection.TrySendNow(frame, outgoing);
    };
    QueueReady();
    has_left = attempt();
    if (has_left) return;
    connection.Receive(incoming_);
    connection.Send();
    has_left = attempt();
  });
  return has_left;
}

template <Synchronization Sync>
bool BasicProgressEngine<Sync>::MoveFrames(bool is_urgent) {
  std::size_t num_arrived = 0;
  for (Connection* connection : busy_) num_arrived += connection->Receive(incoming_);
  QueueReady();
  for (Connection* connection : busy_) connection->Send(is_urgent);
  return num_arrived != 0;
}

template <Synchronization Sync>
void BasicProgressEngine<Sync>::NoteBusyConnections() {
  std::set<Connection*> used;
  for (const auto& outgoing : outgoing_) used.insert(outgoing->connection);
  for (const auto& incoming : incoming_) used.insert(incoming->connection);
  busy_.clear();
  for (const auto& connection : connections_) {
    if (is_shut_ || used.contains(connection.get())) busy_.push_back(connection.get());
  }
}

template <Synchronization Sync>
void BasicProgressEngine<Sync>::QueueReady() {
  for (Ready& ready : ready_) {
    if (ready.queue == nullptr) continue;
    while (ready.queue->TryStep(1) != 0) {
      OutgoingBox* const outgoing = ready.queue->Get();
      if (outgoing->connection != nullptr) outgoing->connection->Queue(outgoing);  // it has none once the fabric has closed
    }
  }
}

}  // namespace uit

#if UIT_COMPILED
template class uit::BasicProgressEngine<uit::Spsc>;
#endif
