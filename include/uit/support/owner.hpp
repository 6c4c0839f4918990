#pragma once

#include <uit/support/assert.hpp>

#if UIT_ASSERT_LEVEL >= 2
#include <sstream>
#include <thread>
#endif

namespace uit {

/// Detects use by a second thread where only one thread is allowed. Does nothing below UIT_ASSERT_LEVEL 2.
///
/// The first thread that calls Check is the owner, until a Reset or a move.
class Owner {
#if UIT_ASSERT_LEVEL >= 2
 public:
  Owner() = default;
  Owner(Owner&& other) noexcept { other.Reset(); }
  Owner& operator=(Owner&& other) noexcept {
    Reset();
    other.Reset();
    return *this;
  }
  ~Owner() = default;

  /// Called by each user before anything else.
  void Check() const {
    const auto here = std::this_thread::get_id();
    if (owner_ == std::thread::id{}) owner_ = here;
    if (owner_ == here) return;
    std::ostringstream text;
    text << "an end belongs to one thread: used by " << owner_ << " and by " << here;
    detail::FailAssertion("owner", text.str().c_str(), std::source_location::current());
  }
  /// Makes the next thread that calls Check the owner.
  void Reset() { owner_ = {}; }

 private:
  mutable std::thread::id owner_{};
#else
 public:
  /// Called by each user before anything else.
  void Check() const {}
  /// Makes the next thread that calls Check the owner.
  void Reset() {}
#endif
};

}  // namespace uit
