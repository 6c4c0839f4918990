#pragma once

#include <uit/support/assert.hpp>

#if UIT_ASSERT_LEVEL >= 2
#include <sstream>
#include <string>
#include <thread>
#endif

namespace uit {

/// Catches a second thread at work where there must be one; does nothing below UIT_ASSERT_LEVEL 2.
///
/// The first thread to come by is the owner, until Reset or a move.
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

  /// By the thread at work, before anything else.
  void Check() const {
    const auto here = std::this_thread::get_id();
    if (owner_ == std::thread::id{}) owner_ = here;
    if (owner_ == here) return;
    std::ostringstream text;
    text << "an end belongs to one thread: used by " << owner_ << " and by " << here;
    detail::FailAssertion("owner", text.str().c_str(), std::source_location::current());
  }
  /// The next thread to come by is the owner.
  void Reset() { owner_ = {}; }

 private:
  mutable std::thread::id owner_{};
#else
 public:
  /// By the thread at work, before anything else.
  void Check() const {}
  /// The next thread to come by is the owner.
  void Reset() {}
#endif
};

}  // namespace uit
