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

/// How long a test stops a process: UIT_TEST_STOP_SECONDS, or a few.
inline std::chrono::duration<double> StopFor() {
  const char* text = std::getenv("UIT_TEST_STOP_SECONDS");
  return std::chrono::duration<double>(text == nullptr ? 3.0 : std::atof(text));
}

/// Bytes of memory that a process of this machine has resident.
inline std::int64_t Resident(pid_t process) {
  std::ifstream file("/proc/" + std::to_string(process) + "/statm");
  std::int64_t total = 0;
  std::int64_t resident = 0;
  file >> total >> resident;
  return resident * sysconf(_SC_PAGESIZE);
}
/// How far a process of this machine has grown since this was made: the most that any look has found.
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

/// A process that the system has suspended, for as long as this lives.
class Suspension {
 public:
  explicit Suspension(pid_t process) : process_(process) { is_done_ = kill(process, SIGSTOP) == 0; }
  Suspension(const Suspension&) = delete;
  Suspension& operator=(const Suspension&) = delete;
  ~Suspension() {
    if (is_done_) kill(process_, SIGCONT);
  }
  /// What the system says of the process.
  bool IsInForce() const {
    std::ifstream file("/proc/" + std::to_string(process_) + "/stat");
    std::string line;
    std::getline(file, line);
    const std::size_t name_end = line.rfind(')');  // then a space and the state
    return name_end != std::string::npos && name_end + 2 < line.size() && line[name_end + 2] == 'T';
  }

 private:
  pid_t process_;
  bool is_done_ = false;
};

/// The process numbers of all ranks. Collective.
inline std::vector<pid_t> Pids(const World& world) {
  return world.AllGatherValue(getpid());
}

}  // namespace uit::testing
