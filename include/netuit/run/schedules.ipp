#pragma once

#include <memory>

#include <netuit/run/schedule.hpp>
#include <netuit/run/schedules.hpp>
#include <uit/config.hpp>
#include <uit/support/error.hpp>

namespace netuit {

UIT_DEFINE RunPlan EveryUpdate::MakePlan() const {
  return {.mode = 0, .delivery = {.is_by_update = true}, .updates = updates, .duration = duration,
          .make = [] { return std::make_unique<detail::MeetingAlways>(); }};
}

UIT_DEFINE RunPlan Rolling::MakePlan() const {
  if (span.count() <= 0) throw uit::InputError("mode 1: the span between barriers must be greater than 0");
  return {.mode = 1, .updates = updates, .duration = duration,
          .make = [between = span] { return std::make_unique<detail::MeetingAfterSpans>(between); }};
}

UIT_DEFINE RunPlan Fixed::MakePlan() const {
  if (period.count() <= 0) throw uit::InputError("mode 2: the period between barriers must be greater than 0");
  return {.mode = 2, .updates = updates, .duration = duration,
          .make = [between = period] { return std::make_unique<detail::MeetingAtMultiples>(between); }};
}

UIT_DEFINE RunPlan Free::MakePlan() const {
  return {.mode = 3, .updates = updates, .duration = duration, .clock_every = clock_every,
          .make = [] { return std::make_unique<detail::MeetingNever>(); }};
}

UIT_DEFINE RunPlan Isolated::MakePlan() const {
  return {.mode = 4, .delivery = {.is_muted = true}, .updates = updates, .duration = duration, .clock_every = clock_every,
          .make = [] { return std::make_unique<detail::MeetingNever>(); }};
}

}  // namespace netuit
