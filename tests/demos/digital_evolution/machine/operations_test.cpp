#include "demos/digital_evolution/machine/instruction.hpp"

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "tests/demos/digital_evolution/machine/machine_test_support.hpp"
#include "tests/support/catch.hpp"

using namespace digital_evolution;

namespace {

/// Returns the actions of a program that faces neighbour 2 and whose first module is started by a signal.
struct Case {
  std::string_view operation;
  std::string text;
  std::string trace;
};

const std::string make_largest = "set r7 16384\nset r6 4\nmul r7 r7 r6\nset r6 32767\nmul r7 r7 r6\nset r6 32767\n"
                                 "add r7 r7 r6\nadd r7 r7 r6\ninc r7\n";           // 2^16 * (2^15 - 1) + 2^16 - 1 = 2^31 - 1
const std::string make_least = make_largest + "not r7 r7\nset r6 -1\n";       // r7 = -2^31, r6 = -1
const std::string two_alike = "module 0000000000000000\nshow r3 0\nmodule 000000000000000f\nshow r3 1\n";

const std::vector<Case> cases{
    {"nop", "nop\nshow r0 0", "show 0 0"},
    {"set", "set r3 -32768\nset r4 32767\nset r5 -1\nshow r3 1\nshow r4 2\nshow r5 3",
     "show 1 -32768; show 2 32767; show 3 -1"},
    {"copy", "set r1 9\ncopy r0 r1\nshow r0 0\nshow r1 1", "show 0 9; show 1 9"},
    {"add", "set r1 5\nset r2 -7\nadd r0 r1 r2\nshow r0 0", "show 0 -2"},
    {"add", make_largest + "set r1 1\nshow r7 0\nadd r0 r7 r1\nshow r0 0", "show 0 2147483647; show 0 -2147483648"},
    {"sub", "set r1 5\nset r2 -7\nsub r0 r1 r2\nshow r0 0", "show 0 12"},
    {"sub", make_least + "set r1 1\nsub r0 r7 r1\nshow r0 0", "show 0 2147483647"},
    {"mul", "set r1 5\nset r2 -7\nmul r0 r1 r2\nshow r0 0", "show 0 -35"},
    {"mul", make_largest + "mul r0 r7 r7\nshow r0 0\nset r1 4\nmul r0 r7 r1\nshow r0 0", "show 0 1; show 0 -4"},
    {"div", "set r1 -7\nset r2 2\ndiv r0 r1 r2\nshow r0 0\ndiv r0 r1 r3\nshow r0 1", "show 0 -3; show 1 0"},
    {"div", make_least + "div r0 r7 r6\nshow r0 0", "show 0 -2147483648"},
    {"mod", "set r1 -7\nset r2 2\nmod r0 r1 r2\nshow r0 0\nmod r0 r1 r3\nshow r0 1", "show 0 -1; show 1 0"},
    {"mod", make_least + "set r0 5\nmod r0 r7 r6\nshow r0 0\nset r1 10\nmod r0 r7 r1\nshow r0 0", "show 0 0; show 0 -8"},
    {"and", "set r1 12\nset r2 10\nand r0 r1 r2\nshow r0 0", "show 0 8"},
    {"or", "set r1 12\nset r2 10\nor r0 r1 r2\nshow r0 0", "show 0 14"},
    {"xor", "set r1 12\nset r2 10\nxor r0 r1 r2\nshow r0 0", "show 0 6"},
    {"not", "set r1 12\nnot r0 r1\nshow r0 0", "show 0 -13"},
    {"inc", "inc r0\nshow r0 0", "show 0 1"},
    {"inc", make_largest + "inc r7\nshow r7 0", "show 0 -2147483648"},
    {"dec", "dec r0\nshow r0 0", "show 0 -1"},
    {"dec", make_least + "dec r7\nshow r7 0", "show 0 2147483647"},
    {"random", "random r0\nshow r0 0", "show 0 -2147483647"},
    {"less", "set r1 -1\nless r0 r1 r2\nshow r0 0\nless r0 r2 r1\nshow r0 0\nless r0 r2 r2\nshow r0 0",
     "show 0 1; show 0 0; show 0 0"},
    {"equal", "set r1 -1\nequal r0 r1 r1\nshow r0 0\nequal r0 r2 r1\nshow r0 0", "show 0 1; show 0 0"},
    {"module", "module @first\nshow r0 0\nmodule @second\nshow r0 1", "show 0 0"},
    {"module", "show r0 0\nmodule @second\nshow r0 1", "show 0 0"},
    {"label", "label @start\njump @b\nlabel @a\nshow r0 0\nstop\nlabel @b\njump @a\nshow r0 1", "show 0 0"},
    {"jump_if", "jump_if r0 @a\nshow r0 0\ninc r0\njump_if r0 @a\nshow r0 1\nlabel @a\nshow r0 2", "show 0 0; show 2 1"},
    {"jump_unless", "inc r0\njump_unless r0 @a\nshow r0 0\ndec r0\njump_unless r0 @a\nshow r0 1\nlabel @a\nshow r0 2",
     "show 0 1; show 2 0"},
    {"jump", "jump @a\nshow r0 0\nlabel @a\nshow r0 1", "show 1 0"},
    {"jump", "module @main\njump @elsewhere\nshow r0 0\njump @none\nshow r0 1\njump @main\nshow r0 2\n"
             "jump @end\nshow r0 3\nlabel @end\nmodule @other\nlabel @elsewhere\nshow r0 4", "show 0 0; show 1 0; show 2 0"},
    {"call", "module @main\nset r0 5\ncall @sub\nshow r0 0\ncall @none\nshow r0 1\nmodule @sub\ninc r0",
     "show 0 6; show 1 6"},
    {"call", "module @main\ninc r0\ncall @main\nshow r0 0", "show 0 5; show 0 5; show 0 5; show 0 5; show 0 5"},
    {"fork", "module @main\nset r0 5\nfork @sub\ninc r0\nshow r0 0\nmodule @sub\nmy_facing r1\nshow r0 1\nshow r1 2",
     "show 0 6; show 1 5; show 2 2"},
    {"return", "module @main\ncall @sub\nshow r0 0\nreturn\nshow r0 1\nmodule @sub\nreturn\nshow r0 2", "show 0 0"},
    {"stop", "module @main\ncall @sub\nshow r0 0\nmodule @sub\nshow r0 1\nstop", "show 1 0"},
    {"face", "set r0 7\nface r0\nmy_facing r1\nshow r1 0\nset r0 -4\nface r0\nmy_facing r1\nshow r1 0",
     "show 0 3; show 0 0"},
    {"turn", "turn\nmy_facing r1\nshow r1 0\nturn\nmy_facing r1\nshow r1 0", "show 0 3; show 0 0"},
    {"promote", "module ffffffffffffffff\npromote r0 000000000000000f\ncall 0000000000000003\n" + two_alike, "show 1 0"},
    {"repress", "module ffffffffffffffff\nrepress r0 0000000000000000\ncall 0000000000000003\n" + two_alike, "show 1 0"},
    {"unregulate",
     "module ffffffffffffffff\npromote r0 0000000000000000\nunregulate 0000000000000000\n"
     "repress r0 0000000000000000\ncall 0000000000000003\n" + two_alike,
     "show 1 0"},
    {"sense_self", "sense_self r0 s0\nshow r0 0\nsense_self r0 s53\nshow r0 1", "show 0 100; show 1 153"},
    {"sense_neighbor", "sense_neighbor r0 s0\nshow r0 0\nturn\nsense_neighbor r0 s53\nshow r0 1",
     "show 0 2000; show 1 3053"},
    {"my_facing", "my_facing r4\nshow r4 0", "show 0 2"},
    {"show", "set r1 -3\nshow r1 7\nshow r0 0", "show 7 -3; show 0 0"},
    {"is_kin", "is_kin r0\nshow r0 0\nturn\nis_kin r0\nshow r0 1", "show 0 1; show 1 0"},
    {"share_some", "share_some", "share_some 2 0"},
    {"share_half", "share_half", "share_half 2 0"},
    {"send", "set r0 4\nset r1 -5\nset r2 6\nsend 0123456789abcdef", "send 2 0123456789abcdef 4 -5 6"},
    {"broadcast", "set r2 6\nbroadcast fedcba9876543210",
     "send 0 fedcba9876543210 0 0 6; send 1 fedcba9876543210 0 0 6; send 2 fedcba9876543210 0 0 6; "
     "send 3 fedcba9876543210 0 0 6"},
    {"admit", "admit", "admit 2 0"},
    {"refuse", "refuse", "refuse 2 0"},
    {"spawn_kin", "turn\nspawn_kin", "spawn_kin 3 0"},
    {"spawn_new", "spawn_new", "spawn_new 2 0"},
    {"endow", "set r0 -5\nendow r0\nset r0 300\nendow r0\nset r0 7\nendow r0", "endow 2 0; endow 2 255; endow 2 7"},
    {"pause_spawn", "set r0 300\npause_spawn r0\nset r0 -1\npause_spawn r0", "pause_spawn 2 44; pause_spawn 2 255"},
    {"mark_heir", "mark_heir", "mark_heir 2 0"},
    {"die", "fork 0000000000000000\ndie\nshare_some", "die 2 0"},
};

RecordingCell Execute(const Case& what, ClassSet knocked_out = {}) {
  const Program program{Parse(what.text), {.knocked_out = knocked_out}};
  Machine machine;
  RecordingCell cell;
  machine.Signal(program, program.Modules()[0].tag, 2);
  machine.Run(program, 200, cell);
  return cell;
}

}  // namespace

TEST_CASE("each operation does what its line says", "[digital_evolution]") {
  for (const Case& one : cases) {
    INFO(one.operation << "\n" << one.text);
    const RecordingCell cell = Execute(one);
    CHECK(cell.trace == one.trace);
    const Operation operation = FindOperation(one.operation).value();
    // a module begins after it
    if (operation != Operation::module) CHECK(cell.use.at(static_cast<std::size_t>(operation)) > 0);
  }
}

TEST_CASE("no operation is without a case", "[digital_evolution]") {
  for (const InstructionMeaning& meaning : instruction_set) {
    INFO(meaning.name);
    CHECK(std::ranges::find(cases, meaning.name, &Case::operation) != cases.end());
    CHECK(!meaning.meaning.empty());
  }
}

TEST_CASE("what is knocked out does nothing", "[digital_evolution]") {
  for (const Case& one : cases) {
    const Operation operation = FindOperation(one.operation).value();
    if (operation == Operation::nop || operation == Operation::module) continue;
    INFO(one.operation << "\n" << one.text);
    const RecordingCell cell = Execute(one, {MeaningOf(operation).instruction_class});
    CHECK(cell.trace != one.trace);
    CHECK(cell.use.at(static_cast<std::size_t>(operation)) == 0);
  }
}

TEST_CASE("an argument byte counts modulo its choices", "[digital_evolution]") {
  Genome genome(2);
  genome[0] = {.operation = Operation::sense_self, .arguments = {8 + 3, 54 + 5, 0}};
  genome[1] = {.operation = Operation::show, .arguments = {16 + 3, 8 + 6, 0}};
  const Program program{genome};
  Machine machine;
  RecordingCell cell;
  REQUIRE(machine.Signal(program, 0, 0));
  machine.Run(program, 4, cell);
  REQUIRE(cell.trace == "show 6 105");
}

TEST_CASE("names of operations and classes are found", "[digital_evolution]") {
  for (const InstructionMeaning& meaning : instruction_set) REQUIRE(FindOperation(meaning.name) == meaning.operation);
  REQUIRE(!FindOperation("sing"));
  for (std::size_t k = 0; k < num_classes; ++k) REQUIRE(FindClass(class_names.at(k)) == static_cast<InstructionClass>(k));
  REQUIRE(FindClass("sharing") == InstructionClass::sharing);
  REQUIRE(!FindClass(""));
}
