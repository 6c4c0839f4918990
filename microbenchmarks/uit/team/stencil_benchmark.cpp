// A stencil with random work on a line that two threads share: what does it gain if a thread that waits for the other's end of the
// line takes chunks of its loop, and what does that cost where the work is even? With ten times the work in one half, an update
// takes 5.5 units of work in place of 10: 1.82 times the rate, if two busy cores are as fast as one.
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <string>
#include <vector>

#include <uit/support/clock.hpp>
#include <uit/team/member.hpp>

#include "microbenchmarks/support/machine.hpp"
#include "microbenchmarks/support/program.hpp"
#include "openmp_line.hpp"
#include "random_line.hpp"

namespace {

constexpr std::size_t num_threads = 2;
constexpr std::size_t half = bench::RandomLine::num_points;
constexpr std::uint64_t num_checked = 50;

struct Outcome {
  double time = 0;  // ns per update
  double sum = 0;
};

/// Each member updates its part of the line, gives its ends to its neighbours, and waits for theirs.
Outcome ByMembers(std::uint64_t count, unsigned unevenness, bool shares_loops) {
  const std::vector<int> cpus = bench::AllowedCpus();
  const uit::Team team{{}, {.threads = num_threads}};
  Outcome outcome;
  team.Run([&](uit::Member& me) {
    bench::PinTo(cpus[me.Rank() % cpus.size()]);
    bench::RandomLine line{me.Rank() * half, (me.Rank() + 1) * half, half, unevenness};
    const bool has_left = me.Rank() > 0;
    const bool has_right = me.Rank() + 1 < me.Size();
    uit::MemberInlet<double> to_left, to_right;
    uit::MemberOutlet<double> from_left, from_right;
    if (has_left) to_left = me.InletTo<double>(me.Left()), from_left = me.OutletFrom<double>(me.Left());
    if (has_right) to_right = me.InletTo<double>(me.Right()), from_right = me.OutletFrom<double>(me.Right());
    me.Connect();
    me.Barrier();
    const uit::TimePoint start = uit::Now();
    for (std::uint64_t update = 0; update < count; ++update) {
      if (has_left) to_left.TryPut(line.First());
      if (has_right) to_right.TryPut(line.Last());
      const auto take = [&](uit::MemberOutlet<double>& from, double& ghost) {
        if (shares_loops) me.WaitUntil([&] { return from.TryStep(); });
        else uit::WaitUntil([&] { return from.TryStep(); });
        ghost = from.Get();
      };
      if (has_left) take(from_left, line.LeftGhost());
      if (has_right) take(from_right, line.RightGhost());
      const auto work = [&](std::size_t begin, std::size_t end) { line.Update(update, begin, end); };
      if (shares_loops) me.ParallelFor(half, bench::RandomLine::grain, work);
      else work(0, half);
      line.Turn();
    }
    const double sum = me.AllReduce(line.Sum(), std::plus<>{});
    if (me.IsRoot())
      outcome = {std::chrono::duration<double, std::nano>(uit::Now() - start).count() / static_cast<double>(count), sum};
  });
  return outcome;
}

Outcome ByOpenMp(std::uint64_t count, unsigned unevenness) {
  bench::RandomLine line{0, num_threads * half, half, unevenness};
  const double time = bench::OpenMpLine::Time(num_threads, count, line);
  return {time, line.Sum()};
}

void Measure(bench::Program& program, bench::Crew& crew, const std::string& how, unsigned unevenness) {
  const std::string name = "stencil with random work, 2 threads, " + how;
  const auto check = [expected = ByMembers(num_checked, unevenness, false).sum](const Outcome& outcome) {
    if (outcome.sum > expected * (1 - 1e-9) && outcome.sum < expected * (1 + 1e-9)) return;
    std::fprintf(stderr, "a competitor has computed %.17g in place of %.17g\n", outcome.sum, expected);
    std::exit(1);
  };
  bench::Contest contest{name, bench::Unit::thousands_per_second};
  const auto add = [&](const std::string& competitor, auto run) {
    check(run(num_checked));
    contest.Add(competitor, [&crew, run](const bench::Load& load) {
      crew.Unpin();  // threads that it starts inherit the CPUs of this one
      const double time = run(load.count).time;
      crew.Pin();
      return time;
    });
  };
  add("each its own", [unevenness](std::uint64_t count) { return ByMembers(count, unevenness, false); });
  add("shared loops", [unevenness](std::uint64_t count) { return ByMembers(count, unevenness, true); });
  const std::string why_missing = bench::OpenMpLine::WhyMissing();
  if (why_missing.empty()) {
    add("OpenMP", [unevenness](std::uint64_t count) { return ByOpenMp(count, unevenness); });
    contest.Say({.name = name + ": to OpenMP", .ours = "shared loops", .against = {"OpenMP"}, .at_least = 1.0});
  } else {
    std::fprintf(stderr, "no OpenMP: %s\n", why_missing.c_str());
  }
  contest.Say({.name = name + ": with shared loops, over each its own",
               .ours = "shared loops",
               .against = {"each its own"},
               .at_least = unevenness == 1 ? 0.98 : 0.9 * 2 * unevenness / (1 + unevenness)});
  program.Run(contest, crew);
}

}  // namespace

int main(int argc, char** argv) {
  bench::Program program{argc, argv};
  bench::Crew crew{num_threads};
  Measure(program, crew, "even", 1);
  Measure(program, crew, "uneven", 10);
  return program.Finish();
}
