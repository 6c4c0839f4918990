// Checks of everything that the cases before have explored. So this file comes last, and is meaningless by itself.
#include <cstdint>
#include <string>
#include <vector>

#include "tests/support/catch.hpp"
#include "tests/support/order_sweep.hpp"
#include "tests/support/schedule_count.hpp"

using namespace uit::testing;

TEST_CASE("There were many schedules") {
  if (is_sanitized) return;
  CHECK(ScheduleCount::Get().NumSchedules() >= PerCommitOrNight<std::uint64_t>(100'000, 10'000'000));
}

TEST_CASE("At least a fifth of the schedules are of memory that processes share") {
  CHECK(ScheduleCount::Get().NumBetweenProcesses() > 0);
  CHECK(5 * ScheduleCount::Get().NumBetweenProcesses() >= ScheduleCount::Get().NumPerCommit());
}

TEST_CASE("Every memory order stronger than relaxed occurs in a scenario") {
  const auto& structures = ScheduleCount::Get().Structures();
  CHECK(OrdersMet(structures).size() >= 30);
  CHECK(UnmetOrders(structures, UIT_TEST_INCLUDE_DIR) == std::vector<std::string>{});
}

TEST_CASE("Each memory order is needed: a schedule fails if it is weakened") {
  if (is_sanitized) return;
  CHECK(UnnoticedOrders(ScheduleCount::Get().Structures()) == std::vector<std::string>{});
}
