// Two threads of each process share a fabric, and only one of them calls MPI at a time.

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <memory>
#include <thread>

#include "tests/support/catch.hpp"
#include "tests/support/pmpi/watch.hpp"
#include "tests/uit/exchange/support/policies.hpp"
#include "tests/uit/mpi/support/ring.hpp"

using namespace uit;
using namespace uit::testing;
using namespace std::chrono_literals;

namespace {

// For each conduit, unless the machine is too busy for that many.
constexpr std::uint64_t num_messages = 30'000;
constexpr auto time_for_all = 3s;
// That many must arrive, however busy the machine is and under any sanitizer.
constexpr std::uint64_t num_required = 1000;
constexpr auto patience = 60s;

}  // namespace

TEST_CASE("Two threads of a process share its links and lose nothing") {
  using Message = Load<64>;
  constexpr std::size_t num_threads = 2;
  const World world = TheWorld();
  const RingPlace place{world};
  Fabric fabric{world, {.num_workers = num_threads, .shares_memory = GENERATE(true, false)}};
  struct Worker {
    RingEnds<Message, every> all;
    RingEnds<Message, latest> newest;
    bool has_come_far = false;

    void Work() {
      all.TryPut(num_messages);
      newest.TryPut(num_messages);
      all.TryStep();
      newest.TryStep();
    }
    bool IsAt(std::uint64_t number) const {
      return std::min({all.num_put, all.num_got, newest.num_put, newest.num_got}) >= number;
    }
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

  std::array<std::thread, num_threads> threads;
  for (std::size_t thread = 0; thread < num_threads; ++thread) {
    threads[thread] = std::thread([&worker = *workers[thread]] {
      const auto work_to = [&](std::uint64_t number, Deadline deadline) {
        const auto is_there = [&] {
          worker.Work();
          return worker.IsAt(number);
        };
        return WaitUntil(is_there, deadline);
      };
      work_to(num_messages, After(time_for_all));
      worker.has_come_far = work_to(num_required, After(patience));
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (auto& worker : workers) {
    worker->all.inlet.HandOver();
    worker->all.outlet.HandOver();
    worker->newest.inlet.HandOver();
    worker->newest.outlet.HandOver();
  }
  CHECK(fabric.Close(After(patience)));  // other processes may still be busy
  for (auto& worker : workers) {
    CHECK(worker->has_come_far);
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
