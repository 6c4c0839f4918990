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

/// A box whose frames a wire sends. Its worker puts; the wire's holder steps. `Sync`: see BasicFrameBox.
template <Synchronization Sync>
struct BasicOutgoingBox {
  std::shared_ptr<BasicFrameBox<Sync>> box;  ///< shared with the sending half
  std::size_t peer = 0;            ///< rank that the frames are for
  std::uint32_t remote_index = 0;  ///< the peer's number for its incoming box; agreed when connecting
  BasicConnection<Sync>* wire = nullptr;  ///< null until connected
  bool keeps_pace = false;         ///< its frames may be replaced, and wait for that if the peer lags
  /// Whether the wire knows already that there is something to send. The worker sets it after its put;
  /// the wire clears it before it steps, so a put that finds it set is always seen. Set from the beginning,
  /// because connecting queues every new box.
  typename Sync::template Atomic<bool> queued{true};
};

/// A box that a wire fills with frames received. The wire's holder puts; a worker steps.
template <Synchronization Sync>
struct BasicIncomingBox {
  std::shared_ptr<BasicFrameBox<Sync>> box;  ///< shared with the receiving half
  std::size_t frame_bytes = 0;    ///< payload of its largest frame
  std::size_t peer = 0;           ///< rank that the frames are from
  Frame spare{};                  ///< the buffer that the next Put starts from

  /// Moves a frame that has arrived to the box. The sender's window sees to it that there is room.
  void Put(Frame& arrived) {
    if (arrived.Header().num_bytes > frame_bytes) throw Error("a frame is larger than its exchange agreed on");
    spare.Reserve(frame_bytes);
    spare.Take(arrived);
    if (!box->TryPut(spare)) throw Error("a peer has sent more frames than its window allows");
  }
};

/// Both directions between this process and one peer: counts frames against credits, and acknowledges.
///
/// Frame n leaves only if fewer than `num_slots` before it are unacknowledged, so what the peer must hold
/// is bounded. An acknowledgement is cumulative, given when the receive has been posted again, rides in
/// every frame, and goes alone once half the slots await one; it needs no credit. Frames that newer ones may replace are
/// spread over the time that a peer takes to acknowledge a window of them (see Pace). Whoever holds the process's lock
/// may call; nobody else. `Sync`: see BasicFrameBox.
template <Synchronization Sync>
class BasicConnection {
 public:
  /// What it empties.
  using OutgoingBox = BasicOutgoingBox<Sync>;
  /// What it fills.
  using IncomingBox = BasicIncomingBox<Sync>;

  /// Receives to post beyond the credits: two acknowledgements may be under way, a close, and the last acknowledgement.
  static constexpr std::size_t num_uncredited = 4;
  /// Frames of a box that leave before other boxes have their turn.
  static constexpr int frames_per_turn = 4;
  /// Turns that a pace leaves out at most, unless it is told otherwise.
  static constexpr std::uint32_t default_max_pace = 256;

  /// A wire over an open link, with a window of `num_slots` frames each way, and a pace that leaves out at most `max_pace`
  /// turns. Both sides count frames from `start`, modulo 2^32, so that a test meets the wrap at once.
  BasicConnection(AnyLink link, std::size_t num_slots, std::uint32_t start = 0, std::uint32_t max_pace = default_max_pace)
      : link_(std::move(link)),
        num_slots_(static_cast<std::uint32_t>(num_slots)),
        control_(0),
        pace_(max_pace),
        sent_(start),
        acknowledged_(start),
        received_(start),
        acknowledged_to_peer_(start) {}

  /// Makes room for that many boxes to queue; those that do already keep their places.
  void Reserve(std::size_t num_boxes) {
    auto larger = MakeRef<RingDuct<OutgoingBox*, Unsynchronized>>(std::max<std::size_t>(num_boxes, 1));
    while (waiting_ != nullptr && waiting_->TryStep(1) != 0) larger->TryPut(waiting_->Get());
    waiting_ = std::move(larger);
  }

  /// Queues a box that has something to send. Each box at most once: its flag says so.
  void Queue(OutgoingBox* outgoing) {
    waiting_->TryPut(outgoing);
    ++num_waiting_;
    num_waiting_paced_ += outgoing->keeps_pace ? 1 : 0;
  }

  /// Receives what has arrived, at most one window of it. Returns how many frames.
  std::size_t Receive(std::vector<std::unique_ptr<IncomingBox>>& incoming) {
    std::uint32_t num_frames = 0;
    while (num_frames <= num_slots_ && link_.TryReceive(arrived_)) {
      ++num_frames;
      Accept(incoming);
    }
    return num_frames;
  }

  /// Sends a frame past the queues, if nothing is waiting before it and it need not keep pace. Its box must be empty and
  /// not queued.
  bool TrySendNow(Frame& frame, const OutgoingBox& outgoing) {
    if (num_waiting_ != 0 || !HasCredit()) return false;
    if (pace_.NumTurns() != 0 && outgoing.keeps_pace) return false;
    SendData(frame, outgoing.remote_index);
    return true;
  }

  /// Sends what credits and the link allow, box by box in turns, then an acknowledgement if one is due. Boxes whose frames
  /// may be replaced keep the pace, unless it is urgent. Returns whether everything queued has left.
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

  /// Says goodbye: no data will follow. Once everything queued has left.
  bool TrySendClose() {
    if (!close_sent_) close_sent_ = link_.HasRoom() && SendControl(FrameKind::close);
    return close_sent_;
  }
  /// Whether both sides have said goodbye and know it: no frame is under way in either direction.
  bool IsQuiet() {
    if (!close_sent_ || !close_received_) return false;
    if (acknowledged_to_peer_ != received_) SendCredit();
    return acknowledged_to_peer_ == received_ && acknowledged_ == sent_;
  }
  /// See Link.
  bool TryCloseLink() { return link_.TryClose(); }
  /// Gives up on the peer: leaks the link's buffers still in use, and returns how many.
  std::size_t Abandon() { return link_.Abandon(); }

  /// Frames sent that the peer has not acknowledged.
  std::uint32_t NumUnacknowledged() const { return sent_ - acknowledged_; }
  /// Frames received, of every kind.
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
    // Pairs with the worker's exchange after its put: what was put before it is seen by the steps below.
    outgoing->queued.exchange(false, std::memory_order_acq_rel);
    for (int i = 0; i < frames_per_turn && HasCredit(); ++i) {
      if (!outgoing->box->TryStep()) return;
      SendData(outgoing->box->Get(), outgoing->remote_index);
      if (outgoing->box->KeepsLatest()) return;  // what is put later queues the box again
    }
    // There may be more: it goes to the back of the line, unless its worker has queued it again. Relaxed: nothing was done
    // since the exchange above that the worker need see, and an exchange hands on what the worker's before it released.
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
    // Cumulative and in order, so the newest is the largest, modulo 2^32.
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
      throw Error("a peer has sent a frame to box " + std::to_string(header.entry) + ", which there is not");
    incoming[header.entry]->Put(arrived_);
  }

  AnyLink link_;
  std::uint32_t num_slots_;
  Ref<RingDuct<OutgoingBox*, Unsynchronized>> waiting_;
  std::size_t num_waiting_ = 0;
  std::size_t num_waiting_paced_ = 0;  // of those
  Frame arrived_;
  Frame control_;
  Pace pace_;
  std::uint32_t sent_;          // data and close frames
  std::uint32_t acknowledged_;  // of those, by the peer
  std::uint32_t received_;
  std::uint32_t acknowledged_to_peer_;
  std::uint64_t num_received_ = 0;
  bool close_sent_ = false;
  bool close_received_ = false;
};

using OutgoingBox = BasicOutgoingBox<Spsc>;  ///< of a process
using IncomingBox = BasicIncomingBox<Spsc>;  ///< of a process
using Connection = BasicConnection<Spsc>;                ///< of a process

}  // namespace uit
