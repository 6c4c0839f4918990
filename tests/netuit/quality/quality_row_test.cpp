#include <netuit/quality/quality.hpp>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <netuit/results/quality_table.hpp>
#include <netuit/file/table.hpp>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "tests/support/catch.hpp"

using namespace std::chrono_literals;
using netuit::QualityRow;

namespace {

/// One second in which a worker made 100 updates.
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

TEST_CASE("The counts of a window are what was added since it began, field by field") {
  const netuit::ExchangeCounts before{1, 2, 30, 40, 50, 60, 70, 80, 90, 100, 110, 120};
  const netuit::ExchangeCounts window{0, 0, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12};
  netuit::ExchangeCounts now = before;
  now += window;
  netuit::ExchangeCounts expected = window;  // the numbers of channels are not differences
  expected.channels_out = 1;
  expected.channels_in = 2;
  CHECK(now.Since(before) == expected);
}

TEST_CASE("The period is time per update, and latency is updates per touch") {
  QualityRow row = Window();
  row.counts.touches = 40;
  CHECK(row.SimstepPeriod() == Approx(0.01));
  CHECK(row.SimstepLatency() == Approx(2.5));
  CHECK(row.WallLatency() == Approx(0.025));
}

TEST_CASE("The latency over several peers is the latency to one of them") {
  QualityRow row = Window();
  row.num_peers = 3;
  row.counts.touches = 120;
  CHECK(row.SimstepLatency() == Approx(2.5));
}

TEST_CASE("If no round trip ended, the latency exceeds the window") {
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

TEST_CASE("Messages that arrive one by one do not count as clumped, and those that arrive together do") {
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

TEST_CASE("In a table received messages are summed, and unread ones have their own column") {
  QualityRow row = Window();
  row.counts.dropped = 5;
  row.counts.stepped = 40;
  row.counts.skipped = 20;
  row.counts.folded = 30;
  row.counts.unread = 4;
  netuit::Table table{netuit::QualityColumns()};
  table.Row();
  netuit::AddQuality(table, row);
  std::istringstream text(table.Text());
  std::string line;
  std::getline(text, line);
  std::getline(text, line);
  std::istringstream fields(line + ',');
  std::vector<std::string> cells;
  for (std::string cell; std::getline(fields, cell, ',');) cells.push_back(cell);
  const std::vector<std::string_view> columns = netuit::QualityColumns();
  REQUIRE(cells.size() == columns.size());
  const auto value = [&](std::string_view name) {
    return std::stoull(cells.at(static_cast<std::size_t>(std::ranges::find(columns, name) - columns.begin())));
  };
  CHECK(value("accepted") == 95);
  CHECK(value("folded") == 30);
  CHECK(value("unread") == 4);
  CHECK(value("received") == value("stepped") + value("skipped") + value("folded"));
}
