// A checkpoint restores the world that it was made from. A file that is not a whole checkpoint is refused.
#include "demos/digital_evolution/record/checkpoint.hpp"

#include <unistd.h>

#include <cstddef>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include "tests/demos/digital_evolution/world/worlds.hpp"
#include "tests/support/catch.hpp"

using namespace digital_evolution;
using digital_evolution::testing::BusyGenome;
using digital_evolution::testing::BusyRules;
using digital_evolution::testing::LongGenome;
using digital_evolution::testing::Scene;
using digital_evolution::testing::ShortGenome;

namespace {

/// A file that is removed at the end of the test.
struct TemporaryFile {
  ~TemporaryFile() { std::filesystem::remove(path); }
  std::string Read() const {
    std::ifstream stream{path, std::ios::binary};
    return {std::istreambuf_iterator<char>{stream}, std::istreambuf_iterator<char>{}};
  }
  void Write(const std::string& text) const { std::ofstream{path, std::ios::binary | std::ios::trunc} << text; }

  std::string path = (std::filesystem::temp_directory_path() / ("checkpoint_test." + std::to_string(getpid()))).string();
};

std::string Complaint(const std::string& path) {
  try {
    ReadCheckpoint(path);
  } catch (const uit::InputError& error) {
    return error.what();
  }
  return {};
}

}  // namespace

TEST_CASE("a world restarted from a checkpoint equals one that never stopped", "[digital_evolution]") {
  const auto torus = netuit::MakeTorus(6, 9);
  const auto one = netuit::PlaceContiguous(torus, {.processes = 1, .threads = 1});
  const auto three = netuit::PlaceRandom(torus, {.processes = 1, .threads = 3}, 4);
  const uit::World alone;
  const TemporaryFile file;
  const auto founding = GENERATE(Founding{.ancestor = BusyGenome()}, Founding{.ancestor = LongGenome(), .rival = ShortGenome()});
  Scene scene{torus, one, alone, BusyRules(), 7};
  scene.world.Found(founding);
  scene.RunInStep(64);
  SaveCheckpoint(file.path, scene.world, alone, 6, 9, 7);
  const std::uint64_t at_64 = scene.world.StateHash();
  scene.RunInStep(80);

  const Checkpoint checkpoint = ReadCheckpoint(file.path);
  CHECK(checkpoint.header.side == 6);
  CHECK(checkpoint.header.width == 9);
  CHECK(checkpoint.header.seed == 7);
  CHECK(checkpoint.header.age == 64);
  CHECK(checkpoint.header.rules == HashOf(BusyRules()));
  CHECK(checkpoint.header.rules != HashOf(Rules{}));
  Scene other{torus, three, alone, BusyRules(), 7};
  LoadCheckpoint(checkpoint, other.world, alone);
  CHECK(other.world.StateHash() == at_64);
  other.RunInStep(80);
  CHECK(other.world.StateHash() == scene.world.StateHash());
  CHECK(other.world.SumLedger() == scene.world.SumLedger());
  CHECK(other.world.SumCounters() == scene.world.SumCounters());
}

TEST_CASE("a checkpoint that is foreign, of another version, cut short or damaged is refused", "[digital_evolution]") {
  const auto torus = netuit::MakeTorus(3, 3);
  const uit::World alone;
  const TemporaryFile file;
  Scene scene{torus, netuit::PlaceContiguous(torus, {.processes = 1, .threads = 1}), alone, BusyRules(), 1};
  scene.world.Found({.ancestor = BusyGenome()});
  scene.RunInStep(32);
  SaveCheckpoint(file.path, scene.world, alone, 3, 3, 1);
  const std::string whole = file.Read();
  REQUIRE(Complaint(file.path).empty());

  for (std::size_t size = 0; size < whole.size(); size += 1 + size / 7) {
    INFO("cut to " << size << " bytes");
    file.Write(whole.substr(0, size));
    CHECK(Complaint(file.path).starts_with(file.path + ": is "));
  }
  file.Write(whole + '\0');
  CHECK(Complaint(file.path) == file.path + ": has data after its end");
  std::string other = whole;
  ++other[32];
  file.Write(other);
  CHECK(Complaint(file.path) == file.path + ": is of another version of digital_evolution");
  for (std::size_t at = 0; at < whole.size(); at += at < sizeof(CheckpointHeader) ? 1 : 997) {
    INFO("byte " << at);
    std::string damaged = whole;
    damaged[at] = static_cast<char>(damaged[at] ^ 0x10);
    file.Write(damaged);
    const std::string complaint = Complaint(file.path);
    const bool is_length = at >= offsetof(CheckpointHeader, num_bytes) && at < offsetof(CheckpointHeader, hash);
    if (at < sizeof(CheckpointHeader::magic)) CHECK(complaint == file.path + ": is not a checkpoint of digital_evolution");
    else if (at < offsetof(CheckpointHeader, side)) CHECK(complaint == file.path + ": is of another version of digital_evolution");
    else if (is_length) CHECK((complaint == file.path + ": is cut short" || complaint == file.path + ": has data after its end"));
    else CHECK(complaint == file.path + ": is damaged");
  }
  file.Write("mode,mode_name\n");
  CHECK(Complaint(file.path) == file.path + ": is not a checkpoint of digital_evolution");
  CHECK(Complaint("no_such_file") == "no_such_file: cannot be opened: No such file or directory");
  CHECK(Complaint("/") == "/: is a directory");
  CHECK(Complaint("/dev/zero") == "/dev/zero: is not a checkpoint of digital_evolution");
}
