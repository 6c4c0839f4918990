#include "demos/digital_evolution/world/birth.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "tests/support/catch.hpp"

using namespace digital_evolution;

namespace {

Genome RandomGenome(std::size_t length, netuit::RandomStream& random) {
  Genome genome(length);
  for (Instruction& instruction : genome) {
    instruction.operation = static_cast<Operation>(random.Below(num_operations));
    for (auto& argument : instruction.arguments) argument = static_cast<std::uint8_t>(random.Below(256));
    instruction.SetTag(random.Next());
  }
  return genome;
}

Birth RandomBirth(netuit::RandomStream& random) {
  return {.kin = random.Next(),
          .taxon = random.Next(),
          .endowment = static_cast<Resource>(random.Below(1U << 30U)),
          .generation = random.Below(1U << 31U),
          .kin_generation = static_cast<std::int32_t>(random.Below(100)),
          .kin_size = random.Below(400),
          .kin_epoch = static_cast<std::uint8_t>(random.Below(256)),
          .founder = static_cast<std::uint8_t>(random.Below(2))};
}

}  // namespace

TEST_CASE("a birth with a genome of any length is read as it was written") {
  netuit::RandomStream random{1};
  std::vector<std::uint32_t> words;
  Genome genome;
  for (std::size_t length = min_genome_length; length <= max_genome_length; ++length) {
    CAPTURE(length);
    const Birth birth = RandomBirth(random);
    const Genome written = RandomGenome(length, random);
    EncodeBirth(birth, written, words);
    REQUIRE(words.size() == num_birth_words + 3 * length);
    REQUIRE(EndowmentOf(words) == birth.endowment);
    REQUIRE(DecodeBirth(words, genome) == birth);
    REQUIRE(genome == written);
  }
}

TEST_CASE("an incomplete birth or an invalid genome is refused") {
  netuit::RandomStream random{2};
  std::vector<std::uint32_t> words;
  Genome genome;
  EncodeBirth(RandomBirth(random), RandomGenome(3, random), words);
  for (std::size_t size = 0; size < words.size(); ++size) {
    CAPTURE(size);
    const bool is_whole = size > num_birth_words && (size - num_birth_words) % 3 == 0;
    CHECK(DecodeBirth(std::span{words}.first(size), genome).has_value() == is_whole);
  }
  words[num_birth_words + 3] |= 0xffU;  // the second instruction's operation
  CHECK_FALSE(DecodeBirth(words, genome).has_value());
  EncodeBirth(RandomBirth(random), RandomGenome(max_genome_length, random), words);
  words.resize(words.size() + 3);
  CHECK_FALSE(DecodeBirth(words, genome).has_value());
}
