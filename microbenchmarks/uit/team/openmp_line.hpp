#pragma once

#include <cstdint>
#include <string>

#include "random_line.hpp"

namespace bench {

/// Updates of a line by the threads of a parallel region of OpenMP, which take points dynamically. In a source of its own, because
/// only that is compiled for OpenMP.
class OpenMpLine {
 public:
  /// Why there is no OpenMP, or nothing if there is.
  static std::string WhyMissing();
  /// Returns the time of an update of the line in ns, with `num_threads` threads on the CPUs allowed.
  static double Time(int num_threads, std::uint64_t count, RandomLine& line);
};

}  // namespace bench
