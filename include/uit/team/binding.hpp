#pragma once

#include <bitset>
#include <cstddef>
#include <cstdint>
#include <thread>
#include <vector>

#include <uit/config.hpp>
#include <uit/link/world.hpp>

namespace uit::detail {

/// CPUs by the numbers that the system gives them.
using CpuSet = std::bitset<1024>;

/// The CPUs that the calling thread may use. Empty if the system does not report them.
CpuSet UsableCpus();

/// By CPU: the lowest CPU of the same core. A CPU of which the system reports no core counts as a core of its own.
std::vector<std::uint32_t> CoresOf(const CpuSet& cpus);

/// Chooses a CPU for each thread of each process of a host; process p may use `usable[p]`. Each thread gets a core that has the
/// fewest threads so far, of its CPUs one with the fewest, and of those the lowest. Processes with few CPUs choose first, so that
/// the others leave them these. A process without CPUs gets none.
std::vector<std::vector<std::uint32_t>> DealCpus(const std::vector<CpuSet>& usable, std::size_t num_threads,
                                                 const std::vector<std::uint32_t>& cores);

/// Returns a CPU for each thread of this process, in agreement with all processes of its host, also with those that share no memory
/// with it. Throws uit::InputError on every process if the system of one does not report CPUs. Collective.
std::vector<std::uint32_t> AgreeOnCpus(const World& world, std::size_t num_threads);

/// Lets a thread run on one CPU only. Throws uit::Error if the system refuses it.
void BindToCpu(std::thread::native_handle_type thread, std::uint32_t cpu);

/// Lets the calling thread run on one CPU only, until the end of its scope.
class OnCpu {
 public:
  /// Throws as BindToCpu does.
  explicit OnCpu(std::uint32_t cpu);
  OnCpu(const OnCpu&) = delete;
  OnCpu& operator=(const OnCpu&) = delete;
  ~OnCpu();

 private:
  CpuSet before_;
};

}  // namespace uit::detail

#if !UIT_COMPILED
#include <uit/team/binding.ipp>
#endif
