// Two threads on every duct that allows them; meant for the thread sanitizer, too.

#include <cstdint>
#include <tuple>
#include <type_traits>

#include "tests/support/catch.hpp"
#include "tests/support/duct_stress.hpp"
#include "tests/uit/core/support/sanitized.hpp"
#include "tests/uit/core/support/subjects.hpp"

namespace {

using uit::testing::ConduitSubject;
using uit::testing::DuctSubject;

// A sanitizer finds a race within 2000 messages, if there is one.
constexpr std::uint64_t num_messages = uit::testing::is_sanitized ? 100'000 : 1'000'000;

using Subjects = std::tuple<
    DuctSubject<uit::testing::every_drop, uit::Spsc>,
    DuctSubject<uit::testing::every_grow, uit::Spsc>,
    DuctSubject<uit::testing::latest, uit::Spsc>,
    DuctSubject<uit::testing::accumulate, uit::Spsc>,
    ConduitSubject<uit::testing::every_drop, uit::Thread>,
    ConduitSubject<uit::testing::every_grow, uit::Thread, uit::Wiring<uit::Thread>>,
    ConduitSubject<uit::testing::latest, uit::Thread>,
    ConduitSubject<uit::testing::accumulate, uit::Thread>>;

}  // namespace

TEMPLATE_LIST_TEST_CASE("Two threads lose, repeat, reorder and tear nothing", "", Subjects) {
  SECTION("through a roomy buffer") {
    uit::testing::CheckStress<TestType>(64, num_messages);
  }
  SECTION("through the smallest") {
    uit::testing::CheckStress<TestType>(1, num_messages / 10);
  }
}
