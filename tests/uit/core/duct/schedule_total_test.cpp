// Checks of everything that the cases before have explored. So this file comes last, and is meaningless by itself.
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <string>
#include <vector>

#include "tests/support/catch.hpp"
#include "tests/support/order_sweep.hpp"
#include "tests/support/schedule_count.hpp"

using namespace uit::testing;

TEST_CASE("There were many schedules") {
  const auto wanted = is_sanitized ? 50'000 : PerCommitOrNight<std::uint64_t>(1'000'000, 10'000'000);  // sanitized with a lower bound
  CHECK(ScheduleCount::Get().NumSchedules() >= wanted);
}

TEST_CASE("At least a fifth of the schedules are of memory that processes share") {
  CHECK(ScheduleCount::Get().NumBetweenProcesses() > 0);
  CHECK(5 * ScheduleCount::Get().NumBetweenProcesses() >= ScheduleCount::Get().NumPerCommit());
}

TEST_CASE("Every memory order stronger than relaxed occurs in a scenario") {
  const auto& structures = ScheduleCount::Get().Structures();
  CHECK(OrdersMet(structures).size() >= 30);
  const std::vector<UnexploredHeader> exceptions{
      {"netuit/replay/record_writer.hpp", "the other side reads a file, not an atomic"},
      {"uit/support/peer_watch.hpp", "the other side is a thread in poll(), which the explorer cannot suspend"},
      {"uit/support/peer_watch.ipp", "the same"}};
  std::vector<std::string> unmet = UnmetOrders(structures, UIT_TEST_INCLUDE_DIR, exceptions);
  const auto is_of_netuit = [](const std::string& header) { return header.starts_with("netuit/"); };
  // A build without netuit does not have its scenarios.
  if (std::ranges::none_of(OrdersMet(structures), is_of_netuit, HeaderOf)) std::erase_if(unmet, is_of_netuit);
  CHECK(unmet == std::vector<std::string>{});
}

TEST_CASE("Each memory order is needed: a schedule fails if it is weakened") {
  if (is_sanitized) {
    std::printf("left out under a sanitizer, which sees the same code in the cases before: each order weakened\n");
    return;
  }
  CHECK(UnnoticedOrders(ScheduleCount::Get().Structures()) == std::vector<std::string>{});
}
