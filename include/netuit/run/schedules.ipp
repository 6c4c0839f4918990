#pragma once

#include <memory>

#include <netuit/run/meetings.hpp>
#include <netuit/run/schedule.hpp>
#include <netuit/run/schedules.hpp>
#include <netuit/run/slack_tuner.hpp>
#include <uit/config.hpp>
#include <uit/support/error.hpp>

namespace netuit {

UIT_DEFINE RunPlan EveryUpdate::MakePlan() const {
  return {.mode = 0, .delivery = {.is_by_update = true}, .updates = updates, .duration = duration, .until = until,
          .steals = steals, .make = [] { return std::make_unique<detail::MeetingAlways>(); }};
}

UIT_DEFINE RunPlan Rolling::MakePlan() const {
  if (span.count() <= 0) throw uit::InputError("mode 1: the span between barriers must be greater than 0");
  return {.mode = 1, .updates = updates, .duration = duration, .until = until,
          .make = [between = span] { return std::make_unique<detail::MeetingAfterSpans>(between); }};
}

UIT_DEFINE RunPlan Fixed::MakePlan() const {
  if (period.count() <= 0) throw uit::InputError("mode 2: the period between barriers must be greater than 0");
  return {.mode = 2, .updates = updates, .duration = duration, .until = until,
          .make = [between = period] { return std::make_unique<detail::MeetingAtMultiples>(between); }};
}

UIT_DEFINE RunPlan Free::MakePlan() const {
  RunPlan plan{.mode = 3, .updates = updates, .duration = duration, .clock_every = clock_every, .slack = slack, .until = until,
               .votes_aside = until.has_value()};
  if (slack == automatic) {
    plan.slack = detail::SlackTuner::slacks.back();
    plan.make = [] { return std::make_unique<detail::TuningSlack>(); };
  } else {
    plan.make = [most = slack.value_or(detail::MeetingNever::unbounded)] { return std::make_unique<detail::MeetingNever>(most); };
  }
  return plan;
}

UIT_DEFINE RunPlan Isolated::MakePlan() const {
  return {.mode = 4, .delivery = {.is_muted = true}, .updates = updates, .duration = duration, .clock_every = clock_every,
          .make = [] { return std::make_unique<detail::MeetingNever>(); }};
}

UIT_DEFINE RunPlan Dataflow::MakePlan() const {
  return {.mode = 5, .delivery = {.is_by_update = true, .is_awaited = true}, .updates = updates, .duration = duration,
          .until = until, .steals = steals, .make = [span = lag] { return std::make_unique<detail::VotingAhead>(span); }};
}

}  // namespace netuit
