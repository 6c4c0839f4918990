#pragma once

#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstddef>

#include <uit/support/peer_watch.hpp>

namespace uit::testing {

/// A process that does nothing until it is told how to end.
struct ChildProcess {
  pid_t process = fork();
  ChildProcess() {
    if (process != 0) return;
    for (const int signal : {SIGTERM, SIGABRT}) std::signal(signal, SIG_DFL);  // not Catch's
    for (;;) pause();
  }
  ChildProcess(const ChildProcess&) = delete;
  ChildProcess& operator=(const ChildProcess&) = delete;
  ~ChildProcess() {
    kill(process, SIGKILL);
    waitpid(process, nullptr, 0);
  }
  /// As others know it.
  [[nodiscard]] ProcessIdentity Identity(std::size_t rank) const {
    ProcessIdentity identity = ProcessIdentity::OfThis(rank);
    identity.process = process;
    return identity;
  }
};

}  // namespace uit::testing
