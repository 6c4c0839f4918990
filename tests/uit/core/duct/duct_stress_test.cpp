// Two threads on every duct that allows them; also for the thread sanitizer.

#include <cstdint>
#include <string>
#include <tuple>

#include "tests/support/catch.hpp"
#include "tests/support/duct_stress.hpp"
#include "tests/support/goal.hpp"
#include "tests/uit/core/support/sanitized.hpp"
#include "tests/uit/core/support/subjects.hpp"

namespace {

using uit::testing::ConduitSubject;
using uit::testing::DuctSubject;

// A sanitizer finds a race within 2000 messages, if there is one.
std::uint64_t NumMessages() {
  if (uit::testing::is_sanitized || !uit::testing::is_optimized) return 100'000;
  return uit::testing::PerCommitOrNight<std::uint64_t>(10'000'000, 1'000'000'000);
}

using Subjects = std::tuple<
    DuctSubject<uit::testing::every_drop, uit::Spsc>,
    DuctSubject<uit::testing::every_grow, uit::Spsc>,
    DuctSubject<uit::latest, uit::Spsc>,
    DuctSubject<uit::testing::accumulate, uit::Spsc>,
    ConduitSubject<uit::testing::every_drop, uit::Thread>,
    ConduitSubject<uit::testing::every_grow, uit::Thread, uit::TransportSet<uit::Thread>>,
    ConduitSubject<uit::latest, uit::Thread>,
    ConduitSubject<uit::testing::accumulate, uit::Thread>>;

std::size_t num_shown = 0;  // subjects that passed

}  // namespace

TEMPLATE_LIST_TEST_CASE("Two threads exchange every message once, in order and whole", "", Subjects) {
  SECTION("through a roomy buffer") {
    uit::testing::CheckStress<TestType>(64, NumMessages());
    ++num_shown;
  }
  SECTION("through the smallest") {
    uit::testing::CheckStress<TestType>(1, NumMessages() / 100);
  }
}

TEST_CASE("So it is for every duct") {
  CHECK(num_shown == std::tuple_size_v<Subjects>);
  uit::testing::PrintGoal("R1", std::to_string(NumMessages()) + " messages through each of " + std::to_string(num_shown) +
                                    " ducts and conduits between threads");
}
