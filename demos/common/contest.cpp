#include "demos/common/contest.hpp"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdio>
#include <functional>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include <netuit/mesh/on_root.hpp>
#include <uit/support/clock.hpp>
#include <uit/support/error.hpp>
#include <uit/team/team.hpp>

#include "demos/common/command_line.hpp"

namespace demo {
namespace {

/// Those who run methods together: the members of a team, or all processes.
struct Members {
  uit::Member& me;

  std::size_t Size() const { return me.Size(); }
  bool IsRoot() const { return me.IsRoot(); }
  /// All start together.
  void Start() { me.Barrier(); }
  double Largest(double value) {
    return me.AllReduce(value, [](double a, double b) { return std::max(a, b); });
  }
  /// Throws if any has a complaint.
  void Agree(const std::string& complaint) {
    if (!complaint.empty()) throw uit::Error(complaint + " (member " + std::to_string(me.Rank()) + ")");
    me.Barrier();  // the others notice here if one has thrown
  }
};
struct Processes {
  const uit::World& world;

  std::size_t Size() const { return world.Size(); }
  bool IsRoot() const { return world.IsRoot(); }
  void Start() { world.Agree(""); }
  double Largest(double value) { return std::ranges::max(world.AllGatherValue(value)); }
  void Agree(const std::string& complaint) {
    netuit::OnRoot(world, [&] {  // so that only one process prints an error
      if (!complaint.empty()) throw uit::Error(complaint);
      return true;
    });
  }
};

/// The middle value, or the mean of the two middle ones.
double Median(std::vector<double> values) {
  std::ranges::sort(values);
  return (values[(values.size() - 1) / 2] + values[values.size() / 2]) / 2;
}

/// Collective. Runs a method once. Returns the time of the slowest in seconds.
template <typename All>
double TimeRun(All all, const Method& method, std::size_t round) {
  all.Start();
  const uit::TimePoint start = uit::Now();
  method.run(round);
  const double slowest = all.Largest(std::chrono::duration<double>(uit::Now() - start).count());
  const std::string fault = method.find_fault(round);
  all.Agree(fault.empty() ? "" : method.name + ", round " + std::to_string(round) + ": " + fault);
  return slowest;
}

void PrintRow(std::size_t num_members, const std::string& name, double num_items, const std::vector<double>& rates,
              const std::vector<double>& ratios) {
  double sum_of_inverses = 0;
  for (const double rate : rates) sum_of_inverses += 1 / rate;
  const auto num_rounds = static_cast<double>(rates.size());
  const auto [rate_least, rate_most] = std::ranges::minmax(rates);
  const auto [ratio_least, ratio_most] = std::ranges::minmax(ratios);
  std::printf("%s,%zu,%.0f,%.0f,%.4g,%.4g,%.4g,%.3f,%.3f,%.3f\n", name.c_str(), num_members, num_rounds, num_items / num_rounds,
              num_rounds / sum_of_inverses, rate_least, rate_most, Median(ratios), ratio_least, ratio_most);
}

/// `seconds` is by method and round.
void PrintRows(std::size_t num_members, const std::vector<Method>& methods, const std::vector<std::vector<double>>& seconds) {
  std::puts("method,members,rounds,items,million_items_per_second,slowest,fastest,ratio,ratio_least,ratio_most");
  std::vector<double> first_rates;
  for (std::size_t i = 0; i < methods.size(); ++i) {
    double num_items = 0;
    std::vector<double> rates;
    std::vector<double> ratios;
    for (std::size_t round = 0; round < seconds[i].size(); ++round) {
      const double num_items_now = methods[i].num_items(round);
      num_items += num_items_now;
      rates.push_back(num_items_now / seconds[i][round] / 1e6);
      if (i == 0) first_rates.push_back(rates.back());
      ratios.push_back(rates.back() / first_rates[round]);
    }
    PrintRow(num_members, methods[i].name, num_items, rates, ratios);
  }
  std::fflush(stdout);
}

template <typename All>
void CompeteWith(All all, const std::vector<Method>& methods, std::size_t rounds) {
  std::vector<std::vector<double>> seconds(methods.size(), std::vector<double>(rounds));
  for (const Method& method : methods) TimeRun(all, method, 0);
  for (std::size_t round = 0; round < rounds; ++round)
    for (std::size_t i = 0; i < methods.size(); ++i) {
      const std::size_t turn = (round + i) % methods.size();
      seconds[turn][round] = TimeRun(all, methods[turn], round);
    }
  if (all.IsRoot()) PrintRows(all.Size(), methods, seconds);
}

}  // namespace

void ContestOptions::AddTo(CLI::App& app) {
  app.add_option("--rounds", rounds, "runs of each method")->check(CLI::Range(1, 1000))->capture_default_str();
  app.add_option("--threads", threads, "threads of each process, each of them a member; above 1, other methods are left out")
      ->check(CLI::Range(1, 1024))->capture_default_str();
  app.add_flag("!--no-shared-memory", shares_memory, "use MPI even between processes of a host");
  app.footer("Each result is checked, and the program fails if one is wrong. Writes one CSV row per method: millions of items per\n"
             "second over all members (harmonic mean), and how many times as fast as the first method it is (median).");
}

void Compete(uit::Member& me, const std::vector<Method>& methods, std::size_t rounds) { CompeteWith(Members{me}, methods, rounds); }
void Compete(const uit::World& world, const std::vector<Method>& methods, std::size_t rounds) {
  CompeteWith(Processes{world}, methods, rounds);
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
