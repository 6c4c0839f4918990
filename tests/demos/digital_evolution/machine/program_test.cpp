#include "demos/digital_evolution/machine/program.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>

#include "tests/demos/digital_evolution/machine/machine_test_support.hpp"
#include "tests/support/catch.hpp"

using namespace digital_evolution;

namespace {

/// Returns the most similar position for which `is_candidate` holds, the earliest of several, or no_target if none matches.
std::uint16_t Search(const Genome& genome, const MachineOptions& options, Tag tag, std::size_t begin, std::size_t end,
                     const std::function<bool(std::size_t)>& is_candidate) {
  for (unsigned wanted = max_similarity; wanted + 1 > options.match_threshold; --wanted) {
    for (std::size_t i = begin; i < end; ++i) {
      const bool is_wanted = is_candidate(i) && Similarity(options.metric, genome[i].GetTag(), tag) == wanted;
      if (is_wanted) return static_cast<std::uint16_t>(i);
    }
    if (wanted == 0) break;
  }
  return no_target;
}

}  // namespace

TEST_CASE("modules cut a genome without a gap", "[digital_evolution]") {
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    const Program program{RandomGenome(seed, seed == 0 ? 1 : seed == 1 ? max_genome_length : 10 * seed)};
    const Genome& genome = program.GetGenome();
    std::size_t at = 0;
    for (const Module& module : program.Modules()) {
      REQUIRE(module.begin == at);
      REQUIRE(module.end > at);
      REQUIRE(module.tag == genome[at].GetTag());
      REQUIRE((at == 0 || genome[at].operation == Operation::module));
      at = module.end;
    }
    REQUIRE(at == genome.size());
    REQUIRE(program.Hash() == HashOf(genome));
  }
}

TEST_CASE("there are at most 64 modules, and the last goes on to the end", "[digital_evolution]") {
  const Program program{Genome(200, {.operation = Operation::module, .arguments = {}, .tag_words = {}})};
  REQUIRE(program.Modules().size() == max_modules);
  REQUIRE(program.Modules().back().begin == max_modules - 1);
  REQUIRE(program.Modules().back().end == 200);
}

TEST_CASE("cached targets are what a search of everything finds", "[digital_evolution]") {
  const std::array<Tag, 6> events{0, 1, netuit::MixBits(2), netuit::MixBits(3), netuit::MixBits(4), TagOf("none")};
  for (const Metric metric : {Metric::hamming, Metric::streak}) {
    const MachineOptions options{.metric = metric,
                                 .match_threshold = metric == Metric::hamming ? 42U : 60U,
                                 .knocked_out = {},
                                 .event_tags = events};
    std::size_t num_found = 0;
    for (std::uint64_t seed = 0; seed < 60; ++seed) {
      const Program program{RandomGenome(seed, 1 + 7 * seed), options};
      const Genome& genome = program.GetGenome();
      const auto module_of = [&](Tag tag) {
        const std::uint16_t begin = Search(genome, options, tag, 0, genome.size(), [&](std::size_t i) {
          return std::ranges::any_of(program.Modules(), [&](const Module& module) { return module.begin == i; });
        });
        const auto found = std::ranges::find(program.Modules(), begin, &Module::begin);
        return found == program.Modules().end() ? no_target : static_cast<std::uint16_t>(found - program.Modules().begin());
      };
      for (std::size_t event = 0; event < events.size(); ++event) {
        REQUIRE(program.GetEvent(event).tag == events.at(event));
        REQUIRE(program.GetEvent(event).module == module_of(events.at(event)));
      }
      for (std::size_t m = 0; m < program.Modules().size(); ++m) {
        const Module& module = program.Modules()[m];
        REQUIRE(program.Code()[module.end + m].operation == Program::end_of_module);
        for (std::size_t i = module.begin; i < module.end; ++i) {
          const Program::Decoded& decoded = program.Code()[i + m];
          REQUIRE(decoded.position == i);
          const Tag tag = genome[i].GetTag();
          const Operation operation = genome[i].operation;
          REQUIRE(decoded.operation == static_cast<std::uint8_t>(operation));
          if (operation == Operation::jump || operation == Operation::jump_if || operation == Operation::jump_unless) {
            const std::uint16_t label = Search(genome, options, tag, module.begin, module.end, [&](std::size_t at) {
              return genome[at].operation == Operation::label ||
                     (genome[at].operation == Operation::module && at != module.begin);
            });
            REQUIRE(decoded.target == (label == no_target ? no_target : label + m + 1));
            num_found += label == no_target ? 0 : 1;
          } else if (operation == Operation::call || operation == Operation::fork || operation == Operation::promote ||
                     operation == Operation::repress || operation == Operation::unregulate) {
            REQUIRE(decoded.target == module_of(tag));
            num_found += decoded.target == no_target ? 0 : 1;
          }
        }
      }
    }
    REQUIRE(num_found > 500);
  }
}

TEST_CASE("hashes tell genomes apart and agree on all platforms", "[digital_evolution]") {
  REQUIRE(HashOf(RandomGenome(1, 100)) == HashOf(RandomGenome(1, 100)));
  REQUIRE(HashOf(RandomGenome(1, 100)) == 0x268e0ce51ef74988U);
  const Genome genome = RandomGenome(3, 5);
  for (std::size_t i = 0; i < genome.size(); ++i) {
    Genome other = genome;
    other[i].SetTag(other[i].GetTag() ^ (Tag{1} << 63U));
    REQUIRE(HashOf(other) != HashOf(genome));
    other = genome;
    other[i].arguments[2] ^= 1U;
    REQUIRE(HashOf(other) != HashOf(genome));
    other = genome;
    other.insert(other.begin() + static_cast<std::ptrdiff_t>(i), other[i]);
    REQUIRE(HashOf(other) != HashOf(genome));
  }
}

TEST_CASE("an invalid genome is known", "[digital_evolution]") {
  REQUIRE(!IsValid({}));
  REQUIRE(!IsValid(Genome(1001)));
  REQUIRE(IsValid(Genome(1000)));
  REQUIRE(!IsValid(Genome(3, {.operation = static_cast<Operation>(num_operations), .arguments = {}, .tag_words = {}})));
}
