#pragma once

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <set>
#include <span>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include <netuit/file/table.hpp>
#include <uit/support/simulation.hpp>
#include <uit/link/world.hpp>
#include <uit/team/binding.hpp>
#include <uit/team/core_spread.hpp>

namespace netuit {

/// A host that runs processes of a job. Results name it, because rates depend on it.
struct Host {
  std::string name{};          ///< its hostname
  std::string kernel{};        ///< boot id of the running system, by which containers of one host are recognised; may be empty
  std::string processor{};     ///< model of the first processor
  std::string interconnect{};  ///< InfiniBand devices, else the fastest network interface; empty if none is known
  std::uint64_t num_cores = 0;     ///< physical cores, as far as the system reports them
  std::uint64_t memory_bytes = 0;  ///< installed
  std::vector<std::uint32_t> cpus{};            ///< CPUs that the job's processes may use, ascending
  std::vector<std::size_t> processes{};         ///< ranks of the job on this host, ascending

  /// Inspects the host of this process. Not collective. A simulated host has its name from the simulation, one core, and the
  /// interconnect named by UIT_SIMULATED_NETWORK.
  static Host Here();
};

/// The hosts of a job.
struct Hosts {
  std::vector<Host> all;         ///< in order of their first process
  bool is_oversubscribed = false;  ///< some host has more workers than CPUs that they may use

  /// Collective. Gathers the hosts of all processes, which have `num_threads` workers each. Returns the same on every process.
  static Hosts Inspect(const uit::World& world, std::size_t num_threads);
  /// A row for each host.
  Table ToTable() const;
};

namespace detail {

/// The value of the first line of /proc/cpuinfo that begins with `key`.
inline std::string CpuInfo(const std::string& key) {
  std::ifstream info("/proc/cpuinfo");
  for (std::string line; std::getline(info, line);) {
    if (line.starts_with(key) && line.find(": ") != std::string::npos) return line.substr(line.find(": ") + 2);
  }
  return {};
}
inline std::vector<std::uint32_t> NumbersOf(const uit::detail::CpuSet& cpus) {
  std::vector<std::uint32_t> numbers;
  for (std::uint32_t cpu = 0; cpu < cpus.size(); ++cpu)
    if (cpus[cpu]) numbers.push_back(cpu);
  return numbers;
}
/// All CPUs of this host, whether this process may use them or not, if their numbers have no gaps.
inline uit::detail::CpuSet AllCpus() {
  uit::detail::CpuSet cpus;
  const std::size_t num_cpus = std::clamp<std::size_t>(uit::NumCores(), 1, cpus.size());
  for (std::size_t cpu = 0; cpu < num_cpus; ++cpu) cpus.set(cpu);
  return cpus;
}
inline std::uint64_t CountCores(const uit::detail::CpuSet& cpus) {
  const std::vector<std::uint32_t> cores = uit::detail::CoresOf(cpus);
  std::set<std::uint32_t> distinct;
  for (const std::uint32_t cpu : NumbersOf(cpus)) distinct.insert(cores[cpu]);
  return distinct.size();
}
inline std::string FindInterconnect() {
  std::error_code error;
  std::string devices;
  for (const auto& device : std::filesystem::directory_iterator("/sys/class/infiniband", error))
    devices += (devices.empty() ? "InfiniBand " : " ") + device.path().filename().string();
  if (!devices.empty()) return devices;
  long fastest = 0;
  for (const auto& interface : std::filesystem::directory_iterator("/sys/class/net", error)) {
    long speed = 0;  // Mbit/s; virtual interfaces do not report it
    if (std::ifstream(interface.path() / "speed") >> speed) fastest = std::max(fastest, speed);
  }
  return fastest > 0 ? "Ethernet " + std::to_string(fastest) + " Mbit/s" : "";
}
/// A host as lines of text; FromCard reads them.
inline std::string ToCard(const Host& host) {
  std::string card = host.name + '\n' + host.kernel + '\n' + host.processor + '\n' + host.interconnect + '\n' +
                     std::to_string(host.num_cores) + '\n' + std::to_string(host.memory_bytes) + '\n';
  for (const std::uint32_t cpu : host.cpus) card += std::to_string(cpu) + '\n';
  return card;
}
inline Host FromCard(const uit::Bytes& card) {
  Host host;
  std::vector<std::string> lines(1);
  for (const std::byte byte : card) {
    const char c = static_cast<char>(byte);
    if (c == '\n') lines.emplace_back();
    else lines.back() += c;
  }
  lines.resize(std::max<std::size_t>(lines.size(), 7));
  host.name = lines[0], host.kernel = lines[1], host.processor = lines[2], host.interconnect = lines[3];
  host.num_cores = std::strtoull(lines[4].c_str(), nullptr, 10);
  host.memory_bytes = std::strtoull(lines[5].c_str(), nullptr, 10);
  for (std::size_t i = 6; i + 1 < lines.size(); ++i)
    host.cpus.push_back(static_cast<std::uint32_t>(std::strtoul(lines[i].c_str(), nullptr, 10)));
  return host;
}

}  // namespace detail

inline Host Host::Here() {
  Host host;
#if UIT_SIMULATED
  host.name = uit::simulation::HostName();
  host.processor = "simulated";
  const char* network = std::getenv("UIT_SIMULATED_NETWORK");
  host.interconnect = network != nullptr ? network : "simulated";
  host.num_cores = 1;
  host.cpus = {0};
  return host;
#endif
  std::array<char, 256> name{};
  if (gethostname(name.data(), name.size() - 1) == 0) host.name = name.data();
  std::ifstream("/proc/sys/kernel/random/boot_id") >> host.kernel;
  host.processor = detail::CpuInfo("model name");
  host.interconnect = detail::FindInterconnect();
  host.num_cores = detail::CountCores(detail::AllCpus());
  host.memory_bytes = static_cast<std::uint64_t>(sysconf(_SC_PHYS_PAGES)) * static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
  const uit::detail::CpuSet usable = uit::detail::UsableCpus();
  host.cpus = detail::NumbersOf(usable.any() ? usable : detail::AllCpus());
  return host;
}

inline Hosts Hosts::Inspect(const uit::World& world, std::size_t num_threads) {
  const std::string card = detail::ToCard(Host::Here());
  const std::vector<uit::Bytes> cards = world.AllGather(std::as_bytes(std::span{card}));
  Hosts hosts;
  for (std::size_t process = 0; process < cards.size(); ++process) {
    Host seen = detail::FromCard(cards[process]);
    hosts.is_oversubscribed |= num_threads > seen.cpus.size();
    const auto known = std::ranges::find_if(hosts.all, [&](const Host& host) {
      return host.kernel == seen.kernel && (!seen.kernel.empty() || host.name == seen.name);
    });
    Host& host = known == hosts.all.end() ? hosts.all.emplace_back(seen) : *known;
    host.processes.push_back(process);
    std::vector<std::uint32_t> cpus;
    std::ranges::set_union(host.cpus, seen.cpus, std::back_inserter(cpus));
    host.cpus = std::move(cpus);
  }
  for (const Host& host : hosts.all) hosts.is_oversubscribed |= host.processes.size() * num_threads > host.cpus.size();
  return hosts;
}

inline Table Hosts::ToTable() const {
  Table table{{"host", "hostname", "processor", "cores", "cpus_allowed", "memory_bytes", "interconnect", "first_process",
               "num_processes"}};
  for (std::size_t i = 0; i < all.size(); ++i) {
    const Host& host = all[i];
    table.Row().Add(i).Add(host.name).Add(host.processor).Add(host.num_cores).Add(host.cpus.size()).Add(host.memory_bytes);
    table.Add(host.interconnect).Add(host.processes.front()).Add(host.processes.size());
  }
  return table;
}

}  // namespace netuit
