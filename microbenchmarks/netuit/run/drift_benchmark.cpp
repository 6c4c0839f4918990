// How much faster is a run of two threads if nodes move to the other worker when the load has drifted there? A square patch of
// nodes with 200 times the work runs over a torus, of which each worker has half the rows at first. While the patch lies within one
// half, that worker has 1.93 times the mean load; while it lies across, less. On average over the way, a run that is always
// balanced would be 1.70 times as fast. And what do windows cost in which nothing moves?
//
// Competitors take turns after each step of the patch, as cores seldom keep their speed for a whole way. A sample is the mean over
// the last way, of which only the newest step is new. So one slow step stays in many samples.
#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <numeric>
#include <string>

#include <netuit/balance/balanced.hpp>
#include <netuit/graph/graphs.hpp>
#include <netuit/graph/topologies.hpp>
#include <netuit/mesh/mesh.hpp>
#include <netuit/placement/placement.hpp>
#include <netuit/run/modes.hpp>
#include <netuit/run/run.hpp>
#include <uit/link/world.hpp>
#include <uit/support/clock.hpp>
#include <uit/team/team.hpp>

#include "microbenchmarks/support/program.hpp"

namespace {

constexpr std::uint32_t num_workers = 2;
constexpr netuit::NodeId side = 32;
constexpr netuit::NodeId patch = 8;
constexpr unsigned unevenness = 200;
constexpr std::uint64_t updates_per_step = 3000;  // of the patch, by a row and a column
constexpr std::size_t num_steps = 16;             // of a way: the patch leaves one half and enters the other

/// A relaxation on the torus.
class Drifting {
 public:
  explicit Drifting(const netuit::MeshOptions& options)
      : mesh{uit::Team{uit::World{}, {.threads = num_workers}}, netuit::Torus(side, side), options},
        x_{mesh.AddPublishedField<double>([](netuit::NodeId id) { return static_cast<double>(id % 17); })} {}

  void Update(netuit::Node& node) {
    const auto step = static_cast<netuit::NodeId>(node.Update() / updates_per_step);
    const bool is_heavy = (node.Id() / side + side - step % side) % side < patch && (node.Id() + side - step % side) % side < patch;
    for (unsigned i = is_heavy ? unevenness : 1; i != 0; --i) {
      double sum = 0;
      for (const netuit::InEdge edge : node.In()) sum += x_[edge];
      x_[node] = sum / 4.01;
      asm volatile("" ::: "memory");  // so that it is done each time
    }
  }

  netuit::Mesh mesh;

 private:
  netuit::PublishedField<double> x_;
};

/// A mesh that may move nodes, or a plain one.
class Runner {
 public:
  Runner(double threshold, bool has_windows)
      : has_windows_{has_windows},
        program_{[](const netuit::MeshOptions& options) { return std::make_unique<Drifting>(options); },
                 {.threshold = threshold, .window = std::chrono::milliseconds(5), .cool_down = 1}, HalfOfRows()} {
    for (std::size_t i = 0; i < num_steps; ++i) Step();
  }

  /// Makes a step. Returns ns per update of the last way, with the time for moves.
  double Time() {
    Step();
    return std::accumulate(times_.begin(), times_.end(), 0.0) / (num_steps * updates_per_step);
  }

 private:
  void Step() {
    const netuit::EveryUpdate schedule{.updates = updates_per_step};
    const netuit::RunOptions options{.first_update = program_->mesh.NumUpdates(), .stops_on_signal = false};
    const uit::TimePoint begin = uit::Now();
    if (has_windows_) program_.Run(schedule, options);
    else program_->mesh.Run(schedule, [&program = *program_](netuit::Node& node) { program.Update(node); }, options);
    times_[num_made_++ % num_steps] = std::chrono::duration<double, std::nano>(uit::Now() - begin).count();
  }
  static netuit::MeshOptions HalfOfRows() {
    netuit::MeshOptions options;
    options.placement = netuit::PlaceContiguous(netuit::MakeTorus(side, side), {.processes = 1, .threads = num_workers});
    return options;
  }

  bool has_windows_;
  netuit::Balanced<Drifting> program_;
  std::array<double, num_steps> times_{};  // of the last way
  std::size_t num_made_ = 0;
};

}  // namespace

int main(int argc, char** argv) {
  bench::Program program{argc, argv};
  bench::Crew crew{num_workers};
  const std::string name = "drifting load, 2 threads, mode 0";
  bench::Contest contest{name, bench::Unit::thousands_per_second};
  contest.window = std::chrono::milliseconds(30);  // about a step
  constexpr double never = std::numeric_limits<double>::infinity();
  const auto add = [&](const std::string& competitor, double threshold, bool has_windows) {
    crew.Unpin();  // a thread that it starts inherits the CPU of this one
    const auto runner = std::make_shared<Runner>(threshold, has_windows);
    crew.Pin();
    contest.Add(competitor, [&crew, runner](const bench::Load&) {
      crew.Unpin();
      const double time = runner->Time();
      crew.Pin();
      return time;
    });
  };
  add("without", never, false);
  add("with windows", never, true);
  add("with moves", 1.1, true);
  contest.Say({.name = name + ": with moves, over without", .ours = "with moves", .against = {"without"}, .at_least = 1.5});
  contest.Say({.name = name + ": with windows in which nothing moves, over without",
               .ours = "with windows",
               .against = {"without"},
               .at_least = 0.95});
  program.Run(contest, crew);
  return program.Finish();
}
