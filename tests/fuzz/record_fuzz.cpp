// Records of a run are replayed, or refused with file and reason. A record's digests detect damage, not intent, so here the input
// also describes blocks and frames with correct digests, around events of any bytes.
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

#include <netuit/replay/delta.hpp>
#include <netuit/replay/record_format.hpp>
#include <netuit/replay/record_reader.hpp>
#include <uit/support/bytes.hpp>

#include "tests/fuzz/fuzz.hpp"

namespace {

using namespace uit::fuzz;
using namespace netuit::replay;

constexpr RecordHeader header{.mode = 3, .seed = 1, .shape = 5, .num_workers = 1, .num_threads = 1};

/// What a piece of the input does, modulo the number of kinds.
enum class Act : std::uint8_t {
  frame,    ///< a frame with the events that follow
  damaged,  ///< a frame whose mark has a changed bit
  next,     ///< ends the block, and begins another
  last,     ///< ends the block as the last
  bytes,    ///< any bytes
  cut,      ///< removes bytes from the end
};
constexpr std::uint8_t num_acts = 6;

/// A piece of the input. Its bytes follow, as far as the input has any.
struct Piece {
  std::uint8_t act = 0;
  std::uint8_t detail = 0;      ///< which bit of a mark changes; how large a block is
  std::uint16_t num_bytes = 0;  ///< how many bytes follow, or are cut
};
static_assert(sizeof(Piece) == 4);

/// The bytes of a record, with digests that fit.
class Builder {
 public:
  Builder() {
    const uit::ByteView head = uit::BytesOf(header);
    bytes.assign(head.begin(), head.end());
    bytes.resize(block_grain);
  }
  void Do(const Piece& piece, uit::ByteView given) {
    switch (static_cast<Act>(piece.act % num_acts)) {
      case Act::frame: AddFrame(given, 0); return;
      case Act::damaged: AddFrame(given, std::uint64_t{1} << piece.detail % 64); return;
      case Act::next: EndBlock(Follow::block); return BeginBlock(piece.detail);
      case Act::last: return EndBlock(Follow::nothing);
      case Act::bytes: bytes.insert(bytes.end(), given.begin(), given.end()); return;
      case Act::cut: bytes.resize(bytes.size() - std::min<std::size_t>(bytes.size(), piece.num_bytes));
    }
  }
  void BeginBlock(std::uint8_t detail) {
    bytes.resize((bytes.size() + block_grain - 1) / block_grain * block_grain);
    block_ = bytes.size();
    capacity_ = (1 + detail % 2) * block_grain + (detail >= 250 ? 8 : 0);
    digest_ = DigestWord(capacity_, digest_);
    Append(BlockHeader{.magic = BlockHeader::is_block, .capacity = capacity_, .digest = digest_});
  }

  std::vector<std::byte> bytes;

 private:
  template <typename V>
  void Append(const V& value) {
    const uit::ByteView view = uit::BytesOf(value);
    bytes.insert(bytes.end(), view.begin(), view.end());
  }
  void AddFrame(uit::ByteView events, std::uint64_t changed_bit) {
    digest_ = DigestFrame(events, digest_);
    Append(MakeMark(digest_, events.size()) ^ changed_bit);
    bytes.insert(bytes.end(), events.begin(), events.end());
    end_ = bytes.size();
    bytes.resize((bytes.size() + 7) / 8 * 8);
  }
  void EndBlock(Follow follow) {
    const std::size_t end = std::max(end_, block_ + sizeof(BlockHeader));
    digest_ = DigestWord(static_cast<std::uint64_t>(follow), DigestWord(end - block_, digest_));
    const std::size_t at = block_ + offsetof(BlockHeader, seal);
    if (at + sizeof digest_ <= bytes.size())
      uit::StoreBytes(MakeMark(digest_, end - block_), uit::MutableByteView(bytes).subspan(at, sizeof digest_));
    if (follow == Follow::nothing) bytes.resize(std::min(bytes.size(), end));
    else bytes.resize(std::max(bytes.size(), block_ + capacity_));
  }

  std::uint64_t digest_ = Digest(uit::BytesOf(header));
  std::size_t block_ = 0;
  std::size_t capacity_ = 0;
  std::size_t end_ = 0;  // of the last frame
};

/// A file in memory, which is replaced for each input.
class File {
 public:
  File() : file_(memfd_create("record", MFD_CLOEXEC)), path_("/proc/self/fd/" + std::to_string(file_)) {
    if (file_ < 0) throw std::runtime_error("no file in memory");
  }
  File(const File&) = delete;
  File& operator=(const File&) = delete;
  ~File() { close(file_); }

  const std::string& Path() const { return path_; }
  void Fill(uit::ByteView bytes) const {
    const bool is_filled =
        ftruncate(file_, 0) == 0 && pwrite(file_, bytes.data(), bytes.size(), 0) == static_cast<ssize_t>(bytes.size());
    if (!is_filled) throw std::runtime_error("the file in memory cannot be written");
  }

 private:
  int file_;
  std::string path_;
};

/// Reads an event's data as a replay does, with ghosts of 16 words and messages of up to 64 bytes.
bool TryReadEvent(RecordReader& reader, Event event, std::array<std::uint64_t, 16>& ghosts) {
  uit::ByteReader& rest = reader.Rest();
  std::uint64_t count = 1;
  std::uint64_t num_bytes = 0;
  std::uint64_t num_made = 0;
  std::uint64_t num_effective = 0;
  uit::ByteView message;
  std::uint8_t has_delta = 0;
  RecordSummary summary;
  switch (event) {
    case Event::update:
      if (!rest.TryRead(has_delta)) return false;
      if (has_delta == 0) return true;
      return TryReadNumber(rest, num_made) && TryReadNumber(rest, num_effective) && TryDecodeDelta(rest, ghosts);
    case Event::step_many:
    case Event::step_one:
    case Event::current:
      return (event != Event::step_many || TryReadNumber(rest, count)) && TryReadNumber(rest, num_bytes) &&
             rest.TryTake(num_bytes, message) && message.size() <= 64;
    case Event::summary: return rest.TryRead(summary);
    default: return static_cast<std::uint8_t>(event) <= static_cast<std::uint8_t>(Event::summary);
  }
}

void Try(const File& file, uit::ByteView bytes) {
  file.Fill(bytes);
  Accepts(
      [&] {
        RecordReader reader{file.Path(), header};
        Demand(reader.EarlyEnd().empty() || reader.EarlyEnd().starts_with(file.Path() + ": "), "an early end names the file");
        std::array<std::uint64_t, 16> ghosts{};
        std::size_t num_events = 0;
        while (reader.Peek() != Event::none) {
          const Event event = reader.Take();
          Demand(++num_events <= bytes.size(), "there are no more events than bytes");
          if (!TryReadEvent(reader, event, ghosts)) reader.FailToRead();
        }
        try {
          reader.Take();
          Demand(false, "nothing follows the last event");
        } catch (const RecordEnd&) {
        }
      },
      file.Path() + ": ", false);
}

}  // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const File file;
  const uit::ByteView given = InputBytes(data, size);
  Try(file, given);

  Builder builder;
  builder.BeginBlock(0);
  uit::ByteReader input{given};
  Piece piece;
  while (builder.bytes.size() < 8 * block_grain && input.TryRead(piece)) {
    uit::ByteView bytes;
    const bool has_bytes = static_cast<Act>(piece.act % num_acts) != Act::cut;
    if (has_bytes && !input.TryTake(std::min<std::size_t>(piece.num_bytes, input.Rest().size()), bytes)) return 0;
    builder.Do(piece, bytes);
  }
  Try(file, builder.bytes);
  return 0;
}
