#pragma once

#include <signal.h>
#include <sys/types.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <string>
#include <vector>

#include <uit/link/world.hpp>

namespace uit::testing {

/// How long a test stops a process: UIT_TEST_STOP_SECONDS, or a few seconds.
inline std::chrono::duration<double> StopFor() {
  const char* text = std::getenv("UIT_TEST_STOP_SECONDS");
  return std::chrono::duration<double>(text == nullptr ? 3.0 : std::atof(text));
}

/// Returns the resident memory of a process of this machine in bytes.
inline std::int64_t Resident(pid_t process) {
  std::ifstream file("/proc/" + std::to_string(process) + "/statm");
  std::int64_t total = 0;
  std::int64_t resident = 0;
  file >> total >> resident;
  return resident * sysconf(_SC_PAGESIZE);
}
/// How much a process of this machine has grown since construction: the largest value that was sampled.
class Growth {
 public:
  explicit Growth(pid_t process) : process_(process), before_(Resident(process)) {}
  void Look() { most_ = std::max(most_, Resident(process_) - before_); }
  std::int64_t Most() const { return most_; }

 private:
  pid_t process_;
  std::int64_t before_;
  std::int64_t most_ = 0;
};

/// Suspends a process during its lifetime.
class Suspension {
 public:
  explicit Suspension(pid_t process) : process_(process) { is_done_ = kill(process, SIGSTOP) == 0; }
  Suspension(const Suspension&) = delete;
  Suspension& operator=(const Suspension&) = delete;
  ~Suspension() {
    if (is_done_) kill(process_, SIGCONT);
  }
  /// Returns the state of the process, as the system reports it.
  bool IsInForce() const {
    std::ifstream file("/proc/" + std::to_string(process_) + "/stat");
    std::string line;
    std::getline(file, line);
    const std::size_t name_end = line.rfind(')');  // a space and the state follow
    return name_end != std::string::npos && name_end + 2 < line.size() && line[name_end + 2] == 'T';
  }

 private:
  pid_t process_;
  bool is_done_ = false;
};

/// Returns the process ids of all ranks. Collective.
inline std::vector<pid_t> Pids(const World& world) {
  return world.AllGatherValue(getpid());
}

}  // namespace uit::testing
