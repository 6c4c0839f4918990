#pragma once

#include <string>

#include <uit/config.hpp>
#include <uit/support/error.hpp>
#include <uit/link/frame.hpp>

namespace uit {

/// Throws the error for a frame with this header, which does not belong to its exchange: its length is wrong, or it counts more messages
/// than the exchange has channels.
[[noreturn]] UIT_NOINLINE inline void RefuseFrame(const FrameHeader& header) {
  throw Error("a peer has sent a frame of " + std::to_string(header.num_bytes) + " bytes and number " +
              std::to_string(header.base) + ", which does not belong to its exchange");
}

}  // namespace uit
