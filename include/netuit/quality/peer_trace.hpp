#pragma once

#include <netuit/quality/latency_histogram.hpp>
#include <uit/link/frame_trace.hpp>

namespace netuit {

/// Measures the age of frames that a worker receives from one peer in one layer, when it reads them. That worker only.
struct PeerTrace {
  uit::FrameTrace frames;   ///< touches, and time stamps that have arrived
  bool is_same_clock;       ///< the peer's stamps are by the same clock; otherwise latencies are not measured
  LatencyHistogram touch;   ///< from the time when the peer read this worker's frame until this worker reads the answer
  LatencyHistogram age;     ///< from the beginning of the update that sent a frame to that of the update that reads it
  LatencyHistogram transit; ///< from the frame's departure to the beginning of the update that reads it

  /// Measures frames stamped by `clock`, to which it refers.
  PeerTrace(const uit::TraceClock& clock, bool same_clock) : frames(clock), is_same_clock(same_clock) {}

  /// Notes that an update that begins at `now` reads the frames that have arrived.
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
  /// Begins a new window.
  void Clear() {
    touch.Clear();
    age.Clear();
    transit.Clear();
  }
};

}  // namespace netuit
