#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <vector>

#include <netuit/placement/placement.hpp>
#include <uit/config.hpp>

namespace netuit {

/// What a worker is doing.
enum class Activity : std::uint32_t {
  update,    ///< updates its nodes
  receive,   ///< takes in values and messages before an update
  send,      ///< sends values and messages after an update
  exchange,  ///< in modes 0 and 5: sends them, and waits for those of others
  wait,      ///< waits for slower workers, because of a slack
  barrier,   ///< waits at a barrier
  end        ///< waits for the others after its last update, and receives all messages in flight
};

/// A span of time in which a worker did one thing. Times are by the clock of the worker's host, since the run's start barrier.
struct TimelineSpan {
  WorkerId worker;                        ///< the worker
  Activity activity = Activity::update;   ///< what it did
  std::uint32_t is_last = 0;              ///< 1: later spans were not recorded, see TimelineOptions::spans
  std::chrono::nanoseconds begin{0};      ///< when it began
  std::chrono::nanoseconds length{0};     ///< how long it took
};

/// What a worker had counted at a time, since the mesh was made.
struct TimelineCount {
  WorkerId worker;                    ///< the worker
  std::chrono::nanoseconds time{0};   ///< since the start barrier
  std::uint64_t attempted = 0;        ///< puts
  std::uint64_t refused = 0;          ///< puts that found no room
  std::uint64_t read = 0;             ///< messages
  std::uint64_t replaced = 0;         ///< messages that newer ones replaced before they were read
};

/// What to record of a run's course. The same on every process.
struct TimelineOptions {
  std::size_t spans = 0;  ///< most spans of each worker; 0: nothing is recorded. Each takes 32 bytes
  std::chrono::nanoseconds count_interval = std::chrono::milliseconds(10);  ///< between two looks at the counts
};

/// The course of a run: what each worker did when.
struct Timeline {
  std::vector<TimelineSpan> spans{};    ///< by worker, then by time
  std::vector<TimelineCount> counts{};  ///< likewise

  /// Appends that of other workers, or of a later part of the run, which began `after` the first.
  void Append(const Timeline& other, std::chrono::nanoseconds after = {});
};

}  // namespace netuit

#if !UIT_COMPILED
#include <netuit/quality/timeline.ipp>
#endif
