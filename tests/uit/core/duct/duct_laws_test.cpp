// Every duct within a process keeps every law, by itself and between an Inlet and an Outlet.

#include "tests/support/catch.hpp"
#include "tests/support/duct_laws.hpp"
#include "tests/uit/core/support/subjects.hpp"

TEMPLATE_LIST_TEST_CASE("A duct between threads keeps the laws of ducts", "",
                        uit::testing::InProcessSubjects) {
  uit::testing::CheckLaws<TestType>();
}
