#include "demos/digital_evolution/options.hpp"

#include <chrono>
#include <optional>
#include <string>
#include <uit/support/error.hpp>
#include <vector>

#include "tests/support/catch.hpp"

using namespace digital_evolution;
using namespace std::chrono_literals;

namespace {

std::optional<Options> Parse(std::vector<const char*> words, std::string* text = nullptr) {
  words.insert(words.begin(), "digital_evolution");
  std::string unused;
  return ParseOptions(static_cast<int>(words.size()), words.data(), text != nullptr ? *text : unused);
}

}  // namespace

TEST_CASE("the defaults are the paper's second benchmark", "[digital_evolution]") {
  const auto options = Parse({});
  CHECK(options->cells_per_worker == 3600);
  CHECK(options->schedule.span == 100ms);
  CHECK(options->schedule.period == 1s);
  CHECK(options->replicates == 1);
  CHECK(options->rules.harvest == Harvest::wave);
}

TEST_CASE("laws of the world can be chosen", "[digital_evolution]") {
  CHECK(Parse({"--harvest", "even"})->rules.harvest == Harvest::even);
  CHECK(Parse({"--mutation-rate", "0"})->rules.mutation.per_birth == 0);
  CHECK(Parse({"--knock-out", "messaging,sharing"})->knock_out == std::vector<std::string>{"messaging", "sharing"});
}

TEST_CASE("tags match by either metric, with a threshold of its own", "[digital_evolution]") {
  CHECK(Parse({})->rules.machine.match_threshold == 42);
  const auto streak = Parse({"--metric", "streak"})->rules.machine;
  CHECK(streak.metric == Metric::streak);
  CHECK(streak.match_threshold == 60);
  CHECK(Parse({"--metric", "streak", "--match-threshold", "57"})->rules.machine.match_threshold == 57);
  CHECK_THROWS_AS(Parse({"--match-threshold", "65"}), uit::InputError);
}

TEST_CASE("instructions and sensors are tables", "[digital_evolution]") {
  std::string text;
  CHECK_FALSE(Parse({"--instructions"}, &text).has_value());
  CHECK(text.find("\nspawn_kin,reproduction,") != std::string::npos);
  CHECK_FALSE(Parse({"--sensors"}, &text).has_value());
  CHECK(text.find("\nstockpile,") != std::string::npos);
}

TEST_CASE("what makes no sense is refused", "[digital_evolution]") {
  CHECK_THROWS_AS(Parse({"--cells-per-worker", "0"}), uit::InputError);
  CHECK_THROWS_AS(Parse({"--cells-per-worker", "-1"}), uit::InputError);
  CHECK_THROWS_AS(Parse({"--mutation-rate", "1.5"}), uit::InputError);
  CHECK_THROWS_AS(Parse({"--harvest", "odd"}), uit::InputError);
  CHECK_THROWS_AS(Parse({"--knock-out", "magic"}), uit::InputError);
  CHECK_THROWS_AS(Parse({"--checkpoint-every", "16"}), uit::InputError);
  CHECK_THROWS_AS(Parse({"--checkpoint", "c", "--checkpoint-every", "17"}), uit::InputError);
  CHECK_THROWS_AS(Parse({"--checkpoint", "c", "--replicates", "2"}), uit::InputError);
  CHECK_THROWS_AS(Parse({"--checkpoint", "c", "--mode", "0", "--updates", "100"}), uit::InputError);
  CHECK_NOTHROW(Parse({"--checkpoint", "c", "--mode", "0", "--updates", "96"}));
  CHECK_NOTHROW(Parse({"--checkpoint", "c", "--mode", "3", "--updates", "100"}));
  CHECK_THROWS_AS(Parse({"--resume", "c", "--founders", "4"}), uit::InputError);
  CHECK_THROWS_AS(Parse({"--resume", "c", "--modes", "0,3"}), uit::InputError);
  CHECK_THROWS_AS(Parse({"--resume", "c", "--seed", "1"}), uit::InputError);
  CHECK_THROWS_AS(Parse({"--resume", "c", "--cells-per-worker", "3600"}), uit::InputError);
  CHECK_THROWS_AS(Parse({"--resume", "c", "--ancestor", "g"}), uit::InputError);
  CHECK_NOTHROW(Parse({"--resume", "c", "--ancestor", "g", "--ignore-genomes"}));
}
