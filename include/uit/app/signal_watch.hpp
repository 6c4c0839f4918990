#pragma once

#include <ctime>

#include <pthread.h>
#include <signal.h>

#include <uit/support/process_hooks.hpp>

namespace uit {

/// Blocks SIGINT, SIGTERM and SIGUSR1 in the calling thread during its lifetime. They stay pending until Take asks for
/// them, instead of ending the process. Threads started meanwhile inherit the block.
class SignalWatch final : public StopSource {
 public:
  SignalWatch() {
    sigemptyset(&signals_);
    for (const int signal : {SIGINT, SIGTERM, SIGUSR1}) sigaddset(&signals_, signal);
    pthread_sigmask(SIG_BLOCK, &signals_, &previous_);
  }
  ~SignalWatch() override {
    if (!is_kept_) pthread_sigmask(SIG_SETMASK, &previous_, nullptr);
  }

  /// The number of a signal that has come since the last call, or 0. One system call; never waits.
  int Take() override {
    const timespec no_time{};
    const int signal = sigtimedwait(&signals_, nullptr, &no_time);
    return signal > 0 ? signal : 0;
  }
  /// Keeps the signals blocked in the calling thread, also after the watch's end.
  void Keep() override { is_kept_ = true; }

 private:
  sigset_t signals_;
  sigset_t previous_;
  bool is_kept_ = false;
};

}  // namespace uit
