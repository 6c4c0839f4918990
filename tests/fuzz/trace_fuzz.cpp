// A peer may append any bytes to its frames as stamps. Each is accepted or refused by an exception; a refusal changes
// nothing. The times of an accepted stamp do not overflow in computations.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include <uit/support/bytes.hpp>
#include <uit/link/frame.hpp>
#include <uit/link/frame_trace.hpp>

#include "tests/fuzz/fuzz.hpp"

namespace {

using namespace uit;
using namespace uit::fuzz;

constexpr std::size_t payload_bytes = 64;

/// A frame of the input. Its payload follows, as far as the input has bytes.
struct Piece {
  std::uint32_t num_bytes = 0;  ///< length that the header claims
  std::uint16_t num_given = 0;  ///< length that follows
  std::uint16_t is_read = 0;    ///< odd: reads all arrived frames afterwards
};
static_assert(sizeof(Piece) == 8);

}  // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  ByteReader input{InputBytes(data, size)};
  const TraceClock clock{};
  FrameTrace trace{clock};
  Piece piece;
  while (input.TryRead(piece)) {
    Frame frame{payload_bytes};
    std::memset(frame.Payload(), 0, payload_bytes);
    frame.Header().num_bytes = piece.num_bytes;
    ByteView payload;
    if (input.TryTake(std::min({std::size_t{piece.num_given}, input.Rest().size(), payload_bytes}), payload) &&
        !payload.empty())
      std::memcpy(frame.Payload(), payload.data(), payload.size());
    const std::size_t num_arrived = trace.Arrived().size();
    const std::uint64_t num_touches = trace.NumTouches();
    try {
      trace.Take(frame);
      Demand(frame.Header().num_bytes + FrameTrace::num_bytes == piece.num_bytes, "a stamp has been taken off");
    } catch (const Error&) {
      Demand(frame.Header().num_bytes == piece.num_bytes && trace.Arrived().size() == num_arrived &&
                 trace.NumTouches() == num_touches,
             "a refusal changes nothing");
    }
    if (piece.is_read % 2 == 0) continue;
    const TimePoint now{std::chrono::hours{1}};
    if (const auto touch = trace.Read(now)) Demand(touch->num_touches != 0, "a touch has a number");
    for (const FrameStamp& stamp : trace.Arrived()) {
      for (const TimePoint time : {stamp.touched, stamp.begun, stamp.departed})
        Demand(now - time > now - TimePoint::max(), "a time can be reckoned with");
    }
    trace.ForgetArrived();
  }
  return 0;
}
