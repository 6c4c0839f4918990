#include "demos/common/contest.hpp"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <span>
#include <utility>

#include <CLI/CLI.hpp>

#include <netuit/mesh/on_root.hpp>
#include <uit/support/clock.hpp>
#include <uit/support/error.hpp>
#include <uit/team/team.hpp>

#include "demos/common/command_line.hpp"

namespace demo {
namespace {

/// The middle value, or the mean of the two middle ones, with the least and the most.
struct Spread {
  double median = 0;
  double least = 0;
  double most = 0;
};

Spread SpreadOf(std::vector<double> values) {
  std::ranges::sort(values);
  const std::size_t size = values.size();
  return {(values[(size - 1) / 2] + values[size / 2]) / 2, values.front(), values.back()};
}

/// Collective. Runs a method once. Returns the time of the slowest member in seconds.
double TimeRun(uit::Member& me, const Method& method) {
  me.Barrier();  // all start together
  const uit::TimePoint start = uit::Now();
  method.run();
  const double seconds = std::chrono::duration<double>(uit::Now() - start).count();
  const double slowest = me.AllReduce(seconds, [](double a, double b) { return std::max(a, b); });
  const std::string fault = method.find_fault();
  if (!fault.empty()) throw uit::Error(method.name + ": member " + std::to_string(me.Rank()) + ": " + fault);
  me.Barrier();  // the others notice here if one has thrown
  return slowest;
}

void PrintRows(std::size_t num_members, const std::vector<Method>& methods, const std::vector<std::vector<double>>& rates) {
  std::puts("method,members,items,items_per_second,slowest,fastest,ratio,ratio_least,ratio_most");
  for (std::size_t i = 0; i < methods.size(); ++i) {
    std::vector<double> ratios;
    for (std::size_t round = 0; round < rates[i].size(); ++round) ratios.push_back(rates[0][round] / rates[i][round]);
    const Spread rate = SpreadOf(rates[i]);
    const Spread ratio = SpreadOf(std::move(ratios));
    std::printf("%s,%zu,%.0f,%.4g,%.4g,%.4g,%.3f,%.3f,%.3f\n", methods[i].name.c_str(), num_members, methods[i].num_items, rate.median,
                rate.least, rate.most, ratio.median, ratio.least, ratio.most);
  }
  std::fflush(stdout);
}

}  // namespace

void ContestOptions::AddTo(CLI::App& app) {
  app.add_option("--rounds", rounds, "runs of each method")->check(CLI::Range(1, 1000))->capture_default_str();
  app.add_option("--threads", threads, "threads of each process, each of them a member; above 1, methods of MPI are left out")
      ->check(CLI::Range(1, 1024))->capture_default_str();
  app.add_flag("!--no-shared-memory", shares_memory, "use MPI even between processes of a host");
  app.footer("Each result is checked, and the program fails if one is wrong. Writes one CSV row per method: items per second over all\n"
             "members, and in how many times its time the first method does the same.");
}

void Compete(uit::Member& me, const std::vector<Method>& methods, std::uint32_t rounds) {
  std::vector<std::vector<double>> rates(methods.size());
  for (std::uint32_t round = 0; round <= rounds; ++round) {
    for (std::size_t i = 0; i < methods.size(); ++i) {
      const double seconds = TimeRun(me, methods[i]);
      if (round > 0) rates[i].push_back(methods[i].num_items / seconds);
    }
  }
  if (me.IsRoot()) PrintRows(me.Size(), methods, rates);
}

bool ParseOnRoot(const uit::World& world, CLI::App& app, int argc, const char* const* argv) {
  std::string text;
  bool goes_on = true;
  const auto parse = [&] { return goes_on = Parse(app, argc, argv, text); };
  netuit::OnRoot(world, parse);
  if (!world.IsRoot()) parse();
  if (world.IsRoot() && !goes_on) std::fputs(text.c_str(), stdout);
  return goes_on;
}

void RunTeam(const uit::World& world, const ContestOptions& options, const std::function<void(uit::Member&)>& work) {
  uit::Team{world, {.threads = options.threads, .shares_memory = options.shares_memory}}.Run(
      [&work](uit::Member& me) { work(me); });
}

}  // namespace demo
