#include "openmp_tasks.hpp"

#if defined(_OPENMP)
#include <omp.h>
#endif

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include <uit/support/clock.hpp>

#include "microbenchmarks/support/machine.hpp"

namespace bench::task_graphs {

std::uint64_t OpenMpTasks::Digest() {
  std::uint64_t sum = 0;
  for (const std::uint64_t value : values_[update_ % 2]) sum += value;
  return sum;
}

#if defined(_OPENMP)

std::string OpenMpTasks::WhyMissing() { return {}; }

void OpenMpTasks::MakeTasks(std::uint64_t num_updates, std::uint64_t num_steps) {
  for (std::uint64_t update = update_ + 1; update <= update_ + num_updates; ++update) {
    for (std::size_t task = 0; task < num_tasks; ++task) {
      const Input* const inputs = inputs_[task].data();
      const std::size_t num_inputs = inputs_[task].size();
      std::uint64_t* const before = values_[(update - 1) % 2].data();
      std::uint64_t* const now = values_[update % 2].data();
#pragma omp task firstprivate(update, task, num_steps) \
    depend(iterator(std::size_t k = 0 : num_inputs), in : (inputs[k].delay == 0 ? now : before)[inputs[k].source]) \
    depend(in : before[task]) depend(out : now[task])
      UpdateTask(values_, task, inputs_[task], update, num_steps);
    }
    if (awaits_updates_) {
#pragma omp taskwait
    }
  }
#pragma omp taskwait
  update_ += num_updates;
}

double OpenMpTasks::Time(std::uint64_t num_updates, std::uint64_t num_steps) {
  const std::vector<int> cpus = AllowedCpus();
  uit::TimePoint start;
  uit::TimePoint end;
  double worst = 0;
#pragma omp parallel num_threads(num_workers)
  {
    PinTo(cpus[static_cast<std::size_t>(omp_get_thread_num()) % cpus.size()]);
    const double before = RunQueueDelay();
#pragma omp barrier
#pragma omp single
    {
      start = uit::Now();
      MakeTasks(num_updates, num_steps);
      end = uit::Now();
    }
    const double delay = RunQueueDelay() - before;
#pragma omp critical
    worst = std::max(worst, delay);
  }
  RunOn(cpus);
  omp_pause_resource_all(omp_pause_hard);  // ends the other thread, which would spin while others are measured
  delay_ += worst;
  return std::chrono::duration<double, std::nano>(end - start).count() / static_cast<double>(num_updates);
}

#else

std::string OpenMpTasks::WhyMissing() { return "the compiler has no OpenMP, or CMake has not found it"; }
double OpenMpTasks::Time(std::uint64_t, std::uint64_t) { return 0; }

#endif

}  // namespace bench::task_graphs
