// What does a chain of ten effects on a shared object cost, if two threads take turns: in the sequential order of a mesh, with a
// barrier after each effect, or by a ticket by hand, which is the least that must cross? Each effect follows one of the other
// thread.

#include <atomic>
#include <barrier>
#include <chrono>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <netuit/graph/topologies.hpp>
#include <netuit/mesh/mesh.hpp>
#include <netuit/placement/placement.hpp>
#include <netuit/run/run.hpp>
#include <netuit/run/schedules.hpp>
#include <uit/config.hpp>
#include <uit/link/world.hpp>
#include <uit/support/clock.hpp>
#include <uit/support/pause.hpp>
#include <uit/team/team.hpp>
#include <uit/team/thread_barrier.hpp>

#include "microbenchmarks/support/program.hpp"

namespace {

constexpr std::uint32_t num_threads = 2;
constexpr std::uint32_t length = 10;

/// An object that tells whether effects came in order.
class Chain {
 public:
  void Add(std::uint32_t link) {
    is_in_order_ = is_in_order_ && link == num_added_ % length;
    ++num_added_;
  }
  void Require(std::uint64_t num_chains) const {
    if (is_in_order_ && num_added_ == num_chains * length) return;
    std::fprintf(stderr, "effects did not come in order, each once\n");
    std::exit(1);
  }

 private:
  bool is_in_order_ = true;
  std::uint64_t num_added_ = 0;
};

double PerChain(uit::TimePoint start, uit::TimePoint end, std::uint64_t count) {
  return std::chrono::duration<double, std::nano>(end - start).count() / static_cast<double>(count);
}

/// A mesh of ten nodes, of which neighbours in the order belong to different workers. An update is a chain.
class InTurn {
 public:
  InTurn()
      : mesh_{uit::Team{uit::World{}, {.threads = num_threads}}, netuit::MakeRing(length), {.placement = Alternate()}},
        chain_{mesh_.AddShared<Chain, netuit::Order::sequential>()} {}

  /// Runs by `schedule`, which makes `count` updates.
  template <typename Schedule>
  double Time(const Schedule& schedule, std::uint64_t count) {
    chain_.BetweenRuns() = Chain{};
    const uit::TimePoint start = uit::Now();
    mesh_.Run(schedule, [chain = chain_](netuit::Node& node) mutable { chain.InTurn(node).Add(node.Id()); },
              {.stops_on_signal = false});
    const uit::TimePoint end = uit::Now();
    chain_.BetweenRuns().Require(count);
    return PerChain(start, end, count);
  }

 private:
  static netuit::Placement Alternate() {
    std::vector<std::uint32_t> worker_of(length);
    for (std::uint32_t node = 0; node < length; ++node) worker_of[node] = node % num_threads;
    return {{.processes = 1, .threads = num_threads}, std::move(worker_of)};
  }

  netuit::Mesh mesh_;
  netuit::Shared<Chain, netuit::Order::sequential> chain_;
};

/// Two threads; the one whose turn it is adds a link, then both call wait(link).
template <std::invocable<std::uint64_t> Wait>
double WithBarriers(bench::Crew& crew, std::uint64_t count, Wait&& wait) {
  Chain chain;
  uit::TimePoint start;
  uit::TimePoint end;
  crew.Run([&](std::size_t member) {
    if (member == 0) start = uit::Now();
    for (std::uint64_t link = 0; link < count * length; ++link) {
      if (link % num_threads == member) chain.Add(static_cast<std::uint32_t>(link % length));
      wait(link);
    }
    if (member == 0) end = uit::Now();
  });
  chain.Require(count);
  return PerChain(start, end, count);
}

/// Each thread waits for the number of its next link.
double ByTicket(bench::Crew& crew, std::uint64_t count) {
  Chain chain;
  alignas(2 * uit::cache_line) std::atomic<std::uint64_t> next{0};
  uit::TimePoint start;
  uit::TimePoint end;
  crew.Run([&](std::size_t member) {
    if (member == 0) start = uit::Now();
    for (std::uint64_t link = member; link < count * length; link += num_threads) {
      while (next.load(std::memory_order_acquire) != link) uit::Pause();
      chain.Add(static_cast<std::uint32_t>(link % length));
      next.store(link + 1, std::memory_order_release);
    }
    if (member == 0) end = uit::Now();
  });
  chain.Require(count);
  return PerChain(start, end, count);
}

void AddMesh(bench::Contest& contest, bench::Crew& crew) {
  const auto add = [&](const std::string& competitor, auto schedule) {
    contest.Add(competitor, [&crew, schedule, mesh = std::make_shared<InTurn>()](const bench::Load& load) mutable {
      crew.Unpin();  // a thread that it starts inherits the CPU of this one
      schedule.updates = load.count;
      const double time = mesh->Time(schedule, load.count);
      crew.Pin();
      return time;
    });
  };
  add("in turn, mode 5", netuit::Dataflow{});
  add("in turn, mode 0", netuit::EveryUpdate{});
}

void AddBarriers(bench::Contest& contest, bench::Crew& crew) {
  contest.Add("our barrier", [&crew](const bench::Load& load) {
    uit::ThreadBarrier<> barrier{num_threads};
    return WithBarriers(crew, load.count, [&](std::uint64_t) { barrier.ArriveAndWait(); });
  });
  contest.Add("std::barrier", [&crew](const bench::Load& load) {
    std::barrier<> barrier{num_threads};
    return WithBarriers(crew, load.count, [&](std::uint64_t) { barrier.arrive_and_wait(); });
  });
  contest.Add("ticket by hand", [&crew](const bench::Load& load) { return ByTicket(crew, load.count); });
}

}  // namespace

int main(int argc, char** argv) {
  bench::Program program{argc, argv};
  bench::Crew crew{num_threads};
  const std::string name = "chain of 10 effects, 2 threads";
  bench::Contest contest{name, bench::Unit::nanoseconds};
  AddMesh(contest, crew);
  AddBarriers(contest, crew);
  const std::vector<std::string> barriers{"our barrier", "std::barrier"};
  contest.Say({.name = name + ", mode 5: to a barrier after each", .ours = "in turn, mode 5", .against = barriers, .at_most = 1.0});
  contest.Say({.name = name + ", mode 0: to a barrier after each", .ours = "in turn, mode 0", .against = barriers, .at_most = 1.0});
  contest.Say({.name = name + ", mode 5: to a ticket by hand", .ours = "in turn, mode 5", .against = {"ticket by hand"}});
  program.Run(contest, crew);
  return program.Finish();
}
