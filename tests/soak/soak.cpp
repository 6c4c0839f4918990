// A soak: a mesh with layers of every kind runs best effort for hours, is stopped and started now and then, and sometimes
// made anew. Every message is accounted for, none comes twice or out of order, and memory stays as it was.
//
//     mpirun -n 4 soak MINUTES OUTPUT.csv     (tools/soak builds and starts it)
//
// A row for every ten seconds, as they pass. A signal ends it with what it has. The exit code is not 0 if anything was not
// exact, or memory grew: by 1 MB an hour in half an hour or more, by 10 MB in less.

#include <netuit/netuit.hpp>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <memory>
#include <string>
#include <type_traits>
#include <vector>

#include "tests/support/other_process.hpp"

using namespace netuit;
using namespace std::chrono_literals;

namespace {

using Word = std::uint64_t;
using uit::Consolidate;
using uit::Policy;
using uit::Retain;

struct Heard : Multicast<Word> {};
struct Each : Unicast<Word> {};
struct EachPooled : Unicast<Word, Policy{.consolidate = Consolidate::pooled}> {};
struct Newest : Unicast<Word, Policy{.retain = Retain::latest, .consolidate = Consolidate::pooled}> {};
struct Row : Unicast<std::vector<Word>, Policy{.consolidate = Consolidate::aggregated}> {};
struct Sum : Unicast<Word, Policy{.retain = Retain::accumulate, .consolidate = Consolidate::pooled}> {};
using SoakMesh = Mesh<Heard, Each, EachPooled, Newest, Row, Sum>;

constexpr auto leg = 10s;
constexpr int legs_per_mesh = 6;
constexpr double megabyte = 1e6;

Word NumberOf(Word message) { return message; }
Word NumberOf(const std::vector<Word>& message) { return message.empty() ? 0 : message.front(); }
constexpr bool IsWhole(Word) { return true; }
bool IsWhole(const std::vector<Word>& message) {
  return message.empty() || (message.size() == 1 + message.front() % 5 && message.back() == message.front());
}
template <typename T>
T MessageOf(Word number) {
  if constexpr (std::is_same_v<T, Word>) return number;
  else return T(1 + number % 5, number);
}

/// Messages are numbered by the update that put them, over all runs of a mesh. What comes later has a larger number, or
/// it is a fault. Returns how many were.
template <Layer L>
Word Exchange(auto& node, Word number) {
  Word num_faults = 0;
  for (auto& outlet : node.template In<L>()) {
    Word newest = NumberOf(outlet.Get());
    while (outlet.TryStep()) {
      num_faults += NumberOf(outlet.Get()) <= newest || !IsWhole(outlet.Get());
      newest = NumberOf(outlet.Get());
    }
  }
  for (auto& inlet : node.template Out<L>()) inlet.TryPut(MessageOf<typename L::Message>(number));
  return num_faults;
}

/// How it went so far, on rank 0.
struct Course {
  std::vector<double> hours;
  std::vector<std::vector<double>> megabytes;  // by rank
  bool is_exact = true;
  Word num_accepted = 0;

  /// Of the rank that grows the most, by least squares over all but the first fifth.
  double MegabytesPerHour() const {
    const std::size_t first = hours.size() / 5;
    const auto count = static_cast<double>(hours.size() - first);
    double steepest = 0;
    for (const auto& values : megabytes) {
      double x = 0, y = 0, xx = 0, xy = 0;
      for (std::size_t i = first; i < hours.size(); ++i) {
        x += hours[i];
        y += values[i];
        xx += hours[i] * hours[i];
        xy += hours[i] * values[i];
      }
      const double spread = count * xx - x * x;
      if (spread > 0) steepest = std::max(steepest, (count * xy - x * y) / spread);
    }
    return steepest;
  }
  double Growth() const {
    double most = 0;
    for (const auto& values : megabytes) most = std::max(most, values.back() - values[values.size() / 5]);
    return most;
  }
};

int Soak(const uit::World& world, double minutes, const std::string& path) {
  const auto topology = MakeTorus({24, 24});
  const auto placement = PlaceByMetis(topology, {.processes = world.Size(), .threads = 2});
  const auto pids = uit::testing::Pids(world);
  std::ofstream file;
  if (world.IsRoot()) {
    file.open(path);
    file << "elapsed_s";
    for (std::size_t rank = 0; rank < world.Size(); ++rank) file << ",rss_" << rank;
    file << ",updates,messages,dropped_by_mesh,balanced\n" << std::flush;
    if (!file) throw uit::OutputError("cannot write " + path);
  }
  Course course;
  course.megabytes.resize(world.Size());
  const uit::TimePoint start = uit::Now();
  const int num_legs = std::max(2, static_cast<int>(minutes * 60s / leg));
  std::unique_ptr<SoakMesh> mesh;
  std::vector<Word> faults;
  Word of_meshes_before = 0;
  int exit_code = 0;
  for (int i = 0; i < num_legs && exit_code == 0; ++i) {
    if (i % legs_per_mesh == 0) {
      mesh.reset();
      mesh = std::make_unique<SoakMesh>(topology, placement, world);
    }
    faults.assign(mesh->NumLocalNodes(), 0);
    const Word first = (static_cast<Word>(i) << 40U) + 1;
    const RunReport report = Run(*mesh, {.mode = AsyncMode::no_barrier, .duration = leg}, [&](auto& node) {
      const Word number = first + node.Update();
      Word& num_faults = faults[node.Index()];
      for (const Word heard : node.template In<Heard>()) num_faults += heard >= first + (Word{1} << 40U);
      node.template Out<Heard>().TryPut(number);
      num_faults += Exchange<Each>(node, number) + Exchange<EachPooled>(node, number) + Exchange<Newest>(node, number) +
                    Exchange<Row>(node, number);
      for (auto& outlet : node.template In<Sum>()) outlet.TryStep();
      for (auto& inlet : node.template Out<Sum>()) inlet.TryPut(1);
    });
    exit_code = report.ExitCode();
    Word num_faults = 0;
    for (const Word count : faults) num_faults += count;
    const auto bytes = uit::BytesOf(num_faults);
    num_faults = 0;
    for (const auto& theirs : world.AllToAll(std::vector<uit::Bytes>(world.Size(), uit::Bytes(bytes.begin(), bytes.end()))))
      num_faults += uit::LoadBytes<Word>(theirs);
    if (!world.IsRoot()) continue;
    const uit::Tally tally = report.Tally();
    Word num_updates = 0;
    for (const WorkerReport& worker : report.workers) num_updates += worker.num_updates;
    const bool is_exact = report.Balanced() && num_faults == 0;
    course.is_exact = course.is_exact && is_exact;
    if (i % legs_per_mesh == 0) of_meshes_before = course.num_accepted;
    course.num_accepted = of_meshes_before + tally.put.Accepted();  // a tally is since the mesh was made
    const std::chrono::duration<double> elapsed = uit::Now() - start;
    course.hours.push_back(elapsed.count() / 3600);
    file << elapsed.count();
    for (std::size_t rank = 0; rank < world.Size(); ++rank) {
      const auto resident = uit::testing::Resident(pids[rank]);
      course.megabytes[rank].push_back(static_cast<double>(resident) / megabyte);
      file << ',' << resident;
    }
    file << ',' << num_updates << ',' << course.num_accepted << ',' << tally.put.dropped << ',' << is_exact << '\n' << std::flush;
  }
  if (!world.IsRoot()) return 0;
  const double slope = course.MegabytesPerHour();
  const bool is_long = course.hours.back() >= 0.5;
  const bool is_flat = is_long ? slope < 1 : course.Growth() < 10;
  const bool is_whole = exit_code == 0;
  std::printf("goal R16: %.1f minutes of %zu processes with 2 threads: %llu messages, %s; memory %+.2f MB in all", course.hours.back() * 60,
              world.Size(), static_cast<unsigned long long>(course.num_accepted), course.is_exact ? "accounts exact" : "ACCOUNTS WRONG",
              course.Growth());
  if (is_long) std::printf(", %+.2f MB/h", slope);
  std::printf("\n");
  const char* verdict = !is_whole ? "failed: a leg ended early" : !course.is_exact ? "failed: not exact" : is_flat ? "passed" : "failed: memory grows";
  std::printf("soak: %s\n", verdict);
  return is_whole && course.is_exact && is_flat ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  return GuardedMain(argc, argv, [&](const uit::World& world) {
    const double minutes = argc == 3 ? std::atof(argv[1]) : 0;
    if (minutes <= 0) throw uit::InputError("usage: soak MINUTES OUTPUT.csv");
    return Soak(world, minutes, argv[2]);
  });
}
