#pragma once

#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <thread>

#include "machine.hpp"

namespace bench {

/// A thread that keeps a CPU busy, as a program of somebody else would.
class Burner {
 public:
  /// Burns on the CPU to which the calling thread is pinned. `niceness`: 0 for the same priority, up to 19 for the lowest.
  explicit Burner(int niceness)
      : thread_{[this, niceness] {
          setpriority(PRIO_PROCESS, static_cast<id_t>(syscall(SYS_gettid)), niceness);
          while (!is_over_.load(std::memory_order_relaxed)) {
            for (int i = 0; i < 1000; ++i) asm volatile("" ::: "memory");
          }
        }} {}
  Burner(const Burner&) = delete;
  Burner& operator=(const Burner&) = delete;
  ~Burner() {
    is_over_.store(true, std::memory_order_relaxed);
    thread_.join();
  }

 private:
  std::atomic<bool> is_over_{false};
  std::thread thread_;
};

}  // namespace bench
