#pragma once

#include <ucontext.h>

#include <cstddef>
#include <memory>

#include "tests/uit/core/support/sanitized.hpp"

#if defined(__SANITIZE_ADDRESS__) || __has_feature(address_sanitizer)
#define UIT_TEST_TELLS_ADDRESS_SANITIZER 1
#include <sanitizer/common_interface_defs.h>
#endif
#if defined(__SANITIZE_THREAD__) || __has_feature(thread_sanitizer)
#define UIT_TEST_TELLS_THREAD_SANITIZER 1
#include <sanitizer/tsan_interface.h>
#endif

namespace uit::testing {

/// A flow of execution with its own stack, to which the program switches explicitly. The sanitizers are told of each switch.
class Fiber {
 public:
  Fiber() = default;
  Fiber(const Fiber&) = delete;
  Fiber& operator=(const Fiber&) = delete;
  ~Fiber() { Forget(); }

  /// The next switch to this fiber calls `enter`, which must start with Begin and end with End.
  void Prepare(void (*enter)()) {
    Forget();
#ifdef UIT_TEST_TELLS_THREAD_SANITIZER
    calls_ = __tsan_create_fiber(0);
#endif
    if (!stack_) stack_ = std::make_unique<char[]>(stack_size);
    bottom_ = stack_.get();
    size_ = stack_size;
    getcontext(&context_);
    context_.uc_stack.ss_sp = stack_.get();
    context_.uc_stack.ss_size = stack_size;
    makecontext(&context_, enter, 0);
  }

  /// Switches to `to`, and returns when something switches back.
  void SwitchTo(Fiber& to) {
#ifdef UIT_TEST_TELLS_ADDRESS_SANITIZER
    void* fake_stack = nullptr;
    __sanitizer_start_switch_fiber(&fake_stack, to.bottom_, to.size_);
#endif
#ifdef UIT_TEST_TELLS_THREAD_SANITIZER
    if (calls_ == nullptr) calls_ = __tsan_get_current_fiber();  // the thread's own
    __tsan_switch_to_fiber(to.calls_, 0);
#endif
    swapcontext(&context_, &to.context_);
#ifdef UIT_TEST_TELLS_ADDRESS_SANITIZER
    __sanitizer_finish_switch_fiber(fake_stack, nullptr, nullptr);
#endif
  }

  /// Must be called first in a fiber that was switched to for the first time. `main` is the thread's own fiber.
  void Begin([[maybe_unused]] Fiber& main) {
#ifdef UIT_TEST_TELLS_ADDRESS_SANITIZER
    const void* bottom = nullptr;
    std::size_t size = 0;
    __sanitizer_finish_switch_fiber(nullptr, &bottom, &size);
    if (main.bottom_ == nullptr) {
      main.bottom_ = bottom;
      main.size_ = size;
    }
#endif
  }

  /// Switches to `to` for good.
  [[noreturn]] static void End(Fiber& to) {
#ifdef UIT_TEST_TELLS_ADDRESS_SANITIZER
    __sanitizer_start_switch_fiber(nullptr, to.bottom_, to.size_);
#endif
#ifdef UIT_TEST_TELLS_THREAD_SANITIZER
    __tsan_switch_to_fiber(to.calls_, 0);
#endif
    setcontext(&to.context_);
    __builtin_unreachable();
  }

 private:
  static constexpr std::size_t stack_size = 256 * 1024;

  void Forget() {
#ifdef UIT_TEST_TELLS_THREAD_SANITIZER
    if (stack_) __tsan_destroy_fiber(calls_);
#endif
  }

  ucontext_t context_{};
  std::unique_ptr<char[]> stack_;
  const void* bottom_ = nullptr;
  std::size_t size_ = 0;
#ifdef UIT_TEST_TELLS_THREAD_SANITIZER
  void* calls_ = nullptr;  // the calls on its stack, as the sanitizer knows them
#endif
};

}  // namespace uit::testing
