#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <variant>

#include <uit/config.hpp>
#include <uit/duct/mailbox_duct.hpp>
#include <uit/duct/ring_duct.hpp>
#include <uit/support/assert.hpp>
#include <uit/support/bytes.hpp>
#include <uit/support/sync.hpp>
#include <uit/link/frame.hpp>
#include <uit/link/shared_box.hpp>
#include <uit/link/shared_mailbox.hpp>
#include <uit/link/shared_ring.hpp>

namespace uit {

/// Holds frames between the two halves of an exchange, or between a half and the connection: a duct of frames. One thread
/// puts, another steps. Buffers circulate through the box: the putting side allocates them in its first rounds, and
/// nothing is allocated later.
///
/// If two processes share memory, the box has one end in each: frames that one process puts, the other steps to. Two threads may
/// have an end each as well, see JoinEnds.
///
/// `Sync` and `AtomicRef` select the atomics: those of std, or of a model that explores every schedule.
template <Synchronization Sync, template <typename> class AtomicRef = std::atomic_ref>
class BasicFrameBox {
 public:
  /// Creates a box that keeps every frame, up to `depth` of them. Throws std::invalid_argument for a depth that no ring
  /// can have.
  static std::shared_ptr<BasicFrameBox> Every(std::size_t depth);
  /// Creates a box that keeps the newest frame.
  static std::shared_ptr<BasicFrameBox> Latest();
  ~BasicFrameBox();

  /// Whether a newer frame replaces one that waits. Any thread.
  bool KeepsLatest() const { return depth_ == 0; }
  /// Takes the frame if there is room; `frame` is then a spare buffer, or has none yet. Putting thread only.
  UIT_INLINE bool TryPut(Frame& frame) {
    switch (duct_.index()) {
      case 0: return std::get_if<0>(&duct_)->TryPut(std::move(frame));
      case 1: return std::get_if<1>(&duct_)->TryPut(std::move(frame));
      case 2: return std::get_if<2>(&duct_)->TryPut(std::move(frame));
      case 3: return std::get_if<3>(&duct_)->TryPut(std::move(frame));
      default: return false;  // this side does not put
    }
  }
  /// Moves to the next frame, if there is one, and returns whether there was. Stepping thread only.
  UIT_INLINE bool TryStep() {
    switch (duct_.index()) {
      case 0: return std::get_if<0>(&duct_)->TryStep(1) != 0;
      case 1: return std::get_if<1>(&duct_)->TryStep(1) != 0;
      case 4: return std::get_if<4>(&duct_)->TryStep(1) != 0;
      case 5: return std::get_if<5>(&duct_)->TryStep(1) != 0;
      default: return false;  // this side does not step
    }
  }
  /// Returns the frame last stepped to; the caller may swap its buffer out. Stepping thread only.
  UIT_INLINE Frame& Get() {
    UIT_ASSERT(duct_.index() != 2 && duct_.index() != 3, "only the side that steps gets frames");
    switch (duct_.index()) {
      case 0: return std::get_if<0>(&duct_)->Get();
      case 1: return std::get_if<1>(&duct_)->Get();
      case 4: return std::get_if<4>(&duct_)->Get();
      default: return std::get_if<5>(&duct_)->Get();
    }
  }

  /// Returns where to write the payload of a frame, of up to `payload_bytes`, if the box lies in shared memory and has room for it;
  /// else null, also for a small payload: to copy that takes fewer stores. Putting thread only; see SharedOutbox.
  UIT_INLINE std::byte* TryLend(std::size_t payload_bytes) {
    if (payload_bytes < min_in_place) return nullptr;
    switch (duct_.index()) {
      case 2: return std::get_if<2>(&duct_)->TryLend(payload_bytes);
      case 3: return std::get_if<3>(&duct_)->TryLend(payload_bytes);
      default: return nullptr;
    }
  }
  /// Puts the frame whose payload has been written there. Putting thread only.
  UIT_INLINE void Publish(const FrameHeader& header) {
    if (auto* const mailbox = std::get_if<2>(&duct_)) mailbox->Publish(header);
    else std::get_if<3>(&duct_)->Publish(header);
  }
  /// Returns the payload of the frame last stepped to if it lies in shared memory; else an empty view. Stepping thread only; see
  /// SharedInbox.
  UIT_INLINE ByteView Lent() const {
    switch (duct_.index()) {
      case 4: return std::get_if<4>(&duct_)->Lent();
      case 5: return std::get_if<5>(&duct_)->Lent();
      default: return {};
    }
  }

  /// Returns the frame last stepped to, wherever its payload lies. Valid like Lent, or until its buffer is swapped out.
  UIT_INLINE FrameView View() {
    const Frame& frame = Get();
    const ByteView lent = Lent();
    return {frame.Header(), lent.empty() ? frame.Payload() : lent.data()};
  }

  // For a box with one end in each of two processes that share memory. Call these while no other thread uses the box.

  /// Reads payloads of at least `payload_bytes` where they lie, if the box comes to lie in shared memory; 0: none. If
  /// `may_be_large`, the box gets more memory for that than others, see max_lent_box_bytes. Called on the stepping side.
  void LendFrom(std::size_t payload_bytes, bool may_be_large = false) {
    lend_from_ = payload_bytes;
    may_be_large_ = may_be_large;
  }
  /// Whether it may take more memory.
  bool MayBeLarge() const { return may_be_large_; }
  /// Whether it reads such payloads in shared memory.
  bool Lends() const { return lend_from_ != 0; }
  /// Returns the bytes of shared memory needed for frames with payloads of up to `payload_bytes`.
  std::size_t SharedBytes(std::size_t payload_bytes) const;
  /// Returns how many of these bytes hold frames, without the head.
  std::size_t SharedFrameBytes(std::size_t payload_bytes) const;
  /// Initialises memory of that size for both ends. The stepping side calls it, before either end is used.
  void CreateShared(MutableByteView memory, std::size_t payload_bytes) const;
  /// Makes this box the putting end of the box initialised at the beginning of `memory`, for payloads of up to
  /// `payload_bytes`. First puts the frames that wait here. Throws if the box does not fit in the memory.
  void SendBy(MutableByteView memory, std::size_t payload_bytes);
  /// Makes this box the stepping end, in the same way.
  void ReceiveBy(MutableByteView memory, std::size_t payload_bytes);
  /// Makes `putting` and `stepping`, two boxes of a kind, the two ends of one box in memory that both own, for payloads of up to
  /// `payload_bytes`. So frames pass between two threads as they do between processes: they are written and read where they lie.
  static void JoinEnds(BasicFrameBox& putting, BasicFrameBox& stepping, std::size_t payload_bytes);
  /// Whether it is an end of a box in shared memory; see SendBy, ReceiveBy and JoinEnds.
  UIT_INLINE bool IsShared() const { return duct_.index() > 1; }
  /// Stops all use of the shared memory: if the box is shared, puts and steps fail from now on.
  void Detach();
  /// Returns the number of frames stepped to here that came through shared memory.
  std::uint64_t NumReceived() const;

 private:
  static constexpr std::size_t min_in_place = 256;
  using Mailbox = MailboxDuct<Frame, Sync>;
  using Ring = RingDuct<Frame, Sync>;

  explicit BasicFrameBox(std::in_place_type_t<Mailbox> kind);
  BasicFrameBox(std::in_place_type_t<Ring> kind, std::size_t depth);

  template <typename Writer>
  void BecomeOutbox(const Writer& writer);
  template <typename Reader>
  void BecomeInbox(const Reader& reader, std::size_t payload_bytes);

  std::size_t depth_ = 0;      // 0: the box keeps the latest frame
  std::size_t lend_from_ = 0;  // see LendFrom
  bool may_be_large_ = false;
  std::shared_ptr<void> memory_;  // see JoinEnds
  // The hot functions switch on the index, because std::visit would not be inlined.
  std::variant<Mailbox, Ring, SharedOutbox<shared_mailbox::BasicWriter<AtomicRef>>,
               SharedOutbox<shared_ring::BasicWriter<AtomicRef>>, SharedInbox<shared_mailbox::BasicReader<AtomicRef>>,
               SharedInbox<shared_ring::BasicReader<AtomicRef>>>
      duct_;
};

/// The box between threads or processes.
using FrameBox = BasicFrameBox<Spsc>;

}  // namespace uit

#if UIT_COMPILED
extern template class uit::BasicFrameBox<uit::Spsc>;
#else
#include <uit/link/frame_box.ipp>
#endif
