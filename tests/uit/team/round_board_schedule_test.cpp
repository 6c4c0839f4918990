// The boards where members of a team post what they bring to a round, under every schedule.
#include <uit/team/failure_flag.hpp>
#include <uit/team/round_board.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>
#include <vector>

#include "tests/support/catch.hpp"
#include "tests/support/explored_atomic.hpp"
#include "tests/support/explored_memory.hpp"
#include "tests/support/schedule_count.hpp"
#include "tests/support/schedule_explorer.hpp"
#include "tests/uit/link/support/explored_rings.hpp"

namespace {

using namespace uit::testing;

/// Members go through a few rounds. Each brings a few words, and reads those of all others before it continues. At the end, or when
/// another is late, it leaves; the others then find all that it has brought. If `looks_ahead`, one that continues checks at once
/// whether others have already come to the next round.
template <std::size_t num_members, std::uint64_t num_rounds, std::size_t num_words, bool leaves = false, bool looks_ahead = false>
struct RoundScenario {
  static constexpr std::size_t num_threads = num_members;
  static constexpr std::size_t capacity = num_words * sizeof(std::uint64_t);
  static constexpr std::uint64_t run = 1;
  using Board = uit::BasicRoundBoard<ExploredRef>;

  SharedWords<num_members * Board::NumBytes(capacity)> memory;
  std::optional<ExploredMemory> explored;
  std::vector<Board> boards;
  std::array<std::uint64_t, num_members> num_brought{};

  RoundScenario() {
    for (std::size_t i = 0; i < num_members; ++i) {
      const auto place = std::as_writable_bytes(std::span{memory.words}).subspan(i * Board::NumBytes(capacity));
      Board::Create(place, capacity);
      boards.emplace_back(place.data(), capacity);
    }
    explored.emplace(memory.words);
  }

  void Run(std::size_t member) {
    for (std::uint64_t round = 1; round <= num_rounds; ++round) {
      num_brought[member] = round;
      const auto room = boards[member].Room(round);
      for (std::size_t i = 0; i < num_words; ++i) {
        const std::uint64_t word = WordOf(member, round, i);
        std::memcpy(room.data() + i * sizeof word, &word, sizeof word);
      }
      boards[member].Post(round, 100 + round, 10 * round + member, capacity);
      for (std::size_t other = 0; other < num_members; ++other)
        if (other != member && !Await(other, round)) return Leave(member);
      if (looks_ahead && round < num_rounds) Look((member + 1) % num_members, round + 1);
    }
    Leave(member);
  }
  void Leave(std::size_t member) {
    if (leaves) boards[member].Leave(run);
  }
  void Finish() {
    for (std::size_t member = 0; member < num_members; ++member) {
      Explorer::Expect(boards[member].HasLeft(run) == leaves, "a member has not left");
      Explorer::Expect(Look(member, num_brought[member]), "what a member has brought was lost");
      Explorer::Expect(!Look(member, num_brought[member] + 1), "what a member has brought was made up");
    }
  }

  static std::uint64_t WordOf(std::size_t member, std::uint64_t round, std::size_t i) { return 1000 * round + 10 * member + i; }
  /// Gives up after a few tries, so that the number of schedules stays finite.
  bool Await(std::size_t member, std::uint64_t round) {
    if (Look(member, round)) return true;
    if (num_members > 2) return false;
    if (!leaves) {
      Explorer::Yield();
      return Look(member, round);
    }
    const bool has_left = boards[member].HasLeft(run);
    const bool is_there = Look(member, round);
    Explorer::Expect(!has_left || is_there || num_brought[member] < round, "a member has left, and what it has brought was lost");
    return is_there;
  }
  bool Look(std::size_t member, std::uint64_t round) {
    const std::optional<uit::Brought> brought = boards[member].Read(round);
    if (!brought) return false;
    ExploredMemory::NoteRead(brought->bytes);
    Explorer::Expect(num_brought[member] >= round, "a member was seen where it had not come to");
    bool is_whole = brought->kind == 100 + round && brought->total == 10 * round + member && brought->bytes.size() == capacity;
    for (std::size_t i = 0; is_whole && i < num_words; ++i) {
      std::uint64_t word = 0;
      std::memcpy(&word, brought->bytes.data() + i * sizeof word, sizeof word);
      is_whole = word == WordOf(member, round, i);
    }
    Explorer::Expect(is_whole, "what was read is not what was brought");
    return true;
  }
};

/// One member fails: it posts on its board how it leaves, and then tells the other threads. They look why it has failed.
struct FailureScenario {
  static constexpr std::size_t num_threads = 3;
  static constexpr std::uint64_t run = 1;
  using Board = uit::BasicRoundBoard<ExploredRef>;

  SharedWords<Board::NumBytes(0)> memory;
  std::optional<ExploredMemory> explored;
  std::optional<Board> board;
  uit::FailureFlag<Explored> failure;

  FailureScenario() {
    const auto place = std::as_writable_bytes(std::span{memory.words});
    Board::Create(place, 0);
    board.emplace(place.data(), 0);
    explored.emplace(memory.words);
  }

  void Run(std::size_t thread) {
    if (thread > 0) return Look();
    board->Leave(run, uit::Leaving::Failed());
    failure.Raise();
  }
  void Look() const {
    if (!failure.IsRaised()) return;
    const std::optional<uit::Leaving> left = board->Left(run);
    Explorer::Expect(left && left->HasFailed(), "a thread has failed, and how it has left cannot be seen");
  }
  void Finish() const {
    Explorer::Expect(failure.IsRaised(), "a failure was not seen");
    Look();
  }
};

}  // namespace

TEST_CASE("A thread that sees the failure flag also sees how the member has left under every schedule") {
  CheckExhaustedBetweenProcesses<FailureScenario>("a failure that 2 threads see", nightly_bound_of_many);
}

TEST_CASE("A board shows what its member brings to a round under every schedule") {
  CheckExhaustedBetweenProcesses<RoundScenario<2, 3, 1>>("round boards of 2 members", nightly_bound_of_many);
  CheckExhaustedBetweenProcesses<RoundScenario<2, 2, 3>>("round boards of 2 members, with more words", nightly_bound_of_many);
  CheckExhaustedBetweenProcesses<RoundScenario<2, 2, 1, true>>("round boards of 2 members, who leave", nightly_bound_of_many);
  CheckExhaustedBetweenProcesses<RoundScenario<2, 2, 1, false, true>>("round boards of 2 members, who look ahead",
                                                                      nightly_bound_of_many);
  CheckExhaustedBetweenProcesses<RoundScenario<3, 1, 1>>("round boards of 3 members", nightly_bound_of_many);
  CheckExhaustedBetweenProcesses<RoundScenario<3, 2, 1>>("round boards of 3 members, 2 rounds", nightly_bound_of_many);
  CheckExhaustedBetweenProcesses<RoundScenario<4, 1, 1>>("round boards of 4 members", nightly_bound_of_many);
}
