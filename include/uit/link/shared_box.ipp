#pragma once

#include <cstddef>
#include <string>

#include <uit/config.hpp>
#include <uit/link/frame.hpp>
#include <uit/link/shared_box.hpp>
#include <uit/support/error.hpp>

namespace uit::detail {

[[noreturn]] UIT_DEFINE void RefuseLargeFrame(std::size_t num_bytes, std::size_t max_bytes) {
  throw Error("a peer has sent a frame of " + std::to_string(num_bytes) + " bytes, which is larger than the " +
              std::to_string(max_bytes) + " that its exchange agreed on");
}

[[noreturn]] UIT_DEFINE void RefuseShortFrame(std::size_t num_bytes) {
  throw Error("a peer has sent " + std::to_string(num_bytes) + " bytes, which is too short for a frame");
}

[[noreturn]] UIT_DEFINE void RefuseClaimedBytes(std::size_t num_bytes, std::size_t claimed) {
  throw Error("a peer has sent a frame of " + std::to_string(num_bytes - sizeof(FrameHeader)) + " bytes that claims " +
              std::to_string(claimed));
}

[[noreturn]] UIT_DEFINE void RefuseRecordEnd(std::size_t num_bytes) {
  throw Error("a peer has sent a record of " + std::to_string(num_bytes) + " bytes, which ends beyond its memory");
}

}  // namespace uit::detail
