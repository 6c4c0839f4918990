// The boards where processes of a host post their votes, under every schedule.
#include <netuit/barrier/host_board.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include <netuit/barrier/vote.hpp>

#include "tests/support/catch.hpp"
#include "tests/support/explored_memory.hpp"
#include "tests/support/schedule_count.hpp"
#include "tests/support/schedule_explorer.hpp"
#include "tests/uit/link/support/explored_rings.hpp"

namespace {

using namespace uit::testing;
using netuit::Vote;

/// Processes meet at a few barriers. Each posts its vote on its board, and reads all other boards before it continues. If
/// `looks_ahead`, one that continues checks at once whether others have already reached the next barrier. Votes have `num_reduced`
/// numbers.
template <std::size_t num_processes, std::uint64_t num_barriers, std::size_t num_reduced, bool looks_ahead = false>
struct BoardScenario {
  static constexpr std::size_t num_threads = num_processes;
  using Board = netuit::BasicHostBoard<ExploredRef, num_reduced>;

  SharedWords<num_processes * Board::NumBytes()> memory;
  std::optional<ExploredMemory> explored;
  std::vector<Board> boards;
  std::array<std::uint64_t, num_processes> num_arrivals{};

  BoardScenario() {
    for (std::size_t i = 0; i < num_processes; ++i) {
      const auto place = std::as_writable_bytes(std::span{memory.words}).subspan(i * Board::NumBytes());
      Board::Create(place);
      boards.emplace_back(place.data());
    }
    explored.emplace(memory.words);
  }

  void Run(std::size_t process) {
    for (std::uint64_t epoch = 1; epoch <= num_barriers; ++epoch) {
      num_arrivals[process] = epoch;
      boards[process].Post(epoch, Brings(process, epoch));
      for (std::size_t other = 0; other < num_processes; ++other) {
        if (other != process && !Await(other, epoch)) return boards[process].Leave();
      }
      if (looks_ahead && epoch < num_barriers) Look((process + 1) % num_processes, epoch + 1);
    }
  }
  void Finish() {
    for (std::size_t process = 0; process < num_processes; ++process) {
      Explorer::Expect(Look(process, num_arrivals[process]), "an arrival was lost");
      Explorer::Expect(!Look(process, num_arrivals[process] + 1), "an arrival was made up");
    }
  }

  static Vote Brings(std::size_t process, std::uint64_t epoch) {
    return {.stop = static_cast<std::uint32_t>(10 * epoch + process),
            .is_pending = static_cast<std::uint32_t>((epoch + process) % 2),
            .next = 100 * epoch + process,
            .reduced = {num_reduced > 0 ? 1000 * epoch + process : 0, num_reduced > 1 ? 2000 * epoch + process : 0}};
  }
  /// Gives up after a few tries, so that the number of schedules stays finite.
  bool Await(std::size_t process, std::uint64_t epoch) {
    if (Look(process, epoch)) return true;
    if (num_processes > 2) return false;
    Explorer::Yield();
    return Look(process, epoch);
  }
  bool Look(std::size_t process, std::uint64_t epoch) {
    const std::optional<Vote> vote = boards[process].Read(epoch);
    if (!vote) return false;
    const Vote brought = Brings(process, epoch);
    Explorer::Expect(num_arrivals[process] >= epoch, "a process was seen where it had not come to");
    Explorer::Expect(vote->stop == brought.stop && vote->is_pending == brought.is_pending && vote->next == brought.next &&
                         vote->reduced == brought.reduced,
                     "what was read is not what was brought");
    return true;
  }
};

}  // namespace

TEST_CASE("A board shows what its process brings to a barrier under every schedule") {
  CheckExhaustedBetweenProcesses<BoardScenario<2, 3, 0>>("boards of 2 processes", nightly_bound_of_many);
  CheckExhaustedBetweenProcesses<BoardScenario<2, 2, 1, true>>("boards of 2 processes, who look ahead", nightly_bound_of_many);
  CheckExhaustedBetweenProcesses<BoardScenario<3, 1, 2>>("boards of 3 processes", nightly_bound_of_many);
}
