#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <utility>
#include <variant>

#include <uit/config.hpp>
#include <uit/duct/mailbox_duct.hpp>
#include <uit/duct/ring_duct.hpp>
#include <uit/support/bytes.hpp>
#include <uit/support/sync.hpp>
#include <uit/link/frame.hpp>
#include <uit/link/shared_box.hpp>
#include <uit/link/shared_mailbox.hpp>
#include <uit/link/shared_ring.hpp>

namespace uit {

/// Where frames wait between the two halves of an exchange, or between a half and the wire: a duct
/// of frames, one thread putting and another stepping. Buffers circulate through it; each comes
/// from the putting side's first laps, so that later ones allocate nothing.
///
/// Between processes that share memory it has an end in either: what the one puts, the other steps to.
///
/// `Sync` and `AtomicRef` bring the atomics: those of std, or of a model that explores every schedule.
template <Synchronization Sync, template <typename> class AtomicRef = std::atomic_ref>
class BasicFrameBox {
 public:
  /// A box that keeps every frame, up to `depth` of them. Throws std::invalid_argument for a depth that no ring can
  /// have.
  static std::shared_ptr<BasicFrameBox> Every(std::size_t depth) {
    return std::shared_ptr<BasicFrameBox>(new BasicFrameBox(std::in_place_type<Ring>, depth));
  }
  /// A box that keeps the newest frame.
  static std::shared_ptr<BasicFrameBox> Latest() {
    return std::shared_ptr<BasicFrameBox>(new BasicFrameBox(std::in_place_type<Mailbox>));
  }

  /// Whether a newer frame replaces one that waits. Any thread.
  bool KeepsLatest() const { return depth_ == 0; }
  /// Takes the frame if there is room; `frame` is then a spare buffer, or none yet. Putting thread only.
  UIT_INLINE bool TryPut(Frame& frame) {
    switch (duct_.index()) {
      case 0: return std::get_if<0>(&duct_)->TryPut(std::move(frame));
      case 1: return std::get_if<1>(&duct_)->TryPut(std::move(frame));
      case 2: return std::get_if<2>(&duct_)->TryPut(std::move(frame));
      case 3: return std::get_if<3>(&duct_)->TryPut(std::move(frame));
      default: return false;  // nobody puts on this side
    }
  }
  /// Goes on to the next frame, if there is one. Stepping thread only.
  UIT_INLINE bool TryStep() {
    switch (duct_.index()) {
      case 0: return std::get_if<0>(&duct_)->TryStep(1) != 0;
      case 1: return std::get_if<1>(&duct_)->TryStep(1) != 0;
      case 4: return std::get_if<4>(&duct_)->TryStep(1) != 0;
      case 5: return std::get_if<5>(&duct_)->TryStep(1) != 0;
      default: return false;  // nobody steps on this side
    }
  }
  /// The frame last stepped to; its buffer may be swapped out. Stepping thread only.
  UIT_INLINE Frame& Get() {
    switch (duct_.index()) {
      case 0: return std::get_if<0>(&duct_)->Get();
      case 1: return std::get_if<1>(&duct_)->Get();
      case 4: return std::get_if<4>(&duct_)->Get();
      case 5: return std::get_if<5>(&duct_)->Get();
      default: std::abort();  // nothing has been stepped to on this side
    }
  }

  // With an end in either of two processes that share memory. Called while no other thread uses the box.

  /// Bytes of shared memory for frames with payloads of up to `payload_bytes`.
  std::size_t SharedBytes(std::size_t payload_bytes) const {
    const std::size_t largest = sizeof(FrameHeader) + payload_bytes;
    return KeepsLatest() ? shared_mailbox::BytesFor(largest) : shared_ring::BytesFor(largest, depth_);
  }
  /// How many of those bytes are for frames, without the head.
  std::size_t SharedFrameBytes(std::size_t payload_bytes) const {
    return SharedBytes(payload_bytes) - (KeepsLatest() ? sizeof(shared_mailbox::Head) : sizeof(shared_ring::Head));
  }
  /// Makes memory of that size ready for both ends. The stepping side, first of all.
  void CreateShared(MutableByteView memory, std::size_t payload_bytes) const {
    if (KeepsLatest()) shared_mailbox::Create(memory.data(), sizeof(FrameHeader) + payload_bytes);
    else shared_ring::Create(memory);
  }
  /// From here on this is the putting end, of frames with payloads of up to `payload_bytes`, through what has been made ready
  /// at the beginning of `memory`. What waits here is put first. Throws if it does not fit there.
  void SendBy(MutableByteView memory, std::size_t payload_bytes) {
    if (KeepsLatest()) BecomeOutbox(shared_mailbox::BasicWriter<AtomicRef>{memory, sizeof(FrameHeader) + payload_bytes});
    else BecomeOutbox(shared_ring::BasicWriter<AtomicRef>{memory});
  }
  /// From here on this is the stepping end, likewise.
  void ReceiveBy(MutableByteView memory, std::size_t payload_bytes) {
    const std::size_t largest = sizeof(FrameHeader) + payload_bytes;
    if (KeepsLatest()) BecomeInbox(shared_mailbox::BasicReader<AtomicRef>{memory, largest}, payload_bytes);
    else BecomeInbox(shared_ring::BasicReader<AtomicRef>{memory}, payload_bytes);
  }
  /// Whether the box has an end in each of two processes.
  UIT_INLINE bool IsShared() const { return duct_.index() > 1; }
  /// From here on nothing can be put or stepped to, if it is shared.
  void Detach() {
    std::visit(
        []<typename D>(D& duct) {
          if constexpr (requires { duct.Detach(); }) duct.Detach();
        },
        duct_);
  }
  /// Frames stepped to here that came through shared memory.
  std::uint64_t NumReceived() const {
    return std::visit(
        []<typename D>(const D& duct) -> std::uint64_t {
          if constexpr (requires { duct.NumReceived(); }) return duct.NumReceived();
          else return 0;
        },
        duct_);
  }

 private:
  using Mailbox = MailboxDuct<Frame, Sync>;
  using Ring = RingDuct<Frame, Sync>;

  explicit BasicFrameBox(std::in_place_type_t<Mailbox> kind) : duct_(kind) {}
  BasicFrameBox(std::in_place_type_t<Ring> kind, std::size_t depth) : depth_(depth), duct_(kind, depth) {}

  template <typename Writer>
  void BecomeOutbox(const Writer& writer) {
    SharedOutbox<Writer> outbox{writer};
    while (TryStep()) outbox.TryPut(std::move(Get()));  // there is as much room there as here
    duct_.template emplace<SharedOutbox<Writer>>(outbox);
  }
  template <typename Reader>
  void BecomeInbox(const Reader& reader, std::size_t payload_bytes) {
    duct_.template emplace<SharedInbox<Reader>>(reader, payload_bytes);
  }

  std::size_t depth_ = 0;  // 0: keeps the latest
  // Taken apart by hand where frames move: a visit would be a call.
  std::variant<Mailbox, Ring, SharedOutbox<shared_mailbox::BasicWriter<AtomicRef>>,
               SharedOutbox<shared_ring::BasicWriter<AtomicRef>>, SharedInbox<shared_mailbox::BasicReader<AtomicRef>>,
               SharedInbox<shared_ring::BasicReader<AtomicRef>>>
      duct_;
};

/// Between threads, or processes.
using FrameBox = BasicFrameBox<Spsc>;

}  // namespace uit
