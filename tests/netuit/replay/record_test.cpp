// Files of records: what was written can be read, however the writer ended, and every byte of a file is checked.
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <netuit/replay/delta.hpp>
#include <netuit/replay/record_format.hpp>
#include <netuit/replay/record_reader.hpp>
#include <netuit/replay/record_writer.hpp>
#include <uit/support/bytes.hpp>
#include <uit/support/error.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "tests/support/catch.hpp"
#include "tests/support/small_files.hpp"

using namespace netuit::replay;

namespace {

namespace fs = std::filesystem;

/// A path where no file exists at the beginning, nor at the end.
struct Draft {
  fs::path path = fs::temp_directory_path() / ("conduit_record_" + std::to_string(getpid()));
  Draft() { fs::remove(path); }
  Draft(const Draft&) = delete;
  Draft& operator=(const Draft&) = delete;
  ~Draft() { fs::remove(path); }
};

const RecordHeader header{.mode = 3, .seed = 1, .run = 1, .shape = 7, .worker = 2, .num_workers = 4, .num_threads = 2};

void WriteNumbers(RecordWriter& writer, std::uint64_t first, std::uint64_t last) {
  for (std::uint64_t number = first; number < last; ++number) {
    std::byte* const at = writer.Reserve(max_number_bytes);
    writer.Commit(Event::update, WriteNumber(at, number));
  }
}
/// Returns how many events contain their own number, up to the first that does not.
std::uint64_t CountNumbers(RecordReader& reader) {
  for (std::uint64_t count = 0;; ++count) {
    if (reader.Peek() != Event::update) return count;
    reader.Take();
    std::uint64_t read = 0;
    if (!TryReadNumber(reader.Rest(), read)) reader.FailToRead();
    if (read != count) return read;
  }
}

/// The numbers read from a file's events, until the file was refused or ended.
struct Reading {
  std::vector<std::uint64_t> numbers{};
  std::string refusal{};
  std::string early_end{};
};
Reading ReadNumbers(const fs::path& path, const RecordHeader& expected = header) {
  Reading reading;
  try {
    RecordReader reader(path, expected);
    reading.early_end = reader.EarlyEnd();
    while (reader.Peek() != Event::none) {
      const Event event = reader.Take();
      std::uint64_t number = 0;
      if (event != Event::yes && !TryReadNumber(reader.Rest(), number)) reader.FailToRead();
      reading.numbers.push_back(number * 100 + static_cast<std::uint64_t>(event));
    }
  } catch (const uit::InputError& error) {
    reading.refusal = error.what();
  }
  return reading;
}

std::string ReadFile(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}
void WriteFile(const fs::path& path, const std::string& text) { std::ofstream(path, std::ios::binary | std::ios::trunc) << text; }

/// Writes events of every kind and of many sizes, from 1 byte to more than a frame.
void WriteOddEvents(RecordWriter& writer, std::uint64_t num_events) {
  for (std::uint64_t i = 0; i < num_events; ++i) {
    if (i % 3 == 0) {
      writer.Add(Event::yes);
      continue;
    }
    const auto event = static_cast<Event>(1 + i % 7);
    const std::uint64_t number = i * i * i * i * i;
    writer.Commit(event, WriteNumber(writer.Reserve(i % 50 == 1 ? 2 * frame_bytes : max_number_bytes), number));
  }
}
/// Runs `write` in a process that is killed right after it.
template <typename F>
void WriteAndBeKilled(const fs::path& path, F&& write) {
  const pid_t child = fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    RecordWriter writer(path, header);
    write(writer);
    kill(getpid(), SIGKILL);
  }
  int status = 0;
  waitpid(child, &status, 0);
  REQUIRE(WIFSIGNALED(status));
}

bool IsPrefix(const std::vector<std::uint64_t>& part, const std::vector<std::uint64_t>& whole) {
  return part.size() <= whole.size() && std::equal(part.begin(), part.end(), whole.begin());
}

/// Changes bits of every byte of a file up to `num_bytes`, one byte at a time (only some of the bytes that pad the header),
/// and cuts the file before every byte. Checks that the reader gives only events that were written, up to some event, and
/// that `is_right(reading, whole, at)` holds for each change.
template <typename F>
void CheckEveryByte(const fs::path& path, std::size_t num_bytes, F&& is_right) {
  const std::string text = ReadFile(path);
  REQUIRE(text.size() >= num_bytes);
  const Reading whole = ReadNumbers(path);
  REQUIRE(whole.refusal.empty());
  std::size_t num_wrong = 0;
  const auto check = [&](std::size_t at, auto&& is_right_here) {
    const Reading reading = ReadNumbers(path);
    if (IsPrefix(reading.numbers, whole.numbers) && is_right_here(reading, whole, at)) return;
    ++num_wrong;
    CAPTURE(at, reading.refusal, reading.early_end, reading.numbers.size());
    CHECK(num_wrong < 5);
  };
  std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
  const auto put = [&file](std::size_t at, char byte) { file.seekp(static_cast<std::streamoff>(at)).put(byte).flush(); };
  for (std::size_t at = 0; at < num_bytes; ++at) {
    const bool is_padding = at > sizeof(RecordHeader) && at + 1 < block_grain;
    if (is_padding && at % 97 != 0) continue;
    for (const int bits : {1 << at % 8, 1 << (at + 4) % 8, 255, int{text[at]}}) {
      if (bits % 256 == 0) continue;  // it is already zero
      put(at, static_cast<char>(text[at] ^ bits));
      check(at, is_right);
    }
    put(at, text[at]);
  }
  file.close();
  for (std::size_t size = num_bytes; size-- > 0;) {
    fs::resize_file(path, size);
    if (size > sizeof(RecordHeader) && size < block_grain && size % 97 != 0) continue;
    check(size, [](const Reading& reading, const Reading& all, std::size_t at) {
      if (at < sizeof(RecordHeader)) return !reading.refusal.empty();
      return reading.refusal.empty() && !reading.early_end.empty() && reading.numbers.size() < all.numbers.size();
    });
  }
  CHECK(num_wrong == 0);
}

}  // namespace

TEST_CASE("A mark has half of a digest and a number of bytes, in the same bits in every version") {
  CHECK(MakeMark(0xfedc'ba98'7654'3210U, 5) == 0xfedc'ba98'0000'0005U);
  CHECK(BytesOfMark(0xfedc'ba98'8000'0005U) == 0x8000'0005U);
}

TEST_CASE("A record may begin with any event") {
  for (const Event first : {Event::update, Event::put_refused, Event::put_threw, Event::no}) {
    const Draft draft;
    {
      RecordWriter writer(draft.path, header);
      writer.Add(first);
      writer.Add(Event::step_none);
      writer.Seal();
    }
    RecordReader reader(draft.path, header);
    CHECK(reader.EarlyEnd().empty());
    CHECK(reader.Take() == first);
    CHECK(reader.Take() == Event::step_none);
    CHECK(reader.Peek() == Event::none);
  }
}

TEST_CASE("Everything written is read, over many blocks") {
  Draft draft;
  {
    RecordWriter writer(draft.path, header);
    WriteNumbers(writer, 0, 400'000);
  }
  RecordReader reader(draft.path, header);
  CHECK(CountNumbers(reader) == 400'000);
  CHECK_THROWS_AS(reader.Take(), RecordEnd);
}

TEST_CASE("A record can be read and written by those who may by the process's mask, and executed by nobody") {
  const Draft draft;
  const mode_t before = umask(0);
  { const RecordWriter writer(draft.path, header); }
  umask(before);
  CHECK(fs::status(draft.path).permissions() == static_cast<fs::perms>(0666));
}

TEST_CASE("An event larger than a block has one of its own") {
  Draft draft;
  {
    RecordWriter writer(draft.path, header);
    WriteNumbers(writer, 0, 1);
    std::byte* const at = writer.Reserve(3 * block_bytes);
    std::fill_n(at, 3 * block_bytes, std::byte{5});
    writer.Commit(Event::current, at + 3 * block_bytes);
    WriteNumbers(writer, 0, 1);
  }
  RecordReader reader(draft.path, header);
  CHECK(CountNumbers(reader) == 1);
  CHECK(reader.Take() == Event::current);
  uit::ByteView bytes;
  REQUIRE(reader.Rest().TryTake(3 * block_bytes, bytes));
  CHECK(bytes[3 * block_bytes - 1] == std::byte{5});
  CHECK(CountNumbers(reader) == 1);
}

TEST_CASE("The record of a killed process holds what it had written") {
  Draft draft;
  for (const std::uint64_t count : {std::uint64_t{0}, std::uint64_t{1}, std::uint64_t{200'000}}) {
    fs::remove(draft.path);
    WriteAndBeKilled(draft.path, [count](RecordWriter& writer) { WriteNumbers(writer, 0, count); });
    RecordReader reader(draft.path, header);
    CHECK(CountNumbers(reader) == count);
    CHECK(reader.EarlyEnd().find("was cut short, and is replayed up to byte") != std::string::npos);
  }
}

TEST_CASE("A record ends before a block that its process had not begun when it was killed") {
  const Draft draft;
  constexpr std::uint64_t num_written = 600'000;
  WriteAndBeKilled(draft.path, [](RecordWriter& writer) { WriteNumbers(writer, 0, num_written); });
  CHECK(ReadNumbers(draft.path).numbers.size() == num_written);
  std::string bytes = ReadFile(draft.path);
  const std::size_t second = block_grain + block_bytes;
  REQUIRE(bytes.size() > second);
  std::fill(bytes.begin() + static_cast<std::ptrdiff_t>(second), bytes.end(), '\0');
  WriteFile(draft.path, bytes);
  const Reading reading = ReadNumbers(draft.path);
  CHECK(reading.refusal == "");
  CHECK(reading.numbers.size() > 1000);
  CHECK(reading.numbers.size() < num_written);
}

TEST_CASE("A process that is killed after any event leaves every event before it in the record") {
  Draft draft;
  for (std::uint64_t count = 0; count < 60; ++count) {
    fs::remove(draft.path);
    WriteAndBeKilled(draft.path, [count](RecordWriter& writer) {
      WriteOddEvents(writer, count);
      std::fill_n(writer.Reserve(20), 20, std::byte{77});  // not committed
    });
    const Reading reading = ReadNumbers(draft.path);
    CHECK(reading.refusal.empty());
    CHECK(reading.numbers.size() == count);
    CHECK(!reading.early_end.empty());
  }
}

TEST_CASE("A full disk is reported, and what was written stays valid") {
  Draft draft;
  {
    RecordWriter writer(draft.path, header);
    {
      const uit::testing::SmallFiles small(block_grain + block_bytes);
      CHECK_THROWS_AS(WriteNumbers(writer, 0, 400'000), uit::OutputError);
      CHECK_THROWS_AS(WriteNumbers(writer, 0, 1), uit::OutputError);
    }
    CHECK_THROWS_AS(WriteNumbers(writer, 0, 1), uit::OutputError);  // there is room again, but one event is missing
  }
  RecordReader reader(draft.path, header);
  CHECK(CountNumbers(reader) > 50'000);
}

TEST_CASE("A delta restores the bytes, and takes no more room than stated") {
  std::vector<std::uint64_t> known;
  std::vector<std::uint64_t> followed;
  std::uint64_t state = 1;
  for (const std::size_t num_bytes : {0U, 1U, 7U, 8U, 9U, 100U, 1001U}) {
    known.assign(NumWords(num_bytes), 0);
    followed = known;
    std::vector<std::byte> bytes(num_bytes);
    for (int change = 0; change < 50; ++change) {
      for (std::byte& byte : bytes) {
        state = state * 6364136223846793005U + 1442695040888963407U;
        if (state >> 60U <= static_cast<unsigned>(change % 17)) byte = static_cast<std::byte>(state >> 40U);
      }
      std::vector<std::byte> delta(MaxDeltaBytes(num_bytes));
      const std::byte* const end = EncodeDelta(bytes.data(), num_bytes, known, delta.data());
      const auto num_delta = static_cast<std::size_t>(end - delta.data());
      REQUIRE(num_delta <= delta.size());
      uit::ByteReader reader({delta.data(), num_delta});
      REQUIRE(TryDecodeDelta(reader, followed));
      REQUIRE(reader.Rest().empty());
      REQUIRE(std::equal(bytes.begin(), bytes.end(), reinterpret_cast<const std::byte*>(followed.data())));
    }
  }
}

TEST_CASE("A delta that is cut anywhere, or covers too many words, is refused") {
  const std::vector<std::uint64_t> before(300, 5);
  std::vector<std::uint64_t> after = before;
  for (const std::size_t changed : {1U, 2U, 3U, 150U, 298U}) after[changed] = changed;
  std::vector<std::uint64_t> known = before;
  std::vector<std::byte> delta(MaxDeltaBytes(8 * after.size()));
  const std::byte* const end =
      EncodeDelta(reinterpret_cast<const std::byte*>(after.data()), 8 * after.size(), known, delta.data());
  const auto num_bytes = static_cast<std::size_t>(end - delta.data());
  const auto can_decode = [&before](uit::ByteView bytes) {
    std::vector<std::uint64_t> followed = before;
    followed.push_back(7);  // beyond the end, so it must stay 7
    uit::ByteReader reader(bytes);
    const bool is_decoded = TryDecodeDelta(reader, {followed.data(), before.size()});
    CHECK(followed.back() == 7);
    return is_decoded;
  };
  CHECK(can_decode({delta.data(), num_bytes}));
  for (std::size_t cut = 0; cut < num_bytes; ++cut) {
    CAPTURE(cut);
    CHECK_FALSE(can_decode({delta.data(), cut}));
  }

  // Numbers of words that are equal and that are new, then a number that would be many new words.
  const auto can_decode_numbers = [&](std::vector<std::uint64_t> numbers) {
    std::vector<std::byte> bytes(8 * 400);
    std::byte* to = bytes.data();
    for (const std::uint64_t number : numbers) to = WriteNumber(to, number);
    return can_decode(bytes);
  };
  CHECK(can_decode_numbers({300, 0}));
  CHECK(can_decode_numbers({0, 300}));
  CHECK(can_decode_numbers({1, 299}));
  CHECK_FALSE(can_decode_numbers({301, 0}));
  CHECK_FALSE(can_decode_numbers({0, 301}));
  CHECK_FALSE(can_decode_numbers({1, 300}));
  CHECK_FALSE(can_decode_numbers({0, 0, 300, 0}));  // pairs that cover no word could go on without end
}

TEST_CASE("A changed byte anywhere in a whole record is refused or ends the replay there") {
  Draft draft;
  {
    RecordWriter writer(draft.path, header);
    WriteOddEvents(writer, 40);
  }
  CHECK(ReadNumbers(draft.path).numbers.size() == 40);
  CHECK(ReadNumbers(draft.path).early_end.empty());
  CheckEveryByte(draft.path, fs::file_size(draft.path), [](const Reading& reading, const Reading&, std::size_t) {
    return reading.refusal.empty() != reading.early_end.empty();
  });
}

TEST_CASE("A changed byte in the record of a killed process is refused or ends the replay at its event") {
  Draft draft;
  WriteAndBeKilled(draft.path, [](RecordWriter& writer) { WriteOddEvents(writer, 40); });
  const std::string whole = ReadFile(draft.path);
  const std::size_t num_used = whole.find_last_not_of('\0') + 1;
  CHECK(num_used < block_grain + 8192 + 1024);  // the rest of the file was never written
  CheckEveryByte(draft.path, num_used, [](const Reading& reading, const Reading& good, std::size_t at) {
    if (reading.refusal.empty() && reading.early_end.empty()) return false;
    // No event is refused, and no damaged event is read.
    if (at < block_grain + sizeof(BlockHeader)) return !reading.refusal.empty();
    return reading.refusal.empty() && reading.numbers.size() < good.numbers.size();
  });
}

TEST_CASE("Damage in a sealed block of a killed process is refused") {
  Draft draft;
  WriteAndBeKilled(draft.path, [](RecordWriter& writer) { WriteNumbers(writer, 0, 400'000); });
  const std::string whole = ReadFile(draft.path);
  REQUIRE(whole.size() > block_grain + block_bytes);
  const auto read_changed = [&](std::size_t at, char bits) {
    std::string text = whole;
    text[at] = static_cast<char>(text[at] ^ bits);
    WriteFile(draft.path, text);
    return ReadNumbers(draft.path);
  };
  for (const std::size_t at : {0UL, 31UL, 40UL, 5000UL, 500'000UL}) {
    CHECK(read_changed(block_grain + at, 4).refusal.find("is damaged") != std::string::npos);
    CHECK(read_changed(block_grain + at, 4).numbers.empty());  // before anything is read
  }
  const Reading reading = read_changed(block_grain + block_bytes + 5000, 4);
  CHECK(reading.refusal.empty());
  CHECK(reading.numbers.size() > 50'000);
  CHECK(reading.early_end.find("is damaged, and is replayed up to byte") != std::string::npos);
  CHECK(ReadNumbers(draft.path, {.mode = 3, .seed = 2, .run = 1, .shape = 7, .worker = 2, .num_workers = 4, .num_threads = 2})
            .refusal.find("seed") != std::string::npos);
}

TEST_CASE("A block of another record, or another place, is refused") {
  Draft draft;
  const auto write = [&](const RecordHeader& of, std::uint64_t first) {
    fs::remove(draft.path);
    {
      RecordWriter writer(draft.path, of);
      WriteNumbers(writer, first, first + 600'000);
    }
    return ReadFile(draft.path);
  };
  const std::string mine = write(header, 0);
  RecordHeader other = header;
  other.seed = 77;
  const std::string others = write(other, 0);
  REQUIRE(mine.size() > block_grain + 2 * block_bytes);
  const auto refusal_with = [&](std::size_t first, std::size_t num_bytes, const std::string& from, std::size_t at) {
    std::string text = mine;
    text.replace(first, num_bytes, from, at, num_bytes);
    WriteFile(draft.path, text);
    return ReadNumbers(draft.path).refusal;
  };
  CHECK(refusal_with(block_grain, block_bytes, mine, block_grain).empty());
  CHECK(!refusal_with(block_grain, block_bytes, others, block_grain).empty());
  CHECK(!refusal_with(block_grain + block_bytes, block_bytes, others, block_grain + block_bytes).empty());
  CHECK(!refusal_with(block_grain + block_bytes, block_bytes, mine, block_grain).empty());
}

TEST_CASE("A record that ends between two blocks is not considered complete") {
  Draft draft;
  {
    RecordWriter writer(draft.path, header);
    WriteNumbers(writer, 0, 400'000);
  }
  fs::resize_file(draft.path, block_grain + block_bytes);
  const Reading reading = ReadNumbers(draft.path);
  CHECK(reading.refusal.empty());
  CHECK(reading.numbers.size() > 50'000);
  CHECK(!reading.early_end.empty());
}

TEST_CASE("Random damage never makes a reader read what was not written") {
  Draft draft;
  WriteAndBeKilled(draft.path, [](RecordWriter& writer) { WriteOddEvents(writer, 200); });
  const std::vector<std::uint64_t> written = ReadNumbers(draft.path).numbers;
  CHECK(written.size() == 200);
  const std::string whole = ReadFile(draft.path);
  const std::size_t num_used = whole.find_last_not_of('\0') + 1 - block_grain;
  std::uint64_t state = 1;
  std::size_t num_wrong = 0;
  for (int i = 0; i < 200; ++i) {
    std::string text = whole;
    for (int change = 0; change < 4; ++change) {
      state = state * 6364136223846793005U + 1442695040888963407U;
      text[block_grain + (state >> 20U) % num_used] = static_cast<char>(state >> 50U);
    }
    WriteFile(draft.path, text);
    num_wrong += IsPrefix(ReadNumbers(draft.path).numbers, written) ? 0 : 1;
  }
  CHECK(num_wrong == 0);
}

TEST_CASE("A record is refused if any field of its header differs") {
  Draft draft;
  { RecordWriter writer(draft.path, header); }
  CHECK(ReadNumbers(draft.path).refusal.empty());
  const auto refusal = [&](auto member) {
    RecordHeader other = header;
    ++(other.*member);
    return ReadNumbers(draft.path, other).refusal;
  };
  CHECK(refusal(&RecordHeader::version).find("its format version is 4, but this run needs 5") != std::string::npos);
  CHECK(refusal(&RecordHeader::mode).find("its mode is 3, but this run needs 4") != std::string::npos);
  CHECK(refusal(&RecordHeader::seed).find("its seed is 1, but this run needs 2") != std::string::npos);
  CHECK(refusal(&RecordHeader::run).find("its run number is 1, but this run needs 2") != std::string::npos);
  CHECK(refusal(&RecordHeader::shape).find("was recorded with another graph, placement or program") != std::string::npos);
  CHECK(refusal(&RecordHeader::worker).find("its worker number is 2, but this run needs 3") != std::string::npos);
  CHECK(refusal(&RecordHeader::num_workers).find("its number of workers is 4, but this run needs 5") != std::string::npos);
  CHECK(refusal(&RecordHeader::num_threads).find("its number of threads per process is 2, but") != std::string::npos);
  RecordHeader other = header;
  other.magic[0] = 'x';
  CHECK(ReadNumbers(draft.path, other).refusal.find("is not a record of a run") != std::string::npos);
}
