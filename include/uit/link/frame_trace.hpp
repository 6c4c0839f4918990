#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <vector>

#include <uit/config.hpp>
#include <uit/support/clock.hpp>
#include <uit/support/error.hpp>
#include <uit/link/frame.hpp>

namespace uit {

/// The stamp that a traced frame carries after its payload.
struct FrameStamp {
  std::uint64_t num_touches = 0;  ///< the sender's number of touches at departure; see FrameTrace
  TimePoint touched{};            ///< when the sender reached this number
  TimePoint begun{};              ///< when the sender last read the messages that its own are based on
  TimePoint departed{};           ///< when the frame departed
};

/// The time stamped on a worker's frames besides that of departure. The code that runs the worker sets it.
struct TraceClock {
  TimePoint begun{};  ///< when the worker last read the messages that had arrived
};

/// Traces the frames between one worker and one other, in both directions. Stamps every frame that departs, and keeps the
/// stamps of frames that arrive until they are read. That worker only.
///
/// *Touches* measure latency without a common clock. A frame carries its sender's number of touches, and its receiver's
/// number becomes one more: a round trip adds two. So the number of updates that a worker makes per touch is the one-way
/// latency in updates, provided that both workers send. On one host, a clock measures the same: from the time when the
/// sender reached its number of touches to the time when the receiver reaches its own.
class FrameTrace {
 public:
  /// The number of bytes that tracing adds to a frame.
  static constexpr std::size_t num_bytes = sizeof(FrameStamp);
  /// Stamps kept at most until they are read; later ones are discarded.
  static constexpr std::size_t max_arrived = 1024;

  /// Stamps with the time in `clock`, to which the trace keeps a pointer.
  explicit FrameTrace(const TraceClock& clock) : clock_(&clock) { arrived_.reserve(16); }

  /// Appends a stamp to the payload of a frame that is about to depart.
  UIT_INLINE void Stamp(Frame& frame) const {
    FrameHeader& header = frame.Header();
    frame.Grow(header.num_bytes + num_bytes);
    const FrameStamp stamp{num_touches_, touched_, clock_->begun, Now()};
    std::memcpy(frame.Payload() + frame.Header().num_bytes, &stamp, sizeof stamp);
    frame.Header().num_bytes += static_cast<std::uint32_t>(num_bytes);
  }
  /// Undoes Stamp if the frame could not depart.
  static void TakeBack(Frame& frame) { frame.Header().num_bytes -= static_cast<std::uint32_t>(num_bytes); }
  /// Removes the stamp from a frame that has arrived. Throws, with nothing changed, if the frame is too short to have a
  /// stamp, longer than its buffer, or has a stamp with an impossible time.
  UIT_INLINE void Take(Frame& frame) {
    if (!frame.HasBuffer() || frame.Header().num_bytes < num_bytes || frame.Header().num_bytes > frame.Capacity())
        [[unlikely]]
      throw Error("a traced frame came without a stamp");
    FrameStamp stamp;
    std::memcpy(&stamp, frame.Payload() + frame.Header().num_bytes - num_bytes, sizeof stamp);
    if (!IsTime(stamp.touched) || !IsTime(stamp.begun) || !IsTime(stamp.departed)) [[unlikely]]
      throw Error("a traced frame has a stamp with an impossible time");
    TakeBack(frame);
    if (stamp.num_touches + 1 > num_touches_) touch_ = stamp;
    num_touches_ = stamp.num_touches + 1;
    if (arrived_.size() < max_arrived) arrived_.push_back(stamp);
  }
  /// Call it when the worker reads, at `now`, the messages that have arrived. If the worker's number of touches has risen
  /// since the last call, and both sides have touched before, returns the stamp that raised it.
  std::optional<FrameStamp> Read(TimePoint now) {
    std::optional<FrameStamp> touch;
    if (!touch_) return touch;
    touched_ = now;
    touch.swap(touch_);
    if (touch->num_touches == 0) touch.reset();
    return touch;
  }

  /// Returns one more than the number in the newest frame to arrive; 0 before the first.
  std::uint64_t NumTouches() const { return num_touches_; }
  /// Returns the stamps that have arrived since ForgetArrived, in order.
  const std::vector<FrameStamp>& Arrived() const { return arrived_; }
  /// Clears the stamps, and keeps their memory.
  void ForgetArrived() { arrived_.clear(); }

 private:
  /// Whether a time is within 73 years of the clock's zero, so that the span between two such times fits in a number of
  /// nanoseconds.
  static bool IsTime(TimePoint time) {
    constexpr std::int64_t most = std::int64_t{1} << 61U;
    const auto since_zero = static_cast<std::int64_t>(time.time_since_epoch().count());
    return since_zero >= -most && since_zero <= most;
  }

  const TraceClock* clock_;
  std::uint64_t num_touches_ = 0;
  TimePoint touched_{};              // when num_touches_ was read
  std::optional<FrameStamp> touch_;  // the stamp that set num_touches_, until it is read
  std::vector<FrameStamp> arrived_;
};

}  // namespace uit
