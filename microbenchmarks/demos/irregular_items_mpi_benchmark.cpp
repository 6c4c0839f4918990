// How fast are the demos that send small items to their owners over conveyors, beside MPI by hand: random updates, counts and reads
// of a table that is distributed over two processes, and the sort of integers?
//
// The table of random updates takes 64 MiB in each process, so that most words are in no cache. HPCC's rule allows a process to
// store 1024 updates before it sends them; "messages" is the method of its own program, MPIRandomAccess, written again.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include <mpi.h>

#include <uit/conveyor/conveyor.hpp>
#include <uit/link/world.hpp>
#include <uit/team/member.hpp>
#include <uit/team/team.hpp>

#include "by_turns.hpp"
#include "demos/common/exchange.hpp"
#include "demos/common/places.hpp"
#include "demos/gups/by_conduits.hpp"
#include "demos/gups/by_conveyor.hpp"
#include "demos/gups/by_mpi.hpp"
#include "demos/gups/table.hpp"
#include "demos/histogram/counts.hpp"
#include "demos/histogram/ways.hpp"
#include "demos/index_gather/by_conveyors.hpp"
#include "demos/index_gather/by_mpi.hpp"
#include "demos/index_gather/values.hpp"
#include "demos/int_sort/judge.hpp"
#include "demos/int_sort/keys.hpp"
#include "demos/int_sort/sorter.hpp"
#include "microbenchmarks/support/program.hpp"
#include "microbenchmarks/support/rank_main.hpp"
#include "microbenchmarks/support/ranks.hpp"

namespace {

constexpr std::size_t buffer_bytes = 65'536;

/// Ways to update one table.
struct Updates {
  static constexpr std::uint64_t num_updates = 2'000'000;  // of each process
  static constexpr std::uint64_t rule = 1024;

  Updates(uit::Member& me, const uit::World& world)
      : table{me.Size(), 23}, conveyor{me, buffer_bytes, 0, table}, ruled_conveyor{me, buffer_bytes, rule, table},
        conduits{world, buffer_bytes, true}, small_batches{world, 8192}, batches{world, 65'536},
        ruled_batches{world, rule},
        messages{world}, puts{world, 8192} {}
  ~Updates() {
    conveyor.Check();
    ruled_conveyor.Check();
    puts.Close();
    conduits.Close();
  }

  gups::Table table;
  gups::ByConveyor conveyor;
  gups::ByConveyor ruled_conveyor;
  gups::ByConduits conduits;
  gups::ByAlltoallv small_batches;
  gups::ByAlltoallv batches;
  gups::ByAlltoallv ruled_batches;
  gups::ByMessages messages;
  gups::ByPuts puts;
  std::uint64_t seed = 0;
};

void MeasureUpdates(bench::Program& program, bench::Ranks& ranks, uit::Member& me, const uit::World& world) {
  const auto lazy = bench::MakeLazy([&] { return std::make_unique<Updates>(me, world); });
  const auto add = [&](bench::Contest& contest, const std::string& name, auto Updates::*way, std::uint64_t num_updates) {
    const auto work = [&me, lazy, way, num_updates] {
      Updates& all = **lazy;
      ++all.seed;  // other words than before, which may still be in a cache
      (all.*way).Run(gups::UpdateStream{all.seed, me.Rank()}, num_updates, all.table);
    };
    bench::AddWork(contest, name, num_updates * me.Size(), work, [&me, lazy, num_updates] {
      const std::size_t num_wrong = (**lazy).table.NumWrong((**lazy).seed, me.Rank(), num_updates);
      return num_wrong == 0 ? "" : std::to_string(num_wrong) + " words are wrong";
    });
  };
  bench::Contest free{"random updates", bench::Unit::millions_per_second};
  add(free, "conveyor", &Updates::conveyor, Updates::num_updates);
  add(free, "conduits", &Updates::conduits, Updates::num_updates);
  add(free, "batches of 8,192 by MPI", &Updates::small_batches, Updates::num_updates);
  add(free, "batches of 65,536 by MPI", &Updates::batches, Updates::num_updates);
  add(free, "MPI_Put", &Updates::puts, Updates::num_updates / 16);
  free.Say({.name = "random updates: conveyor, to batches by MPI", .ours = "conveyor",
            .against = {"batches of 8,192 by MPI", "batches of 65,536 by MPI"}, .at_least = 0.7});
  free.Say({.name = "random updates: conduits, to batches by MPI", .ours = "conduits",
            .against = {"batches of 8,192 by MPI", "batches of 65,536 by MPI"}});
  free.Say({.name = "random updates: conveyor, to an MPI_Put each", .ours = "conveyor", .against = {"MPI_Put"}});
  program.Run(free, ranks);

  bench::Contest ruled{"random updates, 1,024 stored", bench::Unit::millions_per_second};
  add(ruled, "conveyor", &Updates::ruled_conveyor, Updates::num_updates);
  add(ruled, "messages", &Updates::messages, Updates::num_updates / 16);
  add(ruled, "batches by MPI", &Updates::ruled_batches, Updates::num_updates);
  ruled.Say({.name = "random updates, 1,024 stored: conveyor, to HPCC's method", .ours = "conveyor", .against = {"messages"},
             .at_least = 3.0});
  ruled.Say({.name = "random updates, 1,024 stored: conveyor, to batches by MPI", .ours = "conveyor",
             .against = {"batches by MPI"}, .at_least = 0.7});
  program.Run(ruled, ranks);
}

/// Ways to count hits.
struct Hits {
  static constexpr histogram::Work work{};

  explicit Hits(uit::Member& me)
      : places{demo::RandomPlaces(work.seed, me.Rank(), work.updates, me.Size(), work.log2_words)}, counts{me, work},
        conveyor{me, [this](const std::uint64_t& word) { counts.Add(word); }, {.buffer_bytes = buffer_bytes}},
        exchange{me.Size()} {}

  std::vector<demo::Place> places;
  histogram::Counts counts;
  uit::Conveyor<std::uint64_t> conveyor;
  demo::Exchange<std::uint64_t> exchange;
};

void MeasureHits(bench::Program& program, bench::Ranks& ranks, uit::Member& me) {
  const auto lazy = bench::MakeLazy([&] { return std::make_unique<Hits>(me); });
  const std::uint64_t num_items = Hits::work.updates * me.Size();
  const auto find_fault = [lazy] { return (**lazy).counts.FindFault(); };
  bench::Contest contest{"histogram", bench::Unit::millions_per_second};
  bench::AddWork(contest, "conveyor", num_items, [lazy] {
    Hits& all = **lazy;
    histogram::CountByConveyor(all.conveyor, all.places);
  }, find_fault);
  bench::AddWork(contest, "batches by MPI", num_items, [lazy] {
    Hits& all = **lazy;
    histogram::CountByAlltoallv(all.exchange, 65'536, all.places, all.counts);
  }, find_fault);
  contest.Say({.name = "histogram: conveyor, to batches by MPI", .ours = "conveyor", .against = {"batches by MPI"},
               .at_least = 1.0});
  program.Run(contest, ranks);
}

/// Ways to read.
struct Reads {
  static constexpr std::size_t num_reads = 1'000'000;
  static constexpr std::size_t num_gets = num_reads / 16;

  explicit Reads(uit::Member& me)
      : places{demo::RandomPlaces(1, me.Rank(), num_reads, me.Size(), 20)}, values(num_reads),
        table{index_gather::MakeTable(me.Rank(), 20)}, conveyors{me, buffer_bytes, 16'384, table, places, values},
        batches{me.Size(), 65'536, table}, gets{65'536, table} {}
  ~Reads() { gets.Close(); }

  std::vector<demo::Place> places;
  std::vector<std::uint64_t> values;
  std::vector<std::uint64_t> table;
  index_gather::ByConveyors conveyors;
  index_gather::ByAlltoallv batches;
  index_gather::ByGets gets;
};

void MeasureReads(bench::Program& program, bench::Ranks& ranks, uit::Member& me) {
  const auto lazy = bench::MakeLazy([&] { return std::make_unique<Reads>(me); });
  bench::Contest contest{"index gather", bench::Unit::millions_per_second};
  const auto add = [&](const std::string& name, std::size_t num_reads, auto read) {
    bench::AddWork(contest, name, num_reads * me.Size(), [lazy, read] { read(**lazy); }, [lazy, num_reads] {
      return index_gather::FindFault(std::span((**lazy).places).first(num_reads), (**lazy).values);
    });
  };
  add("conveyors", Reads::num_reads, [](Reads& all) { all.conveyors.Run(); });
  add("batches by MPI", Reads::num_reads, [](Reads& all) { all.batches.Run(all.places, all.values); });
  add("MPI_Get", Reads::num_gets, [](Reads& all) { all.gets.Run(std::span(all.places).first(Reads::num_gets), all.values); });
  contest.Say({.name = "index gather: conveyors, to batches by MPI", .ours = "conveyors", .against = {"batches by MPI"},
               .at_least = 1.0});
  contest.Say({.name = "index gather: conveyors, to an MPI_Get each", .ours = "conveyors", .against = {"MPI_Get"}});
  program.Run(contest, ranks);
}

/// Ways to sort the keys of a class of NAS.
struct Sorts {
  explicit Sorts(uit::Member& me)
      : range{int_sort::ShareOf(std::uint64_t{1} << size.log2_keys, me.Rank(), me.Size())}, keys{int_sort::MakeKeys(size, range)},
        judge{me, size, range, keys}, conveyor{me, size, buffer_bytes}, batch{me.Rank(), me.Size(), size} {}

  const int_sort::Class& size = int_sort::ClassOf("A");
  int_sort::Range range;
  std::vector<int_sort::Key> keys;
  std::vector<int_sort::Key> sorted{};
  int_sort::Judge judge;
  int_sort::ByConveyor conveyor;
  int_sort::ByAlltoallv batch;
};

void MeasureSorts(bench::Program& program, bench::Ranks& ranks, uit::Member& me) {
  const auto lazy = bench::MakeLazy([&] { return std::make_unique<Sorts>(me); });
  bench::Contest contest{"integer sort of NAS, class A", bench::Unit::millions_per_second};
  const auto add = [&](const std::string& name, auto Sorts::*way) {
    bench::AddWork(contest, name, std::uint64_t{1} << int_sort::ClassOf("A").log2_keys, [lazy, way] {
      Sorts& all = **lazy;
      (all.*way).Run(all.keys, all.sorted);
    }, [lazy] { return (**lazy).judge.FindFault((**lazy).sorted); });
  };
  add("conveyor", &Sorts::conveyor);
  add("one exchange by MPI", &Sorts::batch);
  contest.Say({.name = "integer sort of NAS, class A: conveyor, to MPI by hand", .ours = "conveyor",
               .against = {"one exchange by MPI"}, .at_least = 0.9});
  program.Run(contest, ranks);
}

void MeasureAll(bench::Program& program, bench::Ranks& ranks, const uit::World& world) {
  uit::Team{world}.Run([&](uit::Member& me) {
    MeasureUpdates(program, ranks, me, world);
    MeasureHits(program, ranks, me);
    MeasureReads(program, ranks, me);
    MeasureSorts(program, ranks, me);
    me.Barrier();
  });
}

}  // namespace

int main(int argc, char** argv) { return bench::MainOfTwoRanks(argc, argv, MeasureAll); }
