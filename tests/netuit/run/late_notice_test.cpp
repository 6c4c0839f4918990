// A long wait is reported once, however long its tries are.
#include <netuit/run/late_notice.hpp>

#include <chrono>
#include <thread>

#include "tests/support/catch.hpp"

using namespace std::chrono_literals;
using netuit::detail::LateNotice;

TEST_CASE("A wait whose tries are long is reported in time, and once") {
  LateNotice notice(20ms);
  int num_said = 0;
  for (int i = 0; i < 50; ++i) {
    std::this_thread::sleep_for(2ms);
    notice.Try([&] { ++num_said; });
  }
  CHECK(num_said == 1);
}

TEST_CASE("A short wait is not reported") {
  LateNotice notice(1h);
  LateNotice endless(std::chrono::nanoseconds::max());
  for (int i = 0; i < 1000; ++i) {
    notice.Try([] { FAIL("said"); });
    endless.Try([] { FAIL("said"); });
  }
  SUCCEED();
}
