// What the count of effective updates promises, over many schedules with delays, losses, slow workers and workers that end.
#include <netuit/quality/effective_updates.hpp>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <deque>
#include <random>
#include <vector>

#include <netuit/run/run_options.hpp>

#include "tests/support/catch.hpp"

using netuit::EffectiveUpdates;
using netuit::Staleness;

namespace {

constexpr double factor = 0.5;

struct Sent {
  double error;
  std::uint64_t num_made;
  std::uint64_t num_effective;
};

/// A worker with one node. Its update takes the mean of its own error and those that it sees of others, times the factor.
struct Peer {
  double error = 1;
  std::uint64_t num_made = 0;
  std::uint64_t patience = 1;  // it updates in one of so many turns
  bool is_dead = false;
  EffectiveUpdates effective{};
  std::vector<std::size_t> sources{};
  std::vector<Sent> seen{};                 // by source
  std::vector<std::deque<Sent>> under_way{};  // by source
};

/// Runs some workers in random turns, and counts the updates after which the count of effective updates promised too much.
class Race {
 public:
  explicit Race(std::uint64_t seed) : random_(seed), peers_(2 + Draw(4)) {
    for (std::size_t i = 0; i < peers_.size(); ++i) {
      Peer& peer = peers_[i];
      peer.patience = Draw(3) == 0 ? 1 + Draw(20) : 1;
      for (std::size_t source = 0; source < peers_.size(); ++source) {
        if (source != i && Draw(3) != 0) peer.sources.push_back(source);
      }
      peer.seen.assign(peer.sources.size(), Sent{.error = 1, .num_made = 0, .num_effective = 0});
      peer.under_way.resize(peer.sources.size());
    }
  }
  std::uint64_t Run(std::size_t num_turns) {
    std::uint64_t num_broken = 0;
    for (std::size_t turn = 0; turn < num_turns; ++turn) {
      const std::size_t at = Draw(peers_.size());
      Peer& peer = peers_[at];
      if (Draw(100) == 0) peer.is_dead = true;
      if (peer.is_dead || Draw(peer.patience) != 0) continue;
      Update(peer);
      num_broken += peer.error > std::pow(factor, peer.effective.Count()) * (1 + 1e-12) ? 1 : 0;
      if (Draw(3) != 0) Send(at);
    }
    return num_broken;
  }
  /// Returns the sum of all workers' counts.
  std::uint64_t NumEffective() const {
    std::uint64_t sum = 0;
    for (const Peer& peer : peers_) sum += peer.effective.Count();
    return sum;
  }

 private:
  std::size_t Draw(std::size_t end) { return std::uniform_int_distribution<std::size_t>{0, end - 1}(random_); }
  void Update(Peer& peer) {
    double sum = peer.error;
    for (std::size_t i = 0; i < peer.sources.size(); ++i) {
      while (!peer.under_way[i].empty() && Draw(4) != 0) {
        peer.seen[i] = peer.under_way[i].front();
        peer.under_way[i].pop_front();
      }
      peer.effective.Read(peer.num_made, peer.seen[i].num_made, peer.seen[i].num_effective);
      sum += peer.seen[i].error;
    }
    peer.error = factor * sum / static_cast<double>(peer.sources.size() + 1);
    peer.effective.Finish();
    ++peer.num_made;
  }
  void Send(std::size_t from) {
    const Peer& peer = peers_[from];
    for (Peer& to : peers_) {
      const auto found = std::ranges::find(to.sources, from);
      if (found == to.sources.end() || Draw(10) == 0) continue;  // one in ten is lost
      to.under_way[static_cast<std::size_t>(found - to.sources.begin())].push_back(
          {peer.error, peer.num_made, peer.effective.Count()});
    }
  }

  std::mt19937_64 random_;
  std::vector<Peer> peers_;
};

}  // namespace

TEST_CASE("The error of a contraction is never more than the effective updates promise") {
  constexpr std::uint64_t num_runs = 10'000;
  std::uint64_t num_broken = 0;
  std::uint64_t num_effective = 0;
  for (std::uint64_t seed = 0; seed < num_runs; ++seed) {
    Race race{seed};
    num_broken += race.Run(300);
    num_effective += race.NumEffective();
  }
  std::printf("%llu runs with loss, delay, slow and dead workers: %llu promises broken\n",
              static_cast<unsigned long long>(num_runs), static_cast<unsigned long long>(num_broken));
  CHECK(num_broken == 0);
  CHECK(num_effective > 20 * num_runs);  // it promises something
}

TEST_CASE("Effective updates are all updates where everybody reads the previous update") {
  EffectiveUpdates effective;
  for (std::uint64_t update = 0; update < 10; ++update) {
    CHECK(effective.Count() == update);
    effective.Read(update, update, update);
    effective.Read(update, update, update);
    effective.Finish();
  }
  CHECK(effective.Known() == 10);
  const Staleness age = effective.Age();
  CHECK(age.count == 20);
  CHECK(age.max == 1);
  CHECK(age.p50 == 1);
}

TEST_CASE("Effective updates do not go on without news, and the age of what is read grows") {
  EffectiveUpdates effective;
  for (std::uint64_t update = 0; update < 5; ++update) {
    effective.Read(update, 2, 2);
    effective.Finish();
  }
  CHECK(effective.Count() == 3);
  CHECK(effective.Age().max == 3);
  CHECK(effective.Age().mean == 1.2);  // 0, 0, 1, 2, 3
}

TEST_CASE("A worker that reads nothing of others has made all its updates") {
  EffectiveUpdates effective;
  for (int i = 0; i < 3; ++i) effective.Finish();
  CHECK(effective.Known() == 3);
  CHECK(effective.Age().count == 0);
}

TEST_CASE("A count that a peer cannot have is not believed") {
  EffectiveUpdates effective;
  effective.Finish();
  effective.Read(1, 1, ~std::uint64_t{0});
  effective.Finish();
  CHECK(effective.Count() == 2);
  effective.Read(2, ~std::uint64_t{0}, ~std::uint64_t{0});
  effective.Finish();
  CHECK(effective.Count() == 3);
  CHECK(effective.Age().max == 1);
}

TEST_CASE("Messages that carry no count leave it unknown") {
  EffectiveUpdates effective;
  effective.ReadUncounted();
  effective.Finish();
  CHECK_FALSE(effective.Known());
}

TEST_CASE("A report tells the longest time and the most updates of a worker") {
  netuit::RunReport report;
  CHECK(report.Elapsed() == std::chrono::nanoseconds{0});
  CHECK(report.MaxUpdates() == 0);
  report.workers.resize(3);
  report.workers[1].elapsed = std::chrono::nanoseconds{5};
  report.workers[2].elapsed = std::chrono::nanoseconds{4};
  report.workers[0].num_updates = 7;
  report.workers[2].num_updates = 6;
  CHECK(report.Elapsed() == std::chrono::nanoseconds{5});
  CHECK(report.MaxUpdates() == 7);
}
