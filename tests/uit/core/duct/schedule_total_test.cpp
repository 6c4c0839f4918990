#include "tests/support/catch.hpp"
#include "tests/support/schedule_count.hpp"

using uit::testing::ScheduleCount;

TEST_CASE("There were many schedules") {
  if (uit::testing::PreemptionBound() >= 3) CHECK(ScheduleCount::Get().NumSchedules() >= uit::testing::PerCommitOrNight(100'000U, 10'000'000U));
}
