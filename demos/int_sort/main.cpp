// Sorts small integers that are distributed over members, as the benchmark IS of NAS: each member gets a range of keys, and ranks
// them by counting. Compares, in one run, a conveyor with the exchange of all keys by MPI_Ialltoallv.
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include <netuit/app/guarded_main.hpp>
#include <netuit/mesh/on_root.hpp>
#include <uit/config.hpp>
#include <uit/team/member.hpp>

#include "demos/common/contest.hpp"
#include "judge.hpp"
#include "keys.hpp"
#include "sorter.hpp"

namespace int_sort {
namespace {

struct Options {
  demo::ContestOptions contest{};
  std::string size = "A";
  std::size_t buffer_bytes = 65'536;
};

void Run(uit::Member& me, const Options& options) {
  const Class& size = ClassOf(options.size);
  const std::uint64_t num_keys = std::uint64_t{1} << size.log2_keys;
  const Range range = ShareOf(num_keys, me.Rank(), me.Size());
  const std::vector<Key> keys = MakeKeys(size, range);
  std::vector<Key> sorted;
  sorted.reserve(keys.size() + keys.size() / 4);
  Judge judge{me, size, range, keys};
  const auto find_fault = [&](std::size_t) { return judge.FindFault(sorted); };
  const auto num_items = [num_keys](std::size_t) { return static_cast<double>(num_keys); };

  ByConveyor conveyor{me, size, options.buffer_bytes};
  ByAlltoallv collective{me.Rank(), me.Size(), size};
  std::vector<demo::Method> methods;
  if (options.contest.threads == 1)
    methods.push_back({"alltoallv", [&](std::size_t) { collective.Run(keys, sorted); }, find_fault, num_items});
  methods.push_back({"conveyor", [&](std::size_t) { conveyor.Run(keys, sorted); }, find_fault, num_items});
  demo::Compete(me, methods, options.contest.rounds);
}

}  // namespace
}  // namespace int_sort

int main(int argc, char** argv) {
  return netuit::GuardedMain(argc, argv, [&](const uit::World& world) {
    int_sort::Options options;
    CLI::App app{
        "Sorts integers that are distributed over the members (like IS of the NAS benchmarks), by a conveyor and by an exchange\n"
        "of all keys at once (MPI_Ialltoallv). Start it with mpirun."};
    app.set_version_flag("--version", "int_sort of Conduit " UIT_VERSION);
    options.contest.AddTo(app);
    app.add_option("--class", options.size, "S, W, A or B: 2^16, 2^20, 2^23 or 2^25 keys")->capture_default_str();
    app.add_option("--buffer-bytes", options.buffer_bytes, "size of the conveyor's frames")
        ->check(CLI::Range(64ULL, 1ULL << 24U))->capture_default_str();
    if (!demo::ParseOnRoot(world, app, argc, argv)) return 0;
    netuit::OnRoot(world, [&options] { return int_sort::ClassOf(options.size).name; });  // so that one process refuses a wrong name
    demo::RunTeam(world, options.contest, [&options](uit::Member& me) { int_sort::Run(me, options); });
    return 0;
  });
}
