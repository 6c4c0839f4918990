#include "tests/support/pmpi/faults.hpp"

#include <array>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <optional>
#include <random>
#include <sstream>
#include <stdexcept>
#include <string>

#include "tests/support/pmpi/inside.hpp"

namespace uit::testing::pmpi {
namespace {

using inside::Call;
constexpr auto num_calls = static_cast<std::size_t>(Call::count);
constexpr std::array<std::string_view, num_calls> names{
#define UIT_PMPI_CALL(name) "MPI_" #name,
#include "tests/support/pmpi/calls.def"
};

struct Faults {
  std::array<std::atomic<int>, num_calls> fail_in{};  // 0: never
  std::array<bool, num_calls> is_told{};              // true after it has failed and stderr has a line about it
  std::atomic<int> truncate_in{0};
  std::atomic<int> num_askings{0};
  bool is_reordering = false;
  std::mt19937_64 random;
  std::size_t num_reordered = 0;
  std::optional<int> thread_level;
  int largest_tag = -1;

  Faults() {
    std::istringstream failures(Text("UIT_PMPI_FAIL"));
    for (std::string failure; std::getline(failures, failure, ',');) {
      const auto call = Find(failure.substr(0, failure.find(':')));
      fail_in[call] = HereIn(failure);
      is_told[call] = true;
    }
    truncate_in = HereIn("truncate:" + Text("UIT_PMPI_TRUNCATE"));
    num_askings = std::atoi(Text("UIT_PMPI_DELAY").c_str());
    is_reordering = !Text("UIT_PMPI_REORDER").empty();
    random.seed(static_cast<unsigned>(std::atoi(Text("UIT_PMPI_REORDER").c_str())));
    if (const std::string level = Text("UIT_PMPI_THREAD_LEVEL"); !level.empty()) thread_level = std::atoi(level.c_str());
    if (const std::string tag = Text("UIT_PMPI_TAG_UB"); !tag.empty()) largest_tag = std::atoi(tag.c_str());
  }
  static std::string Text(const char* name) {
    const char* text = std::getenv(name);
    return text == nullptr ? "" : text;
  }
  static std::size_t Find(std::string_view name) {
    for (std::size_t call = 0; call < num_calls; ++call) {
      if (names[call] == name) return call;
    }
    throw std::invalid_argument(std::string(name) + " is not in calls.def");
  }
  /// Returns n of "what:n:rank", or 0 if this is another rank.
  static int HereIn(const std::string& text) {
    std::istringstream parts(text);
    std::string what, n, rank;
    std::getline(std::getline(std::getline(parts, what, ':'), n, ':'), rank);
    std::string here = Text("OMPI_COMM_WORLD_RANK");  // MPI_Comm_rank may not be callable yet
    if (here.empty()) here = Text("PMI_RANK");
    return rank.empty() || rank == "*" || rank == here ? std::atoi(n.c_str()) : 0;
  }
};
Faults faults;

/// Counts down. Returns whether this was the counted call. 0: no countdown.
bool CountDown(std::atomic<int>& n) { return n.load(std::memory_order_relaxed) != 0 && --n == 0; }

}  // namespace

namespace inside {

const char* NameOf(Call call) { return names[static_cast<std::size_t>(call)].data(); }
bool MustFail(Call call) {
  const auto index = static_cast<std::size_t>(call);
  if (!CountDown(faults.fail_in[index])) return false;
  if (faults.is_told[index]) std::fprintf(stderr, "pmpi: %s fails on purpose\n", names[index].data());
  return true;
}
bool MustTruncate() { return CountDown(faults.truncate_in); }
int NumAskings() { return faults.num_askings.load(std::memory_order_relaxed); }
bool MustHold() { return faults.random() % 4 != 0; }
bool IsReordering() { return faults.is_reordering; }
void CountReordered() { ++faults.num_reordered; }
std::optional<int> ThreadLevel() { return faults.thread_level; }
int* LargestTag() { return faults.largest_tag < 0 ? nullptr : &faults.largest_tag; }

}  // namespace inside

Failing::Failing(std::string_view call, int n) : call_(Faults::Find(call)) { faults.fail_in[call_] = n; }
Failing::~Failing() { faults.fail_in[call_] = 0; }

Truncating::Truncating(int n) { faults.truncate_in = n; }
Truncating::~Truncating() { faults.truncate_in = 0; }

Delaying::Delaying(int num_askings) { faults.num_askings = num_askings; }
Delaying::~Delaying() { faults.num_askings = 0; }

Reordering::Reordering(std::uint64_t seed) {
  faults.random.seed(seed);
  faults.num_reordered = 0;
  faults.is_reordering = true;
}
Reordering::~Reordering() { faults.is_reordering = false; }
std::size_t Reordering::NumReordered() const { return faults.num_reordered; }

Pretence Pretence::ThreadLevel(int level) {
  faults.thread_level = level;
  return {};
}
Pretence Pretence::LargestTag(int tag) {
  faults.largest_tag = tag;
  return {};
}
Pretence::~Pretence() {
  faults.thread_level.reset();
  faults.largest_tag = -1;
}

}  // namespace uit::testing::pmpi
