// The files of records: what has been written is there, whatever becomes of the writer, and nothing in one is believed.
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <netuit/replay/delta.hpp>
#include <netuit/replay/record_format.hpp>
#include <netuit/replay/record_reader.hpp>
#include <netuit/replay/record_writer.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "tests/support/catch.hpp"

using namespace netuit::replay;

namespace {

namespace fs = std::filesystem;

/// A path at which nothing is, now and at the end.
struct Draft {
  fs::path path = fs::temp_directory_path() / ("conduit_record_" + std::to_string(getpid()));
  Draft() { fs::remove(path); }
  Draft(const Draft&) = delete;
  Draft& operator=(const Draft&) = delete;
  ~Draft() { fs::remove(path); }
};

const RecordHeader header{.mode = 3, .seed = 1, .run = 1, .shape = 7, .worker = 2, .num_workers = 4};

void WriteNumbers(RecordWriter& writer, std::uint64_t first, std::uint64_t last) {
  for (std::uint64_t number = first; number < last; ++number) {
    std::byte* const at = writer.Reserve(max_number_bytes);
    writer.Commit(Event::update, WriteNumber(at, number));
  }
}
/// How many events that bear their numbers there are.
std::uint64_t CountNumbers(RecordReader& reader) {
  for (std::uint64_t count = 0;; ++count) {
    if (reader.Peek() != Event::update) return count;
    reader.Take();
    std::uint64_t read = 0;
    if (!TryReadNumber(reader.Rest(), read)) reader.FailToRead();
    if (read != count) return read;
  }
}

/// What a reader does with a file, whatever it holds: reads numbers, and then a difference of words.
std::string Read(const fs::path& path) {
  try {
    RecordReader reader(path, header);
    std::vector<std::uint64_t> words(1000);
    while (reader.Peek() == Event::update) {
      reader.Take();
      if (!TryDecodeDelta(reader.Rest(), words)) reader.FailToRead();
    }
    return "ended";
  } catch (const RecordEnd&) {
    return "ended";
  } catch (const uit::InputError& error) {
    return error.what();
  }
}

}  // namespace

TEST_CASE("What has been written is read, over many blocks") {
  Draft draft;
  {
    RecordWriter writer(draft.path, header);
    WriteNumbers(writer, 0, 400'000);
  }
  RecordReader reader(draft.path, header);
  CHECK(CountNumbers(reader) == 400'000);
  CHECK_THROWS_AS(reader.Take(), RecordEnd);
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

TEST_CASE("What a process had written when it was killed is there") {
  Draft draft;
  for (const std::uint64_t count : {std::uint64_t{0}, std::uint64_t{1}, std::uint64_t{200'000}}) {
    fs::remove(draft.path);
    const pid_t child = fork();
    REQUIRE(child >= 0);
    if (child == 0) {
      RecordWriter writer(draft.path, header);
      WriteNumbers(writer, 0, count);
      kill(getpid(), SIGKILL);
    }
    int status = 0;
    waitpid(child, &status, 0);
    CHECK(WIFSIGNALED(status));
    RecordReader reader(draft.path, header);
    CHECK(CountNumbers(reader) == count);
  }
}

TEST_CASE("Where there is no room for more, that is said, and what there is stays good") {
  Draft draft;
  rlimit before{};
  getrlimit(RLIMIT_FSIZE, &before);
  signal(SIGXFSZ, SIG_IGN);
  {
    RecordWriter writer(draft.path, header);
    const rlimit small{.rlim_cur = block_grain + block_bytes, .rlim_max = before.rlim_max};
    setrlimit(RLIMIT_FSIZE, &small);
    CHECK_THROWS_AS(WriteNumbers(writer, 0, 400'000), uit::OutputError);
    CHECK_THROWS_AS(WriteNumbers(writer, 0, 1), uit::OutputError);
    setrlimit(RLIMIT_FSIZE, &before);
    CHECK_THROWS_AS(WriteNumbers(writer, 0, 1), uit::OutputError);  // there is room again, but an event is missing
  }
  RecordReader reader(draft.path, header);
  CHECK(CountNumbers(reader) > 50'000);
}

TEST_CASE("Differences of bytes make them again, and take no more room than was said") {
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

TEST_CASE("Of a file with any byte changed, or cut anywhere, nothing is read that was not written, and nothing else happens") {
  Draft draft;
  {
    RecordWriter writer(draft.path, header);
    std::vector<std::uint64_t> words(1000);
    std::vector<std::uint64_t> known(1000);
    for (std::size_t i = 0; i < 60; ++i) {
      words[i * 7 % 1000] = i;
      std::byte* const at = writer.Reserve(MaxDeltaBytes(8000));
      writer.Commit(Event::update, EncodeDelta(reinterpret_cast<const std::byte*>(words.data()), 8000, known, at));
    }
  }
  std::ifstream file(draft.path, std::ios::binary);
  const std::string whole{std::istreambuf_iterator<char>(file), {}};
  CHECK(Read(draft.path) == "ended");
  const auto read_changed = [&](const std::string& text) {
    std::ofstream(draft.path, std::ios::binary | std::ios::trunc) << text;
    return Read(draft.path);
  };
  std::size_t num_refused = 0;
  std::size_t num_changed = 0;
  for (std::size_t at = 0; at < whole.size(); at = at + 1 == sizeof(RecordHeader) ? block_grain : at + 1) {
    std::string text = whole;
    text[at] = static_cast<char>(text[at] ^ (1 << at % 8));
    ++num_changed;
    num_refused += read_changed(text) != "ended" ? 1 : 0;
  }
  CHECK(num_refused + 16 >= num_changed);  // who changes the block's number of bytes or capacity may make it look cut
  CHECK(num_changed > 500);
  for (std::size_t size = block_grain; size < whole.size(); size += 37) CHECK(read_changed(whole.substr(0, size)) == "ended");
  for (const std::size_t size : {std::size_t{0}, std::size_t{1}, sizeof(RecordHeader) - 1})
    CHECK(read_changed(whole.substr(0, size)) != "ended");
  std::string torn = whole;  // events without a digest, as of a process that was killed
  std::fill_n(torn.begin() + block_grain + offsetof(BlockHeader, num_bytes), 16, '\0');
  std::uint64_t state = 1;
  for (int i = 0; i < 500; ++i) {
    std::string text = torn;
    for (int change = 0; change < 4; ++change) {
      state = state * 6364136223846793005U + 1442695040888963407U;
      text[block_grain + (state >> 20U) % (text.size() - block_grain)] = static_cast<char>(state >> 50U);
    }
    read_changed(text);
  }
}
