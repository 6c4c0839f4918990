// How many items of 8 to 128 bytes per second does a conveyor carry between two processes? The competitors are batches by
// MPI_Alltoallv, and a copy of each item into a buffer and out of it, which is the least that any of them does.

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <uit/conveyor/conveyor.hpp>
#include <uit/link/world.hpp>
#include <uit/support/clock.hpp>
#include <uit/team/team.hpp>
#include <uit/team/team_session.hpp>

#include "demos/common/exchange.hpp"
#include "microbenchmarks/support/program.hpp"
#include "microbenchmarks/support/rank_main.hpp"
#include "microbenchmarks/support/ranks.hpp"

namespace {

constexpr std::size_t buffer_bytes = 65'536;

template <std::size_t num_bytes>
struct Item {
  std::array<std::uint64_t, num_bytes / 8> words{};
};

/// The process for which an item is: either one, in no order that a processor can predict.
std::size_t OwnerOf(std::uint64_t number) { return static_cast<std::size_t>((number * 0x9E37'79B9'7F4A'7C15ULL) >> 63U); }

/// What a process gets. Both processes send the numbers from 0 on.
class Receipt {
 public:
  template <std::size_t num_bytes>
  void Take(const Item<num_bytes>& item) {
    sum_ += item.words.front() ^ item.words.back();
    ++count_;
  }
  /// After `count` items of each process. Ends the program if any is missing or wrong.
  void Check(std::size_t rank, std::uint64_t count) const {
    std::uint64_t expected = 0;
    for (std::uint64_t number = 0; number < count; ++number) expected += OwnerOf(number) == rank ? 2 : 0;
    if (count_ == expected && sum_ == 0) return;
    std::fprintf(stderr, "items are missing or wrong\n");
    std::exit(1);
  }

 private:
  std::uint64_t sum_ = 0;
  std::uint64_t count_ = 0;
};

template <std::size_t num_bytes>
Item<num_bytes> MakeItem(std::uint64_t number) {
  Item<num_bytes> item;
  item.words.fill(number);
  return item;
}

double PerItem(uit::TimePoint start, std::uint64_t count) {
  return std::chrono::duration<double, std::nano>(uit::Now() - start).count() / static_cast<double>(count);
}

template <std::size_t num_bytes>
class ByConveyor {
 public:
  ByConveyor(const uit::World& world, bool shares_memory)
      : session_{uit::Team{world, {.threads = 1, .shares_memory = shares_memory}}} {}

  double Time(std::uint64_t count) {
    double time = 0;
    session_.Run([&](uit::Member& me) {
      if (!conveyor_) conveyor_ = std::make_unique<Conveyor>(me, [this](const auto& item) { receipt_.Take(item); }, Options());
      receipt_ = {};
      const uit::TimePoint start = uit::Now();
      for (std::uint64_t number = 0; number < count; ++number) conveyor_->Push(OwnerOf(number), MakeItem<num_bytes>(number));
      conveyor_->Finish();
      time = PerItem(start, count);
      receipt_.Check(me.Rank(), count);
    });
    return time;
  }

 private:
  using Conveyor = uit::Conveyor<Item<num_bytes>>;
  static uit::ConveyorOptions Options() { return {.buffer_bytes = buffer_bytes}; }

  uit::TeamSession session_;
  Receipt receipt_{};
  std::unique_ptr<Conveyor> conveyor_{};
};

/// Batches that fill about one buffer for each process.
template <std::size_t num_bytes>
double ByAlltoallv(demo::Exchange<Item<num_bytes>>& exchange, std::size_t rank, std::uint64_t count) {
  constexpr std::uint64_t batch = 2 * buffer_bytes / num_bytes;
  Receipt receipt;
  const uit::TimePoint start = uit::Now();
  for (std::uint64_t done = 0; done < count; done += batch) {
    for (std::uint64_t number = done; number < std::min(done + batch, count); ++number)
      exchange.Put(OwnerOf(number), MakeItem<num_bytes>(number));
    exchange.Swap();
    for (const auto& item : exchange.Incoming()) receipt.Take(item);
  }
  const double time = PerItem(start, count);
  receipt.Check(rank, count);
  return time;
}

/// Puts items into a buffer for each process, and takes all out again.
template <std::size_t num_bytes>
double ByCopy(std::uint64_t count) {
  constexpr std::size_t room = buffer_bytes / num_bytes;
  std::array<std::vector<Item<num_bytes>>, 2> buffers{std::vector<Item<num_bytes>>(room), std::vector<Item<num_bytes>>(room)};
  std::array<std::size_t, 2> num_used{};
  std::array<Receipt, 2> receipts;
  const auto empty = [&](std::size_t owner) {
    for (std::size_t i = 0; i < num_used[owner]; ++i) receipts[owner].Take(buffers[owner][i]);
    num_used[owner] = 0;
  };
  const uit::TimePoint start = uit::Now();
  for (int process = 0; process < 2; ++process) {
    for (std::uint64_t number = 0; number < count; ++number) {
      const std::size_t owner = OwnerOf(number);
      if (num_used[owner] == room) empty(owner);
      buffers[owner][num_used[owner]++] = MakeItem<num_bytes>(number);
    }
  }
  for (const std::size_t owner : {0U, 1U}) empty(owner);
  const double time = PerItem(start, 2 * count);
  for (const std::size_t owner : {0U, 1U}) receipts[owner].Check(owner, count);
  return time;
}

template <std::size_t num_bytes>
void Measure(bench::Program& program, bench::Ranks& ranks, const uit::World& world) {
  const std::string size = std::to_string(num_bytes) + " B";
  bench::Contest contest{"conveyor, items of " + size, bench::Unit::millions_per_second};
  const auto add = [&](const std::string& line, std::function<double(std::uint64_t)> measure) {
    contest.Add(line, [measure = std::move(measure)](const bench::Load& load) {
      return measure(std::max<std::uint64_t>(load.count, 1U << 14U));  // with fewer, this would measure Finish
    });
    contest.Draw({.chart = "items of a conveyor between two processes",
                  .x_label = "bytes of an item",
                  .y_label = "million items per second of each process",
                  .line = line,
                  .x = num_bytes,
                  .competitor = line,
                  .amount = 1e3});
  };
  for (const bool shares_memory : {true, false})
    add(shares_memory ? "over shared memory" : "over MPI",
        [way = std::make_shared<ByConveyor<num_bytes>>(world, shares_memory)](std::uint64_t count) { return way->Time(count); });
  add("batches over MPI by hand", [rank = world.Rank(), exchange = std::make_shared<demo::Exchange<Item<num_bytes>>>(world.Size())](
                                      std::uint64_t count) { return ByAlltoallv(*exchange, rank, count); });
  add("a copy", [](std::uint64_t count) { return ByCopy<num_bytes>(count); });
  for (const std::string line : {"over shared memory", "over MPI"}) {
    contest.Say({.name = "conveyor, " + size + ", " + line + ": to MPI by hand",
                 .ours = line,
                 .against = {"batches over MPI by hand"},
                 .at_least = line == "over MPI" ? std::optional<double>{} : 0.7});
    contest.Say({.name = "conveyor, " + size + ", " + line + ": to a copy", .ours = line, .against = {"a copy"}});
  }
  program.Run(contest, ranks);
}

void MeasureAll(bench::Program& program, bench::Ranks& ranks, const uit::World& world) {
  Measure<8>(program, ranks, world);
  Measure<16>(program, ranks, world);
  Measure<32>(program, ranks, world);
  Measure<64>(program, ranks, world);
  Measure<128>(program, ranks, world);
}

}  // namespace

int main(int argc, char** argv) { return bench::MainOfTwoRanks(argc, argv, MeasureAll); }
