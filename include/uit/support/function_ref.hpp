#pragma once

#include <concepts>
#include <memory>
#include <type_traits>
#include <utility>

namespace uit {

template <typename Signature>
class FunctionRef;

/// Refers to a function object for the duration of a call, as C++26's std::function_ref does. Never allocates.
///
/// It is for parameters of functions that should be compiled once instead of once per caller:
///
///     bool Wait(FunctionRef<bool()> is_ready);
///     Wait([&] { return box.TryStep(); });
///
/// Do not keep it: the function object may be a temporary.
template <typename R, typename... Args>
class FunctionRef<R(Args...)> {
 public:
  /// Refers to `f`.
  template <typename F>
    requires(!std::same_as<std::remove_cvref_t<F>, FunctionRef> && std::is_invocable_r_v<R, F&, Args...>)
  FunctionRef(F&& f)  // NOLINT(google-explicit-constructor): a function object is what callers pass
      : object_(const_cast<void*>(static_cast<const void*>(std::addressof(f)))), call_([](void* object, Args... args) -> R {
          return (*static_cast<std::remove_reference_t<F>*>(object))(std::forward<Args>(args)...);
        }) {}

  /// Calls the function object.
  R operator()(Args... args) const { return call_(object_, std::forward<Args>(args)...); }

 private:
  void* object_;
  R (*call_)(void*, Args...);
};

}  // namespace uit
