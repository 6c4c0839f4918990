// What do collective calls between processes of a host cost, beside MPI's?

#include <mpi.h>

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include <uit/link/world.hpp>
#include <uit/support/clock.hpp>
#include <uit/team/member.hpp>

#include "microbenchmarks/support/program.hpp"
#include "microbenchmarks/support/rank_main.hpp"
#include "microbenchmarks/support/rank_pair.hpp"
#include "microbenchmarks/support/ranks.hpp"

namespace {

/// ns per call of `call()`.
template <std::invocable Call>
double TimeOf(std::uint64_t count, Call&& call) {
  MPI_Barrier(MPI_COMM_WORLD);
  const uit::TimePoint start = uit::Now();
  for (std::uint64_t i = 0; i < count; ++i) call();
  return bench::Span(start, uit::Now()) / static_cast<double>(count);
}
void Require(bool holds) {
  if (holds) return;
  std::fprintf(stderr, "a collective call has given something else than it must\n");
  MPI_Abort(MPI_COMM_WORLD, 1);
}

std::string Size(std::size_t num_bytes) {
  if (num_bytes < 1024) return std::to_string(num_bytes) + " B";
  return num_bytes < (1U << 20U) ? std::to_string(num_bytes >> 10U) + " KiB" : std::to_string(num_bytes >> 20U) + " MiB";
}

/// Adds two competitors that do the same with arrays of `num_bytes` bytes.
struct Pair {
  std::string call;
  std::size_t num_bytes;
  double at_most;
  std::function<void(uit::Member&, std::span<double>, std::span<double>)> ours;
  std::function<void(std::span<double>, std::span<double>)> by_mpi;
};

void Compare(bench::Program& program, bench::Ranks& ranks, const uit::Team& team, const Pair& pair) {
  const std::string name = pair.call + ", " + Size(pair.num_bytes) + ", 2 processes";
  bench::Contest contest{name, pair.num_bytes < (1U << 16U) ? bench::Unit::nanoseconds : bench::Unit::milliseconds};
  struct Arrays {
    explicit Arrays(std::size_t num_bytes) : one(num_bytes / sizeof(double), 1.0), two(2 * num_bytes / sizeof(double), 1.0) {}
    std::vector<double> one, two;
  };
  // Zeros stay zeros, however often they are added up.
  const auto arrays = [&] {
    auto made = std::make_shared<Arrays>(pair.num_bytes);
    std::ranges::fill(made->one, 0.0);
    return made;
  };
  contest.Add("Member", [&team, &pair, data = arrays()](const bench::Load& load) {
    double time = 0;
    team.Run([&](uit::Member& me) { time = TimeOf(load.count, [&] { pair.ours(me, data->one, data->two); }); });
    return time;
  });
  contest.Add("MPI", [&pair, data = arrays()](const bench::Load& load) {
    return TimeOf(load.count, [&] { pair.by_mpi(data->one, data->two); });
  });
  contest.Say({.name = name + ": to MPI", .ours = "Member", .against = {"MPI"}, .at_most = pair.at_most});
  program.Run(contest, ranks);
}

int CountOf(std::span<double> data) { return static_cast<int>(data.size()); }

void Measure(bench::Program& program, bench::Ranks& ranks, const uit::World& world) {
  const uit::Team team{world};
  team.Run([](uit::Member& me) {
    std::vector<double> ones(5000, 1.0);
    me.AllReduce(std::span{ones}, std::plus<>{});
    Require(ones.front() == 2.0 && ones.back() == 2.0);
    Require(me.AllReduce(1.0, std::plus<>{}) == 2.0);
  });
  for (const std::size_t num_bytes : {8UL, 64UL, 1024UL, 8192UL, 65'536UL, 1UL << 20U}) {
    Compare(program, ranks, team,
            {.call = "all-reduce",
             .num_bytes = num_bytes,
             .at_most = num_bytes <= 8 ? 0.33 : 1.0,
             .ours =
                 [](uit::Member& me, std::span<double> one, std::span<double>) {
                   if (one.size() == 1) one[0] = me.AllReduce(one[0], std::plus<>{});
                   else me.AllReduce(one, std::plus<>{});
                 },
             .by_mpi =
                 [](std::span<double> one, std::span<double>) {
                   MPI_Allreduce(MPI_IN_PLACE, one.data(), CountOf(one), MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
                 }});
    // MPI's root and its other ranks do not wait for each other in each call, so every second call has the other root.
    Compare(program, ranks, team,
            {.call = "reduce",
             .num_bytes = num_bytes,
             .at_most = 1.0,
             .ours = [](uit::Member& me, std::span<double> one, std::span<double>) { me.Reduce(one, std::plus<>{}); },
             .by_mpi =
                 [root = 0](std::span<double> one, std::span<double> two) mutable {
                   root = 1 - root;
                   MPI_Reduce(one.data(), two.data(), CountOf(one), MPI_DOUBLE, MPI_SUM, root, MPI_COMM_WORLD);
                 }});
    Compare(program, ranks, team,
            {.call = "gather",
             .num_bytes = num_bytes,
             .at_most = 1.0,
             .ours = [](uit::Member& me, std::span<double> one,
                        std::span<double> two) { me.Gather(std::span<const double>{one}, two); },
             .by_mpi =
                 [root = 0](std::span<double> one, std::span<double> two) mutable {
                   root = 1 - root;
                   MPI_Gather(one.data(), CountOf(one), MPI_DOUBLE, two.data(), CountOf(one), MPI_DOUBLE, root, MPI_COMM_WORLD);
                 }});
    Compare(program, ranks, team,
            {.call = "broadcast",
             .num_bytes = num_bytes,
             .at_most = 1.0,
             .ours = [](uit::Member& me, std::span<double> one, std::span<double>) { me.Broadcast(one); },
             .by_mpi =
                 [root = 0](std::span<double> one, std::span<double>) mutable {
                   MPI_Bcast(one.data(), CountOf(one), MPI_DOUBLE, root = 1 - root, MPI_COMM_WORLD);
                 }});
    Compare(program, ranks, team,
            {.call = "all-gather",
             .num_bytes = num_bytes,
             .at_most = 1.0,
             .ours = [](uit::Member& me, std::span<double> one,
                        std::span<double> two) { me.AllGather(std::span<const double>{one}, two); },
             .by_mpi =
                 [](std::span<double> one, std::span<double> two) {
                   MPI_Allgather(one.data(), CountOf(one), MPI_DOUBLE, two.data(), CountOf(one), MPI_DOUBLE, MPI_COMM_WORLD);
                 }});
    Compare(program, ranks, team,
            {.call = "all-to-all",
             .num_bytes = 2 * num_bytes,
             .at_most = 1.0,
             .ours =
                 [](uit::Member& me, std::span<double> one, std::span<double> two) {
                   me.AllToAll(std::span<const double>{one}, two.first(one.size()));
                 },
             .by_mpi =
                 [](std::span<double> one, std::span<double> two) {
                   MPI_Alltoall(one.data(), CountOf(one) / 2, MPI_DOUBLE, two.data(), CountOf(one) / 2, MPI_DOUBLE, MPI_COMM_WORLD);
                 }});
  }
  bench::Contest contest{"barrier of a team, 2 processes", bench::Unit::nanoseconds};
  contest.Add("Member", [&team](const bench::Load& load) {
    double time = 0;
    team.Run([&](uit::Member& me) { time = TimeOf(load.count, [&] { me.Barrier(); }); });
    return time;
  });
  contest.Add("MPI", [](const bench::Load& load) { return TimeOf(load.count, [] { MPI_Barrier(MPI_COMM_WORLD); }); });
  contest.Say({.name = contest.name + ": to MPI_Barrier", .ours = "Member", .against = {"MPI"}, .at_most = 0.35});
  program.Run(contest, ranks);
}

}  // namespace

int main(int argc, char** argv) { return bench::MainOfTwoRanks(argc, argv, Measure); }
