#include "demos/digital_evolution/machine/genome_text.hpp"

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include <uit/support/error.hpp>

#include "tests/demos/digital_evolution/machine/machine_test_support.hpp"
#include "tests/support/catch.hpp"

using namespace digital_evolution;

namespace {

constexpr std::array<std::string_view, 3> sensors{"alive", "stockpile", "age"};
constexpr std::array<std::string_view, 2> events{"heartbeat", "born"};
constexpr Names names{.sensors = sensors, .events = events};

std::string MessageOf(const std::string& text) {
  try {
    Parse(text, names);
  } catch (const uit::InputError& error) {
    return error.what();
  }
  return "none";
}

}  // namespace

TEST_CASE("genomes come back from their text byte by byte", "[digital_evolution]") {
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    Genome genome = RandomGenome(seed, seed == 0 ? max_genome_length : seed);
    if (seed % 2 == 0) genome[0].SetTag(TagOf("heartbeat"));
    const std::string text = ToText(genome, names);
    REQUIRE(Parse(text, names) == genome);
    REQUIRE(ToText(Parse(text, names), names) == text);
    REQUIRE(Parse(ToText(genome)) == genome);
  }
}

TEST_CASE("a text reads as people would write it", "[digital_evolution]") {
  const std::string text =
      "module @heartbeat                       # begins the module of this tag\n"
      "  sense_self r0 stockpile               # a = a word of the cell's own state\n"
      "  sense_neighbor r1 s53                 # a = a word of the faced neighbour's state\n"
      "  set r7 -300                           # a = the number, -32768 to 32767\n"
      "  show r7 6                             # shows a to the neighbours, in one of 8 words\n"
      "  add r0 r1 r2 ; 8 1 2                  # a = b + c\n"
      "  die ; 0 0 0 00000000000000ff          # ends the cell\n"
      "\n"
      "module 0123456789abcdef                 # begins the module of this tag\n"
      "  call a8329f3bdb2052ec                 # runs the best module, then goes on; at most 4 deep "
      "(61 of 64 bits as @born)\n";
  const Genome genome = Parse(text, names);
  REQUIRE(genome.size() == 9);
  REQUIRE(genome[0].GetTag() == TagOf("heartbeat"));
  REQUIRE(genome[3].arguments == std::array<std::uint8_t, 3>{7, 0xD4, 0xFE});
  REQUIRE(genome[5].arguments[0] == 8);
  REQUIRE(genome[6].GetTag() == 255);
  REQUIRE(genome[7].GetTag() == 0x0123456789abcdefU);
  REQUIRE(ToText(genome, names) == text);
}

TEST_CASE("comments, blanks, line ends and names of one's own are taken", "[digital_evolution]") {
  const Genome genome = Parse("# a comment\r\n\r\n\t inc   r3#more\nlabel @my-loop # @born\nsense_self r0 s1", names);
  REQUIRE(genome.size() == 3);
  REQUIRE(genome[0] == Instruction{.operation = Operation::inc, .arguments = {3, 0, 0}, .tag_words = {}});
  REQUIRE(genome[1].GetTag() == TagOf("my-loop"));
  REQUIRE(genome[2].arguments[1] == 1);
}

TEST_CASE("what is wrong in a text is told with its line", "[digital_evolution]") {
  const std::array<std::array<std::string, 2>, 23> cases{{
      {"", "test:1: the genome has no instruction"},
      {"# nothing\n\n", "test:2: the genome has no instruction"},
      {"nop\nsing r0\n", "test:2: 'sing' is not an instruction; --instructions lists them"},
      {"inc", "test:1: inc lacks a register"},
      {"inc r8", "test:1: 'r8' is not a register, r0 to r7"},
      {"inc 3", "test:1: '3' is not a register, r0 to r7"},
      {"inc r", "test:1: 'r' is not a register, r0 to r7"},
      {"inc r-1", "test:1: 'r-1' is not a register, r0 to r7"},
      {"inc r1 r2", "test:1: 'r2' is more than inc takes"},
      {"set r0 32768", "test:1: '32768' is not a whole number from -32768 to 32767"},
      {"set r0 1.5", "test:1: '1.5' is not a whole number from -32768 to 32767"},
      {"set r0", "test:1: set lacks a number"},
      {"show r0 8", "test:1: '8' is not a word that can be shown, 0 to 7"},
      {"sense_self r0 wealth", "test:1: 'wealth' is not a sensor; --sensors lists them"},
      {"sense_self r0 s54", "test:1: 's54' is not a sensor; --sensors lists them"},
      {"module", "test:1: module lacks a tag"},
      {"module # @born", "test:1: module lacks a tag"},
      {"module 123", "test:1: '123' is not a tag: 16 hexadecimal digits, or @ and a name"},
      {"module 0123456789abcdeg", "test:1: '0123456789abcdeg' is not a tag: 16 hexadecimal digits, or @ and a name"},
      {"module @", "test:1: '@' is not a tag: 16 hexadecimal digits, or @ and a name"},
      {"inc r0 ; 8 0", "test:1: inc lacks three bytes after ';'"},
      {"inc r0 ; 256 0 0", "test:1: '256' is not a byte, 0 to 255"},
      {"inc r0 ; 9 0 0", "test:1: the bytes after ';' mean other operands than those before"},
  }};
  for (const auto& [text, message] : cases) CHECK(MessageOf(text) == message);
}

TEST_CASE("a text may have 1000 instructions and no more", "[digital_evolution]") {
  std::string text;
  for (int line = 0; line < 1000; ++line) text += "nop\n";
  REQUIRE(Parse(text).size() == 1000);
  REQUIRE(MessageOf(text + "# fine\n") == "none");
  REQUIRE(MessageOf(text + "nop\n") == "test:1001: more than 1000 instructions");
}
