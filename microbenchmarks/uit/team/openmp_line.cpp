#include "openmp_line.hpp"

#if defined(_OPENMP)
#include <omp.h>
#endif

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include <uit/support/clock.hpp>

#include "microbenchmarks/support/machine.hpp"

namespace bench {

#if defined(_OPENMP)

std::string OpenMpLine::WhyMissing() { return {}; }

double OpenMpLine::Time(int num_threads, std::uint64_t count, RandomLine& line) {
  const std::vector<int> cpus = AllowedCpus();
  uit::TimePoint start;
  uit::TimePoint end;
#pragma omp parallel num_threads(num_threads)
  {
    PinTo(cpus[static_cast<std::size_t>(omp_get_thread_num()) % cpus.size()]);
#pragma omp barrier
#pragma omp master
    start = uit::Now();
    for (std::uint64_t update = 0; update < count; ++update) {
#pragma omp for schedule(dynamic, 1)
      for (std::size_t begin = 0; begin < line.Size(); begin += RandomLine::grain)
        line.Update(update, begin, begin + RandomLine::grain);
#pragma omp single
      line.Turn();
    }
#pragma omp master
    end = uit::Now();
  }
  RunOn(cpus);
  omp_pause_resource_all(omp_pause_hard);  // ends the other threads, which would spin while others are measured
  return std::chrono::duration<double, std::nano>(end - start).count() / static_cast<double>(count);
}

#else

std::string OpenMpLine::WhyMissing() { return "the compiler has no OpenMP, or CMake has not found it"; }
double OpenMpLine::Time(int, std::uint64_t, RandomLine&) { return 0; }

#endif

}  // namespace bench
