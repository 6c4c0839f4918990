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

/// Owns the connections of a process, and the boxes that they empty and fill. The worker that holds the process's lock
/// moves the frames of all workers; the other workers continue without waiting.
///
/// Boxes and connections are added and closed while no other thread uses the engine. `Sync`: see BasicFrameBox.
template <Synchronization Sync>
class BasicProgressEngine {
 public:
  using FrameBox = BasicFrameBox<Sync>;          ///< between this engine and a half of an exchange
  using OutgoingBox = BasicOutgoingBox<Sync>;    ///< with frames to send
  using IncomingBox = BasicIncomingBox<Sync>;    ///< for frames received
  using Connection = BasicConnection<Sync>;      ///< to one peer
  using ProcessState = BasicProcessState<Sync>;  ///< has the lock

  /// An engine without boxes and connections, which uses the process's lock. Workers are numbered from 0.
  BasicProgressEngine(std::shared_ptr<ProcessState> process, std::size_t num_workers)
      : process_(std::move(process)), ready_(num_workers) {}

  /// Returns the number of threads that may own boxes.
  std::size_t NumWorkers() const { return ready_.size(); }

  /// Adds a box that a worker fills with frames for a peer. Frames wait in it until Activate. If `is_urgent`, frames that
  /// newer ones may replace are not paced: they leave as soon as there is room.
  OutgoingBox& AddOutgoing(std::size_t peer, std::size_t worker, std::shared_ptr<FrameBox> box, bool is_urgent) {
    outgoing_.push_back(std::make_unique<OutgoingBox>());
    outgoing_.back()->keeps_pace = box->KeepsLatest() && !is_urgent;
    outgoing_.back()->box = std::move(box);
    outgoing_.back()->peer = peer;
    ++ready_[worker].num_boxes;
    return *outgoing_.back();
  }
  /// Adds a box that a connection fills with frames of a peer, with payloads of up to `frame_bytes`.
  void AddIncoming(std::size_t peer, std::shared_ptr<FrameBox> box, std::size_t frame_bytes) {
    incoming_.push_back(std::make_unique<IncomingBox>(IncomingBox{std::move(box), frame_bytes, peer}));
  }
  /// Returns a box by number, in the order in which boxes were added.
  OutgoingBox& Outgoing(std::size_t index) { return *outgoing_[index]; }
  /// Returns an incoming box by number, likewise.
  IncomingBox& Incoming(std::size_t index) { return *incoming_[index]; }
  /// Returns the number of outgoing boxes, which is the number of the next one.
  std::uint32_t NumOutgoing() const { return static_cast<std::uint32_t>(outgoing_.size()); }
  /// Returns the number of incoming boxes. This is the number of the next one, by which the peer addresses it.
  std::uint32_t NumIncoming() const { return static_cast<std::uint32_t>(incoming_.size()); }

  /// Adds a connection to a peer; see Connection.
  void AddConnection(std::size_t peer, AnyLink link, std::size_t num_slots,
                     std::uint32_t max_pace = Connection::default_max_pace) {
    connections_.push_back(std::make_unique<Connection>(std::move(link), num_slots, 0, max_pace));
    by_peer_[peer] = connections_.back().get();
  }
  /// Whether a connection to the peer exists.
  bool HasConnection(std::size_t peer) const { return by_peer_.contains(peer); }
  /// Returns the number of connections added and not dropped.
  std::size_t NumConnections() const { return connections_.size(); }

  /// Lets frames move between all boxes and their connections from now on, except boxes in memory shared with the peer.
  /// The peers' connections must be open too.
  void Activate() {
    for (auto& connection : connections_) connection->Reserve(outgoing_.size());
    QueueReady();
    for (Ready& ready : ready_) ready.queue = std::make_unique<ReadyQueue>(std::max<std::size_t>(ready.num_boxes, 1));
    for (auto& outgoing : outgoing_) {
      if (outgoing->connection != nullptr || outgoing->box->IsShared()) continue;
      outgoing->connection = by_peer_.at(outgoing->peer);
      outgoing->connection->Queue(outgoing.get());
    }
    NoteBusyConnections();
  }

  /// Sends a frame, or leaves it in the box to be sent later. Returns false, with nothing changed, if there is no room.
  /// Afterwards `frame` is a spare buffer. The box's worker only.
  bool TryDepart(OutgoingBox& outgoing, std::size_t worker, Frame& frame) {
    if (TrySendNow(outgoing, frame)) return true;
    if (!outgoing.box->TryPut(frame)) return false;
    // Pairs with the connection's exchange before its steps. Each box is queued at most once, so there is room.
    if (!outgoing.queued.exchange(true, std::memory_order_acq_rel)) ready_[worker].queue->TryPut(&outgoing);
    return true;
  }
  /// Moves frames. Returns whether the link has taken all frames in the box. The box's worker only.
  bool TryEmpty(OutgoingBox& outgoing) {
    bool is_empty = false;
    process_->Exclusively([&] {
      MoveFrames(true);
      is_empty = !outgoing.queued.load(std::memory_order_relaxed);
    });
    return is_empty;
  }
  /// Moves the frames of all workers, unless another worker is doing so. Never waits. Any worker. Returns whether
  /// anything arrived.
  bool Poll() {
    if (busy_.empty()) return false;
    bool has_arrived = false;
    process_->Exclusively([&] { has_arrived = MoveFrames(); });
    return has_arrived;
  }

  /// Closes the engine to puts. Returns whether it was closed already. Call it while no other thread uses the engine.
  bool Shut() {
    const bool was_shut = std::exchange(is_shut_, true);
    NoteBusyConnections();
    return was_shut;
  }
  /// Whether Shut has been called.
  bool IsShut() const { return is_shut_; }
  /// Performs one step of closing all connections. Call it under the lock, once nothing is put any more. Returns true
  /// when no frame is in flight in either direction.
  bool TrySayGoodbye() {
    bool all_quiet = true;
    QueueReady();
    for (auto& connection : connections_)
      all_quiet &= connection->Send(true) && connection->TrySendClose() && connection->IsQuiet();
    return all_quiet;
  }
  /// Performs one step of closing the links, from the connection numbered `first` on. Call it under the lock. Returns
  /// true when all are closed.
  bool TryCloseLinks(std::size_t first = 0) {
    return std::all_of(connections_.begin() + static_cast<std::ptrdiff_t>(first), connections_.end(),
                       [](auto& connection) { return connection->TryCloseLink(); });
  }
  /// Drops the connections from the one numbered `first` on. Returns how many buffers were leaked because a peer may
  /// still use them.
  std::size_t DropConnections(std::size_t first = 0) {
    std::size_t num_leaked = 0;
    for (std::size_t i = first; i < connections_.size(); ++i) {
      num_received_ += connections_[i]->NumReceived();
      num_leaked += connections_[i]->Abandon();
      std::erase_if(by_peer_, [&](const auto& entry) { return entry.second == connections_[i].get(); });
      for (auto& outgoing : outgoing_) {
        if (outgoing->connection == connections_[i].get()) outgoing->connection = nullptr;
      }
    }
    connections_.resize(std::min(first, connections_.size()));
    NoteBusyConnections();
    if (num_leaked != 0) process_->Break();
    return num_leaked;
  }

  /// Stops the use of boxes in memory shared with a peer. Step to all frames that have arrived in them before.
  void DetachBoxes() {
    for (auto& outgoing : outgoing_) outgoing->box->Detach();
    for (auto& incoming : incoming_) incoming->box->Detach();
  }

  /// Returns the number of frames received from all peers. Call it while no other thread uses the engine.
  std::uint64_t NumFramesReceived() const {
    std::uint64_t sum = num_received_;
    for (const auto& connection : connections_) sum += connection->NumReceived();
    for (const auto& incoming : incoming_) sum += incoming->box->NumReceived();
    return sum;
  }
  /// Returns the process state, which has the lock. Any thread.
  ProcessState& Process() { return *process_; }

 private:
  using ReadyQueue = RingDuct<OutgoingBox*, Sync>;
  /// The boxes of one worker that have something to send.
  struct Ready {
    std::unique_ptr<ReadyQueue> queue;
    std::size_t num_boxes = 0;
  };

  /// Sends a frame without putting it in its box. Most frames can take this path, and then cost no more than the link
  /// does. If there is no credit, receives frames once to find some.
  bool TrySendNow(OutgoingBox& outgoing, Frame& frame) {
    if (outgoing.connection == nullptr) return false;
    bool has_left = false;
    process_->Exclusively([&] {
      Connection& connection = *outgoing.connection;
      // Only this worker sets the flag, and only the thread that holds the lock clears it. So if it is not set, the box
      // is empty.
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
  bool MoveFrames(bool is_urgent = false) {
    std::size_t num_arrived = 0;
    for (Connection* connection : busy_) num_arrived += connection->Receive(incoming_);
    QueueReady();
    for (Connection* connection : busy_) connection->Send(is_urgent);
    return num_arrived != 0;
  }
  /// Lists the connections to poll. If all boxes of a connection are in shared memory, it carries no frames until it
  /// closes.
  void NoteBusyConnections() {
    std::set<Connection*> used;
    for (const auto& outgoing : outgoing_) used.insert(outgoing->connection);
    for (const auto& incoming : incoming_) {
      const auto connection = by_peer_.find(incoming->peer);
      if (!incoming->box->IsShared() && connection != by_peer_.end()) used.insert(connection->second);
    }
    busy_.clear();
    for (const auto& connection : connections_) {
      if (is_shut_ || used.contains(connection.get())) busy_.push_back(connection.get());
    }
  }
  void QueueReady() {
    for (Ready& ready : ready_) {
      if (ready.queue == nullptr) continue;
      while (ready.queue->TryStep(1) != 0) ready.queue->Get()->connection->Queue(ready.queue->Get());
    }
  }

  std::shared_ptr<ProcessState> process_;
  std::vector<std::unique_ptr<OutgoingBox>> outgoing_;
  std::vector<std::unique_ptr<IncomingBox>> incoming_;
  std::vector<Ready> ready_;
  std::vector<std::unique_ptr<Connection>> connections_;
  std::vector<Connection*> busy_;  // the connections to poll, in the order of connections_
  std::map<std::size_t, Connection*> by_peer_;
  std::uint64_t num_received_ = 0;  // received by connections that have been dropped
  bool is_shut_ = false;
};

/// The progress engine of a process.
using ProgressEngine = BasicProgressEngine<Spsc>;

}  // namespace uit
