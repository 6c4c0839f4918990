#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <utility>
#include <vector>

#include <uit/duct/ring_duct.hpp>
#include <uit/support/sync.hpp>
#include <uit/link/frame_box.hpp>
#include <uit/link/process_state.hpp>
#include <uit/link/connection.hpp>

namespace uit {

/// The wires of a process, and the boxes that they empty and fill. Whichever worker holds the process's lock moves
/// everyone's frames; the others go on.
///
/// Boxes and wires are added, and closed, while no other thread uses the hub. `Sync`: see BasicFrameBox.
template <Synchronization Sync>
class BasicProgressEngine {
 public:
  using FrameBox = BasicFrameBox<Sync>;          ///< of this hub
  using OutgoingBox = BasicOutgoingBox<Sync>;    ///< of this hub
  using IncomingBox = BasicIncomingBox<Sync>;    ///< of this hub
  using Connection = BasicConnection<Sync>;                  ///< of this hub
  using ProcessState = BasicProcessState<Sync>;  ///< of its process

  /// A hub without boxes and wires, under the process's lock; workers are numbered from 0.
  BasicProgressEngine(std::shared_ptr<ProcessState> process, std::size_t num_workers)
      : process_(std::move(process)), ready_(num_workers) {}

  /// Threads that may own boxes.
  std::size_t NumWorkers() const { return ready_.size(); }

  /// A box that a worker fills, for a peer. Frames wait in it until Activate. `is_urgent`: even those that newer ones
  /// may replace leave as soon as there is room.
  OutgoingBox& AddOutgoing(std::size_t peer, std::size_t worker, std::shared_ptr<FrameBox> box, bool is_urgent) {
    outgoing_.push_back(std::make_unique<OutgoingBox>());
    outgoing_.back()->keeps_pace = box->KeepsLatest() && !is_urgent;
    outgoing_.back()->box = std::move(box);
    outgoing_.back()->peer = peer;
    ++ready_[worker].num_boxes;
    return *outgoing_.back();
  }
  /// A box that a wire fills with a peer's frames of up to `frame_bytes` of payload.
  void AddIncoming(std::size_t peer, std::shared_ptr<FrameBox> box, std::size_t frame_bytes) {
    incoming_.push_back(std::make_unique<IncomingBox>(IncomingBox{std::move(box), frame_bytes, peer}));
  }
  /// Boxes are numbered in the order in which they were added.
  OutgoingBox& Outgoing(std::size_t index) { return *outgoing_[index]; }
  /// The same.
  IncomingBox& Incoming(std::size_t index) { return *incoming_[index]; }
  /// Outgoing boxes so far, and so the number of the next.
  std::uint32_t NumOutgoing() const { return static_cast<std::uint32_t>(outgoing_.size()); }
  /// Incoming boxes so far, and so the number of the next, by which the peer addresses it.
  std::uint32_t NumIncoming() const { return static_cast<std::uint32_t>(incoming_.size()); }

  /// A new wire to a peer; see Connection.
  void AddWire(std::size_t peer, AnyLink link, std::size_t num_slots, std::uint32_t max_pace = Connection::default_max_pace) {
    wires_.push_back(std::make_unique<Connection>(std::move(link), num_slots, 0, max_pace));
    by_peer_[peer] = wires_.back().get();
  }
  /// Whether a wire leads to the peer.
  bool HasWire(std::size_t peer) const { return by_peer_.contains(peer); }
  /// Wires added and not dropped.
  std::size_t NumWires() const { return wires_.size(); }

  /// From here on frames move between all boxes and their wires, which peers must have open too; but for boxes that are
  /// shared with the peer's.
  void Activate() {
    for (auto& wire : wires_) wire->Reserve(outgoing_.size());
    QueueReady();
    for (Ready& ready : ready_) ready.queue = std::make_unique<ReadyQueue>(std::max<std::size_t>(ready.num_boxes, 1));
    for (auto& outgoing : outgoing_) {
      if (outgoing->wire != nullptr || outgoing->box->IsShared()) continue;
      outgoing->wire = by_peer_.at(outgoing->peer);
      outgoing->wire->Queue(outgoing.get());
    }
    NoteBusyWires();
  }

  /// Sends a frame, or leaves it in the box to be sent later; false if there is no room: then nothing has
  /// changed. Afterwards `frame` is a spare buffer. The box's worker only.
  bool TryDepart(OutgoingBox& outgoing, std::size_t worker, Frame& frame) {
    if (TrySendNow(outgoing, frame)) return true;
    if (!outgoing.box->TryPut(frame)) return false;
    // Pairs with the wire's exchange before its steps. Each box is queued at most once, so there is room.
    if (!outgoing.queued.exchange(true, std::memory_order_acq_rel)) ready_[worker].queue->TryPut(&outgoing);
    return true;
  }
  /// Moves frames, and tells whether the link has taken all that was in the box. The box's worker only.
  bool TryEmpty(OutgoingBox& outgoing) {
    bool is_empty = false;
    process_->Exclusively([&] {
      MoveFrames(true);
      is_empty = !outgoing.queued.load(std::memory_order_relaxed);
    });
    return is_empty;
  }
  /// Moves everyone's frames unless another worker is at it. Never waits. Any worker. Returns whether anything arrived.
  bool Poll() {
    if (busy_.empty()) return false;
    bool has_arrived = false;
    process_->Exclusively([&] { has_arrived = MoveFrames(); });
    return has_arrived;
  }

  /// Nothing may be put any more. Returns whether this was so already. While no other thread uses the hub.
  bool Shut() {
    const bool was_shut = std::exchange(is_shut_, true);
    NoteBusyWires();
    return was_shut;
  }
  /// Whether Shut has been called.
  bool IsShut() const { return is_shut_; }
  /// One step of saying goodbye to every peer, once nothing is put any more and under the lock; true when no
  /// frame is under way in either direction.
  bool TrySayGoodbye() {
    bool all_quiet = true;
    QueueReady();
    for (auto& wire : wires_) all_quiet &= wire->Send(true) && wire->TrySendClose() && wire->IsQuiet();
    return all_quiet;
  }
  /// One step of giving the links back, from the `first` wire's on, under the lock; true when all are.
  bool TryCloseLinks(std::size_t first = 0) {
    return std::all_of(wires_.begin() + static_cast<std::ptrdiff_t>(first), wires_.end(),
                       [](auto& wire) { return wire->TryCloseLink(); });
  }
  /// Drops the wires from the `first` one on. Returns how many buffers had to be leaked, because a peer may still
  /// use them.
  std::size_t DropWires(std::size_t first = 0) {
    std::size_t num_leaked = 0;
    for (std::size_t i = first; i < wires_.size(); ++i) {
      num_received_ += wires_[i]->NumReceived();
      num_leaked += wires_[i]->Abandon();
      std::erase_if(by_peer_, [&](const auto& entry) { return entry.second == wires_[i].get(); });
      for (auto& outgoing : outgoing_) {
        if (outgoing->wire == wires_[i].get()) outgoing->wire = nullptr;
      }
    }
    wires_.resize(std::min(first, wires_.size()));
    NoteBusyWires();
    if (num_leaked != 0) process_->Break();
    return num_leaked;
  }

  /// Boxes that are shared with a peer's are so no more. What has arrived in them must have been stepped to.
  void DetachBoxes() {
    for (auto& outgoing : outgoing_) outgoing->box->Detach();
    for (auto& incoming : incoming_) incoming->box->Detach();
  }

  /// Frames received from all peers; while no other thread uses the hub.
  std::uint64_t NumFramesReceived() const {
    std::uint64_t sum = num_received_;
    for (const auto& wire : wires_) sum += wire->NumReceived();
    for (const auto& incoming : incoming_) sum += incoming->box->NumReceived();
    return sum;
  }
  /// Where the lock is. Any thread.
  ProcessState& Process() { return *process_; }

 private:
  using ReadyQueue = RingDuct<OutgoingBox*, Sync>;
  /// What one worker has told the wires.
  struct Ready {
    std::unique_ptr<ReadyQueue> queue;
    std::size_t num_boxes = 0;
  };

  /// Sends past the box, which most frames can: then they cost no more than the link does. Without credit,
  /// looks for some.
  bool TrySendNow(OutgoingBox& outgoing, Frame& frame) {
    if (outgoing.wire == nullptr) return false;
    bool has_left = false;
    process_->Exclusively([&] {
      Connection& wire = *outgoing.wire;
      // Only this worker sets the flag, and only who holds the lock clears it: unset, the box is empty.
      const auto attempt = [&] {
        return !outgoing.queued.load(std::memory_order_relaxed) && wire.TrySendNow(frame, outgoing);
      };
      QueueReady();
      has_left = attempt();
      if (has_left) return;
      wire.Receive(incoming_);
      wire.Send();
      has_left = attempt();
    });
    return has_left;
  }
  bool MoveFrames(bool is_urgent = false) {
    std::size_t num_arrived = 0;
    for (Connection* wire : busy_) num_arrived += wire->Receive(incoming_);
    QueueReady();
    for (Connection* wire : busy_) wire->Send(is_urgent);
    return num_arrived != 0;
  }
  /// A wire between boxes that all are shared carries nothing until it is said goodbye by.
  void NoteBusyWires() {
    std::set<Connection*> used;
    for (const auto& outgoing : outgoing_) used.insert(outgoing->wire);
    for (const auto& incoming : incoming_) {
      const auto wire = by_peer_.find(incoming->peer);
      if (!incoming->box->IsShared() && wire != by_peer_.end()) used.insert(wire->second);
    }
    busy_.clear();
    for (const auto& wire : wires_) {
      if (is_shut_ || used.contains(wire.get())) busy_.push_back(wire.get());
    }
  }
  void QueueReady() {
    for (Ready& ready : ready_) {
      if (ready.queue == nullptr) continue;
      while (ready.queue->TryStep(1) != 0) ready.queue->Get()->wire->Queue(ready.queue->Get());
    }
  }

  std::shared_ptr<ProcessState> process_;
  std::vector<std::unique_ptr<OutgoingBox>> outgoing_;
  std::vector<std::unique_ptr<IncomingBox>> incoming_;
  std::vector<Ready> ready_;
  std::vector<std::unique_ptr<Connection>> wires_;
  std::vector<Connection*> busy_;  // of those, in their order
  std::map<std::size_t, Connection*> by_peer_;
  std::uint64_t num_received_ = 0;  // over wires dropped
  bool is_shut_ = false;
};

/// That of a process.
using ProgressEngine = BasicProgressEngine<Spsc>;

}  // namespace uit
