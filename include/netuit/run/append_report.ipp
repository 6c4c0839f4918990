#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <optional>
#include <utility>

#include <netuit/quality/effective_updates.hpp>
#include <netuit/quality/quality.hpp>
#include <netuit/run/append_report.hpp>
#include <netuit/run/run_options.hpp>
#include <uit/config.hpp>

namespace netuit {

namespace detail {

UIT_DEFINE void AppendStaleness(Staleness& whole, const Staleness& part) {
  const double weight = whole.count + part.count == 0 ? 0 : static_cast<double>(part.count) / static_cast<double>(whole.count + part.count);
  whole.mean += weight * (part.mean - whole.mean);
  whole.count += part.count;
  whole.max = std::max(whole.max, part.max);
  whole.p50 = std::max(whole.p50, part.p50);
  whole.p90 = std::max(whole.p90, part.p90);
  whole.p99 = std::max(whole.p99, part.p99);
}

}  // namespace detail

UIT_DEFINE void AppendReport(RunReport& whole, RunReport part, std::chrono::nanoseconds elapsed) {
  for (std::size_t i = 0; i < std::min(whole.workers.size(), part.workers.size()); ++i) {
    const WorkerReport& before = whole.workers[i];
    WorkerReport& worker = part.workers[i];  // its accounts continue those of the part before
    worker.num_updates += before.num_updates;
    worker.num_barriers += before.num_barriers;
    worker.elapsed += before.elapsed;
    // A part ends with everything read, so its counts add to the least of all workers before.
    worker.effective_updates = worker.effective_updates && before.effective_updates
                                   ? std::optional(*worker.effective_updates + *before.effective_updates)
                                   : std::nullopt;
    const Staleness later = std::exchange(worker.staleness, before.staleness);
    detail::AppendStaleness(worker.staleness, later);
  }
  for (auto* rows : {&part.quality, &part.channels}) {
    for (QualityRow& row : *rows) row.begin += elapsed, row.end += elapsed;
  }
  part.quality.insert(part.quality.begin(), whole.quality.begin(), whole.quality.end());
  part.channels.insert(part.channels.begin(), whole.channels.begin(), whole.channels.end());
  whole.timeline.Append(part.timeline, elapsed);
  part.timeline = std::move(whole.timeline);
  whole = std::move(part);
}

}  // namespace netuit
