#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <uit/duct/ring_duct.hpp>
#include <uit/support/error.hpp>
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
  Frame spare{};                  ///< the buffer that the next Put uses

  /// Moves a frame that has arrived to the box. The sender's window ensures that there is room. Throws if the frame is
  /// too large or there is no room.
  void Put(Frame& arrived) {
    if (arrived.Header().num_bytes > frame_bytes) throw Error("a frame is larger than its exchange agreed on");
    spare.Reserve(frame_bytes);
    spare.Take(arrived);
    if (!box->TryPut(spare)) throw Error("a peer has sent more frames than its window allows");
  }
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
  BasicConnection(AnyLink link, std::size_t num_slots, std::uint32_t start = 0, std::uint32_t max_pace = default_max_pace)
      : link_(std::move(link)),
        num_slots_(static_cast<std::uint32_t>(num_slots)),
        control_(0),
        pace_(max_pace),
        sent_(start),
        acknowledged_(start),
        received_(start),
        acknowledged_to_peer_(start) {}

  /// Makes room for `num_boxes` boxes in the queue. Boxes in the queue keep their places.
  void Reserve(std::size_t num_boxes) {
    auto larger = MakeRef<RingDuct<OutgoingBox*, Unsynchronized>>(std::max<std::size_t>(num_boxes, 1));
    while (waiting_ != nullptr && waiting_->TryStep(1) != 0) larger->TryPut(waiting_->Get());
    waiting_ = std::move(larger);
  }

  /// Queues a box that has something to send. Its flag `queued` ensures that each box is queued at most once.
  void Queue(OutgoingBox* outgoing) {
    waiting_->TryPut(outgoing);
    ++num_waiting_;
    num_waiting_paced_ += outgoing->keeps_pace ? 1 : 0;
  }

  /// Receives frames that have arrived, at most one window and one more. Returns how many.
  std::size_t Receive(std::vector<std::unique_ptr<IncomingBox>>& incoming) {
    std::uint32_t num_frames = 0;
    while (num_frames <= num_slots_ && link_.TryReceive(arrived_)) {
      ++num_frames;
      Accept(incoming);
    }
    return num_frames;
  }

  /// Sends a frame without queuing it, if no other frame waits and it need not be paced. Its box must be empty and not
  /// queued. Returns whether the frame was sent.
  bool TrySendNow(Frame& frame, const OutgoingBox& outgoing) {
    if (num_waiting_ != 0 || !HasCredit()) return false;
    if (pace_.NumTurns() != 0 && outgoing.keeps_pace) return false;
    SendData(frame, outgoing.remote_index);
    return true;
  }

  /// Sends as many frames as the credits and the link allow, box by box in turns, then an acknowledgement if one is due.
  /// Boxes whose frames may be replaced are paced, unless `is_urgent`. Returns whether everything queued has left.
  bool Send(bool is_urgent = false) {
    if (num_waiting_ != 0) {
      const bool is_held_back = !pace_.TakeTurn() && !is_urgent;
      std::size_t num_held_back = 0;
      while (num_waiting_ > num_held_back && HasCredit()) {
        OutgoingBox* const outgoing = TakeWaiting();
        if (is_held_back && outgoing->keeps_pace) {
          Queue(outgoing);
          ++num_held_back;
        } else {
          TakeTurn(outgoing);
        }
      }
      if (num_waiting_ > num_held_back && num_waiting_ == num_waiting_paced_) pace_.NoteShut();
    }
    if (received_ - acknowledged_to_peer_ >= num_slots_ - num_slots_ / 2) SendCredit();
    return num_waiting_ == 0;
  }

  /// Sends the close frame: no data will follow. Call it once everything queued has left. Returns whether it has been
  /// sent.
  bool TrySendClose() {
    if (!close_sent_) close_sent_ = link_.HasRoom() && SendControl(FrameKind::close);
    return close_sent_;
  }
  /// Whether both sides have sent and acknowledged their close frames, so that no frame is in flight in either direction.
  /// Sends a missing acknowledgement.
  bool IsQuiet() {
    if (!close_sent_ || !close_received_) return false;
    if (acknowledged_to_peer_ != received_) SendCredit();
    return acknowledged_to_peer_ == received_ && acknowledged_ == sent_;
  }
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

  OutgoingBox* TakeWaiting() {
    waiting_->TryStep(1);
    OutgoingBox* const outgoing = waiting_->Get();
    --num_waiting_;
    num_waiting_paced_ -= outgoing->keeps_pace ? 1 : 0;
    return outgoing;
  }
  void TakeTurn(OutgoingBox* outgoing) {
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

  void SendData(Frame& frame, std::uint32_t remote_index) {
    frame.Header().entry = remote_index;
    frame.Header().kind = FrameKind::data;
    Stamp(frame);
    ++sent_;
    link_.TrySend(frame);
  }
  void SendCredit() {
    if (link_.HasRoom()) SendControl(FrameKind::credit);
  }
  bool SendControl(FrameKind kind) {
    control_.Header() = FrameHeader{};
    control_.Header().kind = kind;
    Stamp(control_);
    if (kind == FrameKind::close) ++sent_;
    return link_.TrySend(control_);
  }
  void Stamp(Frame& frame) {
    frame.Header().acknowledged = received_;
    acknowledged_to_peer_ = received_;
  }

  void Accept(std::vector<std::unique_ptr<IncomingBox>>& incoming) {
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
