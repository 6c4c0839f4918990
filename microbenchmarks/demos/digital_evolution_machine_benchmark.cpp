// What does an instruction of a digital program cost, in one program or many, written by people or random?
//
// No other library runs these programs, so the figures have no competitor: they are shown and not judged.

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <sstream>
#include <string>
#include <vector>

#include <netuit/mesh/node_random.hpp>

#include "demos/digital_evolution/machine/genome_text.hpp"
#include "demos/digital_evolution/machine/machine.hpp"
#include "microbenchmarks/support/program.hpp"

namespace {

using namespace digital_evolution;

constexpr std::size_t num_cells = 3600;
constexpr unsigned budget = 16;  // instructions an update
using State = std::array<std::int32_t, num_sensors>;

/// A cell that answers at once and ignores requests.
struct Cell {
  State& own;
  const State& other;
  InstructionUse& use;
  netuit::NodeRandom random;
  std::uint32_t num_acts = 0;

  std::int32_t SenseSelf(unsigned sensor) const { return own[sensor]; }
  std::int32_t SenseNeighbor(unsigned facing, unsigned sensor) const { return other[(sensor + facing) % num_sensors]; }
  bool IsKin(unsigned facing) const { return other[facing] == own[facing]; }
  void Show(unsigned word, std::int32_t value) { own[word] = value; }
  void Act(Action, unsigned, std::int32_t) { ++num_acts; }
  void Send(unsigned, Tag, const PacketData&) { ++num_acts; }
  std::uint32_t Random() { return random(); }
  InstructionUse& Use() { return use; }
};

/// A program that decides at each neighbour whether to send offspring, again and again.
Genome HandWritten() {
  std::istringstream text{R"(module 0000000000000000
    label @again
    sense_self r0 s1
    set r1 1000
    less r2 r1 r0
    jump_unless r2 @poor
    is_kin r4
    jump_if r4 @next
    spawn_kin
    label @poor
    inc r5
    label @next
    turn
    add r6 r5 r0
    mul r6 r6 r1
    show r6 2
    jump @again)"};
  return ParseGenome(text, "the program");
}

/// A random program of 100 instructions that never ends: four modules, each a loop.
Genome Random(std::uint64_t seed) {
  constexpr std::array endings{Operation::module, Operation::return_call, Operation::stop, Operation::die};
  netuit::RandomStream random{seed};
  Genome genome(100);
  for (std::size_t i = 0; i < genome.size(); ++i) {
    Instruction& instruction = genome[i];
    do instruction.operation = static_cast<Operation>(random.Below(num_operations));
    while (std::ranges::count(endings, instruction.operation) > 0);
    for (std::uint8_t& argument : instruction.arguments) argument = static_cast<std::uint8_t>(random.Below(256));
    instruction.SetTag(netuit::MixBits(random.Below(12)));
    const std::size_t place = i % 25;
    if (place == 0) instruction.operation = Operation::module;
    if (place == 1) instruction = {.operation = Operation::label, .arguments = {}, .tag_words = {}};
    if (place == 24) instruction = {.operation = Operation::jump, .arguments = {}, .tag_words = {}};
  }
  return genome;
}

/// Nanoseconds per instruction while each cell makes some updates, the best of five. Cells get the programs in turn.
double Measure(const std::vector<std::shared_ptr<const Program>>& programs, unsigned num_updates) {
  struct WorkerId {
    Machine machine;
    State state{};
  };
  std::vector<WorkerId> places(num_cells);
  for (std::size_t c = 0; c < num_cells; ++c) {
    const Program& program = *programs[c % programs.size()];
    const auto modules = program.Modules();
    for (unsigned k = 0; k < 4; ++k) places[c].machine.Signal(program, modules[k % modules.size()].tag, k);
  }
  const State other{};
  InstructionUse use{};
  double best = 1e9;
  for (int attempt = 0; attempt < 5; ++attempt) {
    std::uint64_t num_executed = 0;
    const auto start = std::chrono::steady_clock::now();
    for (unsigned update = 0; update < num_updates; ++update) {
      for (std::size_t c = 0; c < num_cells; ++c) {
        places[c].state[1] = static_cast<std::int32_t>(c);
        Cell cell{.own = places[c].state, .other = other, .use = use,
                  .random = netuit::NodeRandom{1, static_cast<netuit::NodeId>(c), update}};
        num_executed += places[c].machine.Run(*programs[c % programs.size()], budget, cell);
      }
    }
    const std::chrono::duration<double, std::nano> elapsed = std::chrono::steady_clock::now() - start;
    best = std::min(best, elapsed.count() / static_cast<double>(num_executed));
  }
  return best;
}

void Report(bench::Program& program, const std::string& what, const std::vector<std::shared_ptr<const Program>>& programs) {
  const std::string figure = "digital evolution, an instruction, " + what;
  if (!program.IsWanted(figure)) return;
  const double time = Measure(programs, program.IsQuick() ? 20 : 100);
  program.Add({.figure = figure,
               .value = bench::Digits(time),
               .spread = "ns",
               .target = "-",
               .verdict = "-",
               .proximity = "-",
               .detail = {}});
}

std::vector<std::shared_ptr<const Program>> RandomPrograms(std::size_t count) {
  std::vector<std::shared_ptr<const Program>> programs;
  while (programs.size() < count) programs.push_back(std::make_shared<const Program>(Random(programs.size())));
  return programs;
}

}  // namespace

int main(int argc, char** argv) {
  bench::Program program{argc, argv};
  Report(program, "written by hand", {std::make_shared<const Program>(HandWritten())});
  Report(program, "40 random programs", RandomPrograms(40));
  Report(program, "3600 random programs", RandomPrograms(num_cells));  // fits the last cache
  return program.Finish();
}
