// Genomes as text are read, or refused with file, line and reason. Those that were read are written with the same bytes.
#include <sstream>

#include "demos/digital_evolution/machine/genome_text.hpp"
#include "demos/digital_evolution/machine/program.hpp"
#include "demos/digital_evolution/world/names.hpp"
#include "tests/fuzz/fuzz.hpp"

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace uit::fuzz;
  using namespace digital_evolution;
  for (const Names& names : {Names{}, world_names}) {
    std::istringstream text{TextOf(data, size)};
    Genome genome;
    if (!Accepts([&] { genome = ParseGenome(text, "text", names); }, "text:")) continue;
    Demand(IsValid(genome), "a genome that is read is valid");
    std::istringstream written{ToText(genome, names)};
    Demand(ParseGenome(written, "again", names) == genome, "a genome comes back as it was");
    const Program program{genome, MachineOptions{}};
    Demand(!program.Code().empty(), "a genome that is read makes a program");
  }
  return 0;
}
