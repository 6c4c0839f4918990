#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <string>

#include <uit/support/bytes.hpp>
#include <uit/tally.hpp>

/// A record has one file per worker: a header, then blocks of frames, which contain events in order. Numbers have the byte
/// order and sizes of the machine that wrote them, so only programs built alike can read them.
///
/// A running digest covers the whole file. Each frame's mark holds part of this digest up to the frame's last event, and is
/// rewritten with every event. A reader can therefore distinguish events that a killed process had written from later damage.
namespace netuit::replay {

/// The type of an event, which is its first byte. Parts of a file that have not been written are 0.
enum class Event : std::uint8_t {
  none = 0,          ///< stands for the end of the record; never written
  update = 1,        ///< an update begins; then by published layer and peer: 0, or 1, the sender's updates, how
                     ///< many of them are effective, and the delta of the ghosts
  put_refused = 2,   ///< a put was refused
  put_accepted = 3,  ///< a put was accepted
  put_threw = 4,     ///< a message was too large, or its codec threw
  step_none = 5,     ///< a step found nothing
  step_one = 6,      ///< a step moved past one message, which follows
  step_many = 7,     ///< a step moved past several: their number follows, then the last message
  no = 8,            ///< a flush or a poll returned false
  yes = 9,           ///< a flush or a poll returned true
  current = 10,      ///< an outlet's current message at the beginning of the run, which follows
  end = 11,          ///< the updates have ended
  summary = 12       ///< a RecordSummary follows; the record is complete
};

/// Blocks begin at multiples of this number of bytes. No page is larger.
inline constexpr std::size_t block_grain = 65'536;
/// Size of a block, unless one event needs more.
inline constexpr std::size_t block_bytes = 1 << 20;
/// Size of a frame, unless one event needs more. If a file is cut short, less than one frame is lost.
inline constexpr std::size_t frame_bytes = 4096;

/// The beginning of a file. It identifies the worker, the run and the mesh.
struct RecordHeader {
  std::array<char, 8> magic{'n', 'e', 't', 'u', 'i', 't', 'R', '\n'};  ///< distinguishes records from other files
  std::uint32_t version = 4;      ///< of the format
  std::uint32_t mode = 0;         ///< AsyncMode
  std::uint64_t seed = 0;         ///< of the run
  std::uint64_t first_update = 0; ///< RunOptions::first_update
  std::uint64_t run = 0;          ///< number of the run among those of its mesh
  std::uint64_t shape = 0;        ///< digest of the worker's part of the graph, the placement and the layers
  std::uint32_t worker = 0;       ///< the worker's number, as in Placement
  std::uint32_t num_workers = 0;  ///< of all processes
  std::uint32_t num_threads = 0;  ///< of each process
  std::uint32_t reserved = 0;     ///< unused
};

/// The beginning of a block.
struct BlockHeader {
  static constexpr std::uint64_t is_block = 0x6b636f6c426e7566;  ///< distinguishes blocks from other data

  std::uint64_t magic = 0;     ///< is_block; written last when the block begins
  std::uint64_t capacity = 0;  ///< bytes to the next block, a multiple of block_grain
  std::uint64_t digest = 0;    ///< of everything before the block, and of the capacity
  std::uint64_t seal = 0;      ///< written when the block ends: a mark of everything after the header; 0 until then
};

/// A worker's report at the end of its run.
struct RecordSummary {
  std::uint64_t num_barriers = 0;  ///< WorkerReport::num_barriers
  uit::Tally tally;                ///< WorkerReport::tally
  uit::Tally inside;               ///< WorkerReport::inside
};

/// Returns the path of a worker's record of a run, in the record's folder.
inline std::filesystem::path RecordPath(const std::filesystem::path& folder, std::uint64_t run, std::uint32_t worker) {
  return folder / ("run" + std::to_string(run) + "-worker" + std::to_string(worker) + ".record");
}

/// Adds eight bytes to a digest.
constexpr std::uint64_t DigestWord(std::uint64_t word, std::uint64_t before) {
  const std::uint64_t digest = (before ^ word) * 0x9e3779b97f4a7c15U;
  return digest ^ digest >> 32U;
}

/// Returns a digest that detects accidental changes, not intended ones. To digest data in parts, pass the digest of the earlier
/// parts as `before`.
inline std::uint64_t Digest(uit::ByteView bytes, std::uint64_t before = 14695981039346656037U) {
  std::uint64_t digest = before;
  std::size_t at = 0;
  for (; at + sizeof(std::uint64_t) <= bytes.size(); at += sizeof(std::uint64_t))
    digest = DigestWord(uit::LoadBytes<std::uint64_t>(bytes.subspan(at)), digest);
  std::uint64_t rest = 0;
  if (at != bytes.size()) std::memcpy(&rest, bytes.data() + at, bytes.size() - at);
  return DigestWord(bytes.size(), DigestWord(rest, digest));
}

/// Adds the last bytes of a frame to a digest. They are fewer than eight; `rest` holds them, followed by zeros.
constexpr std::uint64_t DigestEnd(std::uint64_t rest, std::ptrdiff_t num_bytes, std::uint64_t before) {
  return DigestWord(rest | std::uint64_t{1} << 8 * num_bytes, before);
}
/// Returns the digest of a frame's bytes. `before` is the digest of everything before them.
inline std::uint64_t DigestFrame(uit::ByteView bytes, std::uint64_t before) {
  std::uint64_t digest = before;
  for (; bytes.size() >= sizeof(std::uint64_t); bytes = bytes.subspan(sizeof(std::uint64_t)))
    digest = DigestWord(uit::LoadBytes<std::uint64_t>(bytes), digest);
  std::uint64_t rest = 0;
  if (!bytes.empty()) std::memcpy(&rest, bytes.data(), bytes.size());
  return DigestEnd(rest, static_cast<std::ptrdiff_t>(bytes.size()), digest);
}

/// Combines half of a digest and a number of bytes in one word. A process that is killed has therefore written both or neither.
constexpr std::uint64_t MakeMark(std::uint64_t digest, std::uint64_t num_bytes) { return (digest >> 32U << 32U) | num_bytes; }
/// Returns the number of bytes in a mark.
constexpr std::size_t BytesOfMark(std::uint64_t mark) { return mark & 0xffff'ffffU; }
/// The largest number of bytes that a mark can hold.
inline constexpr std::size_t max_marked_bytes = 0xffff'ffff;

/// Whether another block follows. A block's seal is a mark of this value and of the digest of everything before.
enum class Follow : std::uint64_t {
  block = 1,   ///< another block follows
  nothing = 2  ///< the record is complete
};

/// The most bytes that WriteNumber writes.
inline constexpr std::size_t max_number_bytes = 10;

/// Writes a number to `to`, seven bits per byte. Returns the end.
inline std::byte* WriteNumber(std::byte* to, std::uint64_t number) {
  for (; number >= 128; number >>= 7U) *to++ = static_cast<std::byte>(number % 128 + 128);
  *to++ = static_cast<std::byte>(number);
  return to;
}
/// Reads a number. Returns false if the bytes end within it or are not a number.
[[nodiscard]] inline bool TryReadNumber(uit::ByteReader& reader, std::uint64_t& number) {
  number = 0;
  for (unsigned shift = 0; shift < 64; shift += 7) {
    std::uint8_t digits = 0;
    if (!reader.TryRead(digits)) return false;
    number |= std::uint64_t{digits % 128U} << shift;
    if (digits < 128) return true;
  }
  return false;
}

}  // namespace netuit::replay
