#pragma once

#include <concepts>
#include <cstddef>
#include <limits>
#include <type_traits>
#include <utility>

namespace uit {

/// A message type: an object that can be default-constructed and moved.
template <typename T>
concept Message = std::is_object_v<T> && !std::is_const_v<T> && std::movable<T> &&
                  std::default_initializable<T>;

/// The requirements on a duct that an Inlet puts into. One thread calls it, the inlet's.
///
/// - `TryPut(message) -> bool` never waits. True: the duct has accepted the message. False: the duct is full and nothing
///   has changed; an rvalue is moved from only on success. If copying throws, nothing has changed either.
///
/// Optional members, found by name:
/// - `NumPreempted() -> uint64`: accepted messages that were replaced before a step saw them.
/// - `TryCarry(message, num_messages) -> bool`: like TryPut, for a sum that stands for `num_messages` messages.
/// - `NumAccepted() -> uint64`: the number of successful puts and stagings, counted from any start. The inlet then need
///   not count.
/// - `TryStage(message) -> bool`: like TryPut, but the outlet need not see the message before `TryFlush() -> bool`. False
///   from TryFlush: some messages have not left yet.
/// - `Poll()`: makes progress between the tries of a wait. It may return whether it made any.
/// - `IsClosed() -> bool`: the other side is closed for good, so a wait ends. Called only between the tries of a wait.
/// - `HoldInlet(bool)`, `RefreshInlet()`: while held, acceptance depends only on the outlet's steps up to the last
///   RefreshInlet. Both may take, as a last argument, the number of puts accepted at most until the next refresh.
/// - `IsInletHeld() -> bool`: the inlet is held, so waiting for room is of no use.
/// - `static constexpr bool in_thread`: both ends live in one thread, so waiting cannot help.
/// - `PutUntil(message, deadline) -> bool`: waits for room itself.
/// - `TryLend() -> T*`, `PutLent()`: the next message, to be written in place, or null if there is no room; and its acceptance.
/// - `TryLoan(num_elements) -> optional<span>`, `PutLoan(span) -> bool`: the same for the elements of a message, see Inlet.
template <typename D, typename T>
concept InletDuct = Message<T> && requires(D& duct, T message) {
  { duct.TryPut(std::move(message)) } -> std::same_as<bool>;
} && (!std::copyable<T> || requires(D& duct, const T& message) {
  { duct.TryPut(message) } -> std::same_as<bool>;
});

/// The requirements on a duct that an Outlet reads from. One thread calls it, the outlet's.
///
/// - `TryStep(limit) -> size_t` never waits. It moves past up to `limit` messages (at least 1) and returns their number.
///   The last of them is then the current message. 0: nothing has arrived.
/// - `Get() -> const T&`: the current message. Before the first step it is `T{}` or the given initial message. The
///   reference and its target stay valid until the next step that succeeds. Under Retain::accumulate it is `T{}` after a
///   step that returned 0, so that no sum is taken twice.
///
/// Optional members:
/// - `Poll()`, `IsClosed()`, `in_thread`: as for InletDuct.
/// - `HoldOutlet(bool)`, `RefreshOutlet()`: while held, a step sees only messages that had arrived by the last refresh.
/// - `NumPassed() -> uint64`: the sum of all results of TryStep, counted from any start.
/// - `NumFolded() -> uint64`: messages that were added to others, over all steps.
/// - `StepUntil(deadline) -> bool`: waits for a message itself, steps to it, and counts it in NumPassed.
/// - `T& Get()`: lets messages be moved out.
/// - `TryRead(use) -> bool`: steps to the next message and passes its elements to `use` where they lie, see Outlet.
/// - `NumPreempted() -> uint64`, only if the duct belongs to an outlet alone: messages that arrived and were replaced
///   before a step saw them.
template <typename D, typename T>
concept OutletDuct = Message<T> && requires(D& duct, const D& constant, std::size_t limit) {
  { duct.TryStep(limit) } -> std::same_as<std::size_t>;
  { constant.Get() } -> std::same_as<const T&>;
};

/// A duct in which one object serves both ends, as within a process.
template <typename D, typename T>
concept Duct = InletDuct<D, T> && OutletDuct<D, T>;

/// The limit for a step to the newest message.
inline constexpr std::size_t no_limit = std::numeric_limits<std::size_t>::max();

/// True if both ends of `D` live in one thread, so that waiting cannot help.
template <typename D>
inline constexpr bool is_in_thread = false;

/// Takes the value from the duct.
template <typename D>
  requires requires { { D::in_thread } -> std::convertible_to<bool>; }
inline constexpr bool is_in_thread<D> = D::in_thread;

/// Calls the duct's `Poll`, if it has one. True if `Poll` reported progress.
template <typename D>
bool Poll(D& duct) {
  if constexpr (requires { { duct.Poll() } -> std::same_as<bool>; }) return duct.Poll();
  if constexpr (requires { duct.Poll(); }) duct.Poll();
  return false;
}

/// True if the duct has an `IsClosed` that returns true.
template <typename D>
bool IsClosed(const D& duct) {
  if constexpr (requires { duct.IsClosed(); }) return duct.IsClosed();
  return false;
}

}  // namespace uit
