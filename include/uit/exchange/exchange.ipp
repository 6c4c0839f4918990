#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include <uit/config.hpp>
#include <uit/exchange/exchange.hpp>
#include <uit/support/error.hpp>

namespace uit {

UIT_DEFINE std::string ExchangeSpec::Name() const {
  return "exchange {layer " + std::to_string(key.layer) + ", " + std::to_string(key.source) + " -> " +
         std::to_string(key.destination) + ", channel " + std::to_string(key.channel) + "}";
}

UIT_DEFINE std::string ExchangeSpec::Difference(const ExchangeSpec& other, const char* here, const char* there) const {
  const auto say = [&](const char* what, std::uint64_t one, std::uint64_t another) {
    return Name() + ": " + what + " is " + std::to_string(one) + " at " + here + " and " + std::to_string(another) +
           " at " + there;
  };
  const auto say_only = [&](const char* what) {
    return Name() + ": " + what + " is not the same at " + here + " and at " + there;
  };
  if (slot_bytes != other.slot_bytes) return say("the message's size", slot_bytes, other.slot_bytes);
  if (type != other.type) return say_only("the message's type");
  if (num_channels != other.num_channels) return say("the number of channels", num_channels, other.num_channels);
  if (retain != other.retain) return say_only("Policy::retain");
  if (consolidate != other.consolidate) return say_only("Policy::consolidate");
  if (max_message_bytes != other.max_message_bytes)
    return say("the largest message's size", max_message_bytes, other.max_message_bytes);
  if (num_frames != other.num_frames) return say("the number of frames", num_frames, other.num_frames);
  if (depth != other.depth) return say("the depth", depth, other.depth);
  if (frame_bytes != other.frame_bytes) return say("the frame's size", frame_bytes, other.frame_bytes);
  return {};
}

UIT_DEFINE ExchangeHalf::~ExchangeHalf() = default;

UIT_DEFINE void ExchangeHalf::Claim(std::size_t channel) {
  if (is_claimed_.size() <= channel) is_claimed_.resize(channel + 1);
  if (is_claimed_[channel])
    throw Error("channel " + std::to_string(channel) + " of an exchange has an end already; use another channel");
  is_claimed_[channel] = true;
}

UIT_DEFINE SendingHalf::~SendingHalf() = default;

}  // namespace uit
