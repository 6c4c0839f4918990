// How many messages per second go from one thread to another, in order and without loss?

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "microbenchmarks/support/pair.hpp"
#include "microbenchmarks/support/program.hpp"

namespace {

constexpr std::size_t capacity = 1024;

/// Publishes after every eighth message, or when the ring is full.
template <typename Staged>
class Batched {
 public:
  template <typename T>
  bool TryPush(const T& value) {
    if (!staged_.TryStage(value)) {
      Publish();
      return false;
    }
    if (++num_staged_ % 8 == 0) Publish();
    return true;
  }
  void Publish() { staged_.Publish(); }
  template <typename Use>
  bool TryPop(Use&& use) {
    return staged_.TryPop(std::forward<Use>(use));
  }

 private:
  Staged staged_;
  std::uint32_t num_staged_ = 0;
};

template <typename T>
struct StagedRingQueue : bench::RingQueue<T, capacity> {
  bool TryStage(const T& value) { return this->ring.TryStage(value); }
  void Publish() { this->ring.TryFlush(); }
};

template <typename T, typename Queue>
void Add(bench::Contest& contest, bench::Crew& crew, const std::string& name) {
  const auto queue = std::make_shared<Queue>();
  contest.Add(name, [&crew, queue](const bench::Load& load) { return bench::StreamTime<T>(crew, *queue, load.count); });
  contest.Count(name, [queue](std::uint64_t count) { bench::StreamAlone<T>(*queue, count); });
}

template <typename T>
void Measure(bench::Program& program, bench::Crew& crew, const std::string& size, double over_peers) {
  const std::string name = "thread rate, " + size;
  bench::Contest contest{name, bench::Unit::millions_per_second};
  std::vector<std::string> peers;
  Add<T, bench::RingQueue<T, capacity>>(contest, crew, "RingDuct");
  Add<T, bench::hand::Ring<T, capacity>>(contest, crew, "hand ring");
  Add<T, Batched<StagedRingQueue<T>>>(contest, crew, "RingDuct, flush every 8");
  Add<T, Batched<bench::hand::Ring<T, capacity>>>(contest, crew, "hand ring, publish every 8");
#ifdef BENCH_HAS_BOOST
  Add<T, bench::peer::Boost<T, capacity>>(contest, crew, peers.emplace_back("boost spsc_queue"));
#endif
#ifdef BENCH_HAS_MOODYCAMEL
  Add<T, bench::peer::Moodycamel<T, capacity>>(contest, crew, peers.emplace_back("moodycamel, peek"));
  Add<T, bench::peer::MoodycamelCopying<T, capacity>>(contest, crew, peers.emplace_back("moodycamel"));
#endif
#ifdef BENCH_HAS_ATOMIC_QUEUE
  Add<T, bench::peer::AtomicQueue<T, capacity>>(contest, crew, peers.emplace_back("atomic_queue"));
#endif
  contest.Say({.name = name + ": over the best peer queue", .ours = "RingDuct", .against = peers, .at_least = over_peers});
  contest.Say({.name = name + ": over the hand ring", .ours = "RingDuct", .against = {"hand ring"}, .at_least = 0.9});
  contest.Say({.name = name + ": batched, over the hand batched ring",
               .ours = "RingDuct, flush every 8",
               .against = {"hand ring, publish every 8"},
               .at_least = 0.9});
  program.Run(contest, crew);
}

}  // namespace

int main(int argc, char** argv) {
  bench::Program program{argc, argv};
  bench::Crew crew{2};
  Measure<std::uint32_t>(program, crew, "4 B", 1.9);
  Measure<bench::Block<64>>(program, crew, "64 B", 1.0);
  Measure<bench::Block<1024>>(program, crew, "1 KiB", 1.1);
  return program.Finish();
}
