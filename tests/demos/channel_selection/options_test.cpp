#include "demos/channel_selection/options.hpp"

#include <chrono>
#include <optional>
#include <string>
#include <uit/support/error.hpp>
#include <vector>

#include "tests/support/catch.hpp"

using namespace channel_selection;
using namespace std::chrono_literals;

namespace {

std::optional<Options> Parse(std::vector<const char*> words, std::string* text = nullptr) {
  words.insert(words.begin(), "channel_selection");
  std::string unused;
  return ParseOptions(static_cast<int>(words.size()), words.data(), text != nullptr ? *text : unused);
}

}  // namespace

TEST_CASE("the defaults are the paper's first benchmark", "[channel_selection]") {
  const auto options = Parse({});
  REQUIRE(options->nodes_per_worker == 2048);
  REQUIRE(options->rule.num_colors == 3);
  REQUIRE(options->rule.learning_rate == 0.1);
  REQUIRE(options->replicates == 5);
  REQUIRE(options->schedule.duration == 5s);
  REQUIRE(options->schedule.span == 10ms);
  REQUIRE(options->schedule.period == 1s);
  REQUIRE(options->work == 0);
  REQUIRE(options->slow_in_turn.count() == 0);
  REQUIRE(options->schedule.updates == 0);
}

TEST_CASE("modes go by number and by name, in the order given", "[channel_selection]") {
  REQUIRE(Parse({"--mode", "rolling"})->modes == std::vector<unsigned>{1});
  REQUIRE(Parse({"--modes", "4,every_update", "--mode", "2"})->modes == std::vector<unsigned>{4, 0, 2});
}

TEST_CASE("spans of time have units", "[channel_selection]") {
  REQUIRE(Parse({"--duration", "0.25"})->schedule.duration == 250ms);
  REQUIRE(Parse({"--duration", "3 ms"})->schedule.duration == 3ms);
  REQUIRE(Parse({"--period-rolling", "20us"})->schedule.span == 20us);
  REQUIRE(Parse({"--period-fixed", "1min"})->schedule.period == 60s);
}

TEST_CASE("a number of updates alone takes the clock's limit away", "[channel_selection]") {
  REQUIRE(Parse({"--updates", "10"})->schedule.duration == 0s);
  REQUIRE(Parse({"--updates", "10", "--duration", "1s"})->schedule.duration == 1s);
}

TEST_CASE("help and version are texts", "[channel_selection]") {
  std::string text;
  REQUIRE_FALSE(Parse({"--help"}, &text).has_value());
  REQUIRE(text.find("--placement") != std::string::npos);
  REQUIRE_FALSE(Parse({"--version"}, &text).has_value());
  REQUIRE(text.find("0.") != std::string::npos);
}

TEST_CASE("a slip in an option or a word suggests the nearest one that there is", "[channel_selection]") {
  const auto complaint_of = [](const std::vector<const char*>& words) -> std::string {
    try {
      Parse(words);
    } catch (const uit::InputError& error) {
      return error.what();
    }
    return {};
  };
  CHECK(complaint_of({"--duraton", "5s"}) == "unknown option --duraton; did you mean --duration?");
  CHECK(complaint_of({"--duraiton=5s"}) == "unknown option --duraiton; did you mean --duration?");
  CHECK(complaint_of({"-duration", "5s"}) == "unknown option -duration; did you mean --duration?");
  CHECK(complaint_of({"duration", "5s"}) == "unexpected argument duration; did you mean --duration?");
  CHECK(complaint_of({"--snapshot", "5s"}) == "unknown option --snapshot; did you mean --snapshot-interval?");
  CHECK(complaint_of({"--node-weight", "w"}) == "unknown option --node-weight; did you mean --node-weights?");
  CHECK(complaint_of({"--x"}) == "unknown option --x");
  CHECK(complaint_of({"--unknown"}) == "unknown option --unknown");
  CHECK(complaint_of({"stray"}) == "unexpected argument stray");
  CHECK(complaint_of({"-"}) == "unexpected argument -");
  CHECK(complaint_of({"--addressing", "mulitcast"}) == "unknown addressing mulitcast (multicast, edge); did you mean multicast?");
  CHECK(complaint_of({"--addressing", "post"}) == "unknown addressing post (multicast, edge)");
  CHECK(complaint_of({"--mode", "roling"}).ends_with("; did you mean rolling?"));
  CHECK(complaint_of({"--mode", "6"}).ends_with("5 dataflow)"));
  CHECK(complaint_of({(std::string(100'000, 'd')).c_str()}).starts_with("unexpected argument ddd"));
}

TEST_CASE("nonsense is refused in one line", "[channel_selection]") {
  const std::vector<std::vector<const char*>> nonsense{
      {"--threads", "0"},      {"--threads", "-1"},     {"--threads", "two"},     {"--threads", "100000"},
      {"--mode", "6"},         {"--mode", "sometimes"}, {"--modes", ","},         {"--mode"},
      {"--colors", "1"},       {"--colors", "1e9"},     {"--b", "1.5"},           {"--b", "-0.1"},
      {"--b", "nan"},          {"--duration", "0"},     {"--duration", "-1s"},    {"--duration", "5 apples"},
      {"--duration", "inf"},   {"--duration", "1e300"}, {"--period-fixed", "0"},  {"--period-rolling", "0ms"},
      {"--replicates", "0"},   {"--updates", "-5"},     {"--addressing", "post"}, {"--nodes-per-worker", "0"},
      {"--seed", "-1"},        {"--work", "-1"},        {"--directed"},           {"--unknown"},
      {"stray"},               {"--graph"},             {"--clock-every", "0"},   {"--quality-channels"},
      {"--snapshot-interval", "0"}, {"--snapshot-length", "0s"}, {"--frame-interval", "0"},
      {"--frames", "f.csv", "--updates", "5"},          {"--slow-in-turn", "10ms"},  {"--slowness", "0"},
  };
  for (const auto& words : nonsense) {
    CAPTURE(words.front(), words.back());
    std::string complaint;
    try {
      Parse(words);
    } catch (const uit::InputError& error) {
      complaint = error.what();
    }
    REQUIRE_FALSE(complaint.empty());
    REQUIRE(complaint.find('\n') == std::string::npos);
  }
}
