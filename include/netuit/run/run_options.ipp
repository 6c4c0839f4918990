#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <mutex>
#include <optional>
#include <string>

#include <netuit/run/run_options.hpp>
#include <uit/config.hpp>
#include <uit/support/error.hpp>
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

UIT_DEFINE void CheckOptions(const RunOptions& options) {
  if (options.peer_timeout.count() <= 0) throw uit::InputError("peer_timeout must be greater than 0");
  if (options.quality.interval.count() < 0) throw uit::InputError("quality.interval must not be negative");
  if (options.quality.interval.count() > 0 && options.quality.length.count() <= 0)
    throw uit::InputError("quality.length must be greater than 0");
  if (options.timeline.count_interval.count() <= 0) throw uit::InputError("timeline.count_interval must be greater than 0");
  if (!options.record.empty() && !options.replay.empty()) throw uit::InputError("a replay cannot be recorded");
}

UIT_DEFINE void RunReport::Lose(const uit::PeerLost& lost) {
  stopped_by = StopReason::peer_lost;
  if (message.empty()) message = lost.what();
  const auto rank = lost.Rank();
  if (rank && std::ranges::find(lost_peers, *rank) == lost_peers.end()) lost_peers.push_back(*rank);
  std::ranges::sort(lost_peers);
}

UIT_DEFINE int RunReport::ExitCode() const {
  if (stopped_by == StopReason::peer_lost) return 3;
  if (stopped_by == StopReason::thrown) return 4;
  return stopped_by == StopReason::signal ? 128 + signal : 0;
}

UIT_DEFINE uit::Tally RunReport::Tally() const {
  uit::Tally sum;
  for (const WorkerReport& worker : workers) sum += worker.tally;
  return sum;
}

UIT_DEFINE std::chrono::nanoseconds RunReport::Elapsed() const {
  std::chrono::nanoseconds longest{0};
  for (const WorkerReport& worker : workers) longest = std::max(longest, worker.elapsed);
  return longest;
}

UIT_DEFINE std::uint64_t RunReport::MaxUpdates() const {
  std::uint64_t most = 0;
  for (const WorkerReport& worker : workers) most = std::max(most, worker.num_updates);
  return most;
}

UIT_DEFINE std::optional<std::uint64_t> RunReport::EffectiveUpdates() const {
  std::optional<std::uint64_t> least;
  for (const WorkerReport& worker : workers) {
    if (worker.num_nodes == 0) continue;
    if (!worker.effective_updates) return std::nullopt;
    least = std::min(least.value_or(*worker.effective_updates), *worker.effective_updates);
  }
  return least;
}

UIT_DEFINE std::uint64_t RunReport::MaxStaleness() const {
  std::uint64_t most = 0;
  for (const WorkerReport& worker : workers) most = std::max(most, worker.staleness.max);
  return most;
}

UIT_DEFINE bool RunReport::IsWithinSlack() const {
  return std::ranges::all_of(workers, [](const WorkerReport& of) { return !of.slack || of.staleness.max <= *of.slack + 1; });
}

UIT_DEFINE bool RunReport::Balanced() const {
  uit::Tally inside;
  for (const WorkerReport& worker : workers) inside += worker.inside;
  return Tally().Balanced() && inside.Balanced();
}

UIT_DEFINE double WorkerReport::Rate() const {
  return elapsed.count() == 0 ? 0 : static_cast<double>(num_updates) / std::chrono::duration<double>(elapsed).count();
}

UIT_DEFINE std::string RunReport::Text() const {
  using detail::WithCommas;
  if (!is_root || workers.empty()) return {};
  const auto [fewest, most] = std::ranges::minmax(workers, {}, &WorkerReport::num_updates);
  char seconds[32];
  std::snprintf(seconds, sizeof seconds, "%.2f", std::chrono::duration<double>(Elapsed()).count());
  std::string text = std::to_string(workers.size()) + (workers.size() == 1 ? " worker, " : " workers, ") + seconds + " s: ";
  if (fewest.num_updates != most.num_updates) text += WithCommas(fewest.num_updates) + " to ";
  text += WithCommas(most.num_updates) + " updates each";
  const std::optional<std::uint64_t> effective = EffectiveUpdates();
  const std::string age = detail::AgeInWords(*this);
  if (effective) text += ", " + WithCommas(*effective) + " effective";
  else if (!age.empty()) text += ", effective updates unknown";
  text += ", " + WithCommas(most.num_barriers) + " barriers" + age + "\n";
  uit::Tally all = Tally();
  for (const WorkerReport& worker : workers) all += worker.inside;
  text += Balanced() ? "every message accounted for: " : "error: the counts of messages do not balance: ";
  text += WithCommas(all.put.attempted) + " put, " + WithCommas(all.put.dropped) + " of them refused; ";
  text += WithCommas(all.get.stepped) + " read, " + WithCommas(all.put.preempted + all.get.skipped) + " replaced by newer ones, ";
  text += WithCommas(all.get.folded) + " added up, " + WithCommas(all.get.unread) + " waiting\n";
  if (!message.empty()) text += message + "\n";
  return text;
}

UIT_DEFINE void RunReport::Print() const {
  std::fputs(Text().c_str(), stdout);
#ifndef __OPTIMIZE__
  static std::once_flag once;
  if (is_root && !workers.empty())
    std::call_once(once, [] {
      std::puts("built without optimisation, so times and rates say little: compile with -O3 (-DCMAKE_BUILD_TYPE=Release)");
    });
#endif
}

}  // namespace netuit
