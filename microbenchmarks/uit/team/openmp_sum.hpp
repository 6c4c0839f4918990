#pragma once

#include <cstdint>
#include <string>

namespace bench {

/// An all-reduce among the threads of a parallel region of OpenMP: an atomic addition and a barrier. In a source of its own, the
/// only one that is compiled for OpenMP.
class OpenMpSum {
 public:
  /// Why there is no OpenMP, or nothing if there is.
  static std::string WhyMissing();
  /// Returns the time of an all-reduce of one double in ns, with `num_threads` threads on the CPUs allowed.
  static double Time(int num_threads, std::uint64_t count);
};

}  // namespace bench
