#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <string>

#include <uit/support/bytes.hpp>
#include <uit/tally.hpp>

/// A record has a file per worker: a header, then blocks of frames, in which event follows upon event. It is in the words
/// of one kind of machine, for programs built alike.
///
/// A digest runs through the whole file. Each frame's mark holds some of it, up to the frame's last event, and is written
/// with every event. So whatever a killed process had written can be told from what has been damaged since.
namespace netuit::replay {

/// What an event is; it begins with this byte. 0 is what a file holds where nothing has been written yet.
enum class Event : std::uint8_t {
  none = 0,          ///< stands for the end of the record; never written
  update = 1,        ///< an update begins; then by multicast layer and peer 0, or 1 and how ghosts differ from before
  put_refused = 2,   ///< a put found no room
  put_accepted = 3,  ///< a put found room
  put_threw = 4,     ///< a message was too large, or its codec threw
  step_none = 5,     ///< a step found nothing
  step_one = 6,      ///< a step moved past one message, which follows
  step_many = 7,     ///< a step moved past as many as follow, to the message that follows
  no = 8,            ///< a flush or a poll said so
  yes = 9,           ///< likewise
  current = 10,      ///< the message that an outlet has when the run begins follows
  end = 11,          ///< the updates are over
  summary = 12       ///< a RecordSummary; the record is whole
};

/// Blocks begin at multiples of it: no page is larger.
inline constexpr std::size_t block_grain = 65'536;
/// Of a block, unless one event wants more.
inline constexpr std::size_t block_bytes = 1 << 20;
/// Of a frame, unless one event wants more. Of a file that was cut short, less than a frame is lost.
inline constexpr std::size_t frame_bytes = 4096;

/// What a file begins with: which worker's it is, in which run of what.
struct RecordHeader {
  std::array<char, 8> magic{'n', 'e', 't', 'u', 'i', 't', 'R', '\n'};  ///< tells records from other files
  std::uint32_t version = 2;      ///< of the format
  std::uint32_t mode = 0;         ///< AsyncMode
  std::uint64_t seed = 0;         ///< RunOptions::seed
  std::uint64_t run = 0;          ///< number of the run among those of its mesh
  std::uint64_t shape = 0;        ///< digest of the worker's part of the graph, of what is placed where, and of the layers
  std::uint32_t worker = 0;       ///< its number, as in Placement
  std::uint32_t num_workers = 0;  ///< of all processes
  std::uint32_t num_threads = 0;  ///< of each process
  std::uint32_t reserved = 0;     ///< nothing yet
};

/// What a block begins with.
struct BlockHeader {
  static constexpr std::uint64_t is_block = 0x6b636f6c426e7566;  ///< so that nothing else is taken for a block

  std::uint64_t magic = 0;     ///< is_block; written last when the block begins
  std::uint64_t capacity = 0;  ///< bytes to the next block, a multiple of block_grain
  std::uint64_t digest = 0;    ///< of all before the block, and of the capacity
  std::uint64_t seal = 0;      ///< written when the block ends: a mark of all that follows the header; 0 until then
};

/// What a worker reports of its run.
struct RecordSummary {
  std::uint64_t num_barriers = 0;  ///< WorkerReport::num_barriers
  uit::Tally tally;                ///< WorkerReport::tally
  uit::Tally inside;               ///< WorkerReport::inside
};

/// Of a worker in a run, in the folder of the record.
inline std::filesystem::path RecordPath(const std::filesystem::path& folder, std::uint64_t run, std::uint32_t worker) {
  return folder / ("run" + std::to_string(run) + "-worker" + std::to_string(worker) + ".record");
}

/// A step of Digest, by eight bytes.
constexpr std::uint64_t DigestWord(std::uint64_t word, std::uint64_t before) {
  const std::uint64_t digest = (before ^ word) * 0x9e3779b97f4a7c15U;
  return digest ^ digest >> 32U;
}

/// Tells accidental changes; no help against intended ones. `before`: of what stands before, if the whole is digested in
/// parts.
inline std::uint64_t Digest(uit::ByteView bytes, std::uint64_t before = 14695981039346656037U) {
  std::uint64_t digest = before;
  std::size_t at = 0;
  for (; at + sizeof(std::uint64_t) <= bytes.size(); at += sizeof(std::uint64_t))
    digest = DigestWord(uit::LoadBytes<std::uint64_t>(bytes.subspan(at)), digest);
  std::uint64_t rest = 0;
  if (at != bytes.size()) std::memcpy(&rest, bytes.data() + at, bytes.size() - at);
  return DigestWord(bytes.size(), DigestWord(rest, digest));
}

/// The last step for a frame, of the fewer than eight bytes that are left: `rest` has them, and zeros.
constexpr std::uint64_t DigestEnd(std::uint64_t rest, std::ptrdiff_t num_bytes, std::uint64_t before) {
  return DigestWord(rest | std::uint64_t{1} << 8 * num_bytes, before);
}
/// Of a frame's bytes. `before`: of what stands before them.
inline std::uint64_t DigestFrame(uit::ByteView bytes, std::uint64_t before) {
  std::uint64_t digest = before;
  for (; bytes.size() >= sizeof(std::uint64_t); bytes = bytes.subspan(sizeof(std::uint64_t)))
    digest = DigestWord(uit::LoadBytes<std::uint64_t>(bytes), digest);
  std::uint64_t rest = 0;
  if (!bytes.empty()) std::memcpy(&rest, bytes.data(), bytes.size());
  return DigestEnd(rest, static_cast<std::ptrdiff_t>(bytes.size()), digest);
}

/// Half of a digest and a number of bytes, in one word: a process that is killed has written both or neither.
constexpr std::uint64_t MakeMark(std::uint64_t digest, std::uint64_t num_bytes) { return (digest >> 32U << 32U) | num_bytes; }
/// The number of bytes.
constexpr std::size_t BytesOfMark(std::uint64_t mark) { return mark & 0xffff'ffffU; }
/// There is no more for a mark.
inline constexpr std::size_t max_marked_bytes = 0xffff'ffff;

/// What a block's seal is a mark of, besides the digest of all before: whether another block was to follow.
enum class Follow : std::uint64_t {
  block = 1,   ///< yes
  nothing = 2  ///< the record is whole
};

/// The most bytes that a number takes.
inline constexpr std::size_t max_number_bytes = 10;

/// Writes a number, a small one in a byte, to `to`, which has room. Returns where it ends.
inline std::byte* WriteNumber(std::byte* to, std::uint64_t number) {
  for (; number >= 128; number >>= 7U) *to++ = static_cast<std::byte>(number % 128 + 128);
  *to++ = static_cast<std::byte>(number);
  return to;
}
/// Reads one; false if the bytes end within it, or it is none.
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
