#pragma once

#include <chrono>

#include <netuit/run/run_options.hpp>
#include <uit/config.hpp>

namespace netuit {

/// Adds the report of the next part to that of a run that is made in parts on one mesh. `elapsed` is the time of all earlier parts.
/// Quantiles of staleness become the largest of any part. Counts of effective updates add up, so in `whole` each must be the
/// least of all workers.
void AppendReport(RunReport& whole, RunReport part, std::chrono::nanoseconds elapsed);

}  // namespace netuit

#if !UIT_COMPILED
#include <netuit/run/append_report.ipp>
#endif
