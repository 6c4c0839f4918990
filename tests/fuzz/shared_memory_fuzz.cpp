// A peer may store anything in shared memory. The boxes and exchanges that read it stay within bounds: a frame is as long as
// its header says, or an exception refuses it. The same holds for a writer.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <vector>

#include <uit/support/bytes.hpp>
#include <uit/link/frame.hpp>
#include <uit/link/frame_box.hpp>
#include <uit/link/shared_mailbox.hpp>
#include <uit/link/shared_ring.hpp>
#include <uit/link/connection.hpp>

#include "tests/fuzz/exchange_peer.hpp"
#include "tests/fuzz/fuzz.hpp"
#include "tests/uit/link/support/shared_memory.hpp"

namespace {

using namespace uit;
using namespace uit::fuzz;

/// What a piece of the input does, modulo the number of kinds.
enum class Deed : std::uint8_t {
  act,     ///< acts on a receiving end
  frame,   ///< writes a frame whose header the piece describes; it may claim more bytes than follow
  record,  ///< writes a record of any bytes
  store    ///< stores bytes anywhere in the memory
};
constexpr std::uint8_t num_deeds = 4;

/// The memory of one box. The input writes to it.
class Memory {
 public:
  explicit Memory(const IncomingBox& incoming)
      : box_(incoming.box),
        largest_(sizeof(FrameHeader) + incoming.frame_bytes),
        memory_(box_->SharedBytes(incoming.frame_bytes)) {
    box_->CreateShared(memory_.All(), incoming.frame_bytes);
    box_->ReceiveBy(memory_.All(), incoming.frame_bytes);
    if (box_->KeepsLatest()) mailbox_ = std::make_unique<shared_mailbox::Writer>(memory_.All(), largest_);
    else ring_ = std::make_unique<shared_ring::Writer>(memory_.All());
  }

  /// Writes a record if it fits.
  void Write(ByteView bytes, bool is_marked) {
    if (mailbox_ != nullptr) mailbox_->Write(bytes.first(std::min(bytes.size(), largest_)));
    else if (ring_->HasRoom(bytes.size())) ring_->Write(bytes, is_marked);
  }
  /// Writes a frame.
  void Write(const Piece& piece, ByteView payload) {
    const FrameHeader header{.last = piece.last,
                             .num_bytes = piece.num_bytes,
                             .update = piece.base,
                             .base = std::uint64_t{piece.base} << (piece.shift % 64U)};
    std::vector<std::byte> bytes(sizeof header + payload.size());
    std::memcpy(bytes.data(), &header, sizeof header);
    if (!payload.empty()) std::memcpy(bytes.data() + sizeof header, payload.data(), payload.size());
    Write(bytes, false);
  }
  /// Stores bytes anywhere.
  void Store(std::size_t at, ByteView bytes) const {
    const MutableByteView to = memory_.All().subspan(at % memory_.All().size());
    if (!bytes.empty()) std::memcpy(to.data(), bytes.data(), std::min(bytes.size(), to.size()));
  }
  /// Checks that the frame that the box shows is no longer than its buffer.
  void CheckShown() const {
    const Frame& frame = box_->Get();
    Demand(!frame.HasBuffer() || frame.Header().num_bytes <= frame.Capacity(), "a box shows no more than it holds");
  }

 private:
  std::shared_ptr<FrameBox> box_;
  std::size_t largest_;
  testing::SharedMemory memory_;
  std::unique_ptr<shared_mailbox::Writer> mailbox_;
  std::unique_ptr<shared_ring::Writer> ring_;
};

}  // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  ByteReader input{InputBytes(data, size)};
  Peer peer;
  std::vector<std::unique_ptr<Memory>> memory;
  for (const auto& incoming : peer.Boxes()) memory.push_back(std::make_unique<Memory>(*incoming));
  Piece piece;
  while (input.TryRead(piece)) {
    const auto deed = static_cast<Deed>(piece.kind % num_deeds);
    ByteView bytes;
    if (deed != Deed::act && !input.TryTake(std::min<std::size_t>(piece.num_bytes, input.Rest().size()), bytes)) break;
    Memory& place = *memory[piece.entry % memory.size()];
    try {
      switch (deed) {
        case Deed::act: peer.Act(piece); break;
        case Deed::frame: place.Write(piece, bytes.first(std::min<std::size_t>(bytes.size(), 200))); break;
        case Deed::record: place.Write(bytes, piece.last % 2 != 0); break;
        case Deed::store: place.Store(piece.base, bytes); break;
      }
    } catch (const Error&) {
      // refused; later frames of the peer must do no harm either
    }
    for (const auto& each : memory) each->CheckShown();
  }
  return 0;
}
