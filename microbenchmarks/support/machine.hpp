#pragma once

#include <sched.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <ctime>
#include <fstream>
#include <string>
#include <vector>

namespace bench {

/// The CPUs that this process may use, in order.
[[nodiscard]] inline std::vector<int> AllowedCpus() {
  cpu_set_t set;
  CPU_ZERO(&set);
  std::vector<int> cpus;
  if (sched_getaffinity(0, sizeof set, &set) != 0) return {0};
  for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu)
    if (CPU_ISSET(cpu, &set)) cpus.push_back(cpu);
  return cpus;
}

/// Restricts the calling thread to these CPUs; threads that it starts inherit them.
inline void RunOn(const std::vector<int>& cpus) {
  cpu_set_t set;
  CPU_ZERO(&set);
  for (const int cpu : cpus) CPU_SET(cpu, &set);
  sched_setaffinity(0, sizeof set, &set);
}

/// Pins the calling thread to one CPU.
inline void PinTo(int cpu) { RunOn({cpu}); }

/// The number of online CPUs of the machine.
[[nodiscard]] inline long NumCpus() { return sysconf(_SC_NPROCESSORS_ONLN); }

[[nodiscard]] inline std::string CpuModel() {
  std::ifstream info{"/proc/cpuinfo"};
  for (std::string line; std::getline(info, line);)
    if (line.starts_with("model name")) return line.substr(line.find(':') + 2);
  return "unknown";
}

[[nodiscard]] inline std::string HostName() {
  std::array<char, 256> name{};
  gethostname(name.data(), name.size() - 1);
  return name.data();
}

/// How long the calling thread, ready to run, has waited for a CPU, in ns; 0 if the system does not report it.
[[nodiscard]] inline double RunQueueDelay() {
  std::ifstream stat{"/proc/thread-self/schedstat"};
  double running = 0;
  double waiting = 0;
  stat >> running >> waiting;
  return stat ? waiting : 0;
}

/// CPU time of all threads of this process so far.
[[nodiscard]] inline std::chrono::duration<double, std::nano> CpuTime() {
  timespec time{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return std::chrono::seconds{time.tv_sec} + std::chrono::nanoseconds{time.tv_nsec};
}

}  // namespace bench
