#pragma once

#include <concepts>
#include <cstddef>
#include <memory>
#include <utility>

#include <uit/link/frame.hpp>

namespace uit {

/// Carries frames between two processes: in order, each exactly once.
///
/// A link never waits. It limits the frames in flight only by its own slots; the connection handles credits. One thread
/// at a time may use it.
///
/// - `HasRoom()`: whether `TrySend` would take a frame now.
/// - `TrySend(frame)`: takes the content of `frame` if there is room, as Frame::Take does; `frame` is then a spare
///   buffer. Throws for a frame larger than the link was opened for.
/// - `TryReceive(frame)`: returns the next frame if it has arrived, in a buffer for the link's largest frame; the
///   previous buffer of `frame` becomes a spare.
/// - `TryClose()`: returns true once every frame sent has left its buffer and nothing more can be received. Call it
///   repeatedly until it returns true, when both sides know that no frame is in flight. Never cancels a send.
/// - `Abandon()`: gives up on a peer that does not answer. Leaks on purpose the buffers that may still be read or
///   written; returns how many.
template <typename L>
concept Link = requires(L link, Frame& frame) {
  { link.HasRoom() } -> std::same_as<bool>;
  { link.TrySend(frame) } -> std::same_as<bool>;
  { link.TryReceive(frame) } -> std::same_as<bool>;
  { link.TryClose() } -> std::same_as<bool>;
  { link.Abandon() } -> std::convertible_to<std::size_t>;
};

/// Options of a new link.
struct LinkOptions {
  std::size_t num_sends = 16;     ///< frames that may be in the process of being sent at once
  std::size_t num_receives = 16;  ///< receives posted before the link opens, and kept posted
  std::size_t payload_bytes = 0;  ///< the largest payload of a frame
};

/// Holds a link of any type, so that connections are compiled once. A call costs one or two nanoseconds per frame.
class AnyLink {
 public:
  AnyLink() = default;
  /// Takes ownership of the link, which must not be null. A default-constructed object may only be assigned to.
  template <Link L>
  explicit AnyLink(std::unique_ptr<L> link) : model_(std::make_unique<Model<L>>(std::move(link))) {}

  /// Whether TrySend would take a frame now.
  bool HasRoom() { return model_->HasRoom(); }
  /// Takes the content of `frame` if there is room; `frame` is then a spare buffer. Throws for a frame that is too large.
  bool TrySend(Frame& frame) { return model_->TrySend(frame); }
  /// Returns the next frame if it has arrived; the previous buffer of `frame` becomes a spare.
  bool TryReceive(Frame& frame) { return model_->TryReceive(frame); }
  /// Performs one step of closing. Call it when no frame is in flight. Returns true once nothing is pending.
  bool TryClose() { return model_->TryClose(); }
  /// Gives up on the peer: leaks the buffers still in use, and returns how many.
  std::size_t Abandon() { return model_->Abandon(); }

 private:
  struct Interface {
    virtual ~Interface() = default;
    virtual bool HasRoom() = 0;
    virtual bool TrySend(Frame& frame) = 0;
    virtual bool TryReceive(Frame& frame) = 0;
    virtual bool TryClose() = 0;
    virtual std::size_t Abandon() = 0;
  };
  template <Link L>
  struct Model final : Interface {
    explicit Model(std::unique_ptr<L> l) : link(std::move(l)) {}
    bool HasRoom() override { return link->HasRoom(); }
    bool TrySend(Frame& frame) override { return link->TrySend(frame); }
    bool TryReceive(Frame& frame) override { return link->TryReceive(frame); }
    bool TryClose() override { return link->TryClose(); }
    std::size_t Abandon() override { return link->Abandon(); }
    std::unique_ptr<L> link;
  };
  std::unique_ptr<Interface> model_;
};
static_assert(Link<AnyLink>);

}  // namespace uit
