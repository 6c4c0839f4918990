#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <type_traits>
#include <utility>

namespace uit {

/// What can be sent: an object that can be made from nothing and moved.
template <typename T>
concept Message = std::is_object_v<T> && !std::is_const_v<T> && std::movable<T> &&
                  std::default_initializable<T>;

/// What an Inlet puts into. Called by one thread, the inlet's.
///
/// - `TryPut(message) -> bool` never waits. True: the duct has taken charge of the message. False:
///   it is full, and nothing has changed; an rvalue has been moved from only on success. If
///   copying throws, nothing has changed either.
///
/// Optional, found by name:
/// - `NumPreempted() -> uint64`: accepted messages that were replaced before a step saw them.
/// - `TryCarry(message, num_messages) -> bool`: like TryPut, of a sum that stands for so many messages.
/// - `NumAccepted() -> uint64`: how often a put or a staging succeeded, from any number on; spares
///   the inlet the counting.
/// - `TryStage(message) -> bool`: like TryPut, but the outlet need not see the message before
///   `TryFlush() -> bool`; false from TryFlush: not everything has left yet.
/// - `Poll()`: moves what can be moved, between the tries of a wait; may return whether it did.
/// - `IsClosed() -> bool`: the other side is gone for good, so that a wait ends; asked between its tries alone.
/// - `HoldInlet(bool)`, `RefreshInlet()`: while held, whether a put is accepted depends only on
///   what the outlet had done when RefreshInlet was last called. Both may take, as a last argument,
///   how many puts are accepted at most until the next refresh.
/// - `static constexpr bool in_thread`: both ends live in one thread, so that waiting is in vain.
/// - `PutUntil(message, deadline) -> bool`: waits for room itself.
template <typename D, typename T>
concept InletDuct = Message<T> && requires(D& duct, T message) {
  { duct.TryPut(std::move(message)) } -> std::same_as<bool>;
} && (!std::copyable<T> || requires(D& duct, const T& message) {
  { duct.TryPut(message) } -> std::same_as<bool>;
});

/// What an Outlet reads from. Called by one thread, the outlet's.
///
/// - `TryStep(limit) -> size_t` never waits. Moves past up to `limit` (at least 1) messages and
///   returns how many; the last of them is now the current one. 0: nothing has arrived.
/// - `Get() -> const T&`: the current message, `T{}` or the given initial one before the first
///   step. The reference and what it refers to stay put until the next step that succeeds. Under
///   Retain::accumulate it is `T{}` after a step that returned 0, so that no sum is taken twice.
///
/// Optional: `Poll()`, `IsClosed()` and `in_thread`, as for InletDuct; `HoldOutlet(bool)` and
/// `RefreshOutlet()`: while held, a step sees only what had arrived by the last refresh;
/// `NumPassed() -> uint64`: the sum of what TryStep returned, from any number on;
/// `NumFolded() -> uint64`: messages that were added to others, over all steps;
/// `StepUntil(deadline) -> bool`: waits for a message itself, steps to it, and counts it in NumPassed;
/// `T& Get()`, so that messages can be moved out; and, of a duct that is an outlet's alone,
/// `NumPreempted() -> uint64`: messages that arrived and were replaced before a step saw them.
template <typename D, typename T>
concept OutletDuct = Message<T> && requires(D& duct, const D& constant, std::size_t limit) {
  { duct.TryStep(limit) } -> std::same_as<std::size_t>;
  { constant.Get() } -> std::same_as<const T&>;
};

/// Both ends in one object, as within a process.
template <typename D, typename T>
concept Duct = InletDuct<D, T> && OutletDuct<D, T>;

/// The limit of a step that goes to the newest message.
inline constexpr std::size_t no_limit = std::numeric_limits<std::size_t>::max();

/// Both ends of `D` live in one thread, so that a wait would be in vain.
template <typename D>
inline constexpr bool is_in_thread = false;

/// What the duct says itself.
template <typename D>
  requires requires { { D::in_thread } -> std::convertible_to<bool>; }
inline constexpr bool is_in_thread<D> = D::in_thread;

/// Calls the duct's `Poll`, if it has one; true if that found something to do.
template <typename D>
bool Poll(D& duct) {
  if constexpr (requires { { duct.Poll() } -> std::same_as<bool>; }) return duct.Poll();
  if constexpr (requires { duct.Poll(); }) duct.Poll();
  return false;
}

/// The duct has an `IsClosed`, and it says so.
template <typename D>
bool IsClosed(const D& duct) {
  if constexpr (requires { duct.IsClosed(); }) return duct.IsClosed();
  return false;
}

}  // namespace uit
