#include "tests/support/catch.hpp"
#include "tests/support/schedule_count.hpp"

using namespace uit::testing;

TEST_CASE("There were many schedules") {
  if (is_sanitized) return;
  CHECK(ScheduleCount::Get().NumSchedules() >= PerCommitOrNight<std::uint64_t>(100'000, 10'000'000));
}
