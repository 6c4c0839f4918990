// What does a barrier between threads cost, with a core for each and with too few cores?

#include <barrier>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>

#include <uit/team/thread_barrier.hpp>

#include "microbenchmarks/support/barriers.hpp"
#include "microbenchmarks/support/program.hpp"

namespace {

struct Ours {
  explicit Ours(std::uint32_t num_threads) : barrier{num_threads} {}
  void Wait(bool&) { barrier.ArriveAndWait(); }
  uit::ThreadBarrier<> barrier;
};

struct Standard {
  explicit Standard(std::uint32_t num_threads) : barrier{num_threads} {}
  void Wait(bool&) { barrier.arrive_and_wait(); }
  std::barrier<> barrier;
};

template <typename Barrier>
struct BySense {
  explicit BySense(std::uint32_t num_threads) : barrier{num_threads} {}
  void Wait(bool& sense) { barrier.ArriveAndWait(sense); }
  Barrier barrier;
};

template <typename Barrier, std::size_t num_threads>
void Add(bench::Contest& contest, bench::Crew& crew, const std::string& name) {
  contest.Add(name, [&crew](const bench::Load& load) {
    Barrier barrier{num_threads};
    bench::hand::BarrierCheck<num_threads> check;
    uit::TimePoint start;
    uit::TimePoint end;
    crew.Run([&](std::size_t member) {
      bool sense = false;
      check.Run(member, [&] { barrier.Wait(sense); });
      if (member == 0) start = uit::Now();
      for (std::uint64_t i = 0; i < load.count; ++i) barrier.Wait(sense);
      if (member == 0) end = uit::Now();
    });
    return std::chrono::duration<double, std::nano>(end - start).count() / static_cast<double>(load.count);
  });
}

}  // namespace

int main(int argc, char** argv) {
  bench::Program program{argc, argv};
  {
    bench::Crew crew{2};
    const std::string name = "thread barrier, 2 threads";
    bench::Contest contest{name, bench::Unit::nanoseconds};
    Add<Ours, 2>(contest, crew, "ThreadBarrier");
    Add<Standard, 2>(contest, crew, "std::barrier");
    Add<BySense<bench::hand::SenseBarrier>, 2>(contest, crew, "sense + pause");
    Add<BySense<bench::hand::DenseSenseBarrier>, 2>(contest, crew, "sense + pause, one line");
    contest.Say({.name = name + ": to std::barrier", .ours = "ThreadBarrier", .against = {"std::barrier"}, .at_most = 0.1});
    contest.Say({.name = name + ": to sense + pause",
                 .ours = "ThreadBarrier",
                 .against = {"sense + pause", "sense + pause, one line"},
                 .at_most = 1.2});
    program.Run(contest, crew);
  }
  {
    // Twice as many threads as the two cores.
    bench::Crew crew{4};
    const std::string name = "thread barrier, 4 threads on 2 cores";
    bench::Contest contest{name, bench::Unit::nanoseconds};
    contest.is_oversubscribed = true;
    Add<Ours, 4>(contest, crew, "ThreadBarrier");
    Add<Standard, 4>(contest, crew, "std::barrier");
    Add<BySense<bench::hand::YieldingSenseBarrier<0>>, 4>(contest, crew, "sense + yield");
    Add<BySense<bench::hand::YieldingSenseBarrier<100>>, 4>(contest, crew, "sense + 100 pauses + yield");
    contest.Say({.name = name + ": to std::barrier", .ours = "ThreadBarrier", .against = {"std::barrier"}, .at_most = 1.1});
    contest.Say({.name = name + ": to sense + yield",
                 .ours = "ThreadBarrier",
                 .against = {"sense + yield", "sense + 100 pauses + yield"},
                 .at_most = 1.2});
    program.Run(contest, crew);
  }
  return program.Finish();
}
