// Records in memory that two processes share, under every schedule.
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <new>
#include <optional>
#include <span>

#include <uit/config.hpp>
#include <uit/support/bytes.hpp>
#include <uit/link/shared_mailbox.hpp>
#include <uit/link/shared_ring.hpp>

#include "tests/support/catch.hpp"
#include "tests/support/explored_memory.hpp"
#include "tests/support/schedule_count.hpp"
#include "tests/support/schedule_explorer.hpp"
#include "tests/uit/link/support/explored_rings.hpp"

namespace {

using namespace uit::testing;
using Word = std::uint64_t;

/// The bytes of record n, counted from 1. All of them are n; the list gives their number.
template <std::size_t... lengths>
struct Records {
  static constexpr std::size_t num_records = sizeof...(lengths);
  static constexpr std::array<std::size_t, num_records> length{lengths...};
  static constexpr std::size_t largest = std::max({lengths...});

  std::array<std::byte, largest> bytes{};

  uit::ByteView Of(std::size_t number) {
    bytes.fill(static_cast<std::byte>(number));
    return std::span{bytes}.first(length[number - 1]);
  }
  /// Returns the number of the record with these bytes.
  static std::size_t Identify(uit::ByteView record) {
    Explorer::Expect(!record.empty(), "a record has no length");
    const auto number = static_cast<std::size_t>(record.front());
    Explorer::Expect(number >= 1 && number <= num_records, "a record was made up");
    Explorer::Expect(record.size() == length[number - 1], "a record has the length of another");
    Explorer::Expect(std::ranges::count(record, record.front()) == std::ssize(record), "a record is torn");
    return number;
  }
};

/// Writes records of these lengths to a mailbox with groups of so many slots. Before the threads begin, `num_before` are written, and the
/// reader has read record `first_read`, unless that is 0. The reader gets only whole records, in ascending order, and in the end the
/// last. The explorer checks that no record is written while the reader shows it.
template <std::size_t slots_of_group, std::size_t num_before, std::size_t first_read, int num_reads, std::size_t... lengths>
struct MailboxScenario {
  using List = Records<lengths...>;
  static constexpr std::size_t num_slots = uit::shared_mailbox::num_groups * slots_of_group;
  static constexpr std::size_t num_bytes =
      sizeof(uit::shared_mailbox::Head) + num_slots * uit::shared_mailbox::SlotBytes(List::largest);

  SharedWords<num_bytes> memory;
  std::optional<ExploredMemory> explored;
  std::optional<uit::shared_mailbox::BasicWriter<ExploredRef>> writer;
  std::optional<uit::shared_mailbox::BasicReader<ExploredRef>> reader;
  List records;
  uit::ByteView shown;
  std::size_t newest = 0;

  MailboxScenario() {
    new (memory.Begin()) uit::shared_mailbox::Head{};
    explored.emplace(memory.words);
    writer.emplace(uit::MutableByteView{memory.Begin(), num_bytes}, List::largest, slots_of_group);
    reader.emplace(uit::MutableByteView{memory.Begin(), num_bytes}, List::largest, slots_of_group);
    for (std::size_t number = 1; number <= num_before; ++number) {
      writer->Write(records.Of(number));
      if (number == first_read) Read();
    }
  }

  void Run(std::size_t thread) {
    if (thread == 0) {
      for (std::size_t number = num_before + 1; number <= List::num_records; ++number) writer->Write(records.Of(number));
    } else {
      for (int i = 0; i < num_reads; ++i) Read();
      CheckShown();
    }
  }
  void Finish() {
    CheckShown();
    Read();
    Explorer::Expect(newest == List::num_records, "the newest record was lost");
  }
  void Read() {
    CheckShown();
    const uit::ByteView front = reader->Front();
    if (front.data() == nullptr) return;
    shown = front;
    const std::size_t before = newest;
    newest = List::Identify(front);
    Explorer::Expect(newest > before, "a record is no newer");
    CheckShown();
  }
  void CheckShown() {
    if (shown.empty()) return;
    ExploredMemory::NoteRead(shown);
    Explorer::Expect(List::Identify(shown) == newest, "a record has changed while it was shown");
  }
};

/// Writes records of these lengths to a ring whose positions begin at `start`, if there is room. Each arrives once and in
/// order. The explorer checks that a record is written after its room was free, and read before its room is returned.
template <std::size_t capacity, Word start, bool looks_whether_empty, int num_reads, std::size_t... lengths>
struct RingScenario {
  using List = Records<lengths...>;

  ExploredRing<capacity> ring{start};
  List records;
  std::array<std::size_t, List::num_records> accepted{};
  std::size_t num_written = 0;
  std::size_t num_read = 0;

  void Run(std::size_t thread) {
    if (thread == 0) {
      for (std::size_t number = 1; number <= List::num_records; ++number) {
        if (looks_whether_empty) ring.writer->IsEmpty();  // this also learns of room
        if (!ring.writer->HasRoom(List::length[number - 1])) continue;
        accepted[num_written++] = number;
        ring.writer->Write(records.Of(number));
      }
    } else {
      for (int i = 0; i < num_reads; ++i) Read();
    }
  }
  void Finish() {
    while (Read()) {
    }
    Explorer::Expect(num_read == num_written, "a record was lost");
    Explorer::Expect(ring.writer->IsEmpty(), "room was lost");
  }
  bool Read() {
    const uit::ByteView front = ring.reader->Front();
    if (front.data() == nullptr) return false;
    Explorer::Expect(num_read < List::num_records, "a record was made up");
    Explorer::Expect(List::Identify(front) == accepted[num_read++], "a record is out of order");
    ring.reader->Pop(front);
    return true;
  }
};

/// Positions after which a ring and 64-bit numbers overflow within a few bytes.
constexpr Word Before(Word num_bytes) { return Word{0} - num_bytes; }

}  // namespace

TEST_CASE("No schedule makes shared memory lose, repeat, tear or reorder a record") {
  CheckExhaustedBetweenProcesses<MailboxScenario<1, 0, 0, 2, 8, 8, 8>>("mailbox between processes");
  CheckExhaustedBetweenProcesses<MailboxScenario<1, 2, 2, 4, 16, 16, 16, 16, 16, 16, 16, 16>>("mailbox between processes, small groups");
  CheckExhaustedBetweenProcesses<MailboxScenario<2, 2, 2, 3, 3, 9, 5, 12, 1, 7, 10, 4>>("mailbox between processes, lengths");
  CheckExhaustedBetweenProcesses<MailboxScenario<1, 2, 1, 2, 8, 8, 8, 8, 8, 8, 8, 8>>("mailbox between processes, held for long");
  CheckExhaustedBetweenProcesses<MailboxScenario<2, 5, 3, 2, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8>>("mailbox between processes, larger groups");
  CheckExhaustedBetweenProcesses<RingScenario<64, 0, false, 4, 8, 8, 8, 8>>("ring between processes");
  CheckExhaustedBetweenProcesses<RingScenario<64, 0, false, 4, 16, 16, 16, 16>>("ring between processes, wraps");
  CheckExhaustedBetweenProcesses<RingScenario<64, 0, false, 4, 3, 17, 9, 1, 20>>("ring between processes, lengths");
  CheckExhaustedBetweenProcesses<RingScenario<64, 0, true, 4, 21, 5, 12, 2, 8>>("ring between processes, lengths, shorter");
  CheckExhaustedBetweenProcesses<RingScenario<64, Before(16), false, 4, 5, 13, 30, 7>>("ring between processes, positions wrap");
}
