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

/// What a traced frame says of itself, behind its payload.
struct FrameStamp {
  std::uint64_t num_touches = 0;  ///< the sender's when the frame departed; see FrameTrace
  TimePoint touched{};            ///< since when it has had so many
  TimePoint begun{};              ///< when the sender last took in what its messages are based on
  TimePoint departed{};           ///< when the frame was handed over
};

/// What a worker's frames are stamped with beside the time of their departure; who runs the worker sets it.
struct TraceClock {
  TimePoint begun{};  ///< when the worker last took in what had arrived
};

/// Follows the frames that a worker and one other exchange, both ways: a stamp goes with each, and the stamps that come
/// are kept until they are asked for. That worker only.
///
/// *Touches* measure latency without a common clock. A frame carries its sender's number of touches, and its receiver's
/// becomes one more than that: a round trip adds two. So the updates that a worker makes per touch are the one-way
/// latency in updates, provided that both workers send. On one computer the same is measured by clock: from when the
/// sender came to its number of touches to when the receiver does to its own.
class FrameTrace {
 public:
  /// Bytes that a traced frame is longer.
  static constexpr std::size_t num_bytes = sizeof(FrameStamp);
  /// Stamps that are kept at most until they are asked for; later ones are not.
  static constexpr std::size_t max_arrived = 1024;

  /// Stamps with the times of `clock`, which it refers to.
  explicit FrameTrace(const TraceClock& clock) : clock_(&clock) { arrived_.reserve(16); }

  /// Puts a stamp behind the payload of a frame that is about to depart.
  UIT_INLINE void Stamp(Frame& frame) const {
    FrameHeader& header = frame.Header();
    frame.Grow(header.num_bytes + num_bytes);
    const FrameStamp stamp{num_touches_, touched_, clock_->begun, Now()};
    std::memcpy(frame.Payload() + frame.Header().num_bytes, &stamp, sizeof stamp);
    frame.Header().num_bytes += static_cast<std::uint32_t>(num_bytes);
  }
  /// Undoes Stamp, because the frame could not depart.
  static void TakeBack(Frame& frame) { frame.Header().num_bytes -= static_cast<std::uint32_t>(num_bytes); }
  /// Takes the stamp off a frame that has arrived. Throws for one that is too short to have any, or longer than its buffer,
  /// or whose stamp names a time that no clock tells; then nothing has changed.
  UIT_INLINE void Take(Frame& frame) {
    if (!frame.HasBuffer() || frame.Header().num_bytes < num_bytes || frame.Header().num_bytes > frame.Capacity())
        [[unlikely]]
      throw Error("a traced frame came without a stamp");
    FrameStamp stamp;
    std::memcpy(&stamp, frame.Payload() + frame.Header().num_bytes - num_bytes, sizeof stamp);
    if (!IsTime(stamp.touched) || !IsTime(stamp.begun) || !IsTime(stamp.departed)) [[unlikely]]
      throw Error("a traced frame bears a time that no clock tells");
    TakeBack(frame);
    if (stamp.num_touches + 1 > num_touches_) touch_ = stamp;
    num_touches_ = stamp.num_touches + 1;
    if (arrived_.size() < max_arrived) arrived_.push_back(stamp);
  }
  /// The worker reads at `now` what has arrived. Returns the stamp by which its number of touches has risen since the last
  /// time, if it has, and both sides have touched before.
  std::optional<FrameStamp> Read(TimePoint now) {
    std::optional<FrameStamp> touch;
    if (!touch_) return touch;
    touched_ = now;
    touch.swap(touch_);
    if (touch->num_touches == 0) touch.reset();
    return touch;
  }

  /// One more than what the newest frame to arrive has carried; 0 before the first.
  std::uint64_t NumTouches() const { return num_touches_; }
  /// The stamps that have arrived since ForgetArrived, in order.
  const std::vector<FrameStamp>& Arrived() const { return arrived_; }
  /// Begins anew, and keeps the room.
  void ForgetArrived() { arrived_.clear(); }

 private:
  /// Within 73 years of the clock's zero: the span between two such times is a number of nanoseconds.
  static bool IsTime(TimePoint time) {
    constexpr std::int64_t most = std::int64_t{1} << 61U;
    const auto since_zero = static_cast<std::int64_t>(time.time_since_epoch().count());
    return since_zero >= -most && since_zero <= most;
  }

  const TraceClock* clock_;
  std::uint64_t num_touches_ = 0;
  TimePoint touched_{};              // when that was read
  std::optional<FrameStamp> touch_;  // by which it came about, until it is read
  std::vector<FrameStamp> arrived_;
};

}  // namespace uit
