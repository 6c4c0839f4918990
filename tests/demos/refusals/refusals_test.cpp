// Bad files and command lines: an exit code, one line that says what is wrong and where, and nothing else.
#include <algorithm>

#include "tests/demos/refusals/refusal.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/goal.hpp"
#include "tests/uit/core/support/sanitized.hpp"

using namespace refusals;

namespace {

struct Program {
  const char* path;
  std::vector<Refusal> (*refusals)(const Folder&);
};

/// A program under a sanitizer starts slowly; the fuzz targets test the readers under sanitizers.
constexpr std::size_t stride = uit::testing::is_sanitized ? 5 : 1;
/// PROMISES names one second of computing, so that other load on the machine does not count.
constexpr double most_seconds = uit::testing::is_sanitized ? 5 : 1;
/// By the clock, so that a program that sleeps or hangs before it refuses fails, too.
constexpr double most_elapsed = uit::testing::is_sanitized ? 30 : 10;

}  // namespace

TEST_CASE("bad files and command lines are refused in one line and nothing is written") {
  std::size_t num_refused = 0;
  double longest = 0;
  double longest_elapsed = 0;
  for (const Program& program : {Program{UIT_CHANNEL_SELECTION, &ChannelSelectionRefusals},
                                 Program{UIT_DIGITAL_EVOLUTION, &DigitalEvolutionRefusals}}) {
    const Folder folder;
    const std::vector<Refusal> refusals = program.refusals(folder);
    const auto before = folder.Listing();
    for (std::size_t number = 0; number < refusals.size(); number += stride) {
      const Refusal& refusal = refusals[number];
      const Ending ending = Run(program.path, refusal.arguments, folder.Path());
      std::string command = program.path;
      for (const std::string& argument : refusal.arguments) command += ' ' + argument;
      INFO(command << "\nended with " << ending.code << " in " << ending.seconds << " s of computing, " << ending.elapsed
                   << " s in all, and said:\n"
                   << ending.err);
      const bool is_right = ending.code == refusal.code && ending.err.starts_with("conduit: error: " + refusal.says) &&
                            std::ranges::count(ending.err, '\n') == 1 && ending.err.ends_with('\n') && ending.out.empty();
      CHECK(is_right);
      CHECK(ending.seconds < most_seconds);
      CHECK(ending.elapsed < most_elapsed);
      CHECK(folder.Listing() == before);
      num_refused += is_right ? 1 : 0;
      longest = std::max(longest, ending.seconds);
      longest_elapsed = std::max(longest_elapsed, ending.elapsed);
    }
  }
  CHECK(num_refused * stride >= 60);
  uit::testing::PrintGoal("R13", std::to_string(num_refused) + " bad inputs refused with one line each, in " +
                                     std::to_string(static_cast<int>(1000 * longest)) + " ms of computing and " +
                                     std::to_string(static_cast<int>(1000 * longest_elapsed)) + " ms in all at most");
}
