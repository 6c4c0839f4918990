// The decisions of schedules, with a clock that the test sets.
#include <netuit/run/schedules.hpp>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <iterator>
#include <memory>
#include <random>

#include <netuit/run/modes.hpp>
#include <netuit/run/run_options.hpp>
#include <netuit/run/schedule.hpp>
#include <netuit/run/slack_tuner.hpp>
#include <uit/support/clock.hpp>
#include <uit/support/error.hpp>

#include "tests/support/catch.hpp"

using namespace netuit;
using namespace std::chrono_literals;

namespace {

const uit::TimePoint start = uit::TimePoint{} + 1h;
constexpr auto longest = std::chrono::nanoseconds::max();

/// A worker's schedule, which starts at `start`.
std::unique_ptr<Schedule> Begun(const auto& value) {
  auto schedule = value.MakePlan().make();
  schedule->Start(start);
  return schedule;
}
Step At(Schedule& schedule, uit::TimePoint now) { return schedule.Next({.now = now, .num_updates = 3}); }

}  // namespace

TEST_CASE("Mode 0 meets after every update, whatever else there is, until all have agreed to stop") {
  const auto schedule = Begun(EveryUpdate{});
  CHECK(schedule->Next({.num_updates = 0, .is_to_stop = true}) == Step::update);
  CHECK(schedule->Next({.num_updates = 1, .is_to_stop = true}) == Step::meet);
  CHECK(schedule->Next({.num_updates = 1, .has_made_all = true}) == Step::update);  // since the others continue
  CHECK(schedule->Next({.num_updates = 2}) == Step::meet);
  CHECK(Begun(EveryUpdate{})->Next({.has_made_all = true}) == Step::stop);
}

TEST_CASE("Modes 1 and 2 meet when they are done or are to stop, so that all end together") {
  for (const auto& schedule : {Begun(Rolling{}), Begun(Fixed{})}) {
    CHECK(schedule->Next({.now = start}) == Step::update);
    CHECK(schedule->Next({.now = start, .has_made_all = true}) == Step::meet);
    CHECK(schedule->Next({.now = start, .is_to_stop = true}) == Step::meet);
  }
}

TEST_CASE("Modes 3 and 4 meet nobody") {
  for (const auto& schedule : {Begun(Free{}), Begun(Isolated{})}) {
    CHECK(schedule->Next({.now = start + 1000h}) == Step::update);
    CHECK(schedule->Next({.now = start, .has_made_all = true}) == Step::stop);
    CHECK(schedule->Next({.now = start, .is_to_stop = true}) == Step::stop);
  }
}

TEST_CASE("Mode 3 waits while another worker is further behind than the slack, unless it is to stop") {
  const auto schedule = Begun(Free{.slack = 2});
  CHECK(schedule->Next({.now = start, .num_behind = 2}) == Step::update);
  CHECK(schedule->Next({.now = start, .num_behind = 3}) == Step::wait);
  CHECK(schedule->Next({.now = start, .num_behind = 3, .is_to_stop = true}) == Step::stop);
  CHECK(schedule->Next({.now = start, .num_behind = 3, .has_made_all = true}) == Step::stop);
  CHECK(Begun(Free{.slack = 0})->Next({.now = start, .num_behind = 1}) == Step::wait);
  CHECK(Begun(Free{})->Next({.now = start, .num_behind = 1000}) == Step::update);
  CHECK_FALSE(Free{}.MakePlan().slack);
}

TEST_CASE("With an automatic slack, mode 3 waits within the largest slack, and never when it is to stop") {
  const auto schedule = Begun(Free{.slack = automatic});
  CHECK(schedule->Next({.now = start, .num_behind = 0}) == Step::update);
  CHECK(schedule->Next({.now = start, .num_behind = 1}) == Step::wait);
  CHECK(schedule->Next({.now = start, .num_behind = 1000, .is_to_stop = true}) == Step::stop);
  const auto apart = Begun(Free{.slack = automatic});
  CHECK(apart->Next({.now = start, .num_behind = detail::SlackTuner::slacks.back(), .is_apart = true}) == Step::update);
  CHECK(apart->Next({.now = start, .num_behind = detail::SlackTuner::slacks.back() + 1, .is_apart = true}) == Step::wait);
  CHECK(Free{.slack = automatic}.MakePlan().slack == detail::SlackTuner::slacks.back());
}

TEST_CASE("An automatic slack finds the best one by trial, stays there, and follows a change") {
  constexpr std::size_t last = detail::SlackTuner::slacks.size() - 1;
  for (const std::size_t best : {std::size_t{0}, std::size_t{1}, std::size_t{3}, last}) {
    for (const double noise : {0.0, 0.05}) {
      const bool begins_with_most = noise == 0 && best == 1;
      detail::SlackTuner tuner(begins_with_most);
      CHECK(tuner.Slack() == (begins_with_most ? detail::SlackTuner::slacks.back() : 0));
      std::minstd_rand random{7};
      uit::TimePoint now = start;
      double num_effective = 0;
      const auto share_at = [&](std::size_t top, int num_spans) {  // of the last half of the spans with the best slack
        int num_best = 0;
        for (int span = 0; span < num_spans; ++span) {
          const auto slack = std::ranges::find(detail::SlackTuner::slacks, tuner.Slack());
          const auto distance = std::abs(slack - detail::SlackTuner::slacks.begin() - static_cast<std::ptrdiff_t>(top));
          const double factor = 1 + noise * (static_cast<double>(random() % 1000) / 500 - 1);
          num_best += span >= num_spans / 2 && distance == 0 ? 1 : 0;
          now += 10ms;
          num_effective += 1000 * factor * std::pow(0.8, static_cast<double>(distance));
          tuner.Look(now, static_cast<std::uint64_t>(num_effective), static_cast<std::uint64_t>(num_effective));
        }
        return 2.0 * num_best / num_spans;
      };
      CAPTURE(best, noise);
      CHECK(share_at(best, 400) > 0.9);
      CHECK(share_at(last - best, 800) > 0.9);
    }
  }
}

TEST_CASE("Mode 5 votes at once, then after as many updates as take a millisecond, and makes no update too many") {
  const auto schedule = Begun(Dataflow{});
  CHECK(schedule->Next({.num_updates = 0}) == Step::vote);
  CHECK(schedule->Propose(start) == 2);
  schedule->Met(start, 0);  // there is no vote before
  CHECK(schedule->Next({.num_updates = 0, .is_to_stop = true}) == Step::update);  // since all stop after the same update
  CHECK(schedule->Next({.num_updates = 1}) == Step::vote);
  schedule->Met(start + 1us, 6);
  CHECK(schedule->Next({.num_updates = 6}) == Step::update);
  CHECK(schedule->Next({.num_updates = 7, .has_made_all = true}) == Step::vote);
  CHECK(schedule->Propose(start + 10us) == 12);
  CHECK(schedule->Propose(start + 3ms + 1us) == 2);  // 6 updates took 3 ms
  CHECK(schedule->Propose(start + 1h) == 1);
  schedule->Met(start + 10us, 60);
  CHECK(schedule->Propose(start + 11us) == 64);
  CHECK(schedule->Next({.num_updates = 8, .has_made_all = true}) == Step::stop);
  CHECK(schedule->Next({.num_updates = 66}) == Step::update);
  CHECK(schedule->Next({.num_updates = 67}) == Step::vote);
}

TEST_CASE("A rolling span counts from the end of the barrier before it") {
  const auto schedule = Begun(Rolling{.span = 10ms});
  CHECK(At(*schedule, start + 9ms) == Step::update);
  CHECK(At(*schedule, start + 10ms) == Step::meet);
  CHECK(schedule->CountsFromBarriers());
  schedule->Met(start + 17ms, 0);
  CHECK(At(*schedule, start + 26ms) == Step::update);
  CHECK(At(*schedule, start + 27ms) == Step::meet);
}

TEST_CASE("Barriers of a fixed period are at its multiples, and missed ones are skipped") {
  const auto schedule = Begun(Fixed{.period = 10ms});
  CHECK(At(*schedule, start + 9ms) == Step::update);
  CHECK(At(*schedule, start + 10ms) == Step::meet);
  CHECK(schedule->Propose(start + 10ms) == 2);
  CHECK(schedule->Propose(start + 5ms) == 2);  // a worker that came early, by a clock that is behind
  CHECK(schedule->Propose(start + 35ms) == 4);
  schedule->Met(start + 36ms, 4);
  CHECK(At(*schedule, start + 39ms) == Step::update);
  CHECK(At(*schedule, start + 40ms) == Step::meet);
  schedule->Met(start + 41ms, 7);  // another worker has proposed it
  CHECK(At(*schedule, start + 69ms) == Step::update);
  CHECK(At(*schedule, start + 70ms) == Step::meet);
  CHECK(schedule->Propose(start + 70ms) == 8);
  CHECK(At(*Begun(Fixed{.period = longest}), start + 100'000h) == Step::update);
  CHECK(At(*Begun(Rolling{.span = longest}), start + 100'000h) == Step::update);
}

TEST_CASE("A run ends after its duration, or never") {
  CHECK(Free{.duration = 1s}.MakePlan().End(start) == start + 1s);
  for (const auto endless : {0ns, longest}) CHECK(Fixed{.duration = endless}.MakePlan().End(start) == uit::never);
}

TEST_CASE("A barrier waits for the time of an update and then for the timeout of a silent peer") {
  CHECK(RunOptions{}.peer_timeout == 60s);
  CHECK(RunOptions{}.warn_after == 5s);
  CHECK(Begun(EveryUpdate{})->Patience(60s) == 60s);
  CHECK(Begun(Free{})->Patience(2s) == 2s);
  CHECK(Begun(Rolling{.span = 3s})->Patience(2s) == 5s);
  CHECK(Begun(Fixed{.period = 5s})->Patience(2s) == 7s);
  CHECK(Begun(Fixed{.period = longest})->Patience(2s) == longest);
}

TEST_CASE("Options that cannot be are refused with a message") {
  const auto refuses = [](const auto& change, const char* words) {
    RunOptions options;
    change(options);
    CHECK_THROWS_WITH(CheckOptions(options), words);
  };
  CHECK_NOTHROW(CheckOptions(RunOptions{}));
  for (const auto span : {0ns, std::chrono::nanoseconds(-1)}) {
    refuses([&](RunOptions& options) { options.peer_timeout = span; }, "peer_timeout must be greater than 0");
    refuses([&](RunOptions& options) { options.quality = {.interval = 1s, .length = span}; }, "quality.length must be greater than 0");
    refuses([&](RunOptions& options) { options.timeline.count_interval = span; }, "timeline.count_interval must be greater than 0");
  }
  refuses([](RunOptions& options) { options.quality.interval = -1ns; }, "quality.interval must not be negative");
  RunOptions least{.peer_timeout = 1ns};
  least.quality = {.interval = 1ns, .length = 1ns};
  least.timeline.count_interval = 1ns;
  CHECK_NOTHROW(CheckOptions(least));
  least.quality = {.interval = 0ns, .length = 0ns};  // no snapshots
  CHECK_NOTHROW(CheckOptions(least));
}

TEST_CASE("The plan of a mode has its number, and settings of its own") {
  for (const Mode& mode : mode_table) {
    const RunPlan plan = ScheduleOf(mode.number, {.updates = 7, .span = 2s, .period = 3s});
    CHECK(plan.mode == static_cast<std::uint32_t>(mode.number));
    CHECK(plan.updates == 7);
    const auto between = mode.number == AsyncMode::rolling ? 2s : mode.number == AsyncMode::fixed ? 3s : 0s;
    CHECK(plan.make()->Span() == between);
  }
  const auto beyond = static_cast<std::uint32_t>(std::size(mode_table));
  CHECK_THROWS_WITH(ScheduleOf(AsyncMode{beyond}, {}), "asynchronicity mode 6 is not one of 0 to 5");
}

TEST_CASE("An impossible schedule is refused with a message") {
  CHECK_THROWS_WITH(Free{.duration = -1ns}.MakePlan().Check(), "duration must not be negative");
  CHECK_THROWS_WITH(Free{.clock_every = 0}.MakePlan().Check(), "clock_every must be at least 1");
  CHECK_THROWS_WITH(Dataflow{.steals = Steals{.shortest = -1ns}}.MakePlan().Check(), "the shortest time of steals must not be negative");
  CHECK_NOTHROW(EveryUpdate{.steals = Steals{.shortest = 0ns}}.MakePlan().Check());
  CHECK_THROWS_WITH(Rolling{.span = 0ns}.MakePlan(), "mode 1: the span between barriers must be greater than 0");
  CHECK_THROWS_WITH(Fixed{.period = -1ns}.MakePlan(), "mode 2: the period between barriers must be greater than 0");
}
