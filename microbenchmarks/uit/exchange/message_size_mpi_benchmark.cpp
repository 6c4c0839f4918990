// From which message size do bytes dominate the cost of a conduit between two processes? How far is it then from MPI, and from
// a single copy?

#include <algorithm>
#include <chrono>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include <uit/link/world.hpp>

#include "microbenchmarks/support/conduit_side.hpp"
#include "microbenchmarks/support/message.hpp"
#include "microbenchmarks/support/mpi_baselines.hpp"
#include "microbenchmarks/support/program.hpp"
#include "microbenchmarks/support/rank_main.hpp"
#include "microbenchmarks/support/ranks.hpp"

namespace {

/// 64 messages of the smaller sizes, 8 of the largest.
template <std::size_t size>
constexpr std::size_t num_credits = std::clamp<std::size_t>((std::size_t{4} << 20) / size, 8, 64);

[[nodiscard]] std::string SizeText(std::size_t bytes) {
  if (bytes >= std::size_t{1} << 20) return std::to_string(bytes >> 20) + " MiB";
  return bytes >= 1024 ? std::to_string(bytes >> 10) + " KiB" : std::to_string(bytes) + " B";
}

/// Adds a competitor and its two points: measure(count) returns ns per message.
template <std::size_t size, std::invocable<std::uint64_t> Measure>
void AddLine(bench::Contest& contest, const std::string& line, Measure measure) {
  const std::string name = line + ", " + SizeText(size);
  contest.Add(name, [measure](const bench::Load& load) { return measure(load.count); });
  bench::Point point{.chart = contest.name,
                     .x_label = "message size, bytes",
                     .y_label = "million messages per second",
                     .line = line,
                     .x = static_cast<double>(size),
                     .competitor = name,
                     .amount = 1e3};
  contest.Draw(point);
  point.y_label = "GB/s";
  point.amount = static_cast<double>(size);
  contest.Draw(point);
}

template <std::size_t size, bench::Side S>
void Add(bench::Contest& contest, const bench::Ranks& ranks, const std::string& line, std::shared_ptr<S> side) {
  AddLine<size>(contest, line, [&ranks, side](std::uint64_t count) {
    if constexpr (requires { side->Begin(); }) side->Begin();
    return StreamTime(ranks, *side, count);
  });
}

/// Copies within one rank; the other rank takes a message that is always present.
template <typename T>
class Copy {
 public:
  bool TrySend(std::uint32_t number) {
    from_.Mark(number);
    to_[number % 2] = from_;
    bench::Keep(to_);
    return true;
  }
  bool TryTake(std::uint64_t& sum) {
    sum += 2 * ++num_taken_;
    return true;
  }
  bool TryFlush() { return true; }
  void Begin() { num_taken_ = 0; }

 private:
  T from_{};
  T to_[2]{};
  std::uint64_t num_taken_ = 0;
};

template <std::size_t size>
void AddSize(bench::Contest& contest, const bench::Ranks& ranks, const uit::World& world) {
  // On the heap: a side holds a message, and some are large.
  using Message = bench::Block<size>;
  for (const bool shares_memory : {false, true}) {
    Add<size>(contest, ranks, shares_memory ? "conduit over shared memory" : "conduit over MPI",
              std::make_shared<bench::ConduitSide<Message>>(world, bench::ConduitOptions{.num_slots = num_credits<size>,
                                                                                         .depth = num_credits<size>,
                                                                                         .shares_memory = shares_memory}));
  }
  Add<size>(contest, ranks, "Isend ring",
            std::make_shared<bench::hand::IsendSide<Message>>(1 - ranks.Rank(), num_credits<size>));
  using Windows = bench::hand::Windows<Message, num_credits<size>>;
  AddLine<size>(contest, "MPI in windows", [&ranks, windows = std::make_shared<Windows>()](std::uint64_t count) {
    return windows->Time(ranks, count);
  });
  Add<size>(contest, ranks, "memcpy, one core", std::make_shared<Copy<Message>>());
}

void Measure(bench::Program& program, bench::Ranks& ranks, const uit::World& world) {
  bench::Contest contest{"message sizes between processes", bench::Unit::nanoseconds};
  contest.window = std::chrono::milliseconds{4};  // there are 50 competitors
  [&]<std::size_t... power>(std::index_sequence<power...>) {
    (AddSize<std::size_t{4} << (2 * power)>(contest, ranks, world), ...);  // 4 B to 1 MiB
  }(std::make_index_sequence<10>{});
  program.Run(contest, ranks);
}

}  // namespace

int main(int argc, char** argv) { return bench::MainOfTwoRanks(argc, argv, Measure); }
