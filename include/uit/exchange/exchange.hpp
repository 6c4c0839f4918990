#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include <uit/policy.hpp>
#include <uit/support/error.hpp>
#include <uit/support/type_hash.hpp>

namespace uit {

/// Names an exchange: what two processes must agree on to find each other's half. A user of conduits is
/// free in all four; a mesh uses the layer, the two workers, and for a conduit by itself its edge.
struct ExchangeKey {
  std::uint64_t channel = 0;      ///< in a mesh, the edge of a conduit by itself
  std::uint32_t layer = 0;        ///< in a mesh, its layer
  std::uint32_t source = 0;       ///< in a mesh, the inlets' worker
  std::uint32_t destination = 0;  ///< in a mesh, the outlets' worker
  std::uint32_t is_report = 0;    ///< 1: counts of steps on their way back to the inlets

  /// Field by field, in the order above; the order means nothing but a place in a map.
  friend auto operator<=>(const ExchangeKey&, const ExchangeKey&) = default;
};

/// What both halves of an exchange must have been built with. Compared in the opening handshake.
struct ExchangeSpec {
  ExchangeKey key{};                    ///< pairs the two halves
  std::uint64_t type = 0;               ///< TypeHash of the message
  std::uint64_t frame_bytes = 0;        ///< payload of the largest frame
  std::uint64_t max_message_bytes = 0;  ///< of the largest message, if each has its own size
  std::uint32_t slot_bytes = 0;         ///< encoded size of a message; 0: each has its own
  std::uint32_t num_channels = 1;       ///< ends that share a frame
  std::uint32_t depth = 1;              ///< messages per channel that may be accepted and not stepped to, or frames not pulled
  std::uint32_t retain = 0;             ///< static_cast of Retain
  std::uint32_t consolidate = 0;        ///< static_cast of Consolidate
  std::uint32_t num_frames = 0;         ///< frames under way and not taken in, if that is bounded by itself

  /// Field by field, the key too; Difference takes the key as given.
  friend bool operator==(const ExchangeSpec&, const ExchangeSpec&) = default;

  /// A few words to find it by.
  std::string Name() const {
    return "exchange {layer " + std::to_string(key.layer) + ", " + std::to_string(key.source) + " -> " +
           std::to_string(key.destination) + ", channel " + std::to_string(key.channel) + "}";
  }
  /// In words, what differs between this, at `here`, and the other, at `there`; empty if nothing does.
  std::string Difference(const ExchangeSpec& other, const char* here, const char* there) const {
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
};

/// One side of an exchange, as its fabric sees it.
class ExchangeHalf {
 public:
  ExchangeHalf() = default;
  ExchangeHalf(const ExchangeHalf&) = delete;
  ExchangeHalf& operator=(const ExchangeHalf&) = delete;
  virtual ~ExchangeHalf() = default;
  /// Sends what has been accepted and has not departed. False if it has to wait.
  virtual bool TryFlush() = 0;
  /// For a fabric that closes: the sending half departs for the last time, whatever its window; the receiving half
  /// takes in what has arrived. False if it has to wait.
  virtual bool TryFinish() = 0;

  /// An end takes up a channel. Throws if another end has it.
  void Claim(std::size_t channel) {
    if (is_claimed_.size() <= channel) is_claimed_.resize(channel + 1);
    if (is_claimed_[channel]) throw Error("channel " + std::to_string(channel) + " of an exchange has an end already");
    is_claimed_[channel] = true;
  }
  /// The end is gone; another may follow.
  void Yield(std::size_t channel) { is_claimed_[channel] = false; }

 private:
  std::vector<bool> is_claimed_;
};

}  // namespace uit
