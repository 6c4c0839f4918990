// What does an all-reduce between threads cost, beside OpenMP and flags by hand?

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <string>
#include <vector>

#include <uit/support/clock.hpp>
#include <uit/support/pause.hpp>
#include <uit/team/member.hpp>

#include "microbenchmarks/support/machine.hpp"
#include "microbenchmarks/support/program.hpp"
#include "openmp_sum.hpp"

namespace {

constexpr std::size_t num_threads = 2;

void Require(bool holds) {
  if (holds) return;
  std::fprintf(stderr, "an all-reduce has given something else than it must\n");
  std::exit(1);
}
double PerCall(uit::TimePoint start, uit::TimePoint end, std::uint64_t count) {
  return std::chrono::duration<double, std::nano>(end - start).count() / static_cast<double>(count);
}

/// Each thread writes its number and a counter to a cache line of its own, and reads those of the others: the least that must
/// cross.
class Flags {
 public:
  double Add(std::size_t member, double value) {
    const std::uint64_t round = ++rounds_[member].value;
    Line& mine = lines_[round % 2][member];
    mine.value = value;
    mine.round.store(round, std::memory_order_release);
    double sum = 0;
    for (Line& line : lines_[round % 2]) {
      while (line.round.load(std::memory_order_acquire) != round) uit::Pause();
      sum += line.value;
    }
    return sum;
  }

 private:
  struct alignas(64) Line {
    std::atomic<std::uint64_t> round{0};
    double value = 0;
  };
  struct alignas(64) Own {
    std::uint64_t value = 0;
  };
  Line lines_[2][num_threads];
  Own rounds_[num_threads];
};

}  // namespace

int main(int argc, char** argv) {
  bench::Program program{argc, argv};
  const std::vector<int> cpus = bench::AllowedCpus();
  bench::Crew crew{num_threads};
  const std::string name = "all-reduce, 8 B, 2 threads";
  bench::Contest contest{name, bench::Unit::nanoseconds};
  contest.Add("Member", [&](const bench::Load& load) {
    crew.Unpin();
    uit::TimePoint start;
    uit::TimePoint end;
    const uit::Team team{{}, {.threads = num_threads}};
    team.Run([&](uit::Member& me) {
      bench::PinTo(cpus[me.Rank() % cpus.size()]);
      double sum = 0;
      me.Barrier();
      if (me.IsRoot()) start = uit::Now();
      for (std::uint64_t i = 0; i < load.count; ++i) sum += me.AllReduce(1.0, std::plus<>{});
      if (me.IsRoot()) end = uit::Now();
      Require(sum == num_threads * static_cast<double>(load.count));
    });
    crew.Pin();
    return PerCall(start, end, load.count);
  });
  contest.Add("flags by hand", [&crew](const bench::Load& load) {
    Flags flags;
    uit::TimePoint start;
    uit::TimePoint end;
    crew.Run([&](std::size_t member) {
      double sum = flags.Add(member, 0);
      if (member == 0) start = uit::Now();
      for (std::uint64_t i = 0; i < load.count; ++i) sum += flags.Add(member, 1.0);
      if (member == 0) end = uit::Now();
      Require(sum == num_threads * static_cast<double>(load.count));
    });
    return PerCall(start, end, load.count);
  });
  const std::string why_missing = bench::OpenMpSum::WhyMissing();
  if (why_missing.empty()) {
    contest.Add("OpenMP", [&crew](const bench::Load& load) {
      crew.Unpin();
      const double time = bench::OpenMpSum::Time(num_threads, load.count);
      crew.Pin();
      return time;
    });
    contest.Say({.name = name + ": to OpenMP", .ours = "Member", .against = {"OpenMP"}, .at_most = 1.0});
  } else {
    std::fprintf(stderr, "no OpenMP: %s\n", why_missing.c_str());
  }
  contest.Say({.name = name + ": to flags by hand", .ours = "Member", .against = {"flags by hand"}, .at_most = 1.2});
  program.Run(contest, crew);
  return program.Finish();
}
