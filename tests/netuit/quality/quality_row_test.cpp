#include <netuit/quality/quality.hpp>

#include <chrono>
#include <cmath>

#include "tests/support/catch.hpp"

using namespace std::chrono_literals;
using netuit::QualityRow;

namespace {

/// A second in which a worker made 100 updates.
QualityRow Window() {
  QualityRow row;
  row.begin = 1s;
  row.end = 2s;
  row.num_updates = 100;
  row.counts.channels_in = row.counts.channels_out = 1;
  row.counts.attempted = 100;
  return row;
}

}  // namespace

TEST_CASE("The period is time per update, and latency is updates per touch") {
  QualityRow row = Window();
  row.counts.touches = 40;
  CHECK(row.SimstepPeriod() == Approx(0.01));
  CHECK(row.SimstepLatency() == Approx(2.5));
  CHECK(row.WallLatency() == Approx(0.025));
}

TEST_CASE("Over several peers latency is that to one of them") {
  QualityRow row = Window();
  row.num_peers = 3;
  row.counts.touches = 120;
  CHECK(row.SimstepLatency() == Approx(2.5));
}

TEST_CASE("Where no round trip ended latency exceeds the window") {
  CHECK(Window().SimstepLatency() == Approx(100));
}

TEST_CASE("Without messages both ways there is no latency by touches") {
  QualityRow row = Window();
  row.counts.attempted = 0;
  CHECK(std::isnan(row.SimstepLatency()));
  row = Window();
  row.counts.channels_in = 0;
  CHECK(std::isnan(row.SimstepLatency()));
}

TEST_CASE("Refused puts are failures") {
  QualityRow row = Window();
  row.counts.attempted = 0;
  CHECK(std::isnan(row.FailureRate()));
  row.counts.attempted = 10;
  row.counts.dropped = 4;
  CHECK(row.FailureRate() == Approx(0.4));
}

TEST_CASE("Messages that come one by one are not clumped, and those that come together are") {
  QualityRow row = Window();
  CHECK(std::isnan(row.Clumpiness()));
  row.counts.pulls = 100;
  row.counts.stepped = row.counts.laden = 10;
  CHECK(row.Clumpiness() == Approx(0));
  row.counts.laden = 1;
  CHECK(row.Clumpiness() == Approx(0.9));
  row.counts.stepped = 1000;  // more messages than pulls
  CHECK(row.Clumpiness() == Approx(0.99));
}

TEST_CASE("Messages overtaken by newer ones are skipped, on whichever side") {
  QualityRow row = Window();
  CHECK(std::isnan(row.SkipRate()));
  row.counts.stepped = 5;
  row.counts.skipped = 2;
  row.counts.preempted = 3;
  CHECK(row.SkipRate() == Approx(0.5));
}
