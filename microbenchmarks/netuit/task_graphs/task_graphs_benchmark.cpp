// How much work must a task have so that two threads spend half of their time on it? Graphs of tasks in four patterns, eight tasks
// per thread, by a mesh in mode 5, by OpenMP tasks made anew in every update, and by a loop by hand with flags. This is METG(50 %)
// of Task Bench; see half_efficiency.hpp. Small is good.

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <memory>
#include <string>

#include <uit/link/world.hpp>
#include <uit/support/clock.hpp>
#include <uit/team/team.hpp>

#include "half_efficiency.hpp"
#include "microbenchmarks/support/program.hpp"
#include "on_mesh.hpp"
#include "openmp_tasks.hpp"
#include "raw_loop.hpp"

namespace {

using namespace bench::task_graphs;

/// Two threads of a crew, each with its loop.
class ByFlags final : public System {
 public:
  ByFlags(bench::Crew& crew, const Pattern& pattern) : crew_{crew}, loops_{{{pattern, 0, board_}, {pattern, 1, board_}}} {}

  double Time(std::uint64_t num_updates, std::uint64_t num_steps) override {
    std::array<std::chrono::duration<double, std::nano>, num_workers> elapsed{};
    crew_.Run([&](std::size_t member) {
      const uit::TimePoint start = uit::Now();
      loops_[member].Run(num_updates, num_steps);
      elapsed[member] = uit::Now() - start;
    });
    return std::ranges::max(elapsed).count() / static_cast<double>(num_updates);
  }
  std::uint64_t Digest() override { return loops_[0].Digest() + loops_[1].Digest(); }

 private:
  bench::Crew& crew_;
  Flags::Board board_;
  std::array<RawLoop<Flags>, num_workers> loops_;
};

void Measure(bench::Program& program, bench::Crew& crew, const Pattern& pattern) {
  const std::string name = "METG, " + pattern.name + ", 2 threads";
  const bool has_open_mp = OpenMpTasks::WhyMissing().empty();
  bench::Contest contest{name, bench::Unit::nanoseconds};
  contest.window = sample_window;
  const uit::Team team{uit::World{}, {.threads = num_workers}};
  AddSystem(contest, "Mesh, mode 5", crew, pattern, std::make_shared<OnMesh>(team, pattern));
  AddSystem(contest, "flags by hand", crew, pattern, std::make_shared<ByFlags>(crew, pattern));
  if (has_open_mp) {
    AddSystem(contest, "OpenMP tasks", crew, pattern, std::make_shared<OpenMpTasks>(pattern, false));
    AddSystem(contest, "OpenMP tasks, awaited", crew, pattern, std::make_shared<OpenMpTasks>(pattern, true));
  }
  const std::string to_open_mp = name + ": to OpenMP tasks";
  if (has_open_mp)
    contest.Say({.name = to_open_mp,
                 .ours = "Mesh, mode 5",
                 .against = {"OpenMP tasks", "OpenMP tasks, awaited"},
                 .at_most = 1.0 / 3});
  // The flags are the limit: they are made for this graph, and tell nobody anything.
  contest.Say({.name = name + ": to flags by hand", .ours = "Mesh, mode 5", .against = {"flags by hand"}});
  program.Run(contest, crew);
  if (!has_open_mp && program.IsWanted(to_open_mp))
    program.Add({.figure = to_open_mp, .value = "-", .spread = "-", .target = "<= 0.33", .verdict = "-", .proximity = "-",
                 .detail = OpenMpTasks::WhyMissing()});
}

}  // namespace

int main(int argc, char** argv) {
  bench::Program program{argc, argv};
  bench::Crew crew{num_workers};
  for (const Pattern& pattern : patterns) Measure(program, crew, pattern);
  return program.Finish();
}
