#pragma once

#include <algorithm>
#include <cstddef>

#include <uit/link/world.hpp>
#include <uit/support/simulation.hpp>

#ifdef __linux__
#include <sched.h>
#include <unistd.h>
#endif

namespace uit {

/// The number of cores that this process may use: those of its affinity mask. 0 if the system does not report them.
inline std::size_t NumUsableCores() {
#ifdef __linux__
  cpu_set_t allowed;
  if (::sched_getaffinity(0, sizeof allowed, &allowed) == 0) return static_cast<std::size_t>(CPU_COUNT(&allowed));
#endif
  return 0;
}

/// The number of cores of this host, whether this process may use them or not. 0 if the system does not report it.
inline std::size_t NumCores() {
#ifdef __linux__
  return static_cast<std::size_t>(std::max(0L, ::sysconf(_SC_NPROCESSORS_ONLN)));
#else
  return 0;
#endif
}

/// Whether each thread of the processes of this host has a core, if every process has `num_threads`. False if it is not known: in a
/// simulation, or if the processes share no memory. Takes it that processes with different affinity masks have different cores.
inline bool HasCoreForEach(const World& world, std::size_t num_threads) {
  const std::size_t num_here = world.Size() == 1 ? 1 : world.HostRanks().size();
  if (is_simulated || num_here == 0) return false;
  return num_threads <= NumUsableCores() && num_here * num_threads <= NumCores();
}

/// Moves the calling thread to one core of those that the process may use, and leaves it free to move on. `position`
/// selects the core, modulo their number. Reason: threads started in sequence often run on one core for a tenth of a
/// second while others are idle. Does nothing if the system does not report the cores.
inline void MoveToCore([[maybe_unused]] std::size_t position) {
#ifdef __linux__
  cpu_set_t allowed;
  if (::sched_getaffinity(0, sizeof allowed, &allowed) != 0) return;
  const auto num_cores = static_cast<std::size_t>(CPU_COUNT(&allowed));
  if (num_cores < 2) return;
  std::size_t to_pass = position % num_cores;
  for (std::size_t core = 0; core < CPU_SETSIZE; ++core) {
    if (!CPU_ISSET(core, &allowed) || to_pass-- != 0) continue;
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(core, &one);
    if (::sched_setaffinity(0, sizeof one, &one) == 0) ::sched_setaffinity(0, sizeof allowed, &allowed);
    return;
  }
#endif
}

}  // namespace uit
