#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <utility>
#include <vector>

#include <uit/config.hpp>
#include <uit/exchange/fabric.hpp>
#include <uit/exchange/pooled/latest_frame.hpp>
#include <uit/exchange/receiving_half.hpp>
#include <uit/link/frame.hpp>
#include <uit/link/frame_box.hpp>

namespace uit {

/// The outlets' half: keeps the newest frame, and reads it in place. One thread owns it.
class PooledLatestReceiver final : public ReceivingHalf {
 public:
  /// Frames come to `box` through `fabric`, or, if that is null, from this process.
  PooledLatestReceiver(LatestFrame layout, std::shared_ptr<FrameBox> box, Fabric* fabric)
      : ReceivingHalf(std::move(box), fabric), layout_(layout), seen_(layout.num_channels), frame_(layout.MaxBytes()) {
    std::memset(frame_.Payload(), 0, layout.MaxBytes());
    layout_.Seal(frame_, nullptr, 0);  // nothing has been accepted
  }

  /// Nothing to send.
  bool TryFlush() override { return true; }
  bool TryFinish() override {
    Pull();
    return true;
  }
  /// Goes on to the newest frame that has arrived. Returns whether there was one. Throws for what is no frame of the
  /// exchange. If it returns false, or throws, all is as before.
  bool Pull() {
    return TryPullOne([this](Frame& frame) {
      layout_.Check(frame);
      frame_.Swap(frame);
    });
  }
  /// Takes the channel's newest message: how many messages that moves past, 0 if there is none newer. All but
  /// the newest of them were replaced on the way.
  UIT_INLINE std::uint64_t Take(std::size_t channel) {
    const std::uint64_t num_new = NumUnread(channel);
    seen_[channel] += num_new;
    return num_new;
  }
  /// The channel's slot in the newest frame. After a Take that returned more than 0.
  const std::byte* Slot(std::size_t channel) const { return layout_.Slot(frame_, channel); }
  /// The same, for who knows how large a slot is.
  UIT_INLINE const std::byte* Slot(std::size_t channel, std::size_t slot_bytes) const {
    return frame_.Payload() + channel * slot_bytes;
  }
  /// Messages of a channel accepted by the time of the newest frame, and not taken yet.
  std::uint64_t NumUnread(std::size_t channel) const {
    return layout_.Count(frame_, channel) - seen_[channel];
  }

 private:
  LatestFrame layout_;
  std::vector<std::uint64_t> seen_;  // messages taken
  Frame frame_;                      // the newest
};

}  // namespace uit
