// A soak test. A mesh with a field and channels of every kind makes best-effort runs for hours. It is stopped and started now
// and then, and sometimes created again. Checks that every message is accounted for, no message comes twice or out of order,
// sums are exact, and memory does not grow.
//
//     mpirun -n 4 soak MINUTES OUTPUT.csv     (tools/soak builds and starts it)
//
// Writes one row every ten seconds. A signal ends the test early, with the rows so far. The exit code is not 0 if a check
// failed, if the test ended early, or if memory grew: by more than 1 MB an hour in half an hour or more, by more than 10 MB
// in less. The first fifth of the rows does not count, and at least one: on a busy machine buffers fill later. (A sanitizer's own
// memory grows.)

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <memory>
#include <netuit/graph/topologies.hpp>
#include <netuit/mesh/mesh.hpp>
#include <netuit/app/main.hpp>
#include <netuit/run/run.hpp>
#include <string>
#include <type_traits>
#include <uit/policy.hpp>
#include <uit/support/clock.hpp>
#include <uit/support/error.hpp>
#include <uit/team/team.hpp>
#include <uit/link/world.hpp>
#include <vector>

#ifdef __GLIBC__
#include <malloc.h>
#endif

#include "tests/netuit/run/policies.hpp"
#include "tests/support/other_process.hpp"
#include "tests/uit/core/support/sanitized.hpp"

using namespace netuit;
using netuit::testing::pooled;
using netuit::testing::newest_pooled;
using netuit::testing::aggregated;
using netuit::testing::sum_pooled;
using namespace std::chrono_literals;

namespace {

using Word = std::uint64_t;
using uit::Policy;

using Row = std::vector<Word>;

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

/// Messages are numbered by the update that put them, over all runs of a mesh. Each must have a larger number than the one
/// before. Returns how many did not.
template <typename T, Policy policy>
Word Exchange(const Channels<T, policy>& channels, Node& node, Word number) {
  Word num_faults = 0;
  for (const auto edge : node.In()) {
    auto& outlet = channels[edge];
    Word newest = NumberOf(outlet.Get());
    while (outlet.TryStep()) {
      num_faults += NumberOf(outlet.Get()) <= newest || !IsWhole(outlet.Get());
      newest = NumberOf(outlet.Get());
    }
  }
  for (const auto edge : node.Out()) channels[edge].TryPut(MessageOf<T>(number));
  return num_faults;
}

/// Returns freed memory to the system. The allocator keeps more of it from hour to hour, because the process creates meshes
/// and threads again and again. Afterwards, all resident memory is in use.
void GiveFreedMemoryBack() {
#ifdef __GLIBC__
  malloc_trim(0);
#endif
}

/// What nodes saw in a leg: messages that came twice, too late or torn; and the amounts put into sums and taken from them.
struct Count {
  Word faults = 0, put = 0, got = 0;

  Count& operator+=(const Count& other) {
    faults += other.faults;
    put += other.put;
    got += other.got;
    return *this;
  }
  bool IsExact() const { return faults == 0 && put == got && put != 0; }
};

/// The mesh, its layers, and the counts of every node in the leg.
class SoakMesh {
 public:
  explicit SoakMesh(const uit::Team& team)
      : team_(team), mesh_(team, MakeTorus(24, 24)), heard_(mesh_.AddPublishedField<Word>()), each_(mesh_.AddChannels<Word>()),
        each_pooled_(mesh_.AddChannels<Word, pooled>()), newest_(mesh_.AddChannels<Word, newest_pooled>()),
        rows_(mesh_.AddChannels<Row, aggregated>()), sums_(mesh_.AddChannels<Word, sum_pooled>()),
        count_(mesh_.AddField<Count>()) {}

  /// A best-effort run of fixed duration. Messages have larger numbers in each leg than in all legs before.
  RunReport RunLeg(int number) {
    constexpr Word per_leg = Word{1} << 40U;
    const Word first = static_cast<Word>(number) * per_leg + 1;
    mesh_.Visit([&](Node& node) { count_[node] = {}; });
    const RunReport report = mesh_.Run(Free{.duration = leg}, [&](Node& node) {
      Update(node, first + node.Update(), first + per_leg);
    });
    mesh_.Visit([&](Node& node) { Collect(node); });
    return report;
  }
  /// Returns the counts of the last leg, summed over all nodes of all processes. Collective.
  Count SumOfCounts() {
    Count own;
    mesh_.Visit([&](Node& node) { own += count_[node]; });
    Count sum;
    for (const Count& theirs : team_.GetWorld().AllGatherValue(own)) sum += theirs;
    return sum;
  }

 private:
  void Update(Node& node, Word message, Word first_of_next_leg) {
    Count& count = count_[node];
    for (const auto edge : node.In()) count.faults += heard_[edge] >= first_of_next_leg;
    heard_[node] = message;
    count.faults += Exchange(each_, node, message) + Exchange(each_pooled_, node, message) + Exchange(newest_, node, message) +
                    Exchange(rows_, node, message);
    Collect(node);
    const Word amount = 1 + message % 7;
    for (const auto edge : node.Out()) count.put += sums_[edge].TryPut(amount) ? amount : 0;
  }
  /// Takes what has arrived in the sums.
  void Collect(Node& node) {
    for (const auto edge : node.In()) count_[node].got += sums_[edge].JumpGet();
  }

  const uit::Team& team_;
  Mesh mesh_;
  PublishedField<Word> heard_;
  Channels<Word, uit::every> each_;
  Channels<Word, pooled> each_pooled_;
  Channels<Word, newest_pooled> newest_;
  Channels<Row, aggregated> rows_;
  Channels<Word, sum_pooled> sums_;
  Field<Count> count_;
};

/// The course of the test, on rank 0.
struct Course {
  std::vector<double> hours;
  std::vector<std::vector<double>> megabytes;  // by rank
  bool is_exact = true;
  Word num_accepted = 0;
  Word amount = 0;  // amount that came through sums

  /// Returns the first row that counts.
  std::size_t FirstRow() const { return std::min(hours.size() - 1, std::max<std::size_t>(1, hours.size() / 5)); }
  /// Returns the growth of the rank that grows most, by least squares.
  double MegabytesPerHour() const {
    const std::size_t first = FirstRow();
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
    for (const auto& values : megabytes) most = std::max(most, values.back() - values[FirstRow()]);
    return most;
  }
};

/// Prints the result. Returns 0 if every check passed.
int Judge(const Course& course, double minutes, int exit_code) {
  const double elapsed = course.hours.back() * 60;
  const double slope = course.MegabytesPerHour();
  const bool is_long = course.hours.back() >= 0.5;
  const bool is_flat = uit::testing::is_sanitized || (is_long ? slope < 1 : course.Growth() < 10);
  std::printf(
      "goal R16: %.1f of %.1f minutes of %zu processes with 2 threads: %llu messages, sums of %llu, %s; memory %+.2f MB in all",
      elapsed, minutes, course.megabytes.size(), static_cast<unsigned long long>(course.num_accepted),
      static_cast<unsigned long long>(course.amount), course.is_exact ? "accounts exact" : "ACCOUNTS WRONG", course.Growth());
  if (is_long) std::printf(", %+.2f MB/h", slope);
  std::printf("%s\n", uit::testing::is_sanitized ? ", of which a sanitizer's books are part" : "");
  const char* trouble = exit_code != 0       ? "a leg ended early"
                        : elapsed < minutes ? "it ended before its time"
                        : !course.is_exact  ? "not exact"
                        : !is_flat          ? "memory grows"
                                            : nullptr;
  if (trouble == nullptr) std::printf("soak: passed\n");
  else std::printf("soak: failed: %s\n", trouble);
  return trouble == nullptr ? 0 : 1;
}

int Soak(const uit::Team& team, double minutes, const std::string& path) {
  const uit::World& world = team.GetWorld();
  const auto pids = uit::testing::Pids(world);
  std::ofstream file;
  if (world.IsRoot()) {
    file.open(path);
    file << "elapsed_s";
    for (std::size_t rank = 0; rank < world.Size(); ++rank) file << ",rss_" << rank;
    file << ",updates,messages,dropped_by_mesh,balanced,sums_put,sums_got\n" << std::flush;
    if (!file) throw uit::OutputError("cannot write " + path);
  }
  Course course;
  course.megabytes.resize(world.Size());
  const uit::TimePoint start = uit::Now();
  const int num_legs = std::max(3, static_cast<int>(std::ceil(minutes * 60s / leg)));
  std::unique_ptr<SoakMesh> mesh;
  Word of_meshes_before = 0;
  int exit_code = 0;
  for (int i = 0; i < num_legs && exit_code == 0; ++i) {
    if (i % legs_per_mesh == 0) {
      mesh.reset();
      mesh = std::make_unique<SoakMesh>(team);
    }
    const RunReport report = mesh->RunLeg(i);
    exit_code = report.ExitCode();
    if (report.stopped_by == StopReason::peer_lost) break;  // collective calls no longer work
    GiveFreedMemoryBack();
    const Count count = mesh->SumOfCounts();  // once every process has done so
    if (!world.IsRoot()) continue;
    const uit::Tally tally = report.Tally();
    Word num_updates = 0;
    for (const WorkerReport& worker : report.workers) num_updates += worker.num_updates;
    const bool is_exact = report.Balanced() && count.IsExact();
    course.is_exact = course.is_exact && is_exact;
    if (i % legs_per_mesh == 0) of_meshes_before = course.num_accepted;
    course.num_accepted = of_meshes_before + tally.put.Accepted();  // a tally counts from the creation of the mesh
    course.amount += count.got;
    const std::chrono::duration<double> elapsed = uit::Now() - start;
    course.hours.push_back(elapsed.count() / 3600);
    file << elapsed.count();
    for (std::size_t rank = 0; rank < world.Size(); ++rank) {
      const auto resident = uit::testing::Resident(pids[rank]);
      course.megabytes[rank].push_back(static_cast<double>(resident) / megabyte);
      file << ',' << resident;
    }
    file << ',' << num_updates << ',' << course.num_accepted << ',' << tally.put.dropped << ',' << is_exact << ',' << count.put
         << ',' << count.got << '\n'
         << std::flush;
  }
  if (!world.IsRoot()) return 0;
  if (course.hours.empty()) throw uit::Error("a process was lost before the first leg had ended");
  return Judge(course, minutes, exit_code);
}

}  // namespace

int main(int argc, char** argv) {
  return netuit::Main(argc, argv, {.threads = 2}, [&](const uit::Team& team) {
    const double minutes = argc == 3 ? std::atof(argv[1]) : 0;
    if (minutes <= 0) throw uit::InputError("usage: soak MINUTES OUTPUT.csv");
    return Soak(team, minutes, argv[2]);
  });
}
