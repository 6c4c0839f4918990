// What two processes share, under every schedule.
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <new>
#include <optional>
#include <span>

#include <uit/config.hpp>
#include <uit/support/bytes.hpp>
#include <uit/wire/shared_mailbox.hpp>
#include <uit/wire/shared_ring.hpp>

#include "tests/support/catch.hpp"
#include "tests/support/schedule_count.hpp"
#include "tests/support/schedule_explorer.hpp"

namespace {

using namespace uit::testing;
using Word = std::uint64_t;

/// Words on a line.
template <std::size_t num_words>
struct Memory {
  alignas(uit::cache_line) std::array<Word, num_words> words{};
  std::byte* Begin() { return reinterpret_cast<std::byte*>(words.data()); }
};

/// Writes records of two equal words; the reader gets whole ones, ever newer, and at last the last. Two slots, so that the
/// writer comes round at once.
template <typename Fault = NoFault>
struct MailboxScenario {
  template <typename V>
  using Ref = typename ExploredMemory<V, Fault>::Ref;
  using Record = std::array<Word, 2>;
  static constexpr Word num_records = 3;
  static constexpr std::size_t slot_bytes = uit::shared_mailbox::SlotBytes(sizeof(Record));

  Memory<(sizeof(uit::shared_mailbox::Head) + 2 * slot_bytes) / sizeof(Word)> memory;
  std::optional<ExploredMemory<Word, Fault>> explored;
  std::optional<uit::shared_mailbox::BasicWriter<Ref>> writer;
  std::optional<uit::shared_mailbox::BasicReader<Ref>> reader;
  Word newest = 0;

  MailboxScenario() {
    new (memory.Begin()) uit::shared_mailbox::Head{.newest = 0, .num_slots = 2, .slot_bytes = slot_bytes};
    explored.emplace(std::span{memory.words});
    writer.emplace(memory.Begin());
    reader.emplace(memory.Begin());
  }

  void Run(std::size_t thread) {
    if (thread == 0) {
      for (Word number = 1; number <= num_records; ++number) writer->Write(uit::BytesOf(Record{number, number}));
    } else {
      Read();
    }
  }
  void Finish() {
    Read();
    Explorer::Expect(newest == num_records, "the newest record was lost");
  }
  void Read() {
    Record record{};
    if (!reader->TryRead(std::as_writable_bytes(std::span{record}))) return;
    Explorer::Expect(record[0] == record[1], "a record is torn");
    Explorer::Expect(record[0] > newest, "a record is no newer");
    newest = record[0];
  }
};

/// Writes numbered records of `num_words`, and reads each once, in order. What a record's place holds is watched: it is
/// written once there is room for it, and read before it is given back.
template <std::size_t num_words, typename Fault = NoFault>
struct RingScenario {
  template <typename V>
  using Ref = typename ExploredMemory<V, Fault>::Ref;
  using Record = std::array<Word, num_words>;
  static constexpr std::size_t capacity = 64;
  static constexpr Word num_records = 4;

  Memory<(sizeof(uit::shared_ring::Head) + capacity) / sizeof(Word)> memory;
  std::optional<ExploredMemory<Word, Fault>> explored;
  std::optional<uit::shared_ring::BasicWriter<Ref>> writer;
  std::optional<uit::shared_ring::BasicReader<Ref>> reader;
  static constexpr std::size_t num_places = capacity / ((num_words + 1) * sizeof(Word));
  std::array<Watched, num_places> places;
  Word num_written = 0;
  Word num_read = 0;

  RingScenario() {
    uit::shared_ring::Create({memory.Begin(), sizeof memory.words});
    explored.emplace(std::span{memory.words});
    writer.emplace(memory.Begin());
    reader.emplace(memory.Begin());
  }

  void Run(std::size_t thread) {
    for (Word i = 0; i < num_records; ++i) {
      if (thread == 0) Write();
      else Read();
    }
  }
  void Finish() {
    while (Read()) {
    }
    Explorer::Expect(num_read == num_written, "a record was lost");
    Explorer::Expect(writer->IsEmpty(), "room was lost");
  }
  void Write() {
    if (!writer->HasRoom(sizeof(Record))) return;
    Watched& place = places[num_written % num_places];
    place = static_cast<int>(++num_written);
    Record record;
    record.fill(num_written);
    writer->Write(uit::BytesOf(record));
  }
  bool Read() {
    const uit::ByteView front = reader->Front();
    if (front.data() == nullptr) return false;
    Explorer::Expect(front.size() == sizeof(Record), "a record has another size");
    const auto number = static_cast<Word>(places[num_read % num_places].Value());
    ++num_read;
    Explorer::Expect(number == num_read, "a record is out of order");
    const auto record = uit::LoadBytes<Record>(front);
    Explorer::Expect(std::ranges::count(record, num_read) == num_words, "a record is torn");
    reader->Pop(front);
    return true;
  }
};

/// Whatever is stored or loaded, without an order.
struct RelaxedStores : NoFault {
  static constexpr std::memory_order Store(std::size_t, std::memory_order) { return std::memory_order_relaxed; }
};
struct RelaxedLoads : NoFault {
  static constexpr std::memory_order Load(std::size_t, std::memory_order) { return std::memory_order_relaxed; }
};

}  // namespace

TEST_CASE("No schedule makes shared memory lose, repeat, tear or reorder a record") {
  CheckExhausted<MailboxScenario<>>("mailbox between processes");
  CheckExhausted<RingScenario<1>>("ring between processes");
  CheckExhausted<RingScenario<2>>("ring between processes, wraps");
}

TEST_CASE("Shared memory that is written or read without an order is caught") {
  CheckCaught<MailboxScenario<RelaxedStores>>("stores of a mailbox");
  CheckCaught<MailboxScenario<RelaxedLoads>>("loads of a mailbox");
  CheckCaught<RingScenario<1, RelaxedStores>>("stores of a ring");
  CheckCaught<RingScenario<1, RelaxedLoads>>("loads of a ring");
}
