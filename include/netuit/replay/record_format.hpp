#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <string>

#include <uit/support/bytes.hpp>
#include <uit/tally.hpp>

/// A record has a file per worker: a header, then blocks, in which event follows upon event. It is in the words of one kind
/// of machine, for programs built alike.
namespace netuit::replay {

/// What an event is; it begins with this byte. 0 is what a file holds where nothing has been written yet.
enum class Event : std::uint8_t {
  none = 0,          ///< nothing was recorded any more
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

/// What a file begins with: which worker's it is, in which run of what.
struct RecordHeader {
  std::array<char, 8> magic{'n', 'e', 't', 'u', 'i', 't', 'R', '\n'};  ///< tells records from other files
  std::uint32_t version = 1;      ///< of the format
  std::uint32_t mode = 0;         ///< AsyncMode
  std::uint64_t seed = 0;         ///< RunOptions::seed
  std::uint64_t run = 0;          ///< number of the run among those of its mesh
  std::uint64_t shape = 0;        ///< digest of the worker's part of the graph, of what is placed where, and of the layers
  std::uint32_t worker = 0;       ///< its number, as in Placement
  std::uint32_t num_workers = 0;  ///< of all processes
};

/// What a block begins with. A block that is being written has no digest and no number of bytes yet.
struct BlockHeader {
  std::uint64_t magic = 0x6b636f6c426e7566;  ///< so that nothing else is taken for a block
  std::uint64_t capacity = 0;   ///< bytes to the next block, a multiple of block_grain
  std::uint64_t num_bytes = 0;  ///< of events
  std::uint64_t digest = 0;     ///< of these
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

/// Tells accidental changes; no help against intended ones. `before`: of what stands before, if the whole is digested in
/// parts.
inline std::uint64_t Digest(uit::ByteView bytes, std::uint64_t before = 14695981039346656037U) {
  std::uint64_t digest = before;
  const auto add = [&digest](std::uint64_t word) {
    digest = (digest ^ word) * 0x9e3779b97f4a7c15U;
    digest ^= digest >> 32U;
  };
  std::size_t at = 0;
  for (; at + sizeof(std::uint64_t) <= bytes.size(); at += sizeof(std::uint64_t))
    add(uit::LoadBytes<std::uint64_t>(bytes.subspan(at)));
  std::uint64_t rest = 0;
  if (at != bytes.size()) std::memcpy(&rest, bytes.data() + at, bytes.size() - at);
  add(rest);
  add(bytes.size());
  return digest;
}

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
