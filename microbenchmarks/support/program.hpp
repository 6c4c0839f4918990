#pragma once

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <cctype>
#include <string>
#include <string_view>

#include "report.hpp"

namespace bench {

/// The command line of every benchmark.
struct Options {
  bool quick = false;
  bool list = false;       ///< print the names of the figures, measure nothing
  bool count = false;      ///< do the work that tools/bench counts, measure nothing
  std::string filter;      ///< measure the figures whose names contain it, in either case
  std::string json;        ///< where to write rows and samples
  std::string error;       ///< the error in the command line, if any

  static Options Parse(int argc, char** argv) {
    Options options;
    for (int i = 1; i < argc; ++i) {
      const std::string_view word = argv[i];
      const bool has_value = i + 1 < argc;
      if (word == "--quick") options.quick = true;
      else if (word == "--list") options.list = true;
      else if (word == "--count") options.count = true;
      else if (word == "--filter" && has_value) options.filter = argv[++i];
      else if (word == "--json" && has_value) options.json = argv[++i];
      else options.error = "usage: [--quick] [--list] [--count] [--filter TEXT] [--json FILE]";
    }
    return options;
  }

  [[nodiscard]] bool Wants(const std::string& name) const {
    const auto same = [](unsigned char a, unsigned char b) { return std::tolower(a) == std::tolower(b); };
    return !std::ranges::search(name, filter, same).empty() || filter.empty();
  }
};

/// A benchmark program: its options, its contests, its record.
///
///     int main(int argc, char** argv) {
///       bench::Program program{argc, argv};
///       bench::Crew crew{2};
///       bench::Contest contest{"thread rate, 4 B", bench::Unit::millions_per_second};
///       contest.Add(…).Add(…).Say(…);
///       program.Run(contest, crew);
///       return program.Finish();
///     }
class Program {
 public:
  /// Of several ranks, the lead prints.
  Program(int argc, char** argv, std::string mpi = "none", bool is_lead = true)
      : options_{Options::Parse(argc, argv)},
        record_{std::filesystem::path{argv[0]}.filename().string(), std::move(mpi),
                {.is_quick = options_.quick, .filter = options_.filter}},
        is_lead_{is_lead} {
    if (!options_.error.empty() && is_lead) std::fprintf(stderr, "%s: %s\n", argv[0], options_.error.c_str());
  }

  /// Collective over the team. Takes the samples of a contest, if one of its figures is wanted.
  void Run(Contest& contest, Team& team) {
    if (!IsWanted(contest)) return;
    if (options_.count) return Count(contest);
    const int longer = contest.is_beside_others ? 3 : 1;
    contest.Run(team, options_.quick ? Patience{std::chrono::milliseconds{1200}, longer * std::chrono::seconds{3}}
                                     : Patience{std::chrono::milliseconds{4500}, longer * std::chrono::seconds{20}});
    if (!team.IsLead()) return;
    record_.Add(contest);
    for (const Claim& claim : contest.claims)
      for (const Row& row : Judge(contest, claim)) record_.Add(row);
  }

  /// Whether to measure a figure that is not a ratio; with --list it prints the name.
  [[nodiscard]] bool IsWanted(const std::string& figure) const {
    return IsNamed(figure) && !options_.count;
  }

  /// Adds such a figure.
  void Add(const Row& row) {
    if (is_lead_) record_.Add(row);
  }
  /// Adds a point of a chart, at height `y`, that belongs to no competitor.
  void Add(const Point& point, double y) { record_.Add(point, y, "-"); }

  [[nodiscard]] bool IsQuick() const { return options_.quick; }
  [[nodiscard]] bool IsList() const { return options_.list; }

  /// Writes the results, and returns the exit code.
  [[nodiscard]] int Finish() const {
    if (!options_.error.empty()) return 2;
    if (!is_lead_ || options_.list || options_.json.empty() || record_.Write(options_.json)) return 0;
    std::fprintf(stderr, "cannot write %s\n", options_.json.c_str());
    return 5;
  }

 private:
  /// Whether the command line names a figure, to be measured or counted; with --list it prints the name.
  [[nodiscard]] bool IsNamed(const std::string& figure) const {
    if (options_.list && is_lead_) std::printf("%s\n", figure.c_str());
    return options_.error.empty() && !options_.list && options_.Wants(figure);
  }
  [[nodiscard]] bool IsWanted(const Contest& contest) const {
    bool wanted = !contest.points.empty() && IsNamed(contest.name);
    for (const Claim& claim : contest.claims) wanted |= IsNamed(claim.name);
    return wanted;
  }
  /// Does the work to be counted, and prints a line for each: contest, competitor and number of operations.
  static void Count(const Contest& contest) {
    for (const Counting& counting : contest.countings) {
      counting.work(contest.num_counted / 10);  // fills the caches
      bench_counted(counting.work, contest.num_counted);
      std::printf("%s\t%s\t%llu\n", contest.name.c_str(), counting.competitor.c_str(),
                  static_cast<unsigned long long>(contest.num_counted));
    }
  }

  Options options_;
  Record record_;
  bool is_lead_;
};

}  // namespace bench
