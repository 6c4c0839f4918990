// Should each thread call MPI itself, under MPI_THREAD_MULTIPLE, or should threads share a link under one lock? Each thread of
// rank 0 sends messages of 64 B to a thread of rank 1. The threads of a rank are spread over the cores, so on two cores four
// or eight threads take turns.
//
// MPI is initialised with MPI_THREAD_MULTIPLE, which may slow down every call. With the environment variable
// BENCH_THREAD_LEVEL=serialized it is not, and figures that need it are omitted: compare the medians of two such runs.

#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include <uit/exchange/fabric.hpp>
#include <uit/inlet.hpp>
#include <uit/outlet.hpp>
#include <uit/support/pause.hpp>
#include <uit/transport/process.hpp>

#include "microbenchmarks/support/message.hpp"
#include "microbenchmarks/support/mpi_baselines.hpp"
#include "microbenchmarks/support/program.hpp"
#include "microbenchmarks/support/rank_main.hpp"
#include "microbenchmarks/support/rank_pair.hpp"
#include "microbenchmarks/support/ranks.hpp"

namespace {

using Message = bench::Block<64>;
constexpr std::size_t num_credits = 64;

/// A ring per thread, with its own communicator and requests.
class OwnRings {
 public:
  OwnRings(const uit::World& world, std::size_t num_threads) {
    for (std::size_t i = 0; i < num_threads; ++i)
      rings_.push_back(std::make_unique<bench::hand::IsendSide<Message>>(1 - static_cast<int>(world.Rank()), num_credits));
  }
  bool TrySend(std::size_t thread, std::uint32_t number) { return rings_[thread]->TrySend(number); }
  bool TryTake(std::size_t thread, std::uint64_t& sum) { return rings_[thread]->TryTake(sum); }
  bool TryFlush(std::size_t) { return true; }

 private:
  std::vector<std::unique_ptr<bench::hand::IsendSide<Message>>> rings_;
};

/// The same, under a try-lock: a thread that does not get it tries again later.
class LockedRings {
 public:
  LockedRings(const uit::World& world, std::size_t num_threads) : rings_{world, num_threads} {}
  bool TrySend(std::size_t thread, std::uint32_t number) {
    const std::unique_lock lock{mutex_, std::try_to_lock};
    return lock.owns_lock() && rings_.TrySend(thread, number);
  }
  bool TryTake(std::size_t thread, std::uint64_t& sum) {
    const std::unique_lock lock{mutex_, std::try_to_lock};
    return lock.owns_lock() && rings_.TryTake(thread, sum);
  }
  bool TryFlush(std::size_t) { return true; }

 private:
  OwnRings rings_;
  std::mutex mutex_;
};

/// A conduit per thread, over the link of one fabric.
class SharedWire {
 public:
  SharedWire(const uit::World& world, std::size_t num_threads)
      : fabric_{world, {.num_workers = num_threads, .num_slots = num_credits, .shares_memory = false}} {
    for (std::size_t thread = 0; thread < num_threads; ++thread) {
      const uit::Process reach{.fabric = &fabric_, .peer = 1 - world.Rank(), .key = {.channel = thread},
                               .depth = num_credits, .worker = thread};
      ends_.push_back(std::make_unique<Ends>(reach));
    }
    fabric_.Connect();
  }
  bool TrySend(std::size_t thread, std::uint32_t number) {
    ends_[thread]->message.Mark(number);
    return ends_[thread]->inlet.TryPut(ends_[thread]->message);
  }
  bool TryTake(std::size_t thread, std::uint64_t& sum) {
    if (ends_[thread]->outlet.TryStep() == 0) return false;
    sum += ends_[thread]->outlet.Get().Check();
    return true;
  }
  bool TryFlush(std::size_t thread) { return ends_[thread]->inlet.TryFlush(); }

 private:
  struct Ends {
    explicit Ends(const uit::Process& reach) : inlet{reach}, outlet{reach} {}
    uit::Inlet<Message, uit::Policy{}, uit::TransportSet<uit::Process>> inlet;
    uit::Outlet<Message, uit::Policy{}, uit::TransportSet<uit::Process>> outlet;
    Message message{};
  };
  uit::Fabric fabric_;
  std::vector<std::unique_ptr<Ends>> ends_;
};

/// ns per message, of all threads together.
template <typename Wires>
double Time(const std::vector<int>& cpus, int rank, Wires& wires, std::size_t num_threads, std::uint64_t count) {
  const std::uint64_t num_each = (count + num_threads - 1) / num_threads;
  MPI_Barrier(MPI_COMM_WORLD);
  const uit::TimePoint start = uit::Now();
  const auto work = [&](std::size_t thread) {
    bench::PinTo(cpus[(thread + static_cast<std::size_t>(rank)) % cpus.size()]);
    std::uint64_t sum = 0;
    for (std::uint64_t i = 1; i <= num_each; ++i) {
      if (rank == 0) uit::WaitUntil([&] { return wires.TrySend(thread, static_cast<std::uint32_t>(i)); });
      if (rank == 1) uit::WaitUntil([&] { return wires.TryTake(thread, sum); });
    }
    if (rank == 0) uit::WaitUntil([&] { return wires.TryFlush(thread); });
    if (rank == 1 && sum != num_each * (num_each + 1)) std::abort();
  };
  {
    std::vector<std::jthread> threads;
    for (std::size_t thread = 1; thread < num_threads; ++thread) threads.emplace_back(work, thread);
    work(0);
  }
  return bench::Span(start, uit::Now()) / static_cast<double>(num_each * num_threads);
}

void Measure(bench::Program& program, bench::Ranks& ranks, const uit::World& world, const std::vector<int>& cpus,
             std::size_t num_threads) {
  int level = MPI_THREAD_SINGLE;
  MPI_Query_thread(&level);
  const std::string name = "2 ranks of " + std::to_string(num_threads) + " threads, 64 B";
  bench::Contest contest{name, bench::Unit::millions_per_second};
  contest.is_oversubscribed = num_threads > 1;
  contest.window = std::chrono::milliseconds{20};
  const auto add = [&]<typename Wires>(const std::string& competitor, std::shared_ptr<Wires> wires) {
    contest.Add(competitor, [&ranks, &cpus, num_threads, wires](const bench::Load& load) {
      return Time(cpus, ranks.Rank(), *wires, num_threads, load.count);
    });
  };
  if (level == MPI_THREAD_MULTIPLE) add("ring per thread, no lock", std::make_shared<OwnRings>(world, num_threads));
  add("ring per thread, one lock", std::make_shared<LockedRings>(world, num_threads));
  add("shared wire", std::make_shared<SharedWire>(world, num_threads));
  contest.Say({.name = name + ": shared wire to rings under one lock",
               .ours = "shared wire", .against = {"ring per thread, one lock"}, .at_least = 0.85});
  if (level == MPI_THREAD_MULTIPLE)  // while this holds, one lock is faster
    contest.Say({.name = name + ": one lock, to MPI_THREAD_MULTIPLE",
                 .ours = "ring per thread, one lock", .against = {"ring per thread, no lock"}, .at_least = 0.9});
  program.Run(contest, ranks);
}

}  // namespace

int main(int argc, char** argv) {
  const char* const wanted = std::getenv("BENCH_THREAD_LEVEL");
  const bool is_serialized = wanted != nullptr && std::string_view{wanted} == "serialized";
  int provided = MPI_THREAD_SINGLE;
  MPI_Init_thread(&argc, &argv, is_serialized ? MPI_THREAD_SERIALIZED : MPI_THREAD_MULTIPLE, &provided);
  const std::vector<int> cpus = bench::AllowedCpus();  // before ranks are pinned to one CPU each
  const int code = bench::MainOfTwoRanks(argc, argv, [&cpus](auto& program, auto& ranks, const auto& world) {
    for (const std::size_t num_threads : {1U, 2U, 4U}) Measure(program, ranks, world, cpus, num_threads);
  });
  MPI_Finalize();
  return code;
}
