#pragma once

#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstddef>
#include <stdexcept>

#include <uit/support/peer_watch.hpp>

namespace uit::testing {

/// A process that waits until it is told how to end.
struct ChildProcess {
  pid_t process = -1;
  /// Returns when the process is ready for a signal. Earlier, Catch's handlers would handle it.
  ChildProcess() {
    int ready[2];
    if (pipe(ready) != 0) throw std::runtime_error("no pipe to be had");
    process = fork();
    if (process == 0) {
      for (const int signal : {SIGTERM, SIGABRT}) std::signal(signal, SIG_DFL);
      close(ready[1]);
      for (;;) pause();
    }
    close(ready[1]);
    char none = 0;
    [[maybe_unused]] const ssize_t end = read(ready[0], &none, 1);  // returns when the last other end of the pipe is closed
    close(ready[0]);
  }
  ChildProcess(const ChildProcess&) = delete;
  ChildProcess& operator=(const ChildProcess&) = delete;
  ~ChildProcess() {
    kill(process, SIGKILL);
    waitpid(process, nullptr, 0);
  }
  /// The process as others identify it.
  [[nodiscard]] ProcessIdentity Identity(std::size_t rank) const {
    ProcessIdentity identity = ProcessIdentity::OfThis(rank);
    identity.process = process;
    return identity;
  }
};

}  // namespace uit::testing
