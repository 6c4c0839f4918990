#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "demos/common/settings.hpp"
#include "demos/digital_evolution/world/rules.hpp"

namespace digital_evolution {

/// The options of the command line. The defaults are the founding paper's second benchmark.
struct Options : demo::Settings {
  Options() {
    schedule.span = std::chrono::milliseconds{100};
    replicates = 1;
  }

  std::uint32_t cells_per_worker = 3600;
  Rules rules;                ///< without the changes of `knock_out` and `ignores_genomes`
  std::string ancestor;       ///< file of a genome as text; empty: a built-in genome
  std::string rival;          ///< genome as text, for half of the founders; empty: none
  std::uint32_t founders = 0; ///< 0: one in each place
  bool ignores_genomes = false;             ///< all run the ancestor's program
  std::vector<std::string> knock_out;       ///< classes of instructions that do nothing

  std::string record;  ///< folder for census, genomes and phylogeny; empty: none
  std::chrono::nanoseconds sample_interval = std::chrono::milliseconds{500};  ///< between the rows of a record
  std::string checkpoint;            ///< folder; empty: none is written
  std::uint64_t checkpoint_every = 0;  ///< updates; 0: at the end alone
  std::string resume;                ///< checkpoint to continue from
};

/// Reads the command line. Throws uit::InputError with one line if it is invalid. If it asks for help, the version, or a table of
/// instructions or sensors, puts that text into `text` and returns no options.
[[nodiscard]] std::optional<Options> ParseOptions(int argc, const char* const* argv, std::string& text);

}  // namespace digital_evolution
