// If only the latest value matters, is it worthwhile to put it directly into the reader's memory with MPI_Put?
// One rank writes as fast as it can, and the other reads. What does an update cost, and how old are the values read?
//
// A put of more than a few bytes is not atomic, so a reader may see old and new words together. Two kinds of put are safe: one
// between two version words, which takes two flushes, or one into several slots in turn, which takes one flush.

#include <mpi.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

#include <uit/exchange/fabric.hpp>
#include <uit/inlet.hpp>
#include <uit/outlet.hpp>
#include <uit/policy.hpp>
#include <uit/support/clock.hpp>
#include <uit/transport/process.hpp>

#include "microbenchmarks/support/baselines.hpp"
#include "microbenchmarks/support/program.hpp"
#include "microbenchmarks/support/put_window.hpp"
#include "microbenchmarks/support/rank_main.hpp"
#include "microbenchmarks/support/ranks.hpp"

namespace {

/// A value whose every word is the time when it was written: ns.
template <std::size_t size>
struct Value {
  std::array<std::uint64_t, size / 8> words{};
  void Stamp(std::uint64_t now) { words.fill(now); }
  [[nodiscard]] bool IsWhole() const {
    return std::ranges::all_of(words, [this](std::uint64_t word) { return word == words.front(); });
  }
};

[[nodiscard]] std::uint64_t NowInNs() {
  return static_cast<std::uint64_t>(uit::Now().time_since_epoch() / std::chrono::nanoseconds{1});
}

/// A value that rank 0 writes and rank 1 reads. Read returns false if it found no whole value.
template <typename L, typename T>
concept Latest = requires(L& latest, T& value) {
  latest.Write(value);
  { latest.Read(value) } -> std::same_as<bool>;
};

template <typename T>
class Conduit {
 public:
  Conduit(const uit::World& world, bool shares_memory) : fabric_{world, {.shares_memory = shares_memory}} {
    const uit::Process reach{.fabric = &fabric_, .peer = 1 - world.Rank()};
    if (world.Rank() == 0) inlet_ = Inlet{reach};
    if (world.Rank() == 1) outlet_ = Outlet{reach};
    fabric_.Connect();
  }
  void Write(const T& value) { inlet_.TryPut(value); }
  bool Read(T& value) {
    value = outlet_.JumpGet();
    return true;
  }

 private:
  static constexpr uit::Policy policy{.retain = uit::Retain::latest};
  using Inlet = uit::Inlet<T, policy, uit::TransportSet<uit::Process>>;
  using Outlet = uit::Outlet<T, policy, uit::TransportSet<uit::Process>>;
  uit::Fabric fabric_;
  Inlet inlet_;
  Outlet outlet_;
};

template <typename T>
class Shared {
 public:
  void Write(const T& value) { (*buffer_).Write(value); }
  bool Read(T& value) {
    (*buffer_).TryRead([&](const T& fresh) { last_ = fresh; });
    value = last_;
    return true;
  }

 private:
  bench::SharedMemory<bench::hand::TripleBuffer<T>> buffer_{MPI_COMM_WORLD};
  T last_{};
};

/// The result of one window of writing and reading; the same on both ranks.
struct Outcome {
  double update = 0;  ///< ns at the writer
  double age = 0;     ///< ns, mean over the values read
  double torn = 0;    ///< fraction of the values read
};

template <typename T, Latest<T> L>
Outcome WriteAndRead(int rank, L& latest, std::chrono::nanoseconds window) {
  static T value;
  MPI_Barrier(MPI_COMM_WORLD);
  const std::uint64_t start = NowInNs();
  const std::uint64_t end = start + static_cast<std::uint64_t>(window.count());
  double count = 0;
  Outcome outcome;
  for (std::uint64_t now = start; now < end; now = NowInNs()) {
    if (rank == 0) {
      value.Stamp(now);
      latest.Write(value);
      ++count;
    } else if (latest.Read(value) && value.words.front() >= start) {
      outcome.age += static_cast<double>(NowInNs() - value.words.front());
      outcome.torn += value.IsWhole() ? 0 : 1;
      ++count;
    }
  }
  outcome.update = static_cast<double>(NowInNs() - start) / count;
  MPI_Bcast(&outcome.update, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);
  if (count == 0) outcome.age = static_cast<double>(window.count());  // nothing arrived
  outcome.age /= std::max(count, 1.0);
  outcome.torn /= std::max(count, 1.0);
  MPI_Bcast(&outcome.age, 2, MPI_DOUBLE, 1, MPI_COMM_WORLD);
  return outcome;
}

template <std::size_t size>
void Measure(bench::Program& program, bench::Ranks& ranks, const uit::World& world, const std::string& size_text) {
  using T = Value<size>;
  const std::string name = "latest value of " + size_text + ", 2 processes";
  bench::Contest update{name + ", update", bench::Unit::nanoseconds};
  bench::Contest age{name + ", age", bench::Unit::nanoseconds};
  std::vector<double> torn;
  const auto add = [&]<typename L>(const std::string& competitor, std::shared_ptr<L> latest) {
    const auto run = [&ranks, &torn, latest](const bench::Load& load) {
      const Outcome outcome = WriteAndRead<T>(ranks.Rank(), *latest, load.window);
      if (std::same_as<L, bench::hand::BarePut<T>>)
        torn.push_back(100 * outcome.torn);
      else if (outcome.torn > 0)
        std::abort();
      return outcome;
    };
    update.Add(competitor, [run](const bench::Load& load) { return run(load).update; });
    age.Add(competitor, [run](const bench::Load& load) { return run(load).age; });
  };
  add("conduit, MPI", std::make_shared<Conduit<T>>(world, false));
  add("conduit, shared memory", std::make_shared<Conduit<T>>(world, true));
  add("MPI_Put, versioned", std::make_shared<bench::hand::VersionedPut<T>>(ranks.Rank()));
  add("MPI_Put, 4 slots", std::make_shared<bench::hand::SlotsPut<T>>(ranks.Rank()));
  add("MPI_Put, bare", std::make_shared<bench::hand::BarePut<T>>(ranks.Rank()));
  add("shared triple buffer", std::make_shared<Shared<T>>());
  for (bench::Contest* contest : {&update, &age}) {
    for (const std::string ours : {"conduit, MPI", "conduit, shared memory"})
      contest->Say({.name = contest->name + ": " + ours + ", to a whole MPI_Put", .ours = ours,
                    .against = {"MPI_Put, versioned", "MPI_Put, 4 slots"}, .at_most = 1});
    program.Run(*contest, ranks);
  }
  const std::string figure = name + ": torn reads of a bare MPI_Put";
  if (program.IsWanted(figure) && !torn.empty())
    program.Add({.figure = figure, .value = bench::Digits(bench::Median(torn)), .spread = "%", .target = "-", .verdict = "-",
                 .proximity = "-", .detail = "median of all samples, clean or not"});
}

}  // namespace

int main(int argc, char** argv) {
  return bench::MainOfTwoRanks(argc, argv, [](auto& program, auto& ranks, const auto& world) {
    Measure<8>(program, ranks, world, "8 B");
    Measure<4096>(program, ranks, world, "4 KiB");
  });
}
