// The main of every test that runs in one process.
#include "tests/support/catch_runner.hpp"
#include "tests/support/skip.hpp"

int main(int argc, char** argv) {
  const int failed = RunTests(argc, argv);
  return failed == 0 && uit::testing::IsAnythingSkipped() ? uit::testing::skipped_code : failed;
}
