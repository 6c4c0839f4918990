#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <optional>
#include <string>

#include <netuit/run/run_options.hpp>
#include <uit/config.hpp>
#include <uit/tally.hpp>

namespace netuit {

namespace detail {

/// Writes a number with commas between thousands.
UIT_DEFINE std::string WithCommas(std::uint64_t number) {
  std::string digits = std::to_string(number);
  for (std::size_t at = digits.size(); at > 3; at -= 3) digits.insert(at - 3, ",");
  return digits;
}

/// Returns words about the oldest value read, if any came from another worker.
UIT_DEFINE std::string AgeInWords(const RunReport& report) {
  if (std::ranges::all_of(report.workers, [](const WorkerReport& of) { return of.staleness.count == 0; })) return {};
  const std::uint64_t age = report.MaxStaleness();
  std::string words = "; values read were at most " + WithCommas(age) + (age == 1 ? " update old" : " updates old");
  if (const std::optional<std::uint64_t> slack = report.workers.front().slack)
    words += (report.IsWithinSlack() ? ", within the slack of " : ", more than the slack of ") + WithCommas(*slack);
  return words;
}

}  // namespace detail

UIT_DEFINE std::string RunReport::Text() const {
  using detail::WithCommas;
  if (!is_root || workers.empty()) return {};
  const auto [fewest, most] = std::ranges::minmax(workers, {}, &WorkerReport::num_updates);
  char seconds[32];
  std::snprintf(seconds, sizeof seconds, "%.2f", std::chrono::duration<double>(Elapsed()).count());
  std::string text = std::to_string(workers.size()) + (workers.size() == 1 ? " worker, " : " workers, ") + seconds + " s: ";
  if (fewest.num_updates != most.num_updates) text += WithCommas(fewest.num_updates) + " to ";
  text += WithCommas(most.num_updates) + " updates each";
  if (const std::optional<std::uint64_t> effective = EffectiveUpdates()) text += ", " + WithCommas(*effective) + " effective";
  text += ", " + WithCommas(most.num_barriers) + " barriers" + detail::AgeInWords(*this) + "\n";
  uit::Tally all = Tally();
  for (const WorkerReport& worker : workers) all += worker.inside;
  text += Balanced() ? "every message accounted for: " : "error: the counts of messages do not balance: ";
  text += WithCommas(all.put.attempted) + " put, " + WithCommas(all.put.dropped) + " of them refused; ";
  text += WithCommas(all.get.stepped) + " read, " + WithCommas(all.put.preempted + all.get.skipped) + " replaced by newer ones, ";
  text += WithCommas(all.get.folded) + " added up, " + WithCommas(all.get.unread) + " waiting\n";
  if (!message.empty()) text += message + "\n";
#ifndef __OPTIMIZE__
  text += "built without optimisation, so times and rates say little: compile with -O3 (-DCMAKE_BUILD_TYPE=Release)\n";
#endif
  return text;
}

UIT_DEFINE void RunReport::Print() const { std::fputs(Text().c_str(), stdout); }

}  // namespace netuit
