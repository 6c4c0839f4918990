// Votes of threads in two halves, under every schedule.
#include <netuit/barrier/thread_vote.hpp>

#include <cstddef>
#include <cstdint>

#include "tests/support/catch.hpp"
#include "tests/support/explored_atomic.hpp"
#include "tests/support/schedule_count.hpp"
#include "tests/support/schedule_explorer.hpp"
#include "tests/support/watched.hpp"

namespace {

using namespace uit::testing;
using netuit::ThreadVote;

/// A vote for a number; the largest wins.
struct Ballot {
  Watched number{0};
  void Merge(const Ballot& other) {
    if (other.number.Value() > number.Value()) number = other.number;
  }
};

/// Threads that vote a few times. The process to which the votes are posted answers at the last of some questions. A thread
/// asks as often before it gives up, so that the number of schedules stays finite.
template <std::size_t n, int num_votes, int num_tries>
struct Voting {
  static constexpr std::size_t num_threads = n;
  ThreadVote<Explored, Ballot> votes{n};
  Watched posted{0};             // what another process would get
  Watched num_questions{0};

  void Run(std::size_t thread) {
    const auto self = static_cast<std::uint32_t>(thread);
    for (int round = 1; round <= num_votes; ++round) {
      const int mine = round * 10 + static_cast<int>(thread);
      votes.Begin(self, Ballot{mine}, [&](const Ballot& all) {
        Explorer::Expect(all.number.Value() == round * 10 + static_cast<int>(n) - 1, "a vote was posted before all had voted");
        posted = all.number;
        num_questions = Watched{0};
      });
      if (!End(self)) return;
      Explorer::Expect(votes.Outcome().number.Value() == round * 10 + static_cast<int>(n) - 1,
                       "the outcome is not that of this vote");
    }
  }
  void Finish() {}

 private:
  bool End(std::uint32_t self) {
    for (int i = 0; i < num_tries; ++i) {
      const bool has_ended = votes.TryEnd(self, [&](Ballot& outcome) {
        num_questions = Watched{num_questions.Value() + 1};
        if (num_questions.Value() < num_tries) return false;
        outcome.number = posted;
        return true;
      });
      if (has_ended) return true;
      Explorer::Yield();
    }
    return false;
  }
};

}  // namespace

TEST_CASE("Under every schedule threads learn the outcome of each of their votes") {
  CheckExhausted<Voting<2, 2, 2>>("votes of threads");
  CheckExhausted<Voting<3, 1, 1>>("votes of threads, 3 threads", nightly_bound_of_many);
}
