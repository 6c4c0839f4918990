#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <fstream>
#include <numeric>
#include <string>
#include <thread>
#include <tuple>
#include <utility>
#include <vector>

#ifdef __linux__
#include <pthread.h>
#include <sched.h>
#include <unistd.h>
#endif

#include <uit/config.hpp>
#include <uit/support/error.hpp>
#include <uit/team/binding.hpp>

namespace uit::detail {

UIT_DEFINE CpuSet UsableCpus() {
  CpuSet cpus;
#ifdef __linux__
  cpu_set_t allowed;
  if (::sched_getaffinity(0, sizeof allowed, &allowed) != 0) return cpus;
  for (std::size_t cpu = 0; cpu < std::min<std::size_t>(CPU_SETSIZE, cpus.size()); ++cpu) cpus[cpu] = CPU_ISSET(cpu, &allowed);
#endif
  return cpus;
}

/// Returns false if the system refuses it.
UIT_DEFINE bool TryBind([[maybe_unused]] std::thread::native_handle_type thread, [[maybe_unused]] const CpuSet& cpus) {
#ifdef __linux__
  cpu_set_t wanted;
  CPU_ZERO(&wanted);
  for (std::size_t cpu = 0; cpu < std::min<std::size_t>(CPU_SETSIZE, cpus.size()); ++cpu)
    if (cpus[cpu]) CPU_SET(cpu, &wanted);
  return ::pthread_setaffinity_np(thread, sizeof wanted, &wanted) == 0;
#else
  return false;
#endif
}

UIT_DEFINE std::vector<std::uint32_t> CoresOf(const CpuSet& cpus) {
  std::vector<std::uint32_t> cores(cpus.size());
  std::iota(cores.begin(), cores.end(), std::uint32_t{0});
  for (std::size_t cpu = 0; cpu < cpus.size(); ++cpu) {
    if (!cpus[cpu]) continue;
    std::ifstream siblings("/sys/devices/system/cpu/cpu" + std::to_string(cpu) + "/topology/thread_siblings_list");
    std::uint32_t lowest = 0;
    if (siblings >> lowest && lowest < cores.size()) cores[cpu] = lowest;
  }
  return cores;
}

UIT_DEFINE std::vector<std::vector<std::uint32_t>> DealCpus(const std::vector<CpuSet>& usable, std::size_t num_threads,
                                                            const std::vector<std::uint32_t>& cores) {
  std::vector<std::size_t> order(usable.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::sort(order, {}, [&](std::size_t process) { return std::pair(usable[process].count(), process); });
  std::vector<std::size_t> on_core(cores.size(), 0);
  std::vector<std::size_t> on_cpu(cores.size(), 0);
  std::vector<std::vector<std::uint32_t>> dealt(usable.size());
  for (const std::size_t process : order) {
    std::vector<std::uint32_t> cpus;
    for (std::uint32_t cpu = 0; cpu < cores.size(); ++cpu)
      if (usable[process][cpu]) cpus.push_back(cpu);
    for (std::size_t thread = 0; thread < num_threads && !cpus.empty(); ++thread) {
      const std::uint32_t chosen =
          *std::ranges::min_element(cpus, {}, [&](std::uint32_t cpu) { return std::tuple(on_core[cores[cpu]], on_cpu[cpu], cpu); });
      ++on_core[cores[chosen]];
      ++on_cpu[chosen];
      dealt[process].push_back(chosen);
    }
  }
  return dealt;
}

/// What a process tells the others.
struct CpuOffer {
  std::array<char, 64> system{};  // the same in all containers of a host
  CpuSet usable{};
};

UIT_DEFINE std::vector<std::uint32_t> AgreeOnCpus(const World& world, std::size_t num_threads) {
  CpuOffer mine{.usable = UsableCpus()};
  std::string system;
  std::ifstream("/proc/sys/kernel/random/boot_id") >> system;
#ifdef __linux__
  if (system.empty()) ::gethostname(mine.system.data(), mine.system.size() - 1);
#endif
  std::copy_n(system.begin(), std::min(system.size(), mine.system.size() - 1), mine.system.begin());
  world.Agree<InputError>(mine.usable.any() ? "" : "pins_threads: the system does not report which CPUs rank " +
                                                       std::to_string(world.Rank()) + " may use, so threads cannot be bound");
  std::vector<CpuSet> usable;
  std::size_t position = 0;
  const std::vector<CpuOffer> offers = world.AllGatherValue(mine);
  for (std::size_t rank = 0; rank < offers.size(); ++rank) {
    if (rank == world.Rank()) position = usable.size();
    if (offers[rank].system == mine.system) usable.push_back(offers[rank].usable);
  }
  CpuSet of_any;
  for (const CpuSet& cpus : usable) of_any |= cpus;
  return DealCpus(usable, num_threads, CoresOf(of_any))[position];
}

UIT_DEFINE void BindToCpu(std::thread::native_handle_type thread, std::uint32_t cpu) {
  if (CpuSet one; cpu >= one.size() || !TryBind(thread, one.set(cpu)))
    throw Error("the system does not let a thread be bound to CPU " + std::to_string(cpu));
}

UIT_DEFINE OnCpu::OnCpu(std::uint32_t cpu) : before_{UsableCpus()} {
#ifdef __linux__
  BindToCpu(::pthread_self(), cpu);
#endif
}

UIT_DEFINE OnCpu::~OnCpu() {
#ifdef __linux__
  TryBind(::pthread_self(), before_);
#endif
}

}  // namespace uit::detail
