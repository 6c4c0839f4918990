#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <vector>

#include <uit/config.hpp>
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
  BasicProgressEngine(std::shared_ptr<ProcessState> process, std::size_t num_workers);
  ~BasicProgressEngine();

  /// Returns the number of threads that may own boxes.
  std::size_t NumWorkers() const { return ready_.size(); }

  /// Adds a box that a worker fills with frames for a peer. Frames wait in it until Activate. If `is_urgent`, frames that
  /// newer ones may replace are not paced: they leave as soon as there is room.
  OutgoingBox& AddOutgoing(std::size_t peer, std::size_t worker, std::shared_ptr<FrameBox> box, bool is_urgent);
  /// Adds a box that a connection fills with frames of a peer, with payloads of up to `frame_bytes`.
  void AddIncoming(std::size_t peer, std::shared_ptr<FrameBox> box, std::size_t frame_bytes);
  /// Returns a box by number, in the order in which boxes were added.
  OutgoingBox& Outgoing(std::size_t index) { return *outgoing_[index]; }
  /// Returns an incoming box by number, likewise.
  IncomingBox& Incoming(std::size_t index) { return *incoming_[index]; }
  /// Returns the number of outgoing boxes, which is the number of the next one.
  std::uint32_t NumOutgoing() const { return static_cast<std::uint32_t>(outgoing_.size()); }
  /// Returns the number of incoming boxes. This is the number of the next one, by which the peer addresses it.
  std::uint32_t NumIncoming() const { return static_cast<std::uint32_t>(incoming_.size()); }

  /// Adds a connection to a peer; see Connection. Boxes that Activate finds use the peer's newest one.
  void AddConnection(std::size_t peer, AnyLink link, std::size_t num_slots,
                     std::uint32_t max_pace = Connection::default_max_pace);
  /// Returns the number of connections added and not dropped.
  std::size_t NumConnections() const { return connections_.size(); }

  /// Lets frames move between all boxes and their connections from now on, except boxes in memory shared with the peer.
  /// The peers' connections must be open too.
  void Activate();

  /// Sends a frame, or leaves it in the box to be sent later. Returns false, with nothing changed, if there is no room.
  /// Afterwards `frame` is a spare buffer. The box's worker only.
  bool TryDepart(OutgoingBox& outgoing, std::size_t worker, Frame& frame);
  /// Returns whether the link has taken all frames in the box. Moves frames, those of all peers, if it has not. The box's worker only.
  bool TryEmpty(OutgoingBox& outgoing);
  /// Moves the frames of all workers, unless another worker is doing so. Never waits. Any worker. Returns whether
  /// anything arrived.
  bool Poll();

  /// Closes the engine to puts. Returns whether it was closed already. Call it while no other thread uses the engine.
  bool Shut();
  /// Whether Shut has been called.
  bool IsShut() const { return is_shut_; }
  /// Performs one step of closing all connections. Call it under the lock, once nothing is put any more. Returns true
  /// when no frame is in flight in either direction.
  bool TrySayGoodbye();
  /// Performs one step of closing the links, from the connection numbered `first` on. Call it under the lock. Returns
  /// true when all are closed.
  bool TryCloseLinks(std::size_t first = 0);
  /// Drops the connections from the one numbered `first` on. Returns how many buffers were leaked because a peer may
  /// still use them.
  std::size_t DropConnections(std::size_t first = 0);

  /// Stops the use of boxes in memory shared with a peer. Step to all frames that have arrived in them before.
  void DetachBoxes();

  /// Returns the number of frames received from all peers. Call it while no other thread uses the engine.
  std::uint64_t NumFramesReceived() const;
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
  bool TrySendNow(OutgoingBox& outgoing, Frame& frame);
  bool MoveFrames(bool is_urgent = false);
  /// Lists the connections to poll. If all boxes of a connection are in shared memory, it carries no frames until it
  /// closes.
  void NoteBusyConnections();
  void QueueReady();

  std::shared_ptr<ProcessState> process_;
  std::vector<std::unique_ptr<OutgoingBox>> outgoing_;
  std::vector<std::unique_ptr<IncomingBox>> incoming_;
  std::vector<Ready> ready_;
  std::vector<std::unique_ptr<Connection>> connections_;
  std::vector<Connection*> busy_;  // the connections to poll, in the order of connections_
  std::map<std::size_t, std::vector<Connection*>> by_peer_;  // the newest last
  std::uint64_t num_received_ = 0;  // received by connections that have been dropped
  bool is_shut_ = false;
};

/// The progress engine of a process.
using ProgressEngine = BasicProgressEngine<Spsc>;

}  // namespace uit

#if UIT_COMPILED
extern template class uit::BasicProgressEngine<uit::Spsc>;
#else
#include <uit/link/progress_engine.ipp>
#endif
