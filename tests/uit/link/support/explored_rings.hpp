#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <new>
#include <optional>

#include <uit/config.hpp>
#include <uit/support/bytes.hpp>
#include <uit/link/shared_mailbox.hpp>
#include <uit/link/shared_ring.hpp>

#include "tests/support/explored_memory.hpp"

/// Memory that two processes share, as the explorer models it.
namespace uit::testing {

/// That many bytes on their own cache lines, as words.
template <std::size_t num_bytes>
struct SharedWords {
  alignas(cache_line) std::array<std::uint64_t, num_bytes / sizeof(std::uint64_t)> words{};
  std::byte* Begin() { return reinterpret_cast<std::byte*>(words.data()); }
};

/// The reading side of a ring, which reports reads of a record to the explorer.
class ExploredRingReader : public shared_ring::BasicReader<ExploredRef> {
 public:
  using shared_ring::BasicReader<ExploredRef>::BasicReader;
  ByteView Front() {
    const ByteView front = shared_ring::BasicReader<ExploredRef>::Front();
    ExploredMemory::NoteRead(front);
    return front;
  }
};

/// One side of a ring whose positions begin at `start`, for a caller that creates it from the memory alone.
template <std::uint64_t start>
struct StartingWriter : shared_ring::BasicWriter<ExploredRef> {
  explicit StartingWriter(std::byte* memory) : shared_ring::BasicWriter<ExploredRef>(memory, start) {}
};
template <std::uint64_t start>
struct StartingReader : ExploredRingReader {
  explicit StartingReader(std::byte* memory) : ExploredRingReader(memory, start) {}
};

/// The reading side of a mailbox, which does the same.
class ExploredMailboxReader : public shared_mailbox::BasicReader<ExploredRef> {
 public:
  using shared_mailbox::BasicReader<ExploredRef>::BasicReader;
  ByteView Front() {
    const ByteView front = shared_mailbox::BasicReader<ExploredRef>::Front();
    if (front.data() != nullptr) ExploredMemory::NoteRead(front);
    return front;
  }
};

/// A ring of `capacity` bytes, whose positions begin at any multiple of a word.
template <std::size_t capacity>
struct ExploredRing {
  SharedWords<sizeof(shared_ring::Head) + capacity> memory;
  std::optional<ExploredMemory> explored;
  std::optional<shared_ring::BasicWriter<ExploredRef>> writer;
  std::optional<ExploredRingReader> reader;

  explicit ExploredRing(std::uint64_t start = 0) {
    new (memory.Begin()) shared_ring::Head{.capacity = capacity, .read = start};
    explored.emplace(memory.words);
    writer.emplace(memory.Begin(), start);
    reader.emplace(memory.Begin(), start);
  }
};

}  // namespace uit::testing
