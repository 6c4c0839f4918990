// The memory of conveyors and tasks between processes: no more than they say, and none that is allocated again and again.
#include <uit/conveyor/conveyor.hpp>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include <uit/conveyor/combining_conveyor.hpp>
#include <uit/conveyor/conveyor_sizes.hpp>
#include <uit/conveyor/conveyors.hpp>
#include <uit/conveyor/requests.hpp>
#include <uit/conveyor/span_conveyor.hpp>
#include <uit/conveyor/tasks.hpp>
#include <uit/team/team.hpp>

#include "tests/support/catch.hpp"
#include "tests/support/counted_memory.hpp"
#include "tests/support/mpi_world.hpp"
#include "tests/uit/team/members.hpp"

using namespace uit;
using namespace uit::testing;

namespace {

/// Fills all buffers: pushes to each member until nothing has room, while no member handles anything, and then lets all be handled.
void FillAll(Member& me, Conveyor<std::uint64_t>& conveyor) {
  for (int i = 0; i < 20; ++i) {  // what has left makes room
    for (std::size_t to = 0; to < me.Size(); ++to)
      while (conveyor.TryPush(to, 1)) {
      }
    me.Barrier();
  }
  conveyor.Finish();
}

/// Runs `test` on teams of 1 and 2 threads per process.
void ForTeams(const std::function<void(Member&, Checks&)>& test) {
  for (const std::uint32_t threads : {1U, 2U}) {
    CAPTURE(threads);
    Checks checks;
    Team{MpiTestWorld(), {.threads = threads}}.Run([&](Member& me) { test(me, checks); });
  }
}

/// Runs rounds of `work` until five in a row have allocated nothing, anywhere. Returns whether there are such. Some buffers are first
/// needed when another member is late, so some rounds still allocate, but fewer and fewer. Collective.
bool BecomesQuiet(Member& me, const std::function<void()>& work) {
  int num_quiet = 0;
  for (int round = 0; round < 2000 && num_quiet < 5; ++round) {
    me.Barrier();
    const std::size_t before = num_allocations;
    me.Barrier();
    work();
    me.Barrier();
    const bool is_quiet = num_allocations == before;
    num_quiet = me.AllReduce(is_quiet, [](bool a, bool b) { return a && b; }) ? num_quiet + 1 : 0;
  }
  return num_quiet == 5;
}

}  // namespace

TEST_CASE("A conveyor holds no more memory than it says") {
  for (const std::uint32_t threads : {1U, 2U}) {
    for (const std::size_t two_hops_above : {ConveyorOptions{}.two_hops_above, std::size_t{0}}) {
      CAPTURE(threads, two_hops_above);
      Checks checks;
      std::size_t before = 0;
      std::atomic<std::size_t> said{0};
      std::size_t held = 0;
      Team{MpiTestWorld(), {.threads = threads}}.Run([&](Member& me) {
        // The first conveyor opens what the team's other conveyors have, too: collective calls, for example.
        Conveyor<std::uint8_t>{me, [](const std::uint8_t&) {}, {.buffer_bytes = 64}}.Finish();
        me.Barrier();
        if (me.Thread() == 0) before = num_held_bytes;
        me.Barrier();
        Conveyor<std::uint64_t> conveyor{
            me, [](const std::uint64_t&) {}, {.buffer_bytes = 16'384, .budget_bytes = 64U << 20U, .two_hops_above = two_hops_above}};
        for (int round = 0; round < 3; ++round) FillAll(me, conveyor);
        THAT(conveyor.Tally().refused > 0);
        said += conveyor.NumBytes();
        me.Barrier();
        if (me.Thread() == 0) held = num_held_bytes - before;
        me.Barrier();
      });
      const std::size_t around = 8192 * threads * threads * MpiTestWorld().Size();  // conduits and their keys
      CAPTURE(held, said.load());
      CHECK(held <= said + around);
      CHECK(held > 100'000);
    }
  }
}

TEST_CASE("Once its buffers have been used, a conveyor allocates nothing in a round") {
  ForTeams([](Member& me, Checks& checks) {
    Conveyor<std::uint64_t> conveyor{me, [](const std::uint64_t&) {}, {.buffer_bytes = 4096}};
    for (int round = 0; round < 3; ++round) FillAll(me, conveyor);
    THAT(BecomesQuiet(me, [&] {
      for (int i = 0; i < 2000; ++i)
        for (std::size_t to = 0; to < me.Size(); ++to) conveyor.Push(to, 1);
      conveyor.Finish();
    }));
  });
}

TEST_CASE("A combining conveyor and one of spans allocate nothing in a round, once their buffers have been used") {
  ForTeams([](Member& me, Checks& checks) {
    Conveyors set{me};
    using Sums = CombiningConveyor<std::uint32_t, std::uint64_t, std::plus<>>;
    Sums sums{set, [](const Sums::Item&) {}, Combine<std::plus<>>{.table_bytes = 8192, .conveyor = {.buffer_bytes = 4096}}};
    SpanConveyor<std::uint64_t> spans{set, [](std::span<const std::uint64_t>) {},
                                      SpanConveyorOptions{.max_item_bytes = 800, .conveyor = {.buffer_bytes = 4096}}};
    const std::vector<std::uint64_t> item(100, 1);
    THAT(BecomesQuiet(me, [&] {
      for (std::uint32_t i = 0; i < 200; ++i) {
        for (std::size_t to = 0; to < me.Size(); ++to) {
          sums.Push(to, {i % 30, 1});
          spans.Push(to, std::span(item).first(i % 101));
        }
      }
      set.Finish();
    }));
    THAT(sums.Tally().combined > 0);
  });
}

TEST_CASE("Tasks and their requests allocate nothing in a round, once others have run") {
  ForTeams([](Member& me, Checks& checks) {
    Conveyors set{me};
    Tasks tasks{set, {.max_tasks = 256}};
    Requests<std::uint64_t, std::uint64_t> twice{tasks, [](const std::uint64_t& value) { return 2 * value; },
                                                 {.max_under_way = 64, .conveyor = {.buffer_bytes = 4096}}};
    std::uint64_t sum = 0;
    const auto ask = [&](std::size_t to) -> Task {
      sum += co_await twice(to, 1);
      co_await tasks.Yield();
      co_await tasks.Until([&] { return sum > 0; });
      sum += co_await twice((to + 1) % me.Size(), 2);
    };
    std::uint64_t num_rounds = 0;
    THAT(BecomesQuiet(me, [&] {
      for (int i = 0; i < 100; ++i)
        for (std::size_t to = 0; to < me.Size(); ++to) tasks.Start(ask, to);
      set.Finish();
      ++num_rounds;
    }));
    THAT(sum == num_rounds * 100 * me.Size() * 6);
    THAT(me.Size() == 1 || twice.Tally().waited > 0);
  });
}
