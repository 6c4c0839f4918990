#pragma once

#include <string>

#include <uit/config.hpp>
#include <uit/support/error.hpp>
#include <uit/link/frame.hpp>

namespace uit {

/// Throws because a frame that has arrived is none of its exchange: it has another length, or counts more messages than
/// the exchange has channels.
[[noreturn]] UIT_NOINLINE inline void RefuseFrame(const Frame& frame) {
  const FrameHeader& header = frame.Header();
  throw Error("a peer has sent a frame of " + std::to_string(header.num_bytes) + " bytes and number " +
              std::to_string(header.base) + ", which is none of its exchange");
}

}  // namespace uit
