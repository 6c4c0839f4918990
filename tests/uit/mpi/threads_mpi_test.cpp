// Two threads of each process share a fabric, and MPI is called by one of them at a time.

#include <array>
#include <chrono>
#include <cstdint>
#include <memory>
#include <thread>

#include "tests/support/catch.hpp"
#include "tests/support/pmpi/watch.hpp"
#include "tests/uit/mpi/support/ring.hpp"

using namespace uit;
using namespace uit::testing;
using namespace std::chrono_literals;

namespace {

constexpr Policy every{};
constexpr Policy latest{.retain = Retain::latest};

}  // namespace

TEST_CASE("Two threads of a process share its wires, and lose nothing") {
  using Message = Load<64>;
  constexpr std::size_t num_threads = 2;
  constexpr std::uint64_t last = 30'000;
  const World world = TheWorld();
  const RingPlace place{world};
  Fabric fabric{world, {.num_workers = num_threads, .shares_memory = GENERATE(true, false)}};
  struct Worker {
    RingEnds<Message, every> all;
    RingEnds<Message, latest> newest;
  };
  std::array<std::unique_ptr<Worker>, num_threads> workers;
  for (std::size_t thread = 0; thread < num_threads; ++thread) {
    const auto options = [thread](std::uint32_t layer) {
      return Process{.key = {.channel = thread, .layer = layer}, .worker = thread};
    };
    workers[thread] =
        std::make_unique<Worker>(Worker{.all = {fabric, place, options(0)}, .newest = {fabric, place, options(1)}});
  }
  fabric.Connect();

  const Deadline end_of_puts = After(3s);
  std::array<std::thread, num_threads> threads;
  for (std::size_t thread = 0; thread < num_threads; ++thread) {
    threads[thread] = std::thread([&worker = *workers[thread], end_of_puts] {
      WaitUntil(
          [&] {
            worker.all.TryPut(last);
            worker.newest.TryPut(last);
            worker.all.TryStep();
            worker.newest.TryStep();
            return worker.all.num_got == last && worker.newest.num_got == last && worker.all.num_put == last &&
                   worker.newest.num_put == last;
          },
          end_of_puts);
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (auto& worker : workers) {
    worker->all.inlet.HandOver();
    worker->all.outlet.HandOver();
    worker->newest.inlet.HandOver();
    worker->newest.outlet.HandOver();
  }
  CHECK(fabric.Close());
  for (auto& worker : workers) {
    const auto check = [&](auto& ends) {
      while (ends.TryStep()) {
      }
      CHECK(ends.is_right);
      const Tally tally = JoinTallies(world, place, ends.inlet.Tally(), ends.outlet.Tally());
      CHECK(tally.Balanced());
      CHECK(ends.num_got == tally.put.Accepted());
    };
    check(worker->all);
    check(worker->newest);
  }
  CHECK(pmpi::NumOverlaps() == 0);
  CHECK(pmpi::NumPending() == 0);
}
