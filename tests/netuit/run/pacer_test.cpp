// When workers meet and when their time is up, by a clock that the test sets.
#include <netuit/run/pacer.hpp>

#include <chrono>
#include <netuit/run/run_options.hpp>
#include <uit/support/clock.hpp>

#include "tests/support/catch.hpp"

using namespace std::chrono_literals;
using netuit::AsyncMode;
using netuit::Pacer;
using netuit::RunOptions;

namespace {

const uit::TimePoint start = uit::TimePoint{} + 1h;
constexpr auto longest = std::chrono::nanoseconds::max();

}  // namespace

TEST_CASE("A rolling span counts from the end of the barrier before it") {
  const RunOptions options{.mode = AsyncMode::rolling, .rolling_span = 10ms};
  Pacer pacer{options};
  pacer.Start(start);
  CHECK_FALSE(pacer.IsBarrierDue(start + 9ms));
  CHECK(pacer.IsBarrierDue(start + 10ms));
  pacer.Continue(start + 17ms, 0);
  CHECK_FALSE(pacer.IsBarrierDue(start + 26ms));
  CHECK(pacer.IsBarrierDue(start + 27ms));
}

TEST_CASE("Barriers of a fixed period are at its multiples, and none is made up for") {
  const RunOptions options{.mode = AsyncMode::fixed, .fixed_period = 10ms};
  Pacer pacer{options};
  pacer.Start(start);
  CHECK_FALSE(pacer.IsBarrierDue(start + 9ms));
  CHECK(pacer.IsBarrierDue(start + 10ms));
  CHECK(pacer.ProposeNext(start + 10ms) == 2);
  CHECK(pacer.ProposeNext(start + 5ms) == 2);  // by a clock that is behind, who has been fetched early
  CHECK(pacer.ProposeNext(start + 35ms) == 4);
  pacer.Continue(start + 36ms, 4);
  CHECK_FALSE(pacer.IsBarrierDue(start + 39ms));
  CHECK(pacer.IsBarrierDue(start + 40ms));
  pacer.Continue(start + 41ms, 7);  // as another brought it
  CHECK_FALSE(pacer.IsBarrierDue(start + 69ms));
  CHECK(pacer.IsBarrierDue(start + 70ms));
  CHECK(pacer.ProposeNext(start + 70ms) == 8);
}

TEST_CASE("A run is over when it has lasted as long as it shall, or never") {
  const RunOptions options{.duration = 1s};
  Pacer pacer{options};
  pacer.Start(start);
  CHECK_FALSE(pacer.IsOver(start + 999ms));
  CHECK(pacer.IsOver(start + 1s));
  CHECK(pacer.Elapsed(start + 1s) == 1s);
  for (const auto endless : {0ns, longest}) {
    const RunOptions no_end{.mode = AsyncMode::fixed, .duration = endless, .fixed_period = longest};
    Pacer never{no_end};
    never.Start(start);
    CHECK_FALSE(never.IsOver(start + 100'000h));
    CHECK_FALSE(never.IsBarrierDue(start + 100'000h));
  }
}

TEST_CASE("A barrier waits for the time of an update and then for the timeout of a silent peer") {
  const auto patience = [](const RunOptions& options) { return Pacer{options}.Patience(); };
  CHECK(patience({}) == 60s);
  CHECK(RunOptions{}.peer_timeout == 60s);
  CHECK(RunOptions{}.warn_after == 5s);
  CHECK(patience({.peer_timeout = 2s}) == 2s);
  CHECK(patience({.mode = AsyncMode::rolling, .rolling_span = 3s, .fixed_period = 5s, .peer_timeout = 2s}) == 5s);
  CHECK(patience({.mode = AsyncMode::fixed, .rolling_span = 3s, .fixed_period = 5s, .peer_timeout = 2s}) == 7s);
  CHECK(patience({.mode = AsyncMode::fixed, .fixed_period = longest, .peer_timeout = 2s}) == longest);
}
