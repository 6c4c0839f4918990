// Random updates of 8 bytes to a table that is distributed over processes, as in the HPC Challenge's RandomAccess. Compares, in
// one run, a conveyor, aggregating conduits, a hand-written exchange of batches (MPI_Ialltoallv), and an MPI_Put per update.
#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include <netuit/app/guarded_main.hpp>
#include <uit/config.hpp>
#include <uit/support/clock.hpp>
#include <uit/support/error.hpp>
#include <uit/link/world.hpp>

#include "by_conduits.hpp"
#include "by_conveyor.hpp"
#include "by_mpi.hpp"
#include "table.hpp"

namespace gups {
namespace {

struct Options {
  unsigned log2_words = 20;
  std::uint64_t updates = 2'000'000;
  std::size_t buffer_bytes = 65'536;
  std::size_t batch = 8192;
  unsigned replicates = 3;
  std::uint32_t threads = 1;
  std::uint64_t seed = 1;
  bool shares_memory = true;
};

/// All processes, or all members of a team, that make updates together.
struct Processes {
  const uit::World& world;
  std::size_t Size() const { return world.Size(); }
  std::size_t Rank() const { return world.Rank(); }
  bool IsRoot() const { return world.IsRoot(); }
  /// Collective. Throws if any has a complaint.
  void Agree(const std::string& complaint) { world.Agree(complaint); }
  /// Collective. The largest of all values.
  double Largest(double value) { return std::ranges::max(world.AllGatherValue(value)); }
};
struct Members {
  uit::Member& me;
  std::size_t Size() const { return me.Size(); }
  std::size_t Rank() const { return me.Rank(); }
  bool IsRoot() const { return me.IsRoot(); }
  void Agree(const std::string& complaint) {
    if (!complaint.empty()) throw uit::Error(complaint);  // the others notice at the barrier
    me.Barrier();
  }
  double Largest(double value) {
    return me.AllReduce(value, [](double a, double b) { return std::max(a, b); });
  }
};

/// Times a way to make the updates, and prints a row. All updates are made twice, which must restore the table. Returns updates
/// per second over all processes: the median of the replicates.
template <typename Way, typename All>
double Measure(const char* name, Way& way, All all, const Options& options, Table& table) {
  std::vector<double> rates;
  for (unsigned replicate = 0; replicate < options.replicates; ++replicate) {
    for (int half = 0; half < 2; ++half) {
      all.Agree({});  // all start together
      const uit::TimePoint start = uit::Now();
      way.Run(UpdateStream{options.seed + replicate, all.Rank()}, options.updates, table);
      const double seconds = all.Largest(std::chrono::duration<double>(uit::Now() - start).count());
      rates.push_back(static_cast<double>(options.updates * all.Size()) / seconds);
    }
    const std::size_t num_odd = table.NumOdd();
    all.Agree(num_odd == 0 ? "" : std::string(name) + ": " + std::to_string(num_odd) + " words of rank " +
                                      std::to_string(all.Rank()) + " are wrong");
  }
  std::ranges::sort(rates);
  const double median = (rates[(rates.size() - 1) / 2] + rates[rates.size() / 2]) / 2;
  if (all.IsRoot()) {
    std::printf("%s,%zu,%llu,%llu,%zu,%.6g,%.6g,%.6g\n", name, all.Size(), 1ULL << options.log2_words,
                static_cast<unsigned long long>(options.updates), options.buffer_bytes, median / 1e9, rates.front() / 1e9,
                rates.back() / 1e9);
    std::fflush(stdout);
  }
  return median;
}

/// The same on all threads of all processes. Each has a table of its own.
double MeasureConveyor(const uit::World& world, const Options& options) {
  double rate = 0;
  uit::Team{world, {.threads = options.threads, .shares_memory = options.shares_memory}}.Run([&](uit::Member& me) {
    Table table{me.Size(), options.log2_words};
    ByConveyor way{me, options.buffer_bytes, table};
    const double median = Measure("conveyor", way, Members{me}, options, table);
    way.Check();
    if (me.Thread() == 0) rate = median;
  });
  return rate;
}

int Run(const uit::World& world, const Options& options) {
  if (world.IsRoot()) std::puts("method,parts,words_per_part,updates_per_part,buffer_bytes,gups,gups_min,gups_max");
  const double conveyor = MeasureConveyor(world, options);
  Table table{world.Size(), options.log2_words};
  double conduits = 0;
  {
    ByConduits way{world, options.buffer_bytes, options.shares_memory};
    conduits = Measure("conduits", way, Processes{world}, options, table);
    way.Close();
  }
  ByAlltoallv collective{world, options.batch};
  const double alltoallv = Measure("alltoallv", collective, Processes{world}, options, table);
  ByPuts one_sided{world, options.batch};
  Options fewer = options;  // each update is slow, so this makes fewer
  fewer.updates = std::max<std::uint64_t>(1, options.updates / 16);
  const double put = Measure("put", one_sided, Processes{world}, fewer, table);
  one_sided.Close();
  if (world.IsRoot())
    std::fprintf(stderr, "the conveyor makes %.2f times the updates of conduits by hand, %.2f times those of MPI_Alltoallv and %.2f times those of an "
                 "MPI_Put each\n",
                 conveyor / conduits, conveyor / alltoallv, conveyor / put);
  return 0;
}

}  // namespace
}  // namespace gups

int main(int argc, char** argv) {
  return netuit::GuardedMain(argc, argv, [&](const uit::World& world) {
    gups::Options options;
    CLI::App app{
        "Makes random updates of a table that is distributed over processes (like RandomAccess of the HPC Challenge), by\n"
        "four methods: a conveyor, aggregated conduits, a hand-written exchange of batches (MPI_Ialltoallv), and one MPI_Put per\n"
        "update. Start it with mpirun."};
    app.set_version_flag("--version", "gups of Conduit " UIT_VERSION);
    app.add_option("--log2-words", options.log2_words, "words of each process's part of the table, as an exponent of two")
        ->check(CLI::Range(1, 30))->capture_default_str();
    app.add_option("--updates", options.updates, "updates of each process")->check(CLI::Range(1ULL, 1ULL << 40U))->capture_default_str();
    app.add_option("--buffer-bytes", options.buffer_bytes, "size of the frames that conduits share")
        ->check(CLI::Range(64ULL, 1ULL << 24U))->capture_default_str();
    app.add_option("--batch", options.batch, "updates of a process between two exchanges over MPI")
        ->check(CLI::Range(1ULL, 1ULL << 20U))->capture_default_str();
    app.add_option("--threads", options.threads, "threads of each process that use the conveyor")
        ->check(CLI::Range(1, 1024))->capture_default_str();
    app.add_option("--replicates", options.replicates, "runs of each method")->check(CLI::Range(1, 1000))->capture_default_str();
    app.add_option("--seed", options.seed, "seed of the updates")->capture_default_str();
    app.add_flag("!--no-shared-memory", options.shares_memory, "use MPI even between processes of a host");
    app.footer("Each method makes all updates twice, which must restore the table. The program fails if a word is wrong or a\n"
               "message is not accounted for. Writes one CSV row per method: giga-updates per second over all processes.");
    try {
      app.parse(argc, argv);
    } catch (const CLI::Success& asked) {  // help, or the version
      return world.IsRoot() ? app.exit(asked) : 0;
    } catch (const CLI::ParseError& error) {
      throw uit::InputError(error.what());
    }
    return gups::Run(world, options);
  });
}
