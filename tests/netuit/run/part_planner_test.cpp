// How long the parts of a run are, when no clock may end them.
#include <netuit/run/part_planner.hpp>

#include <chrono>
#include <cstdint>
#include <netuit/run/run_options.hpp>
#include <netuit/run/schedule.hpp>

#include "tests/support/catch.hpp"

using namespace netuit;
using namespace std::chrono_literals;
using netuit::detail::PartLimits;
using netuit::detail::PartPlanner;

TEST_CASE("A part has the updates that fit its time, at least one and at most eight times those of the part before") {
  const PartLimits limits{.every = 1s};
  PartPlanner planner{RunPlan{.updates = 1'000'000}, limits, 1};
  struct Part {
    std::uint64_t updates;
    std::chrono::nanoseconds took;
  };
  for (const auto& [updates, took] :
       {Part{64, 250ms}, Part{256, 1ms}, Part{2048, 4s}, Part{512, 1h}, Part{1, 0s}, Part{8, 1s}, Part{8, 2s}}) {
    CHECK(planner.Next().updates == updates);
    CHECK(planner.GoesOn(StopReason::count, updates, took));
  }
  CHECK(planner.Done() == 64 + 256 + 2048 + 512 + 1 + 8 + 8);
  CHECK(planner.Elapsed() == 1h + 7s + 251ms);
}

TEST_CASE("Parts end where all networks are due, and the last one where the run ends") {
  const PartLimits limits{.every = 1s};
  PartPlanner planner{RunPlan{.updates = 100}, limits, 3};
  CHECK(planner.Next().updates == 66);
  CHECK(planner.GoesOn(StopReason::count, 66, 33s));
  CHECK(planner.Next().updates == 3);
  CHECK(planner.GoesOn(StopReason::count, 3, 30ms));
  CHECK(planner.Next().updates == 24);
  CHECK(planner.GoesOn(StopReason::count, 24, 1s));
  CHECK(planner.Next().updates == 7);
  CHECK_FALSE(planner.GoesOn(StopReason::count, 7, 1s));
}
