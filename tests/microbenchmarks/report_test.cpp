#include "microbenchmarks/support/report.hpp"

#include <unistd.h>

#include <cstddef>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "microbenchmarks/support/contest.hpp"
#include "tests/support/catch.hpp"

namespace {

using bench::Proximity;

/// A contest between `ours` and `theirs` with these times in every round, all rounds clean.
bench::Contest MakeContest(const std::vector<double>& our_times, double their_time, Proximity proximity = Proximity::near) {
  bench::Contest contest{"a contest", bench::Unit::nanoseconds};
  contest.Add("ours", {}).Add("theirs", {});
  for (std::size_t round = 0; round < our_times.size(); ++round) {
    for (const std::size_t competitor : {std::size_t{0}, std::size_t{1}})
      contest.samples.push_back({.competitor = competitor, .round = round, .time = competitor == 0 ? our_times[round] : their_time,
                                 .probe_before = 100, .probe_after = 100, .run_queue_share = 0, .proximity = proximity,
                                 .is_clean = true});
  }
  return contest;
}

bench::Row OnlyRow(const bench::Contest& contest, const bench::Claim& claim) {
  const auto rows = bench::Judge(contest, claim);
  REQUIRE(rows.size() == 1);
  return rows.front();
}

const std::vector<double> times{5, 1, 2, 4, 3};

}  // namespace

TEST_CASE("A claim that a time is short has the median and the quartiles of its ratios") {
  const bench::Row row = OnlyRow(MakeContest(times, 2), {.name = "a claim", .ours = "ours", .against = {"theirs"}, .at_most = 1});
  CHECK(row.verdict == "short");
  CHECK(row.proximity == "NEAR");
  REQUIRE(row.ratio);
  CHECK(row.ratio->typical == 1.5);
  CHECK(row.ratio->low == 1);
  CHECK(row.ratio->high == 2);
  CHECK(row.ratio->num_rounds == 5);
  CHECK(row.ratio->is_better_low);
}

TEST_CASE("Beside programs of others, a claim compares the mean times") {
  std::vector<double> unsteady;
  for (int i = 0; i < 40; ++i) unsteady.push_back(i % 5 == 4 ? 11 : 1);
  bench::Contest contest = MakeContest(unsteady, 2);
  contest.is_beside_others = true;
  const bench::Claim claim{.name = "a claim", .ours = "ours", .against = {"theirs"}, .at_most = 1};
  const bench::Row row = OnlyRow(contest, claim);
  CHECK(row.verdict == "short");
  CHECK(row.value == "1.50");
  REQUIRE(row.ratio);
  CHECK(row.ratio->typical == 1.5);
  CHECK(row.ratio->low == 1.5);
  CHECK(row.ratio->high == 1.5);
  CHECK(row.ratio->num_rounds == 4);  // blocks of ten
  contest.samples.resize(2 * 19);
  CHECK(OnlyRow(contest, claim).verdict == "noisy");
}

TEST_CASE("A claim about a rate inverts the ratio") {
  const bench::Row row = OnlyRow(MakeContest(times, 6), {.name = "a claim", .ours = "ours", .against = {"theirs"}, .at_least = 2});
  CHECK(row.verdict == "ok");
  REQUIRE(row.ratio);
  CHECK(row.ratio->typical == 2);
  CHECK(row.ratio->low == 1.5);
  CHECK(row.ratio->high == 3);
  CHECK_FALSE(row.ratio->is_better_low);
}

TEST_CASE("A claim without a bound is shown and not judged") {
  const bench::Claim claim{.name = "an illustration", .ours = "ours", .against = {"theirs"}};
  const bench::Row row = OnlyRow(MakeContest(times, 2), claim);
  CHECK(row.value == "1.50");
  CHECK(row.target == "-");
  CHECK(row.verdict == "-");
  CHECK_FALSE(row.ratio);
  CHECK(OnlyRow(MakeContest({1, 2}, 2), claim).verdict == "-");
}

TEST_CASE("A claim with too few clean rounds is noisy and has no ratio") {
  const bench::Row row =
      OnlyRow(MakeContest({1, 2, 3, 4}, 2), {.name = "a claim", .ours = "ours", .against = {"theirs"}, .at_most = 1});
  CHECK(row.verdict == "noisy");
  CHECK_FALSE(row.ratio);
}

TEST_CASE("On a busy machine a claim compares the samples that were disturbed least, and says so") {
  std::vector<double> disturbed;
  for (int i = 0; i < 20; ++i) disturbed.push_back(i < 4 ? 3 : 3 + i);
  bench::Contest contest = MakeContest(disturbed, 2);
  for (bench::Sample& sample : contest.samples) sample.is_clean = false;
  const bench::Claim claim{.name = "a claim", .ours = "ours", .against = {"theirs"}, .at_most = 2};
  const bench::Row row = OnlyRow(contest, claim);
  CHECK(row.verdict == "ok?");
  CHECK(row.value == "1.50");
  CHECK(row.proximity == "busy");
  CHECK_FALSE(row.ratio);  // so it is compared with no reference
  CHECK(OnlyRow(contest, {.name = "a claim", .ours = "ours", .against = {"theirs"}, .at_most = 1}).verdict == "short?");
  CHECK(OnlyRow(contest, {.name = "a claim", .ours = "ours", .against = {"theirs"}}).verdict == "-");
  contest.samples.resize(18);  // 9 rounds
  CHECK(OnlyRow(contest, claim).verdict == "noisy");
}

TEST_CASE("A record has the commit, the manner of the run, and ratios in full") {
  const bench::Claim claim{.name = "a claim", .ours = "ours", .against = {"theirs"}, .at_most = 1};
  bench::Record record{"a_benchmark", "none", {.is_quick = true, .filter = "a \"claim\""}};
  for (const bench::Row& row : bench::Judge(MakeContest({1, 1, 1, 1, 1}, 3, Proximity::far), claim)) record.Add(row);
  record.Add(bench::Row{
      .figure = "an amount", .value = "7", .spread = "ns", .target = "-", .verdict = "-", .proximity = "-", .detail = ""});
  const auto path = std::filesystem::temp_directory_path() / ("report_test." + std::to_string(getpid()) + ".json");
  REQUIRE(record.Write(path));

  const nlohmann::json read = nlohmann::json::parse(std::ifstream(path));
  CHECK(read["commit"] == uit_build::commit);
  CHECK(read["quick"] == true);
  CHECK(read["filter"] == "a \"claim\"");
  const nlohmann::json& row = read["rows"][0];
  CHECK(row["class"] == "FAR");
  CHECK(row["ratio"].get<double>() == Approx(1.0 / 3).epsilon(1e-5));
  CHECK(row["rounds"] == 5);
  CHECK(row["better"] == "low");
  CHECK_FALSE(read["rows"][1].contains("ratio"));
  std::filesystem::remove(path);
}
