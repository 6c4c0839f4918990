#include "openmp_sum.hpp"

#if defined(_OPENMP)
#include <omp.h>
#endif

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include <uit/support/clock.hpp>

#include "microbenchmarks/support/machine.hpp"

namespace bench {

#if defined(_OPENMP)

std::string OpenMpSum::WhyMissing() { return {}; }

double OpenMpSum::Time(int num_threads, std::uint64_t count) {
  const std::vector<int> cpus = AllowedCpus();
  uit::TimePoint start;
  uit::TimePoint end;
  struct alignas(64) Sum {
    double value = 0;
  };
  Sum sums[3];  // in turn: one is read, the next is added to, and the one after is cleared
#pragma omp parallel num_threads(num_threads)
  {
    PinTo(cpus[static_cast<std::size_t>(omp_get_thread_num()) % cpus.size()]);
    double last = 0;
#pragma omp barrier
#pragma omp master
    start = uit::Now();
    for (std::uint64_t i = 0; i < count; ++i) {
#pragma omp master
      sums[(i + 1) % 3].value = 0;
#pragma omp atomic
      sums[i % 3].value += 1.0;
#pragma omp barrier
      last += sums[i % 3].value;
    }
#pragma omp master
    end = uit::Now();
    if (last != static_cast<double>(count) * num_threads) {
      std::fprintf(stderr, "OpenMP has added up something else\n");
      std::exit(1);
    }
  }
  RunOn(cpus);
  omp_pause_resource_all(omp_pause_hard);  // ends the other threads, which would spin while others are measured
  return std::chrono::duration<double, std::nano>(end - start).count() / static_cast<double>(count);
}

#else

std::string OpenMpSum::WhyMissing() { return "the compiler has no OpenMP, or CMake has not found it"; }
double OpenMpSum::Time(int, std::uint64_t) { return 0; }

#endif

}  // namespace bench
