// What does a message of 8 B to 4 MiB cost between two threads: by a conduit, by a bare ring, or by MPI? Small messages are values.
// Large ones are vectors. Each side writes and reads every word of them, in place where it can. MPI sends from the process to
// itself, under MPI_THREAD_MULTIPLE. For two processes, see large_message_mpi_benchmark.

#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <uit/conduit.hpp>
#include <uit/team/member.hpp>

#include "microbenchmarks/support/baselines.hpp"
#include "microbenchmarks/support/message.hpp"
#include "microbenchmarks/support/mpi_thread_sides.hpp"
#include "microbenchmarks/support/peers.hpp"
#include "microbenchmarks/support/program.hpp"
#include "microbenchmarks/support/ranks.hpp"
#include "microbenchmarks/support/thread_sides.hpp"

namespace {

using bench::Check;
using bench::Mark;
template <typename T>
constexpr bool is_large = std::is_same_v<T, bench::Numbers>;
/// Messages that may wait. In a round trip only one does, and further room for large ones would only cost cache.
template <typename T>
constexpr std::size_t DepthFor(bool is_stream) {
  return !is_large<T> ? 64 : is_stream ? 4 : 1;
}

enum class Way { put, lend, move };

/// A conduit each way. A large message can be put, lent or moved. What is moved comes back, so it is for round trips.
template <typename T, typename Transports>
class alignas(2 * uit::cache_line) Conduits {
 public:
  using Inlet = uit::Inlet<T, uit::Policy{}, Transports>;
  using Outlet = uit::Outlet<T, uit::Policy{}, Transports>;

  Conduits(Inlet inlet, Outlet outlet, std::size_t num_bytes, Way way)
      : inlet_{std::move(inlet)}, outlet_{std::move(outlet)}, message_{bench::MakeMessage<T>(num_bytes)}, way_{way} {}

  bool TrySend(std::uint32_t number) {
    if constexpr (is_large<T>)
      if (way_ == Way::lend) return TryLend(number);
    Mark(message_, number);
    return way_ == Way::move ? inlet_.TryPut(std::move(message_)) : inlet_.TryPut(message_);
  }
  bool TryTake(std::uint64_t& sum) {
    if constexpr (is_large<T>)
      if (way_ != Way::put) return way_ == Way::lend ? TryRead(sum) : TryMove(sum);
    if (outlet_.TryStep() == 0) return false;
    sum += Check(outlet_.Get());
    return true;
  }
  bool TryFlush() { return true; }

 private:
  bool TryLend(std::uint32_t number) {
    const auto room = inlet_.TryLoan(message_.size());
    if (!room) return false;
    Mark(*room, number);
    return inlet_.Publish(*room);
  }

  bool TryRead(std::uint64_t& sum) {
    return outlet_.TryRead([&](std::span<const std::uint64_t> words) { sum += Check(words); });
  }
  bool TryMove(std::uint64_t& sum) {
    auto taken = outlet_.TryTake();
    if (!taken) return false;
    message_ = std::move(*taken);
    sum += Check(message_);
    return true;
  }

  Inlet inlet_;
  Outlet outlet_;
  T message_;
  Way way_;
};

template <typename T, typename Transports, typename Reach>
bench::SidePair<Conduits<T, Transports>> MakeConduits(const Reach& reach, std::size_t num_bytes, Way way = Way::put) {
  uit::Conduit<T, uit::Policy{}, Transports> there{reach};
  uit::Conduit<T, uit::Policy{}, Transports> back{reach};
  using Side = Conduits<T, Transports>;
  return {std::make_unique<Side>(std::move(there.inlet), std::move(back.outlet), num_bytes, way),
          std::make_unique<Side>(std::move(back.inlet), std::move(there.outlet), num_bytes, way)};
}

/// A queue each way.
template <typename T, typename Queue>
class alignas(2 * uit::cache_line) Queues {
 public:
  Queues(std::shared_ptr<Queue> out, std::shared_ptr<Queue> in, std::size_t num_bytes)
      : out_{std::move(out)}, in_{std::move(in)}, message_{bench::MakeMessage<T>(num_bytes)} {}

  bool TrySend(std::uint32_t number) {
    if constexpr (is_large<T>) {
      const auto write = [&](T& slot) {
        slot.resize(message_.size());
        Mark(slot, number);
      };
      if (!out_->TryStageBy(write)) return false;
      out_->Publish();
      return true;
    } else {
      Mark(message_, number);
      return out_->TryPush(message_);
    }
  }
  bool TryTake(std::uint64_t& sum) {
    return in_->TryPop([&](const T& message) { sum += Check(message); });
  }
  bool TryFlush() { return true; }

 private:
  std::shared_ptr<Queue> out_;
  std::shared_ptr<Queue> in_;
  T message_;
};

template <typename T, typename Queue>
bench::SidePair<Queues<T, Queue>> MakeQueues(std::size_t num_bytes) {
  const auto there = std::make_shared<Queue>();
  const auto back = std::make_shared<Queue>();
  using Side = Queues<T, Queue>;
  return {std::make_unique<Side>(there, back, num_bytes), std::make_unique<Side>(back, there, num_bytes)};
}

std::string SizeText(std::size_t bytes) {
  if (bytes >= std::size_t{1} << 20U) return std::to_string(bytes >> 20U) + " MiB";
  return bytes >= 1024 ? std::to_string(bytes >> 10U) + " KiB" : std::to_string(bytes) + " B";
}

/// Adds the competitors of one job, and what is said about them.
template <typename T>
class Job {
 public:
  Job(bench::Crew& crew, bool is_stream, std::size_t num_bytes)
      : contest{"between threads, " + std::string{is_stream ? "stream, " : "half round trip, "} + SizeText(num_bytes),
                bench::Unit::nanoseconds},
        crew_{crew}, is_stream_{is_stream} {
    AddOurs(num_bytes);
    if (is_stream) Add("bare ring", MakeQueues<T, bench::hand::Ring<T, DepthFor<T>(true)>>(num_bytes));
    else Add("bare ring", MakeQueues<T, bench::hand::Ring<T, DepthFor<T>(false)>>(num_bytes));
    AddMpi(num_bytes);
    const std::string ours = is_large<T> ? "loan, read in place" : "conduit";
    const double to_mpi = num_bytes >= std::size_t{1} << 20U ? 1 / 1.2 : 1.0;
    Say("to the bare ring", ours, {"bare ring"}, 1.1);
    Say("to MPI between two threads", ours, by_mpi_, to_mpi);
    if (is_large<T> && !is_stream) Say("moved, to MPI between two threads", "moved there and back", by_mpi_, to_mpi);
    if (!is_large<T>) Say("of a team, to the bare ring", "conduit of a team", {"bare ring"}, 1.1);
  }

  bench::Contest contest;

 private:
  void AddOurs(std::size_t num_bytes) {
    const uit::Thread thread{.depth = DepthFor<T>(is_stream_)};
    const uit::Limited<uit::Thread> limited{.reach = thread, .max_message_bytes = num_bytes};
    if constexpr (is_large<T>) {
      Add("loan, read in place", MakeConduits<T, uit::BetweenMembers>(limited, num_bytes, Way::lend));
      Add("put, get", MakeConduits<T, uit::BetweenMembers>(limited, num_bytes));
      if (!is_stream_) Add("moved there and back", MakeConduits<T, uit::BetweenMembers>(limited, num_bytes, Way::move));
    } else {
      Add("conduit", MakeConduits<T, uit::InProcess>(thread, num_bytes));
      Add("conduit of a team", MakeConduits<T, uit::BetweenMembers>(limited, num_bytes));
#ifdef BENCH_HAS_BOOST
      Add("boost spsc_queue", MakeQueues<T, bench::peer::Boost<T, DepthFor<T>(true)>>(num_bytes));
      Say("to a peer queue", "conduit", {"boost spsc_queue"}, 1.0);
#endif
    }
  }

  void AddMpi(std::size_t num_bytes) {
    using namespace bench::hand;
    Add(by_mpi_.emplace_back("Isend ring"), MakeThreadSides<ThreadIsendSide<T>>(num_bytes, DepthFor<T>(true)));
    if (is_stream_) return;  // MPI_Send does not bound the messages that wait, so it is no stream like the others
    Add(by_mpi_.emplace_back("MPI_Send, MPI_Recv"), MakeThreadSides<SendReceiveSide<T>>(num_bytes));
  }

  template <typename S>
  void Add(const std::string& competitor, bench::SidePair<S> made) {
    const auto sides = std::make_shared<bench::SidePair<S>>(std::move(made));
    contest.Add(competitor, [&crew = crew_, sides, is_stream = is_stream_](const bench::Load& load) {
      return is_stream ? bench::StreamTime(crew, *sides, load.count) : bench::HalfRoundTripTime(crew, *sides, load.count);
    });
  }
  void Say(const std::string& what, const std::string& ours, std::vector<std::string> against, double at_most) {
    contest.Say({.name = contest.name + ": " + what, .ours = ours, .against = std::move(against), .at_most = at_most});
  }

  bench::Crew& crew_;
  bool is_stream_;
  std::vector<std::string> by_mpi_{};
};

template <typename T>
void Measure(bench::Program& program, bench::Crew& crew, std::size_t num_bytes) {
  for (const bool is_stream : {false, true}) {
    Job<T> job{crew, is_stream, num_bytes};
    program.Run(job.contest, crew);
  }
}

int Run(int argc, char** argv) {
  bench::Program program{argc, argv, bench::MpiName()};
  bench::Crew crew{2};
  Measure<bench::Block<8>>(program, crew, 8);
  Measure<bench::Block<64>>(program, crew, 64);
  Measure<bench::Block<1024>>(program, crew, 1024);
  for (const std::size_t num_kib : {8U, 64U, 256U, 1024U, 4096U}) Measure<bench::Numbers>(program, crew, num_kib << 10U);
  return program.Finish();
}

}  // namespace

int main(int argc, char** argv) {
  int provided = MPI_THREAD_SINGLE;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
  const bool may_call = provided == MPI_THREAD_MULTIPLE;
  if (!may_call) std::fprintf(stderr, "this MPI does not let two threads call it at once\n");
  const int code = may_call ? Run(argc, argv) : 2;
  MPI_Finalize();
  return code;
}
