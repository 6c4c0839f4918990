// The receiving halves of all exchanges accept any frame of a peer, or refuse it by an exception.
#include <algorithm>
#include <cstdint>
#include <cstring>
#include <memory>

#include <uit/link/connection.hpp>

#include "tests/fuzz/exchange_peer.hpp"
#include "tests/fuzz/fuzz.hpp"

namespace {

using namespace uit;
using namespace uit::fuzz;

constexpr std::size_t largest_payload = 160;

/// Delivers the input's frames up to the next piece that is no frame. Ignores what is sent.
class InputLink {
 public:
  explicit InputLink(ByteReader& input) : input_(input) {}
  bool HasRoom() { return true; }
  bool TrySend(Frame&) { return true; }
  bool TryReceive(Frame& frame) {
    ByteReader ahead = input_;
    Piece piece;
    if (!ahead.TryRead(piece) || piece.kind > static_cast<std::uint8_t>(FrameKind::close)) return false;
    frame.Reserve(largest_payload);
    std::memset(frame.Payload(), 0, largest_payload);  // a link reuses its buffers
    frame.Header() = {.entry = piece.entry,
                      .kind = static_cast<FrameKind>(piece.kind),
                      .last = piece.last,
                      .acknowledged = piece.shift,
                      .num_bytes = piece.num_bytes,
                      .update = piece.base,
                      .base = std::uint64_t{piece.base} << (piece.shift % 64U)};
    ByteView payload;
    const std::size_t num_bytes = std::min({std::size_t{piece.num_bytes}, ahead.Rest().size(), largest_payload});
    if (ahead.TryTake(num_bytes, payload) && num_bytes != 0) std::memcpy(frame.Payload(), payload.data(), num_bytes);
    input_ = ahead;
    return true;
  }
  bool TryClose() { return true; }
  std::size_t Abandon() { return 0; }

 private:
  ByteReader& input_;
};

}  // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  ByteReader input{InputBytes(data, size)};
  Peer peer;
  Connection connection{AnyLink{std::make_unique<InputLink>(input)}, depth};
  connection.Reserve(1);
  for (bool has_more = true; has_more;) {
    try {
      connection.Receive(peer.Boxes());
      Piece piece;
      has_more = input.TryRead(piece);
      if (has_more) peer.Act(piece);
    } catch (const Error&) {
      // refused; later frames of the peer must do no harm either
    }
  }
  return 0;
}
