#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdio>
#include <ctime>
#include <fstream>
#include <map>
#include <optional>
#include <ostream>
#include <sstream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "contest.hpp"
#include "machine.hpp"
#include "tools/cmake/build_commit.hpp"

namespace bench {

/// A claim's ratio over the rounds, unrounded, for comparison with later runs.
struct Ratio {
  double typical = 0;  ///< the median, or the ratio of the mean times
  double low = 0;  ///< quartiles: half of the rounds lie between
  double high = 0;
  std::size_t num_rounds = 0;
  bool is_better_low = false;
};

/// One line of the table: a figure in one class, and its target.
struct Row {
  std::string figure;
  std::string value;   // a ratio, or an amount with its unit
  std::string spread;  // lowest … highest
  std::string target;
  std::string verdict;  // ok, short; ok?, short?: by samples of a busy machine; noisy: too few samples; - for what is not judged
  std::string proximity;
  std::string detail;
  std::optional<Ratio> ratio{};  // of claims that are judged
};

[[nodiscard]] inline double Median(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::ranges::nth_element(values, middle);
  return *middle;
}

[[nodiscard]] inline double Median(const std::map<std::size_t, double>& by_round) {
  std::vector<double> values;
  for (const auto& [round, value] : by_round) values.push_back(value);
  return Median(std::move(values));
}

[[nodiscard]] inline double Mean(const std::map<std::size_t, double>& by_round) {
  double sum = 0;
  for (const auto& [round, value] : by_round) sum += value;
  return sum / static_cast<double>(by_round.size());
}

/// The time of a competitor that counts: the median of its samples; beside programs of others, the mean.
[[nodiscard]] inline double TypicalTime(const Contest& contest, const std::map<std::size_t, double>& by_round) {
  return contest.is_beside_others ? Mean(by_round) : Median(by_round);
}

/// The ratios of the mean times in blocks of so many rounds that follow one another.
[[nodiscard]] inline std::vector<double> InBlocks(std::size_t num_rounds, const Claim& claim, const std::map<std::size_t, double>& ours,
                                                  const std::map<std::size_t, double>& theirs) {
  std::vector<double> ratios;
  double our_sum = 0;
  double their_sum = 0;
  std::size_t count = 0;
  for (const auto& [round, time] : theirs) {
    const auto found = ours.find(round);
    if (found == ours.end()) continue;
    our_sum += found->second;
    their_sum += time;
    if (++count % num_rounds != 0) continue;
    ratios.push_back(claim.Ratio(our_sum, their_sum));
    our_sum = their_sum = 0;
  }
  return ratios;
}

/// Of a claim's rounds, or blocks of rounds; `ratio` is the one that counts.
[[nodiscard]] inline Ratio Summarize(const Claim& claim, double ratio, std::vector<double> ratios) {
  std::ranges::sort(ratios);
  const std::size_t last = ratios.size() - 1;
  return {.typical = ratio,
          .low = ratios[last / 4],
          .high = ratios[last - last / 4],
          .num_rounds = ratios.size(),
          .is_better_low = !claim.at_least};
}

/// Three significant digits, never in powers of ten.
[[nodiscard]] inline std::string Digits(double value) {
  std::ostringstream text;
  text.setf(std::ios::fixed);
  text.precision(value >= 99.95 ? 0 : value >= 9.995 ? 1 : 2);
  text << value;
  return text.str();
}

[[nodiscard]] inline std::string Show(double time, Unit unit) {
  switch (unit) {
    case Unit::nanoseconds: return Digits(time) + " ns";
    case Unit::milliseconds: return Digits(time / 1e6) + " ms";
    case Unit::millions_per_second: return Digits(1e3 / time) + " M/s";
    default: return Digits(1e6 / time) + " k/s";
  }
}

/// The row of a claim for which other work has left too few clean samples. Such work makes samples longer, never shorter. So if each
/// side has many samples, those that were disturbed least are compared: of each, the time that a tenth does not exceed.
[[nodiscard]] inline Row JudgeBusy(const Contest& contest, const Claim& claim, const std::string& target) {
  Row row{.figure = claim.name, .value = "-", .spread = "-", .target = target,
          .verdict = claim.IsJudged() ? "noisy" : "-", .proximity = "-", .detail = "too few clean samples"};
  const auto undisturbed = [&](const std::string& competitor) -> std::optional<double> {
    std::vector<double> times = contest.AllTimes(competitor);
    if (times.size() < Contest::min_busy) return {};
    const auto tenth = times.begin() + static_cast<std::ptrdiff_t>(times.size() / 10);
    std::ranges::nth_element(times, tenth);
    return *tenth;
  };
  const std::optional<double> ours = undisturbed(claim.ours);
  std::string best;
  double best_time = 0;
  for (const std::string& peer : claim.against) {
    const std::optional<double> time = undisturbed(peer);
    if (time && (best.empty() || *time < best_time)) best = peer, best_time = *time;
  }
  if (!claim.IsJudged() || !ours || best.empty() || contest.is_beside_others) return row;
  const double ratio = claim.Ratio(*ours, best_time);
  row.value = Digits(ratio);
  row.verdict = claim.Holds(ratio) ? "ok?" : "short?";
  row.proximity = "busy";
  row.detail = claim.ours + " " + Show(*ours, contest.unit) + ", " + best + " " + Show(best_time, contest.unit) +
               ", a tenth of the samples on a busy machine is no slower";
  return row;
}

/// The rows of a claim: one per class in which there are enough rounds.
[[nodiscard]] inline std::vector<Row> Judge(const Contest& contest, const Claim& claim) {
  const std::string target = claim.at_most    ? "<= " + Digits(*claim.at_most)
                             : claim.at_least ? ">= " + Digits(*claim.at_least) : "-";
  std::vector<Row> rows;
  for (const Proximity proximity : Contest::classes) {
    const auto ours = contest.Times(claim.ours, proximity);
    std::string best;
    double best_time = 0;
    for (const std::string& peer : claim.against) {
      const auto times = contest.Times(peer, proximity);
      if (times.size() < contest.NumNeeded()) continue;
      const double time = TypicalTime(contest, times);
      if (best.empty() || time < best_time) best = peer, best_time = time;
    }
    if (best.empty()) continue;
    const auto theirs = contest.Times(best, proximity);
    const std::vector<double> ratios = InBlocks(1, claim, ours, theirs);
    if (ratios.size() < contest.NumNeeded()) continue;
    const double our_time = TypicalTime(contest, ours);
    const double ratio = contest.is_beside_others ? claim.Ratio(our_time, best_time) : Median(ratios);
    rows.push_back({.figure = claim.name,
                    .value = Digits(ratio),
                    .spread = Digits(std::ranges::min(ratios)) + " … " + Digits(std::ranges::max(ratios)),
                    .target = target,
                    .verdict = !claim.IsJudged() ? "-" : claim.Holds(ratio) ? "ok" : "short",
                    .proximity = std::string{Name(proximity)},
                    .detail = claim.ours + " " + Show(our_time, contest.unit) + ", " + best + " " +
                              Show(best_time, contest.unit) + ", " + std::to_string(ratios.size()) + " rounds"});
    if (claim.IsJudged())
      rows.back().ratio = Summarize(claim, ratio, contest.is_beside_others ? InBlocks(10, claim, ours, theirs) : ratios);
  }
  if (rows.empty()) rows.push_back(JudgeBusy(contest, claim, target));
  return rows;
}

/// Text as a JSON string.
[[nodiscard]] inline std::string Quoted(std::string_view text) {
  std::string quoted = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') quoted += '\\';
    if (static_cast<unsigned char>(c) >= ' ') quoted += c;
  }
  return quoted + '"';
}

/// The options of a measurement.
struct Manner {
  bool is_quick = false;
  std::string filter{};  ///< figures whose names contain it
};

/// Rows, medians and raw samples of one program; microbenchmarks/results/README.md describes the format.
class Record {
 public:
  Record(std::string program, std::string mpi, Manner manner)
      : program_{std::move(program)}, mpi_{std::move(mpi)}, manner_{std::move(manner)} {
    points_.precision(9);
  }

  void Add(const Row& row) {
    rows_.push_back(row);
    std::printf("%-58s %8s  %-17s %-9s %-6s %-5s %s\n", row.figure.c_str(), row.value.c_str(), row.spread.c_str(),
                row.target.c_str(), row.verdict.c_str(), row.proximity.c_str(), row.detail.c_str());
    std::fflush(stdout);
  }

  void Add(const Contest& contest) {
    for (const Proximity proximity : Contest::classes) {
      for (const std::string& name : contest.names) {
        const auto times = contest.Times(name, proximity);
        if (times.size() < Contest::min_clean) continue;
        const double time = TypicalTime(contest, times);
        std::printf("  %-30s %-34s %-4s %12s  (%zu)\n", contest.name.c_str(), name.c_str(), Name(proximity).data(),
                    Show(time, contest.unit).c_str(), times.size());
        medians_ << (has_medians_ ? ",\n" : "") << "    {\"contest\": " << Quoted(contest.name)
                 << ", \"competitor\": " << Quoted(name) << ", \"class\": " << Quoted(Name(proximity))
                 << ", \"median\": " << Quoted(Show(time, contest.unit))
                 << ", \"ns\": " << time << ", \"samples\": " << times.size() << "}";
        has_medians_ = true;
      }
    }
    AddPoints(contest);
    for (const Sample& sample : contest.samples) {
      samples_ << (has_samples_ ? ",\n" : "") << "    {\"contest\": " << Quoted(contest.name)
               << ", \"competitor\": " << Quoted(contest.names[sample.competitor]) << ", \"round\": " << sample.round
               << ", \"ns\": " << sample.time << ", \"probe_before\": " << sample.probe_before
               << ", \"probe_after\": " << sample.probe_after << ", \"run_queue_share\": " << sample.run_queue_share
               << ", \"class\": " << Quoted(Name(sample.proximity))
               << ", \"clean\": " << (sample.is_clean ? "true" : "false") << "}";
      has_samples_ = true;
    }
  }

  void Add(const Point& point, double y, const std::string& proximity) {
    points_ << (has_points_ ? ",\n" : "") << "    {\"chart\": " << Quoted(point.chart) << ", \"x_label\": "
            << Quoted(point.x_label) << ", \"y_label\": " << Quoted(point.y_label) << ", \"line\": "
            << Quoted(point.line) << ", \"x\": " << point.x << ", \"y\": " << y << ", \"class\": "
            << Quoted(proximity) << "}";
    has_points_ = true;
  }

  [[nodiscard]] bool Write(const std::string& path) const {
    std::ofstream out{path};
    std::string date(32, '\0');
    const std::time_t now = std::time(nullptr);
    date.resize(std::strftime(date.data(), date.size(), "%Y-%m-%dT%H:%M:%SZ", std::gmtime(&now)));
    out << "{\n  \"program\": " << Quoted(program_) << ",\n  \"commit\": " << Quoted(uit_build::commit)
        << ",\n  \"quick\": " << (manner_.is_quick ? "true" : "false") << ",\n  \"filter\": " << Quoted(manner_.filter)
        << ",\n  \"date\": " << Quoted(date) << ",\n  \"host\": " << Quoted(HostName()) << ",\n  \"cpu\": " << Quoted(CpuModel())
        << ",\n  \"num_cpus\": " << NumCpus() << ",\n  \"compiler\": " << Quoted(BENCH_COMPILER)
        << ",\n  \"flags\": " << Quoted(BENCH_FLAGS) << ",\n  \"mpi\": " << Quoted(mpi_) << ",\n  \"rows\": [\n";
    for (std::size_t i = 0; i < rows_.size(); ++i) {
      const Row& row = rows_[i];
      out << "    {\"figure\": " << Quoted(row.figure) << ", \"value\": " << Quoted(row.value)
          << ", \"spread\": " << Quoted(row.spread) << ", \"target\": " << Quoted(row.target)
          << ", \"verdict\": " << Quoted(row.verdict) << ", \"class\": " << Quoted(row.proximity)
          << ", \"detail\": " << Quoted(row.detail);
      if (row.ratio)
        out << ", \"ratio\": " << row.ratio->typical << ", \"low\": " << row.ratio->low << ", \"high\": " << row.ratio->high
            << ", \"rounds\": " << row.ratio->num_rounds << ", \"better\": " << Quoted(row.ratio->is_better_low ? "low" : "high");
      out << "}" << (i + 1 < rows_.size() ? ",\n" : "\n");
    }
    out << "  ],\n  \"medians\": [\n" << medians_.str() << "\n  ],\n  \"samples\": [\n" << samples_.str()
        << "\n  ],\n  \"points\": [\n" << points_.str() << "\n  ]\n}\n";
    out.close();
    return !out.fail();
  }

 private:
  /// The medians in the class in which most competitors have enough samples.
  void AddPoints(const Contest& contest) {
    const auto has_place = [&](const Point& point, Proximity proximity) {
      return contest.Times(point.competitor, proximity).size() >= Contest::min_clean;
    };
    const auto num_places = [&](Proximity proximity) {
      return std::ranges::count_if(contest.points, [&](const Point& point) { return has_place(point, proximity); });
    };
    const Proximity best = *std::ranges::max_element(Contest::classes, {}, num_places);
    if (!contest.points.empty() && num_places(best) == 0)
      Add(Row{.figure = contest.name, .value = "-", .spread = "-", .target = "-", .verdict = "noisy", .proximity = "-",
              .detail = "too few clean samples for a curve"});
    for (const Point& point : contest.points) {
      if (!has_place(point, best)) continue;
      const double time = Median(contest.Times(point.competitor, best));
      Add(point, point.is_inverse ? time / point.amount : point.amount / time, std::string{Name(best)});
    }
  }

  std::string program_;
  std::string mpi_;
  Manner manner_;
  std::vector<Row> rows_;
  std::ostringstream medians_;
  std::ostringstream samples_;
  std::ostringstream points_;
  bool has_medians_ = false;
  bool has_samples_ = false;
  bool has_points_ = false;
};

}  // namespace bench
