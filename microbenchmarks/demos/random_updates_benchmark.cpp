// How fast do two threads update random words of a table by a conveyor, beside atomic updates of a table that they share? The table
// takes 128 MiB, so that most words are in no cache.

#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <numeric>
#include <vector>

#include <uit/link/world.hpp>
#include <uit/support/clock.hpp>
#include <uit/team/member.hpp>
#include <uit/team/team.hpp>
#include <uit/team/team_session.hpp>

#include "demos/gups/by_conveyor.hpp"
#include "demos/gups/table.hpp"
#include "microbenchmarks/support/program.hpp"

namespace {

constexpr std::size_t num_threads = 2;
constexpr unsigned log2_words = 23;                // of each thread
constexpr std::uint64_t num_updates = 2'000'000;   // of each thread

double PerUpdate(uit::TimePoint start) {
  return std::chrono::duration<double, std::nano>(uit::Now() - start).count() / static_cast<double>(num_updates * num_threads);
}

void RequireNone(std::size_t num_wrong) {
  if (num_wrong == 0) return;
  std::fprintf(stderr, "%zu words are wrong\n", num_wrong);
  std::exit(1);
}

class ByConveyor {
 public:
  ByConveyor() : session_{uit::Team{uit::World{}, {.threads = num_threads}}} {}

  double Time(std::uint64_t seed) {
    double time = 0;
    session_.Run([&](uit::Member& me) {
      std::unique_ptr<Line>& line = lines_[me.Thread()];
      if (!line) line = std::make_unique<Line>(me);
      me.Barrier();
      const uit::TimePoint start = uit::Now();
      line->conveyor.Run(gups::UpdateStream{seed, me.Rank()}, num_updates, line->table);
      me.Barrier();
      if (me.IsRoot()) time = PerUpdate(start);
      RequireNone(line->table.NumWrong(seed, me.Rank(), num_updates));
      me.Barrier();
    });
    return time;
  }

 private:
  struct Line {
    explicit Line(uit::Member& me) : table{num_threads, log2_words}, conveyor{me, 65'536, 0, table} {}
    gups::Table table;
    gups::ByConveyor conveyor;
  };

  uit::TeamSession session_;
  std::array<std::unique_ptr<Line>, num_threads> lines_{};
};

class ByAtomics {
 public:
  ByAtomics() : words_(num_threads << log2_words) { std::iota(words_.begin(), words_.end(), std::uint64_t{0}); }

  double Time(bench::Crew& crew, std::uint64_t seed) {
    const uit::TimePoint start = uit::Now();
    crew.Run([&](std::size_t member) {
      ForEach(seed, member, [](std::uint64_t& word, gups::Update update) {
        std::atomic_ref{word}.fetch_xor(update, std::memory_order_relaxed);
      });
    });
    const double time = PerUpdate(start);
    for (std::size_t member = 0; member < num_threads; ++member)
      ForEach(seed, member, [](std::uint64_t& word, gups::Update update) { word ^= update; });
    std::size_t num_wrong = 0;
    for (std::size_t i = 0; i < words_.size(); ++i) num_wrong += words_[i] != i ? 1 : 0;
    RequireNone(num_wrong);
    return time;
  }

 private:
  template <typename F>
  void ForEach(std::uint64_t seed, std::size_t member, F apply) {
    gups::UpdateStream updates{seed, member};
    for (std::uint64_t i = 0; i < num_updates; ++i) {
      const gups::Update update = updates.Next();
      apply(words_[(update >> 32U) & (words_.size() - 1)], update);
    }
  }

  std::vector<std::uint64_t> words_;
};

void Measure(bench::Program& program, bench::Crew& crew) {
  bench::Contest contest{"random updates between threads", bench::Unit::millions_per_second};
  // Every sample has other words than before, which may still be in a cache.
  contest.Add("conveyor", [&crew, way = std::shared_ptr<ByConveyor>{}, seed = std::uint64_t{0}](const bench::Load&) mutable {
    if (!way) way = std::make_shared<ByConveyor>();
    crew.Unpin();  // a thread that it starts inherits the CPU of this one
    const double time = way->Time(++seed);
    crew.Pin();
    return time;
  });
  contest.Add("atomic updates", [&crew, way = std::shared_ptr<ByAtomics>{}, seed = std::uint64_t{0}](const bench::Load&) mutable {
    if (!way) way = std::make_shared<ByAtomics>();
    return way->Time(crew, ++seed);
  });
  contest.Say({.name = "random updates between threads: conveyor, to atomic updates", .ours = "conveyor",
               .against = {"atomic updates"}, .at_least = 0.7});
  program.Run(contest, crew);
}

}  // namespace

int main(int argc, char** argv) {
  bench::Program program{argc, argv};
  bench::Crew crew{num_threads};
  Measure(program, crew);
  return program.Finish();
}
