#pragma once

#include <netuit/quality/latency_histogram.hpp>
#include <uit/link/frame_trace.hpp>

namespace netuit {

/// How old frames are that a worker takes in from one other in one layer, when it reads them. That worker only.
struct PeerTrace {
  uit::FrameTrace frames;   ///< touches, and stamps that have come
  bool is_same_clock;       ///< the other's stamps are by this computer's clock; else latencies are not measured
  LatencyHistogram touch;   ///< from when the other read what this worker had sent to when this one read the answer
  LatencyHistogram age;     ///< from the beginning of the update that sent a frame to that of the one that reads it
  LatencyHistogram transit; ///< from its departure to the same

  /// Of frames that bear the times of `clock`, which it refers to.
  PeerTrace(const uit::TraceClock& clock, bool same_clock) : frames(clock), is_same_clock(same_clock) {}

  /// An update that begins at `now` reads what has arrived.
  void Read(uit::TimePoint now) {
    const auto answer = frames.Read(now);
    if (is_same_clock) {
      if (answer) touch.Add(now - answer->touched);
      for (const uit::FrameStamp& stamp : frames.Arrived()) {
        age.Add(now - stamp.begun);
        transit.Add(now - stamp.departed);
      }
    }
    frames.ForgetArrived();
  }
  /// A window begins.
  void Clear() {
    touch.Clear();
    age.Clear();
    transit.Clear();
  }
};

}  // namespace netuit
