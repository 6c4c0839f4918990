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

UIT_DEFINE void RunReport::Print() const {
  using detail::WithCommas;
  if (!is_root || workers.empty()) return;
  const auto [fewest, most] = std::ranges::minmax(workers, {}, &WorkerReport::num_updates);
  const auto longest = std::ranges::max(workers, {}, &WorkerReport::elapsed).elapsed;
  const std::string updates = fewest.num_updates == most.num_updates
                                  ? WithCommas(most.num_updates)
                                  : WithCommas(fewest.num_updates) + " to " + WithCommas(most.num_updates);
  const std::optional<std::uint64_t> effective = EffectiveUpdates();
  std::printf("%zu worker%s, %.2f s: %s updates each%s, %s barriers%s\n", workers.size(), workers.size() == 1 ? "" : "s",
              std::chrono::duration<double>(longest).count(), updates.c_str(),
              effective ? (", " + WithCommas(*effective) + " effective").c_str() : "", WithCommas(most.num_barriers).c_str(),
              detail::AgeInWords(*this).c_str());
  uit::Tally all = Tally();
  for (const WorkerReport& worker : workers) all += worker.inside;
  std::printf("%s: %s put, %s of them refused; %s read, %s replaced by newer ones, %s added up, %s waiting\n",
              Balanced() ? "every message accounted for" : "error: the counts of messages do not balance",
              WithCommas(all.put.attempted).c_str(), WithCommas(all.put.dropped).c_str(), WithCommas(all.get.stepped).c_str(),
              WithCommas(all.put.preempted + all.get.skipped).c_str(), WithCommas(all.get.folded).c_str(),
              WithCommas(all.get.unread).c_str());
  if (!message.empty()) std::printf("%s\n", message.c_str());
#ifndef __OPTIMIZE__
  std::printf("built without optimisation, so times and rates say little: compile with -O3 (-DCMAKE_BUILD_TYPE=Release)\n");
#endif
}

}  // namespace netuit
