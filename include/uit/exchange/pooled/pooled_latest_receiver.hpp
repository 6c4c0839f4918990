#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <utility>
#include <vector>

#include <uit/config.hpp>
#include <uit/exchange/pooled/latest_frame.hpp>
#include <uit/exchange/receiving_half.hpp>
#include <uit/link/frame.hpp>
#include <uit/link/frame_box.hpp>

namespace uit {

class Fabric;

/// The outlets' half of an exchange under Retain::latest. Keeps the newest frame, and reads messages in place. One thread
/// owns it.
class PooledLatestReceiver final : public ReceivingHalf {
 public:
  /// Frames arrive in `box` through `fabric`. If `fabric` is null, they come from this process.
  PooledLatestReceiver(LatestFrame layout, std::shared_ptr<FrameBox> box, Fabric* fabric)
      : ReceivingHalf(std::move(box), fabric), layout_(layout), seen_(layout.num_channels), frame_(layout.MaxBytes()) {
    std::memset(frame_.Payload(), 0, layout.MaxBytes());
    layout_.Seal(frame_, nullptr, 0);  // no channel has accepted a message yet
  }

  /// Sends nothing and returns true.
  bool TryFlush() override { return true; }
  bool TryFinish() override {
    Pull();
    return true;
  }
  /// Pulls the newest frame that has arrived. Returns whether there was one. Throws if it is malformed. If it returns
  /// false or throws, nothing has changed.
  bool Pull() override {
    return TryPullOne([this](Frame& frame) {
      layout_.Check(frame);
      frame_.Swap(frame);
    });
  }
  /// Takes the channel's newest message. Returns how many messages that moves past: 0 if there is no newer one. All of
  /// them except the newest were replaced on the way.
  UIT_INLINE std::uint64_t Take(std::size_t channel) {
    const std::uint64_t num_new = NumUnread(channel);
    seen_[channel] += num_new;
    return num_new;
  }
  /// Returns the channel's slot in the newest frame. Call it after a Take that returned more than 0.
  const std::byte* Slot(std::size_t channel) const { return layout_.Slot(frame_, channel); }
  /// The same, for a caller that knows the slot size.
  UIT_INLINE const std::byte* Slot(std::size_t channel, std::size_t slot_bytes) const {
    return frame_.Payload() + channel * slot_bytes;
  }
  /// Calls `visit(encoded message)` for the channel's newest message, if it is not taken yet.
  template <std::invocable<const std::byte*> F>
  void ForEachUnread(std::size_t channel, F&& visit) const {
    if (NumUnread(channel) != 0) visit(Slot(channel));
  }
  /// Returns the number of messages of a channel that were accepted when the newest frame departed and are not taken yet.
  std::uint64_t NumUnread(std::size_t channel) const {
    return layout_.Count(frame_, channel) - seen_[channel];
  }

 private:
  LatestFrame layout_;
  std::vector<std::uint64_t> seen_;  // messages taken, by channel
  Frame frame_;                      // the newest frame
};

}  // namespace uit
