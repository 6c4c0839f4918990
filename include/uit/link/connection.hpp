#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include <uit/config.hpp>
#include <uit/duct/ring_duct.hpp>
#include <uit/support/sync.hpp>
#include <uit/link/frame_box.hpp>
#include <uit/link/link.hpp>
#include <uit/link/pace.hpp>

namespace uit {

template <Synchronization Sync>
class BasicConnection;

/// A box whose frames a connection sends. The box's worker puts; the thread that holds the process's lock steps. `Sync`:
/// see BasicFrameBox.
template <Synchronization Sync>
struct BasicOutgoingBox {
  std::shared_ptr<BasicFrameBox<Sync>> box;  ///< shared with the sending half
  std::size_t peer = 0;            ///< rank of the receiver
  std::uint32_t remote_index = 0;  ///< the peer's number for its incoming box; agreed on in Connect
  BasicConnection<Sync>* connection = nullptr;  ///< null until connected
  bool keeps_pace = false;         ///< newer frames may replace its frames, so they are paced if the peer is slow
  /// Whether the connection knows that there is something to send. The worker sets the flag after its put. The connection
  /// clears it before it steps, so it always sees a put that found the flag set. Initially true, because connecting
  /// queues every new box.
  typename Sync::template Atomic<bool> queued{true};
};

/// A box that a connection fills with received frames. The thread that holds the process's lock puts; a worker steps.
template <Synchronization Sync>
struct BasicIncomingBox {
  std::shared_ptr<BasicFrameBox<Sync>> box;  ///< shared with the receiving half
  std::size_t frame_bytes = 0;    ///< payload of its largest frame
  std::size_t peer = 0;           ///< rank of the sender
  BasicConnection<Sync>* connection = nullptr;  ///< that fills the box, once it is active and unless it is shared
  Frame spare{};                  ///< the buffer that the next Put uses

  /// Moves a frame that has arrived to the box. The sender's window ensures that there is room. Throws if the frame is
  /// too large or there is no room.
  void Put(Frame& arrived);
};

/// The connection to one peer, in both directions: counts frames against credits, and acknowledges them.
///
/// A frame leaves only if fewer than `num_slots` earlier frames are unacknowledged. This bounds what the peer must hold.
/// An acknowledgement is cumulative and needs no credit. It is given after the receive has been posted again. Every frame
/// carries one, and a frame of its own carries it once half the slots await one. Frames that newer ones may replace are
/// spread over the time in which the peer acknowledges a window of them (see Pace). Only the thread that holds the
/// process's lock may call. `Sync`: see BasicFrameBox.
template <Synchronization Sync>
class BasicConnection {
 public:
  /// The boxes that it empties.
  using OutgoingBox = BasicOutgoingBox<Sync>;
  /// The boxes that it fills.
  using IncomingBox = BasicIncomingBox<Sync>;

  /// Receives to post beyond the credits: for two acknowledgements in flight, a close frame, and the last
  /// acknowledgement.
  static constexpr std::size_t num_uncredited = 4;
  /// Frames of a box that leave before other boxes have their turn.
  static constexpr int frames_per_turn = 4;
  /// Turns that the pace skips at most, by default.
  static constexpr std::uint32_t default_max_pace = 256;

  /// A connection over an open link, with a window of `num_slots` frames in each direction, and a pace that skips at most
  /// `max_pace` turns. Both sides count frames from `start`, modulo 2^32, so that a test can reach the overflow at once.
  BasicConnection(AnyLink link, std::size_t num_slots, std::uint32_t start = 0, std::uint32_t max_pace = default_max_pace);

  /// Makes room for `num_boxes` boxes in the queue. Boxes in the queue keep their places.
  void Reserve(std::size_t num_boxes);

  /// Queues a box that has something to send. Its flag `queued` ensures that each box is queued at most once.
  void Queue(OutgoingBox* outgoing);

  /// Receives frames that have arrived, at most one window and one more. Returns how many.
  std::size_t Receive(std::vector<std::unique_ptr<IncomingBox>>& incoming);

  /// Sends a frame without queuing it, if no other frame waits and it need not be paced. Its box must be empty and not
  /// queued. Returns whether the frame was sent.
  bool TrySendNow(Frame& frame, const OutgoingBox& outgoing);

  /// Sends as many frames as the credits and the link allow, box by box in turns, then an acknowledgement if one is due.
  /// Boxes whose frames may be replaced are paced, unless `is_urgent`. Returns whether everything queued has left.
  bool Send(bool is_urgent = false);

  /// Sends the close frame: no messages will follow, but perhaps reports of what was read. Call it once everything queued has left.
  /// Returns whether it has been sent.
  bool TrySendClose();
  /// Whether both sides have sent and acknowledged their close frames, so that no frame is in flight in either direction.
  /// Sends a missing acknowledgement.
  bool IsQuiet();
  /// See Link.
  bool TryCloseLink() { return link_.TryClose(); }
  /// Gives up on the peer: leaks the link's buffers still in use, and returns how many.
  std::size_t Abandon() { return link_.Abandon(); }

  /// Returns the number of frames sent that the peer has not acknowledged.
  std::uint32_t NumUnacknowledged() const { return sent_ - acknowledged_; }
  /// Returns the number of frames received, of all kinds.
  std::uint64_t NumReceived() const { return num_received_; }

 private:
  bool HasCredit() { return sent_ - acknowledged_ < num_slots_ && link_.HasRoom(); }

  OutgoingBox* TakeWaiting();
  void TakeTurn(OutgoingBox* outgoing);

  void SendData(Frame& frame, std::uint32_t remote_index);
  void SendCredit();
  bool SendControl(FrameKind kind);
  void Stamp(Frame& frame);

  void Accept(std::vector<std::unique_ptr<IncomingBox>>& incoming);

  AnyLink link_;
  std::uint32_t num_slots_;
  Ref<RingDuct<OutgoingBox*, Unsynchronized>> waiting_;
  std::size_t num_waiting_ = 0;
  std::size_t num_waiting_paced_ = 0;  // boxes of waiting_ that are paced
  Frame arrived_;
  Frame control_;
  Pace pace_;
  std::uint32_t sent_;          // data and close frames
  std::uint32_t acknowledged_;  // frames of sent_ that the peer has acknowledged
  std::uint32_t received_;
  std::uint32_t acknowledged_to_peer_;
  std::uint64_t num_received_ = 0;
  bool close_sent_ = false;
  bool close_received_ = false;
};

using OutgoingBox = BasicOutgoingBox<Spsc>;  ///< between threads
using IncomingBox = BasicIncomingBox<Spsc>;  ///< between threads
using Connection = BasicConnection<Spsc>;    ///< between threads

}  // namespace uit

#if UIT_COMPILED
extern template struct uit::BasicIncomingBox<uit::Spsc>;
extern template class uit::BasicConnection<uit::Spsc>;
#else
#include <uit/link/connection.ipp>
#endif
