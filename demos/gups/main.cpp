// Random updates of 8 bytes to a table that is distributed over processes, as in the HPC Challenge's RandomAccess. Compares, in
// one run, a conveyor, aggregating conduits, hand-written messages as in that benchmark, a hand-written exchange of batches
// (MPI_Ialltoallv), and an MPI_Put per update. The messages keep that benchmark's rule: no process stores more than 1024 updates
// before it sends them. With --look-ahead 1024, the conveyor and the exchange keep it, too.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include <netuit/app/guarded_main.hpp>
#include <uit/config.hpp>
#include <uit/link/world.hpp>
#include <uit/team/member.hpp>

#include "by_conduits.hpp"
#include "by_conveyor.hpp"
#include "by_mpi.hpp"
#include "demos/common/contest.hpp"
#include "table.hpp"

namespace gups {
namespace {

struct Options {
  demo::ContestOptions contest{};
  unsigned log2_words = 20;
  std::uint64_t updates = 2'000'000;
  std::size_t buffer_bytes = 65'536;
  std::size_t batch = 8192;
  std::uint64_t look_ahead = 0;
  std::uint64_t seed = 1;
};

/// Methods on one table. After each, every process undoes the updates of its words by itself, which must restore the table.
class Contest {
 public:
  Contest(uit::Member& me, const Options& options) : me_(me), options_(options), table_(me.Size(), options.log2_words) {}

  Table& GetTable() { return table_; }
  /// `way` makes `num_updates` updates of each member.
  template <typename Way>
  void Add(const std::string& name, Way& way, std::uint64_t num_updates) {
    methods_.push_back({name,
                        [&way, num_updates, this](std::size_t round) {
                          way.Run(UpdateStream{options_.seed + round, me_.Rank()}, num_updates, table_);
                        },
                        [num_updates, this](std::size_t round) {
                          const std::size_t num_wrong = table_.NumWrong(options_.seed + round, me_.Rank(), num_updates);
                          return num_wrong == 0 ? "" : std::to_string(num_wrong) + " words are wrong";
                        },
                        [num_updates, this](std::size_t) { return static_cast<double>(num_updates * me_.Size()); }});
  }
  /// Collective.
  void Run() { demo::Compete(me_, methods_, options_.contest.rounds); }

 private:
  uit::Member& me_;
  const Options& options_;
  Table table_;
  std::vector<demo::Method> methods_{};
};

void Run(const uit::World& world, uit::Member& me, const Options& options) {
  Contest contest{me, options};
  const std::uint64_t look_ahead = (options.look_ahead + options.contest.threads - 1) / options.contest.threads;  // of each member
  ByConveyor conveyor{me, options.buffer_bytes, look_ahead, contest.GetTable()};
  std::optional<ByConduits> conduits;
  std::optional<ByAlltoallv> collective;
  std::optional<ByMessages> messages;
  std::optional<ByPuts> one_sided;
  if (options.contest.threads == 1) {
    conduits.emplace(world, options.buffer_bytes, options.contest.shares_memory);
    collective.emplace(world, look_ahead == 0 ? options.batch : std::min<std::size_t>(options.batch, look_ahead));
    messages.emplace(world);
    one_sided.emplace(world, options.batch);
    contest.Add("alltoallv", *collective, options.updates);
    const std::uint64_t num_slow = std::max<std::uint64_t>(1, options.updates / 16);  // each takes long, so these make fewer
    contest.Add("messages", *messages, num_slow);
    contest.Add("put", *one_sided, num_slow);
    contest.Add("conduits", *conduits, options.updates);
  }
  contest.Add("conveyor", conveyor, options.updates);
  contest.Run();
  conveyor.Check();
  if (one_sided) one_sided->Close();
  if (conduits) conduits->Close();
}

}  // namespace
}  // namespace gups

int main(int argc, char** argv) {
  return netuit::GuardedMain(argc, argv, [&](const uit::World& world) {
    gups::Options options;
    CLI::App app{
        "Makes random updates of a table that is distributed over the members (like RandomAccess of the HPC Challenge), by\n"
        "five methods: a hand-written exchange of batches (MPI_Ialltoallv), hand-written messages as RandomAccess has them, one\n"
        "MPI_Put per update, aggregated conduits, and a conveyor. Afterwards each process undoes the updates of its words by itself,\n"
        "which must restore the table. Start it with mpirun."};
    app.set_version_flag("--version", "gups of Conduit " UIT_VERSION);
    options.contest.AddTo(app);
    app.add_option("--log2-words", options.log2_words, "words of each member's part of the table, as an exponent of two")
        ->check(CLI::Range(1, 30))->capture_default_str();
    app.add_option("--updates", options.updates, "updates of each member; MPI_Puts and messages make a sixteenth of them")
        ->check(CLI::Range(1ULL, 1ULL << 40U))->capture_default_str();
    app.add_option("--buffer-bytes", options.buffer_bytes, "size of the frames of the conveyor and of conduits")
        ->check(CLI::Range(64ULL, 1ULL << 24U))->capture_default_str();
    app.add_option("--batch", options.batch, "updates of a process between two exchanges over MPI")
        ->check(CLI::Range(1ULL, 1ULL << 20U))->capture_default_str();
    app.add_option("--look-ahead", options.look_ahead,
                   "updates that a process stores at most before the conveyor or the exchange sends them; 0: as they like")
        ->check(CLI::Range(0ULL, 1ULL << 20U))->capture_default_str();
    app.add_option("--seed", options.seed, "seed of the updates")->capture_default_str();
    if (!demo::ParseOnRoot(world, app, argc, argv)) return 0;
    demo::RunTeam(world, options.contest, [&](uit::Member& me) { gups::Run(world, me, options); });
    return 0;
  });
}
