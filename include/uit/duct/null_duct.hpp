#pragma once

#include <cstddef>
#include <utility>

#include <uit/config.hpp>
#include <uit/duct/duct.hpp>
#include <uit/support/ref.hpp>

namespace uit {

/// A duct without a connection: each put fails, and nothing ever arrives.
///
/// An inlet bound to it is muted and counts its puts as muted. An outlet bound to it keeps the value that it last
/// received.
template <Message T>
class NullDuct final : public RefCounted {
 public:
  /// Waiting cannot help.
  static constexpr bool in_thread = true;

  /// Get always returns `last`.
  explicit NullDuct(T last = T{}) : last_{std::move(last)} {}

  /// Always false.
  UIT_INLINE bool TryPut(const T&) { return false; }
  /// Always zero.
  UIT_INLINE std::size_t TryStep(std::size_t) { return 0; }
  /// The value given.
  UIT_INLINE const T& Get() const { return last_; }
  /// The same, to be moved from.
  UIT_INLINE T& Get() { return last_; }

 private:
  T last_;
};

/// True if ends bound to `D` are muted.
template <typename D>
inline constexpr bool is_null_duct = false;
/// True for a NullDuct.
template <typename T>
inline constexpr bool is_null_duct<NullDuct<T>> = true;

static_assert(Duct<NullDuct<int>, int>);

}  // namespace uit
