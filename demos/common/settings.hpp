#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <netuit/run/modes.hpp>
#include <string>
#include <vector>

/// The common parts of the programs of the founding paper's two benchmarks.
namespace demo {

/// The options of every benchmark.
struct Settings {
  std::size_t threads = 1;  ///< workers of each process
  std::string placement = "metis";

  std::vector<unsigned> modes{3};  ///< by number
  netuit::ModeSettings schedule{.duration = std::chrono::seconds{5}};  ///< of each run, whatever its mode
  unsigned replicates = 5;
  std::uint64_t seed = 1;

  std::string output = "-";  ///< rows as CSV; "-" is standard output
  bool progress = false;
  bool watch = false;  ///< a table of all workers while it runs

  std::string record;  ///< folder to record runs in; empty: no recording
  std::string replay;  ///< folder with records of the same runs, to replay; empty: no replay

  std::string trace;  ///< file with what each worker does when, for Perfetto; empty: not recorded

  std::string quality;  ///< file for the quality of service as CSV; empty: not measured
  bool quality_channels = false;  ///< also a row per channel
  std::chrono::nanoseconds snapshot_interval = std::chrono::seconds{1};  ///< from snapshot to snapshot
  std::chrono::nanoseconds snapshot_length = std::chrono::seconds{1};    ///< of a snapshot
};

/// Returns the name of a mode, as in the rows. Throws uit::InputError if there is no such mode.
[[nodiscard]] const char* ModeName(unsigned mode);

/// Reads "10ms", "1.5 s", or "2" (seconds). Throws uit::InputError, which names `option`.
[[nodiscard]] std::chrono::nanoseconds ParseSpan(const std::string& option, const std::string& text);

/// Returns "; did you mean X?" for the choice X that a word is most likely a slip of; nothing if none is near. For error messages.
[[nodiscard]] std::string DidYouMean(const std::string& word, const std::vector<std::string>& choices);

/// Throws uit::InputError with `text` if the condition is false.
void Want(bool condition, const std::string& text);

}  // namespace demo
