// Two processes of two threads each: how much faster are they if in each process one thread has ten times the work, and the other helps
// while it waits for the other process? All meet after each round. With the work of a process shared evenly, a round takes 5.5 units of
// work in place of 10: 1.82 times the rate. A piece of work waits for 100 us, as for a device or a file. So it needs no core, and two
// cores do as well as four; a thread that waits must leave them to others.
#include <sys/prctl.h>

#include <mpi.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <netuit/graph/topologies.hpp>
#include <netuit/mesh/mesh.hpp>
#include <netuit/placement/placement.hpp>
#include <netuit/run/modes.hpp>
#include <netuit/run/run.hpp>
#include <netuit/run/schedule.hpp>
#include <uit/link/world.hpp>
#include <uit/mpi/mpi_world.hpp>
#include <uit/support/clock.hpp>
#include <uit/support/pause.hpp>
#include <uit/team/member.hpp>

#include "microbenchmarks/support/machine.hpp"
#include "microbenchmarks/support/program.hpp"
#include "microbenchmarks/support/rank_main.hpp"
#include "microbenchmarks/support/ranks.hpp"

namespace {

constexpr std::uint32_t num_threads = 2;
constexpr unsigned unevenness = 10;
constexpr double bound = 2.0 * unevenness / (1 + unevenness);
constexpr std::size_t num_pieces = 12;  // of work, in a round, of a thread that has less of it

/// A piece of work.
void Work() { uit::SleepFor(std::chrono::microseconds{100}); }

/// The pieces of a thread's work. In the first process it is the first thread that has more, in the second the second.
std::size_t PiecesOf(std::size_t process, std::size_t thread) { return process == thread ? unevenness * num_pieces : num_pieces; }

/// Returns ns per round of members that do their work, and then add up a number.
double ByMembers(const uit::Team& team, std::uint64_t count, bool shares_loops) {
  double time = 0;
  team.Run([&](uit::Member& me) {
    const std::size_t mine = PiecesOf(me.Process(), me.Thread());
    const auto work = [](std::size_t begin, std::size_t end) {
      for (; begin < end; ++begin) Work();
    };
    me.Barrier();
    const uit::TimePoint start = uit::Now();
    for (std::uint64_t round = 0; round < count; ++round) {
      if (shares_loops) me.ParallelFor(mine, 1, work);
      else work(0, mine);
      me.AllReduce(round, std::plus<>{});
    }
    if (me.IsRoot()) time = std::chrono::duration<double, std::nano>(uit::Now() - start).count() / static_cast<double>(count);
  });
  return time;
}

/// A relaxation on a ring, in which an update of a node is a piece of work.
class Ring {
 public:
  Ring(const uit::Team& team, netuit::AsyncMode mode, std::optional<netuit::Steals> steals)
      : mode_{mode}, steals_{steals}, mesh_{team, graph, {.placement = Place()}}, x_{mesh_.AddPublishedField<double>()} {}

  /// Returns ns per update of all nodes.
  double Time(std::chrono::nanoseconds window) {
    const netuit::RunPlan plan = netuit::ScheduleOf(mode_, {.duration = window, .steals = steals_});
    const netuit::RunReport report = mesh_.Run(plan, [x = x_](netuit::Node& node) {
      Work();
      for (const netuit::InEdge edge : node.In()) x[node] = (x[edge] + 1) / 2;
    }, {.stops_on_signal = false});
    return report.is_root ? 1e9 / report.workers.front().Rate() : 0;
  }

 private:
  static inline const netuit::Topology graph = netuit::MakeRing(2 * (unevenness + 1) * num_pieces);

  static netuit::Placement Place() {
    std::vector<std::uint32_t> worker_of;
    for (std::uint32_t worker = 0; worker < 2 * num_threads; ++worker)
      worker_of.insert(worker_of.end(), PiecesOf(worker / num_threads, worker % num_threads), worker);
    return {{.processes = 2, .threads = num_threads}, std::move(worker_of)};
  }

  netuit::AsyncMode mode_;
  std::optional<netuit::Steals> steals_;
  netuit::Mesh mesh_;
  netuit::PublishedField<double> x_;
};

/// Adds `without` and `with`, which return ns per round, and says how much faster the second is.
void Compare(bench::Program& program, bench::Ranks& ranks, const std::string& what, std::function<double(const bench::Load&)> without,
             std::function<double(const bench::Load&)> with) {
  bench::Contest contest{"uneven work, 2 processes of 2 threads, " + what, bench::Unit::milliseconds};
  contest.window = std::chrono::milliseconds{200};  // some rounds, in which chunks grow to their size
  contest.is_oversubscribed = true;
  contest.Add("without", std::move(without)).Add("with steals", std::move(with));
  contest.Say({.name = contest.name + ": with steals, over without",
               .ours = "with steals",
               .against = {"without"},
               .at_least = 0.9 * bound});
  program.Run(contest, ranks);
}

void MeasureOn(bench::Program& program, bench::Ranks& ranks, const uit::World& world, const std::vector<int>& cpus,
               const std::string& how) {
  const uit::Team team{world, {.threads = num_threads}};
  const std::vector<int> own_cpu = bench::AllowedCpus();
  bench::RunOn(cpus);
  team.Threads();  // they may use all
  bench::RunOn(own_cpu);
  const auto members = [&](bool shares_loops) {
    return [&team, shares_loops](const bench::Load& load) { return ByMembers(team, load.count, shares_loops); };
  };
  Compare(program, ranks, "members over " + how, members(false), members(true));
  for (const auto& [name, mode] : {std::pair{"mode 0", netuit::AsyncMode::every_update}, {"mode 5", netuit::AsyncMode::dataflow}}) {
    const auto mesh = [&](std::optional<netuit::Steals> steals) {
      return [ring = std::make_shared<Ring>(team, mode, steals)](const bench::Load& load) { return ring->Time(load.window); };
    };
    Compare(program, ranks, std::string(name) + " over " + how, mesh({}), mesh(netuit::Steals{}));
  }
}

void Measure(bench::Program& program, bench::Ranks& ranks, const uit::World& world, const std::vector<int>& cpus) {
  MeasureOn(program, ranks, world, cpus, "shared memory");
  MPI_Comm communicator = MPI_COMM_NULL;
  MPI_Comm_dup(MPI_COMM_WORLD, &communicator);
  MPI_Comm_set_errhandler(communicator, MPI_ERRORS_RETURN);
  const uit::World apart{std::make_shared<uit::mpi::MpiWorld>(communicator, uit::mpi::MpiWorldOptions{.shares_memory = false})};
  MeasureOn(program, ranks, apart, cpus, "MPI");
  MPI_Comm_free(&communicator);
}

}  // namespace

int main(int argc, char** argv) {
  ::setenv("OMPI_MCA_mpi_yield_when_idle", "1", 1);  // as Open MPI does by itself with more processes than cores
  ::prctl(PR_SET_TIMERSLACK, 1);                     // so that work ends when it is due; also for threads that this one starts
  const std::vector<int> cpus = bench::AllowedCpus();
  return bench::MainOfTwoRanks(argc, argv, [&](bench::Program& program, bench::Ranks& ranks, const uit::World& world) {
    Measure(program, ranks, world, cpus);
  });
}
