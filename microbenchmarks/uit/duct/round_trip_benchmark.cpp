// How long does a message take to another thread and back, if both wait for it?

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "microbenchmarks/support/pair.hpp"
#include "microbenchmarks/support/program.hpp"

namespace {

constexpr std::size_t capacity = 1024;

/// A message that is its own signal: nothing can be faster.
class Line {
 public:
  double Time(bench::Crew& crew, std::uint64_t count) {
    uit::TimePoint start;
    uit::TimePoint end;
    value_.store(0, std::memory_order_relaxed);
    crew.Run([&](std::size_t member) {
      if (member > 1) return;
      const std::uint32_t parity = member == 0 ? 0 : 1;
      if (member == 0) start = uit::Now();
      for (std::uint32_t i = 0; i < count; ++i) {
        while (value_.load(std::memory_order_acquire) != 2 * i + parity) uit::Pause();
        value_.store(2 * i + parity + 1, std::memory_order_release);
      }
      if (member == 0) end = uit::Now();
    });
    return std::chrono::duration<double, std::nano>(end - start).count() / static_cast<double>(count);
  }

 private:
  alignas(2 * uit::cache_line) std::atomic<std::uint32_t> value_{0};
};

template <typename T, typename Queue>
void Add(bench::Contest& contest, bench::Crew& crew, const std::string& name) {
  contest.Add(name, [&crew, queues = std::make_shared<std::pair<Queue, Queue>>()](const bench::Load& load) {
    return bench::RoundTripTime<T>(crew, queues->first, queues->second, load.count);
  });
}

template <typename T>
void Measure(bench::Program& program, bench::Crew& crew, const std::string& size) {
  const std::string name = "thread round trip, " + size;
  bench::Contest contest{name, bench::Unit::nanoseconds};
  std::vector<std::string> peers;
  Add<T, bench::RingQueue<T, capacity>>(contest, crew, "RingDuct");
  Add<T, bench::hand::Ring<T, capacity>>(contest, crew, "hand ring");
  contest.Add("one line", [&crew, line = std::make_shared<Line>()](const bench::Load& load) {
    return line->Time(crew, load.count);
  });
#ifdef BENCH_HAS_BOOST
  Add<T, bench::peer::Boost<T, capacity>>(contest, crew, peers.emplace_back("boost spsc_queue"));
#endif
#ifdef BENCH_HAS_MOODYCAMEL
  Add<T, bench::peer::Moodycamel<T, capacity>>(contest, crew, peers.emplace_back("moodycamel, peek"));
#endif
#ifdef BENCH_HAS_ATOMIC_QUEUE
  Add<T, bench::peer::AtomicQueue<T, capacity>>(contest, crew, "atomic_queue");
#endif
  // Rigtorp's queue, to which the target refers, is built like these two.
  contest.Say({.name = name + ": to a peer ring", .ours = "RingDuct", .against = peers, .at_most = 0.7});
  contest.Say({.name = name + ": to the hand ring", .ours = "RingDuct", .against = {"hand ring"}, .at_most = 1.1});
  if constexpr (sizeof(T) <= sizeof(std::uint32_t))
    contest.Say({.name = name + ": to a ping-pong over one line", .ours = "RingDuct", .against = {"one line"}, .at_most = 1.25});
  program.Run(contest, crew);
}

}  // namespace

int main(int argc, char** argv) {
  bench::Program program{argc, argv};
  bench::Crew crew{2};
  Measure<std::uint32_t>(program, crew, "4 B");
  Measure<bench::Block<64>>(program, crew, "64 B");
  return program.Finish();
}
