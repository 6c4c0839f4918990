#pragma once

#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <string>

#ifndef UIT_WITH_MPI
#define UIT_WITH_MPI 0
#endif
#if UIT_WITH_MPI
#include <mpi.h>
#endif

namespace channel_selection {

/// What a rate must be read with.
struct Host {
  bool oversubscribed = false;  ///< workers on some computer exceed the CPUs they may use
  std::string mpi_library;
  std::string compiler;
};

/// Looks at this job. `num_threads` is that of each process. Collective; MPI is initialised.
[[nodiscard]] inline Host InspectHost(std::size_t num_threads) {
  Host host;
#ifdef __clang__
  host.compiler = "clang " __clang_version__;
#else
  host.compiler = "g++ " __VERSION__;
#endif
  cpu_set_t own;
  CPU_ZERO(&own);
  const bool is_known = sched_getaffinity(0, sizeof own, &own) == 0;
  int num_cpus = is_known ? CPU_COUNT(&own) : static_cast<int>(sysconf(_SC_NPROCESSORS_ONLN));
  int num_processes = 1;
#if UIT_WITH_MPI
  char text[MPI_MAX_LIBRARY_VERSION_STRING];
  int length = 0;
  MPI_Get_library_version(text, &length);
  host.mpi_library.assign(text, static_cast<std::size_t>(length));
  host.mpi_library.resize(std::min(host.mpi_library.find_first_of("\n,"), host.mpi_library.size()));
  for (char& c : host.mpi_library) c = c == '\t' ? ' ' : c;

  MPI_Comm neighbours = MPI_COMM_NULL;
  MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &neighbours);
  MPI_Comm_size(neighbours, &num_processes);
  if (is_known) {
    cpu_set_t all;
    MPI_Allreduce(&own, &all, sizeof own, MPI_BYTE, MPI_BOR, neighbours);
    num_cpus = CPU_COUNT(&all);
  }
  MPI_Comm_free(&neighbours);
#endif
  int crowded = static_cast<std::size_t>(num_processes) * num_threads > static_cast<std::size_t>(num_cpus) ? 1 : 0;
  if (is_known && num_threads > static_cast<std::size_t>(CPU_COUNT(&own))) crowded = 1;
#if UIT_WITH_MPI
  MPI_Allreduce(MPI_IN_PLACE, &crowded, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
#endif
  host.oversubscribed = crowded != 0;
  return host;
}

}  // namespace channel_selection
