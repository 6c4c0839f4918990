#include "demos/digital_evolution/machine/mutation.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <set>
#include <vector>

#include <netuit/mesh/node_random.hpp>

#include "tests/demos/digital_evolution/machine/machine_test_support.hpp"
#include "tests/support/catch.hpp"

using namespace digital_evolution;

static_assert(RandomBits<netuit::NodeRandom>);

namespace {

constexpr MutationRates no_rates{.per_birth = 1,
                                 .per_operation = 0,
                                 .per_argument = 0,
                                 .per_tag_bit = 0,
                                 .slip_insertion = 0,
                                 .slip_deletion = 0,
                                 .module_duplication = 0,
                                 .module_deletion = 0};

/// Returns whether a number of successes is within 5 standard deviations of its mean.
bool IsBinomial(double num_successes, double num_trials, double probability) {
  const double mean = num_trials * probability;
  return std::abs(num_successes - mean) <= 5 * std::sqrt(mean * (1 - probability)) + 1e-9;
}

/// Returns distinct instructions, so that each can be traced to its origin. A module begins every `module_length`.
Genome Numbered(std::size_t length, std::size_t module_length = 1000) {
  Genome genome(length);
  for (std::size_t i = 0; i < length; ++i) {
    if (i % module_length == 0) genome[i].operation = Operation::module;
    genome[i].SetTag(i);
  }
  return genome;
}

std::vector<Tag> TagsIn(const Genome& genome) {
  std::vector<Tag> tags;
  for (const Instruction& instruction : genome) tags.push_back(instruction.GetTag());
  return tags;
}

}  // namespace

TEST_CASE("failures before a success are geometrically distributed", "[digital_evolution]") {
  TestRandom random{1};
  for (const double probability : {0.9, 0.5, 0.1, 0.001}) {
    const SuccessSkipper skipper{probability};
    constexpr int num_trials = 40000;
    std::vector<int> at_least(2000);
    for (int trial = 0; trial < num_trials; ++trial) {
      const std::uint32_t num_failures = skipper.Failures(random);
      for (std::size_t k = 0; k < at_least.size() && k <= num_failures; ++k) ++at_least[k];
    }
    for (std::size_t k = 0; k < at_least.size(); k = k * 2 + 1) {
      INFO(probability << " " << k);
      REQUIRE(IsBinomial(at_least[k], num_trials, std::pow(1 - probability, static_cast<double>(k))));
    }
  }
}

TEST_CASE("the impossible never happens and the certain always", "[digital_evolution]") {
  TestRandom random{2};
  for (int trial = 0; trial < 1000; ++trial) {
    REQUIRE(!SuccessSkipper{0}.Succeeds(random));
    REQUIRE(SuccessSkipper{1}.Succeeds(random));
    REQUIRE(SuccessSkipper{0}.Failures(random) >= max_genome_length * max_similarity);
    REQUIRE(SuccessSkipper{1}.Failures(random) == 0);
  }
}

TEST_CASE("births mutate at their rate, and count what they change", "[digital_evolution]") {
  TestRandom random{3};
  const Genome parent = RandomGenome(1, 100);
  MutationRates rates = no_rates;
  rates.per_birth = 0.3;
  rates.per_operation = 0.02;
  rates.per_argument = 0.01;
  rates.per_tag_bit = 0.001;
  constexpr int num_births = 4000;
  int num_mutants = 0;
  MutationCounts sum;
  for (int birth = 0; birth < num_births; ++birth) {
    Genome genome = parent;
    const MutationCounts counts = Mutate(genome, rates, random);
    REQUIRE(counts.Any() == (genome != parent));
    num_mutants += counts.Any() ? 1 : 0;
    MutationCounts seen;
    for (std::size_t i = 0; i < genome.size(); ++i) {
      seen.operations += genome[i].operation != parent[i].operation ? 1 : 0;
      for (std::size_t k = 0; k < 3; ++k) seen.arguments += genome[i].arguments[k] != parent[i].arguments[k] ? 1 : 0;
      seen.tag_bits += static_cast<std::uint32_t>(std::popcount(genome[i].GetTag() ^ parent[i].GetTag()));
    }
    REQUIRE(counts == seen);
    sum.operations += seen.operations;
    sum.arguments += seen.arguments;
    sum.tag_bits += seen.tag_bits;
    REQUIRE(IsValid(genome));
  }
  // a birth that mutates almost always changes something
  const double is_unchanged = std::exp(100 * std::log(0.98) + 300 * std::log(0.99) + 6400 * std::log(0.999));
  REQUIRE(IsBinomial(num_mutants, num_births, 0.3 * (1 - is_unchanged)));
  const double num_trials = num_mutants;
  REQUIRE(sum.operations / num_trials == Approx(2).epsilon(0.1));
  REQUIRE(sum.arguments / num_trials == Approx(3).epsilon(0.1));
  REQUIRE(sum.tag_bits / num_trials == Approx(6.4).epsilon(0.1));
}

TEST_CASE("substitutions reach every operation and every byte, never the same", "[digital_evolution]") {
  TestRandom random{4};
  MutationRates rates = no_rates;
  rates.per_operation = 1;
  rates.per_argument = 1;
  std::set<Operation> operations;
  std::set<std::uint8_t> bytes;
  for (int birth = 0; birth < 2000; ++birth) {
    Genome genome(1, {.operation = Operation::mul, .arguments = {7, 7, 7}, .tag_words = {}});
    const MutationCounts counts = Mutate(genome, rates, random);
    REQUIRE((counts.operations == 1 && counts.arguments == 3 && counts.tag_bits == 0));
    operations.insert(genome[0].operation);
    bytes.insert(genome[0].arguments.begin(), genome[0].arguments.end());
  }
  REQUIRE(operations.size() == num_operations - 1);
  REQUIRE(!operations.contains(Operation::mul));
  REQUIRE(bytes.size() == 255);
  REQUIRE(!bytes.contains(7));
}

TEST_CASE("a slip copies a stretch of 1 to 16 instructions to anywhere", "[digital_evolution]") {
  TestRandom random{5};
  MutationRates rates = no_rates;
  rates.slip_insertion = 1;
  const Genome parent = Numbered(50);
  std::vector<int> num_of_length(max_slip + 1);
  std::set<std::size_t> places;
  for (int birth = 0; birth < 8000; ++birth) {
    Genome genome = parent;
    REQUIRE(Mutate(genome, rates, random) == MutationCounts{.insertions = 1});
    const std::size_t length = genome.size() - parent.size();
    ++num_of_length.at(length);
    bool is_explained = false;  // by a copy at some position
    for (std::size_t at = 0; at <= parent.size() && !is_explained; ++at) {
      const auto copy = genome.begin() + static_cast<std::ptrdiff_t>(at);
      Genome rest = genome;
      rest.erase(rest.begin() + static_cast<std::ptrdiff_t>(at), rest.begin() + static_cast<std::ptrdiff_t>(at + length));
      is_explained = rest == parent && std::search(parent.begin(), parent.end(), copy,
                                                   copy + static_cast<std::ptrdiff_t>(length)) != parent.end();
      if (is_explained) places.insert(at);
    }
    REQUIRE(is_explained);
  }
  for (std::size_t length = 1; length <= max_slip; ++length) {
    REQUIRE(IsBinomial(num_of_length[length], 8000, 1.0 / max_slip));
  }
  REQUIRE(num_of_length[0] == 0);
  REQUIRE(places.size() >= 50);
}

TEST_CASE("a slip removes a stretch of 1 to 16 instructions from anywhere", "[digital_evolution]") {
  TestRandom random{6};
  MutationRates rates = no_rates;
  rates.slip_deletion = 1;
  std::vector<int> num_of_length(max_slip + 1);
  std::set<Tag> missing;
  for (int birth = 0; birth < 8000; ++birth) {
    Genome genome = Numbered(50);
    REQUIRE(Mutate(genome, rates, random) == MutationCounts{.deletions = 1});
    ++num_of_length.at(50 - genome.size());
    const std::vector<Tag> tags = TagsIn(genome);
    REQUIRE(std::ranges::is_sorted(tags));
    std::size_t num_gaps = tags.front() != 0 || tags.back() != 49 ? 1 : 0;
    for (std::size_t i = 1; i < tags.size(); ++i) num_gaps += tags[i] != tags[i - 1] + 1 ? 1 : 0;
    REQUIRE(num_gaps == 1);
    for (Tag tag = 0; tag < 50; ++tag) {
      if (!std::ranges::binary_search(tags, tag)) missing.insert(tag);
    }
  }
  for (std::size_t length = 1; length <= max_slip; ++length) {
    REQUIRE(IsBinomial(num_of_length[length], 8000, 1.0 / max_slip));
  }
  REQUIRE(missing.size() == 50);
}

TEST_CASE("modules are doubled and lost as wholes", "[digital_evolution]") {
  TestRandom random{7};
  const Genome parent = Numbered(40, 8);  // five modules
  MutationRates doubling = no_rates;
  doubling.module_duplication = 1;
  MutationRates losing = no_rates;
  losing.module_deletion = 1;
  std::set<std::vector<Tag>> doubled;
  std::set<std::vector<Tag>> lost;
  for (int birth = 0; birth < 2000; ++birth) {
    Genome genome = parent;
    REQUIRE(Mutate(genome, doubling, random) == MutationCounts{.module_duplications = 1});
    REQUIRE(genome.size() == 48);
    for (std::size_t i = 0; i < genome.size(); ++i) REQUIRE(genome[i].GetTag() % 8 == i % 8);
    doubled.insert(TagsIn(genome));
    genome = parent;
    REQUIRE(Mutate(genome, losing, random) == MutationCounts{.module_deletions = 1});
    REQUIRE(genome.size() == 32);
    for (std::size_t i = 0; i < genome.size(); ++i) REQUIRE(genome[i].GetTag() % 8 == i % 8);
    lost.insert(TagsIn(genome));
  }
  REQUIRE(doubled.size() == 5 * 6 - 5);  // a copy before itself equals a copy after itself
  REQUIRE(lost.size() == 5);
}

TEST_CASE("lengths stay within their limits", "[digital_evolution]") {
  TestRandom random{8};
  MutationRates growing = no_rates;
  growing.slip_insertion = 1;
  growing.module_duplication = 1;
  Genome genome = Numbered(30, 10);
  for (int birth = 0; birth < 500; ++birth) {
    Mutate(genome, growing, random);
    REQUIRE(IsValid(genome));
  }
  REQUIRE(genome.size() == max_genome_length);
  REQUIRE(!Mutate(genome, growing, random).Any());
  MutationRates shrinking = no_rates;
  shrinking.slip_deletion = 1;
  shrinking.module_deletion = 1;
  for (int birth = 0; birth < 2000; ++birth) {
    Mutate(genome, shrinking, random);
    REQUIRE(IsValid(genome));
  }
  REQUIRE(genome.size() == min_genome_length);
  REQUIRE(!Mutate(genome, shrinking, random).Any());
}

TEST_CASE("the same draws give the same offspring on all platforms", "[digital_evolution]") {
  std::uint64_t hash = 0;
  Genome genome = RandomGenome(9, 100);
  for (std::uint32_t birth = 0; birth < 3000; ++birth) {
    netuit::NodeRandom random{1, birth, 7};
    Mutate(genome, {.per_birth = 0.5, .slip_insertion = 0.1, .slip_deletion = 0.1}, random);
    hash = netuit::MixBits(hash ^ HashOf(genome));
  }
  REQUIRE(hash == 0x9350ee6176475393U);
}
