#pragma once

#include <chrono>

#include <netuit/quality/timeline.hpp>
#include <uit/config.hpp>

namespace netuit {

UIT_DEFINE void Timeline::Append(const Timeline& other, std::chrono::nanoseconds after) {
  for (TimelineSpan span : other.spans) span.begin += after, spans.push_back(span);
  for (TimelineCount count : other.counts) count.time += after, counts.push_back(count);
}

}  // namespace netuit
