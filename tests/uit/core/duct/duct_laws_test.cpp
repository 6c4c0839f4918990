// Every duct in shared memory, by itself and between an Inlet and an Outlet, keeps every law.

#include "tests/support/catch.hpp"
#include "tests/support/duct_laws.hpp"
#include "tests/uit/core/support/subjects.hpp"

TEMPLATE_LIST_TEST_CASE("A duct between threads keeps the laws of ducts", "",
                        uit::testing::InProcessSubjects) {
  uit::testing::CheckLaws<TestType>();
}
