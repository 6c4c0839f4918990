// After a warm-up, processes allocate nothing, on every transport and with every way to share frames.
//
// Buffers are allocated when they are first needed, and some are needed only when the other process is late. So a stretch
// of steps may still allocate now and then. The test requires several stretches in a row without an allocation.
#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <tuple>
#include <vector>

#include "tests/support/catch.hpp"
#include "tests/support/counted_memory.hpp"
#include "tests/uit/exchange/support/policies.hpp"
#include "tests/uit/mpi/support/ring.hpp"

using namespace uit;
using namespace uit::testing;
using namespace std::chrono_literals;

namespace {

using Row = std::vector<int>;
constexpr std::size_t longest_row = 40;
constexpr std::uint64_t stretch = 500;  // steps of each line, at least
constexpr int num_quiet_required = 3;   // stretches in a row
constexpr int max_stretches = 60;
constexpr auto patience = 60s;

/// Where conduits are opened, one layer for each kind.
struct Site {
  Fabric& fabric;
  RingPlace place;
  std::uint32_t num_layers = 0;
};

/// Conduits to the other process and from it, several where they share frames.
template <typename T, Policy policy>
class Line {
 public:
  explicit Line(Site& site) {
    const std::uint32_t layer = site.num_layers++;
    const std::size_t num_channels = policy.consolidate == Consolidate::none ? 1 : 3;
    for (std::size_t channel = 0; channel < num_channels; ++channel) {
      const auto reach = [&](std::size_t peer, std::size_t source, std::size_t destination) {
        return Process{.fabric = &site.fabric,
                       .peer = peer,
                       .key = {.layer = layer,
                               .source = static_cast<std::uint32_t>(source),
                               .destination = static_cast<std::uint32_t>(destination)},
                       .channel = channel,
                       .num_channels = num_channels,
                       .buffer_bytes = 512,
                       .max_message_bytes = longest_row * sizeof(int)};
      };
      const auto [rank, next, previous] = site.place;
      inlets_.emplace_back(reach(next, rank, next));
      outlets_.emplace_back(reach(previous, previous, rank));
    }
  }

  void Put(const T& message) {
    for (auto& inlet : inlets_) {
      inlet.TryPut(message);
      inlet.TryStage(message);
    }
    inlets_.front().TryFlush();
  }
  void Step(std::size_t limit) {
    for (auto& outlet : outlets_) num_steps_ += outlet.TryStep(limit) != 0 ? 1 : 0;
  }
  std::uint64_t NumSteps() const { return num_steps_; }
  /// Returns whether a put has been refused. Only Retain::every refuses any.
  bool HasRefused() const { return policy.retain != Retain::every || inlets_.front().Tally().dropped > 0; }

 private:
  std::vector<Inlet<T, policy, TransportSet<Process>>> inlets_;
  std::vector<Outlet<T, policy, TransportSet<Process>>> outlets_;
  std::uint64_t num_steps_ = 0;
};

/// Several lines that are used in the same way.
template <typename... L>
class Lines {
 public:
  explicit Lines(Site site) : lines_{L{site}...} {}

  void Put() {
    row_.resize(static_cast<std::size_t>(++num_puts_) % longest_row);
    ForEach([&](auto& line) {
      if constexpr (requires { line.Put(1); })
        line.Put(1);
      else
        line.Put(row_);
    });
  }
  /// Sometimes reads nothing for a while, and then all that has come.
  void Work() {
    Put();
    const int phase = num_puts_ % 100;
    if (phase < 60) ForEach([&](auto& line) { line.Step(phase == 0 ? no_limit : 1); });
  }
  std::uint64_t FewestSteps() {
    return std::apply([](auto&... line) { return std::min({line.NumSteps()...}); }, lines_);
  }
  bool HaveAllRefused() {
    return std::apply([](auto&... line) { return (line.HasRefused() && ...); }, lines_);
  }

 private:
  template <typename F>
  void ForEach(F&& use) {
    std::apply([&](auto&... line) { (use(line), ...); }, lines_);
  }

  std::tuple<L...> lines_;
  Row row_ = Row(longest_row);
  int num_puts_ = 0;
};
using AllLines =
    Lines<Line<int, every>, Line<int, latest>, Line<int, accumulate>, Line<int, every_pooled>, Line<int, latest_pooled>,
          Line<int, accumulate_pooled>, Line<int, every_aggregated>, Line<int, latest_aggregated>, Line<Row, every>,
          Line<Row, latest>, Line<Row, every_aggregated>, Line<Row, latest_aggregated>>;

}  // namespace

TEST_CASE("Messages between processes allocate nothing in a steady state") {
  const World world = TheWorld();
  const RingPlace place{world};
  Fabric fabric{world};
  AllLines lines{Site{fabric, place}};
  RingEnds<Load<8>, every> ends{fabric, place, {.key = {.layer = 100}}};
  fabric.Connect();
  for (int i = 0; i < 100; ++i) lines.Put();
  world.Agree({});  // no process has read anything yet
  CHECK(lines.HaveAllRefused());

  const auto work_until = [&](auto is_over) {
    const auto work = [&] {
      lines.Work();
      return is_over();
    };
    return WaitUntil(work, After(patience));
  };
  std::uint64_t num_steps = 0;
  int num_stretches = 0;
  int num_quiet = 0;
  std::size_t num_in_all = 0;
  bool goes_on = true;
  while (goes_on && num_quiet < num_quiet_required && num_stretches < max_stretches) {
    const std::size_t before = num_allocations.load();
    num_steps += stretch;
    goes_on = work_until([&] { return lines.FewestSteps() >= num_steps; });
    const std::size_t num_allocated = num_allocations.load() - before;
    num_quiet = num_allocated == 0 ? num_quiet + 1 : 0;
    num_in_all += num_allocated;
    ++num_stretches;
  }
  CHECK(goes_on);
  CHECK(num_allocations.load() > 0);  // the counter works
  CHECK(num_quiet == num_quiet_required);
  if (world.IsRoot())
    std::printf("%d stretches of %llu steps and more: the last %d have allocated nothing, those before %zu times\n",
                num_stretches, static_cast<unsigned long long>(stretch), num_quiet, num_in_all);
  // The other process may need much longer.
  CHECK(work_until([&] {
    ends.TryPut(1);
    ends.TryStep();
    return ends.num_put == 1 && ends.num_got == 1;
  }));
  CHECK(fabric.Close(After(patience)));
}
