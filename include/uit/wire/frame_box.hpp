#pragma once

#include <cstddef>
#include <memory>
#include <utility>
#include <variant>

#include <uit/duct/mailbox_duct.hpp>
#include <uit/duct/ring_duct.hpp>
#include <uit/support/sync.hpp>
#include <uit/wire/frame.hpp>

namespace uit {

/// Where frames wait between the two halves of an exchange, or between a half and the wire: a duct
/// of frames, one thread putting and another stepping. Buffers circulate through it; each comes
/// from the putting side's first laps, so that later ones allocate nothing.
class FrameBox {
 public:
  /// A box that keeps every frame, up to `depth` of them. Throws std::invalid_argument for a depth that no ring can
  /// have.
  static std::shared_ptr<FrameBox> Every(std::size_t depth) {
    return std::shared_ptr<FrameBox>(new FrameBox(std::in_place_type<Ring>, depth));
  }
  /// A box that keeps the newest frame.
  static std::shared_ptr<FrameBox> Latest() {
    return std::shared_ptr<FrameBox>(new FrameBox(std::in_place_type<Mailbox>));
  }

  /// Whether a newer frame replaces one that waits. Any thread.
  bool KeepsLatest() const { return std::holds_alternative<Mailbox>(duct_); }
  /// Takes the frame if there is room; `frame` is then a spare buffer, or none yet. Putting thread only.
  bool TryPut(Frame& frame) {
    if (auto* mailbox = std::get_if<Mailbox>(&duct_)) return mailbox->TryPut(std::move(frame));
    return std::get<Ring>(duct_).TryPut(std::move(frame));
  }
  /// Goes on to the next frame, if there is one. Stepping thread only.
  bool TryStep() {
    if (auto* mailbox = std::get_if<Mailbox>(&duct_)) return mailbox->TryStep(1) != 0;
    return std::get<Ring>(duct_).TryStep(1) != 0;
  }
  /// The frame last stepped to; its buffer may be swapped out. Stepping thread only.
  Frame& Get() {
    if (auto* mailbox = std::get_if<Mailbox>(&duct_)) return mailbox->Get();
    return std::get<Ring>(duct_).Get();
  }

 private:
  using Mailbox = MailboxDuct<Frame, Spsc>;
  using Ring = RingDuct<Frame, Spsc>;

  template <typename D, typename... Args>
  explicit FrameBox(std::in_place_type_t<D> kind, Args&&... args) : duct_(kind, std::forward<Args>(args)...) {}

  std::variant<Mailbox, Ring> duct_;
};

}  // namespace uit
