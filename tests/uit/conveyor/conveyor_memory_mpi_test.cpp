// The memory of a conveyor between processes: no more than it says, and none that is allocated again and again.
#include <uit/conveyor/conveyor.hpp>

#include <atomic>
#include <cstddef>
#include <cstdint>

#include <uit/conveyor/conveyor_sizes.hpp>
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
  for (const std::uint32_t threads : {1U, 2U}) {
    CAPTURE(threads);
    Checks checks;
    Team{MpiTestWorld(), {.threads = threads}}.Run([&](Member& me) {
      Conveyor<std::uint64_t> conveyor{me, [](const std::uint64_t&) {}, {.buffer_bytes = 4096}};
      const auto work = [&] {
        for (int i = 0; i < 2000; ++i)
          for (std::size_t to = 0; to < me.Size(); ++to) conveyor.Push(to, 1);
        conveyor.Finish();
      };
      for (int round = 0; round < 3; ++round) FillAll(me, conveyor);
      // Some buffers are first needed when another member is late, so some rounds still allocate, but fewer and fewer.
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
      THAT(num_quiet == 5);
    });
  }
}
