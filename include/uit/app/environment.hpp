#pragma once

#include <array>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <cstdlib>
#include <string>

#include <uit/support/error.hpp>

namespace uit {

/// The number of seconds in the environment variable `name`, or `fallback` if it is not set or empty. Throws
/// uit::InputError if the value is not a number of seconds.
inline std::chrono::duration<double> SecondsFromEnvironment(const char* name, std::chrono::duration<double> fallback) {
  const char* text = std::getenv(name);
  if (text == nullptr || *text == '\0') return fallback;
  char* end = nullptr;
  const double seconds = std::strtod(text, &end);
  if (*end != '\0' || !std::isfinite(seconds) || seconds < 0)
    throw uit::InputError(std::string(name) + "=" + text + ": not a number of seconds");
  return std::chrono::duration<double>{seconds};
}

/// What a launcher has told this process.
struct Launch {
  std::size_t num_processes = 1;  ///< that it has started, this one among them
  std::size_t rank = 0;           ///< this process's number
};

/// Reads what mpirun or srun has told this process, without MPI. Knows Open MPI, MPICH and its relatives (Intel MPI, MVAPICH),
/// and Slurm. A process that none of them has started is a launch of one.
inline Launch LaunchFromEnvironment() {
  constexpr std::array<std::array<const char*, 2>, 4> launchers{{{"OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_RANK"},
                                                                 {"PMI_SIZE", "PMI_RANK"},
                                                                 {"MV2_COMM_WORLD_SIZE", "MV2_COMM_WORLD_RANK"},
                                                                 {"SLURM_STEP_NUM_TASKS", "SLURM_PROCID"}}};
  const auto number = [](const char* name) {
    const char* const text = std::getenv(name);
    return text == nullptr ? 0 : static_cast<std::size_t>(std::strtoull(text, nullptr, 10));
  };
  for (const auto& [size, rank] : launchers) {
    if (number(size) > 1) return {.num_processes = number(size), .rank = number(rank)};
  }
  return {};
}

}  // namespace uit
