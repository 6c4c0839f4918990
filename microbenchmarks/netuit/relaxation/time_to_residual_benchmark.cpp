// How long does it take until the true residual of a relaxation is below a bound, in each mode? On two threads: when nothing
// disturbs, when each worker is three times slower for 10 ms in turn, and when one always is; on a torus in blocks, where few edges
// join the workers, and on the same torus placed at random, where half of them do. All times are compared with mode 0's. With one
// slow worker, no mode may be slower than mode 0: none can gain much there without moving work, but none should lose.
//
// In modes 1 to 3 a worker sees its own nodes as they are at that moment, so they need fewer updates than modes 0 and 5. The time
// ends with a result whose residual is below the bound. The row with the largest residual says how often that took another run.

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <netuit/graph/topologies.hpp>
#include <netuit/placement/placement.hpp>
#include <netuit/run/modes.hpp>
#include <netuit/run/schedules.hpp>

#include "microbenchmarks/support/program.hpp"
#include "relaxation.hpp"

namespace {

using namespace bench::relaxation;
using std::chrono_literals::operator""ms;
using std::chrono_literals::operator""s;

struct Way {
  std::string name;
  netuit::AsyncMode mode;
  std::optional<std::uint64_t> slack{};
};

using enum netuit::AsyncMode;
const std::string tuned = "mode 3, automatic";
const std::vector<Way> ways{{"mode 0", every_update},           {"mode 1", rolling},
                            {"mode 2", fixed},                  {"mode 3", no_barrier},
                            {"mode 3, slack 0", no_barrier, 0}, {"mode 3, slack 1", no_barrier, 1},
                            {"mode 3, slack 2", no_barrier, 2}, {"mode 3, slack 4", no_barrier, 4},
                            {"mode 3, slack 8", no_barrier, 8}, {"mode 3, slack 16", no_barrier, 16},
                            {"mode 3, slack 64", no_barrier, 64}, {"mode 3, slack 256", no_barrier, 256},
                            {tuned, no_barrier, netuit::automatic}, {"mode 5", dataflow}};

/// A contest in the table at the end: the time in mode 0, and those of the other ways over it.
std::string LineOf(const bench::Contest& contest) {
  const auto num_samples = [&](bench::Proximity proximity) { return contest.Times(ways.front().name, proximity).size(); };
  const bench::Proximity most = *std::ranges::max_element(bench::Contest::classes, {}, num_samples);
  const auto cell = [](const std::string& text) { return std::string(18 - std::min<std::size_t>(text.size(), 17), ' ') + text; };
  std::string line = contest.name + std::string(44 - std::min<std::size_t>(contest.name.size(), 43), ' ');
  const auto times_of_mode_0 = contest.Times(ways.front().name, most);
  for (const Way& way : ways) {
    const auto times = contest.Times(way.name, most);
    if (std::min(times.size(), times_of_mode_0.size()) < bench::Contest::min_clean) line += cell("-");
    else if (&way == &ways.front()) line += cell(bench::Show(bench::Median(times), contest.unit));
    else line += cell(bench::Digits(bench::Median(times) / bench::Median(times_of_mode_0)));
  }
  return line + "  " + (times_of_mode_0.empty() ? "-" : std::string{bench::Name(most)});
}

void Print(const std::vector<std::string>& lines) {
  std::printf("\n%-44s", "medians, over that of mode 0");
  for (const Way& way : ways) std::printf("%18s", way.name.c_str());
  for (const std::string& line : lines) std::printf("\n%s", line.c_str());
  std::printf("\n");
}

/// A way's solutions.
struct Summary {
  double largest_residual = 0;
  int num_solutions = 0;
  int num_continued = 0;  // after a run whose result was above the bound

  void Add(const Relaxation::Solution& solution) {
    largest_residual = std::max(largest_residual, solution.residual);
    ++num_solutions;
    if (solution.num_runs > 1) ++num_continued;
  }
};

class Table {
 public:
  explicit Table(bench::Program& program) : program_{program} {}

  /// Measures all ways in one situation.
  void Measure(bench::Crew& crew, const std::string& name, const std::shared_ptr<Relaxation>& relaxation, Slow slow,
               const std::string& share) {
    bench::Contest contest{name, bench::Unit::milliseconds};
    std::vector<Summary> summaries(ways.size());
    std::vector<std::string> choices;  // all slacks that `automatic` may choose, and none
    for (std::size_t i = 0; i < ways.size(); ++i) {
      const netuit::RunPlan plan = netuit::ScheduleOf(ways[i].mode, {.duration = 20s, .span = 10ms, .period = 10ms,
                                                                     .slack = ways[i].slack, .until = relaxation->UntilSolved()});
      contest.Add(ways[i].name, [&crew, &summary = summaries[i], relaxation, slow, plan](const bench::Load&) {
        crew.Unpin();
        const Relaxation::Solution solution = relaxation->Solve(plan, slow);
        crew.Pin();
        crew.AddRunQueueDelay(relaxation->TakeRunQueueDelay());
        summary.Add(solution);
        return solution.time;
      });
      if (ways[i].mode == no_barrier && ways[i].name != tuned) choices.push_back(ways[i].name);
      if (i == 0) continue;
      const bool is_judged = slow == Slow::first && !ways[i].slack;
      contest.Say({.name = name + ": " + ways[i].name + ", to mode 0", .ours = ways[i].name, .against = {ways.front().name},
                   .at_most = is_judged ? std::optional{1.05} : std::nullopt});
    }
    contest.Say({.name = name + ": mode 3, automatic, to the best fixed slack",
                 .ours = tuned,
                 .against = choices,
                 .at_most = 1 / 0.95});
    program_.Run(contest, crew);
    if (contest.samples.empty()) return;
    lines_.push_back(LineOf(contest));
    double worst = 0;
    std::string again;
    for (std::size_t i = 0; i < ways.size(); ++i) {
      const auto& [largest, num_solutions, num_continued] = summaries[i];
      worst = std::max(worst, largest);
      if (num_continued == 0) continue;
      again += "; " + ways[i].name + " ran again in " + std::to_string(num_continued) + " of " + std::to_string(num_solutions);
    }
    program_.Add({.figure = name + ": largest residual of a result, over the bound",
                  .value = bench::Digits(worst / Relaxation::bound),
                  .spread = "ratio",
                  .target = "< 1",
                  .verdict = worst < Relaxation::bound ? "ok" : "short",
                  .proximity = "-",
                  .detail = share + again});
  }
  [[nodiscard]] int Finish() const {
    if (!lines_.empty()) Print(lines_);
    return program_.Finish();
  }

 private:
  bench::Program& program_;
  std::vector<std::string> lines_;
};

}  // namespace

int main(int argc, char** argv) {
  bench::Program program{argc, argv};
  bench::Crew crew{num_workers};
  Table table{program};
  const double shift = program.IsQuick() ? 0.2 : 0.02;  // the smaller, the longer it takes
  const netuit::Topology torus = netuit::MakeTorus(64, 64);
  const netuit::Workers workers{.processes = 1, .threads = num_workers};
  for (const auto& [coupling, placement] : {std::pair{"in blocks", netuit::PlaceContiguous(torus, workers)},
                                            std::pair{"at random", netuit::PlaceRandom(torus, workers, 1)}}) {
    const double num_cut = static_cast<double>(netuit::EdgeCut(torus, placement).threads);
    const std::string share = bench::Digits(100 * num_cut / static_cast<double>(torus.NumEdges())) + " % of the edges join workers";
    crew.Unpin();  // a mesh that a thread makes which is bound to one core takes it that its workers share that
    const auto relaxation = std::make_shared<Relaxation>(torus, placement, shift);
    crew.Pin();
    for (const auto& [slow, situation] :
         {std::pair{Slow::nobody, "undisturbed"}, {Slow::in_turn, "slow in turn"}, {Slow::first, "one slow"}})
      table.Measure(crew, std::string("time to residual, ") + coupling + ", " + situation, relaxation, slow, share);
  }
  return table.Finish();
}
