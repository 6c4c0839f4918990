// Teams whose threads are pinned: which CPU each thread gets, and where it runs.
#include <uit/team/binding.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <mutex>
#include <numeric>
#include <set>
#include <stdexcept>
#include <vector>

#include <uit/support/error.hpp>
#include <uit/team/member.hpp>
#include <uit/team/team.hpp>
#include <uit/team/thread_pool.hpp>

#include "tests/support/catch.hpp"
#include "tests/support/loopback_world.hpp"
#include "tests/support/skip.hpp"
#include "tests/uit/team/members.hpp"

using namespace uit;
using namespace uit::testing;
using uit::detail::CpuSet;
using uit::detail::DealCpus;
using uit::detail::UsableCpus;

namespace {

using Dealt = std::vector<std::vector<std::uint32_t>>;

CpuSet Cpus(std::initializer_list<std::size_t> numbers) {
  CpuSet cpus;
  for (const std::size_t cpu : numbers) cpus.set(cpu);
  return cpus;
}

/// Whether threads can be bound at all. If not, says that the test does not run.
bool SystemReportsCpus() {
  if (UsableCpus().any()) return true;
  uit::testing::Skip("the system does not report which CPUs the process may use");
  return false;
}

/// Each CPU is a core.
std::vector<std::uint32_t> SingleCpus() {
  std::vector<std::uint32_t> cores(CpuSet{}.size());
  std::iota(cores.begin(), cores.end(), std::uint32_t{0});
  return cores;
}

/// CPUs c and c + num_cores are of core c.
std::vector<std::uint32_t> PairedCpus(std::uint32_t num_cores) {
  std::vector<std::uint32_t> cores = SingleCpus();
  for (std::uint32_t core = 0; core < num_cores; ++core) cores[core + num_cores] = core;
  return cores;
}

}  // namespace

TEST_CASE("Threads get different cores while there are enough, then different CPUs") {
  const CpuSet four = Cpus({0, 1, 2, 3});
  CHECK(DealCpus({four}, 3, SingleCpus()) == Dealt{{0, 1, 2}});
  CHECK(DealCpus({four, four}, 2, SingleCpus()) == Dealt{{0, 1}, {2, 3}});
  CHECK(DealCpus({four}, 6, SingleCpus()) == Dealt{{0, 1, 2, 3, 0, 1}});
  // Of two cores with two CPUs each: first one thread on each core.
  CHECK(DealCpus({four}, 2, PairedCpus(2)) == Dealt{{0, 1}});
  CHECK(DealCpus({four}, 4, PairedCpus(2)) == Dealt{{0, 1, 2, 3}});
  CHECK(DealCpus({Cpus({0, 2, 3})}, 2, PairedCpus(2)) == Dealt{{0, 3}});
}

TEST_CASE("Threads get only CPUs of their process, and leave those that only others have") {
  // As mpirun binds processes to sockets in turn.
  const CpuSet left = Cpus({0, 1, 2, 3});
  const CpuSet right = Cpus({4, 5, 6, 7});
  CHECK(DealCpus({left, right, left, right}, 2, SingleCpus()) == Dealt{{0, 1}, {4, 5}, {2, 3}, {6, 7}});
  // The second process has no choice.
  CHECK(DealCpus({Cpus({0, 1}), Cpus({0})}, 1, SingleCpus()) == Dealt{{1}, {0}});
  CHECK(DealCpus({CpuSet{}, Cpus({5})}, 1, SingleCpus()) == Dealt{{}, {5}});
}

TEST_CASE("Each thread of a team stays on its CPU in a run, and the calling thread is free afterwards") {
  const CpuSet before = UsableCpus();
  if (!SystemReportsCpus()) return;
  const Team team{{}, {.threads = 3, .pins_threads = true}};
  REQUIRE(team.Cpus().size() == 3);
  const std::set<std::uint32_t> distinct(team.Cpus().begin(), team.Cpus().end());
  CHECK(distinct.size() == std::min<std::size_t>(3, before.count()));
  for (int round = 0; round < 3; ++round) {
    Checks checks;
    team.Run([&](Member& me) {
      THAT(UsableCpus() == CpuSet{}.set(team.Cpus()[me.Thread()]));
    });
    CHECK(UsableCpus() == before);
  }
  CHECK_THROWS_AS(team.Run([](Member&) { throw std::runtime_error("a member fails"); }), std::runtime_error);
  CHECK(UsableCpus() == before);
}

TEST_CASE("A run that a run refuses leaves its threads pinned") {
  if (!SystemReportsCpus()) return;
  const Team team{{}, {.pins_threads = true}};
  Checks checks;
  team.Run([&](Member&) {
    try {
      team.Run([](Member&) {});
      THAT(false);
    } catch (const Error&) {
      THAT(UsableCpus() == CpuSet{}.set(team.Cpus().front()));
    }
  });
}

TEST_CASE("Threads of a team are free to move unless they are pinned") {
  const CpuSet before = UsableCpus();
  const Team team{{}, {.threads = 2}};
  CHECK(team.Cpus().empty());
  Checks checks;
  team.Run([&](Member&) { THAT(UsableCpus() == before); });
}

TEST_CASE("Processes of a host that share no memory share its CPUs, too") {
  const std::size_t num_cpus = UsableCpus().count();
  if (!SystemReportsCpus()) return;
  LoopbackNetwork network{4, 1};  // four processes, each of which takes itself for alone on its host
  std::mutex mutex;
  std::vector<std::size_t> num_threads(CpuSet{}.size(), 0);
  network.Together([&](std::size_t rank) {
    const Team team{network.World(rank), {.threads = 3, .pins_threads = true}};
    const std::lock_guard lock(mutex);
    for (const std::uint32_t cpu : team.Cpus()) ++num_threads[cpu];
  });
  CHECK(std::accumulate(num_threads.begin(), num_threads.end(), std::size_t{0}) == 12);
  // If cores have different numbers of CPUs, those of small cores get more threads.
  CHECK(std::ranges::max(num_threads) <= (12 + num_cpus - 1) / num_cpus + 1);
}

TEST_CASE("A CPU that does not exist is refused") {
  CHECK_THROWS_AS((ThreadPool{2, 0, {0, 1023}}), Error);
  CHECK_THROWS_AS((ThreadPool{2, 0, {0, 5000}}), Error);
  ThreadPool pool{1, 0, {1023}};
  CHECK_THROWS_AS(pool.Run([](std::uint32_t) {}), Error);
}
