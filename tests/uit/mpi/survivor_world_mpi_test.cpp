// The world that processes go on in after others have ended; here nobody has.
#include <uit/link/world.hpp>
#include <uit/mpi/memory_file.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

#include <uit/link/frame.hpp>
#include <uit/link/link.hpp>
#include <uit/link/process_state.hpp>
#include <uit/support/bytes.hpp>
#include <uit/support/clock.hpp>
#include <uit/support/error.hpp>
#include <uit/support/pause.hpp>

#include "tests/support/catch.hpp"
#include "tests/support/mpi_world.hpp"
#include "tests/uit/mpi/support/set_up_exchanges.hpp"

using namespace std::chrono_literals;
using uit::testing::MpiTestWorld;

namespace {

/// A duplicate of the world, which has messages of its own, and its survivors: all processes.
struct Found {
  Found() : original(MpiTestWorld().Duplicate()), survivors(original.FindSurvivors(uit::After(10s)).value()) {}
  ~Found() {
    survivors.world.Release();
    original.Release();
  }
  uit::World original;
  uit::Survivors survivors;
};

uit::Bytes BytesFor(std::size_t from, std::size_t to, std::size_t round) {
  return uit::Bytes((from * 7 + to * 3) * round * round, static_cast<std::byte>(from * 16 + to));
}

}  // namespace

TEST_CASE("Survivors keep their order, and have a state of their own") {
  const Found found;
  const uit::World& world = found.survivors.world;
  CHECK(world.Size() == MpiTestWorld().Size());
  CHECK(world.Rank() == MpiTestWorld().Rank());
  for (std::size_t rank = 0; rank < world.Size(); ++rank) CHECK(found.survivors.ranks[rank] == rank);
  CHECK(world.Process() != MpiTestWorld().Process());
  CHECK(world.Process()->Watch().NumWatched() + 1 == world.Size());
  CHECK(world.Library() == MpiTestWorld().Library());
}

TEST_CASE("Survivors exchange messages of any size, and each of their worlds its own") {
  const Found found;
  const uit::World second = found.survivors.world.Duplicate();
  for (std::size_t round = 0; round < 100; ++round) {
    const uit::World& world = round % 2 == 0 ? found.survivors.world : second;
    uit::BytesByRank outgoing;
    for (std::size_t to = 0; to < world.Size(); ++to) outgoing.emplace(to, BytesFor(world.Rank(), to, round));
    uit::BytesByRank incoming = world.ExchangeSparsely(outgoing);
    for (std::size_t from = 0; from < world.Size(); ++from) CHECK(incoming[from] == BytesFor(from, world.Rank(), round));
  }
  CHECK(second.Release());
}

TEST_CASE("Survivors gather, scatter and agree") {
  const Found found;
  uit::testing::CheckSetUpExchanges(found.survivors.world);
}

TEST_CASE("Survivors share memory that has no name in a file system") {
  const Found found;
  const uit::World& world = found.survivors.world;
  if (world.HostRanks().empty()) {  // as if each were alone on its host
    CHECK(world.ShareMemory(64).empty());
    return;
  }
  const std::size_t num_bytes = 1000 * (world.Rank() + 1);
  const uit::HostMemory memory = world.ShareMemory(num_bytes);
  REQUIRE(memory.size() == world.Size());
  for (const auto& [rank, part] : memory) CHECK(part.size() >= 1000 * (rank + 1));
  std::memset(memory.at(world.Rank()).data(), static_cast<int>(world.Rank()) + 1, num_bytes);
  world.AllGatherValue(0);
  for (const auto& [rank, part] : memory) {
    CHECK(part.front() == static_cast<std::byte>(rank + 1));
    CHECK(part[1000 * (rank + 1) - 1] == static_cast<std::byte>(rank + 1));
  }
  world.AllGatherValue(0);
}

TEST_CASE("Links of survivors keep their streams apart") {
  const Found found;
  const uit::World& world = found.survivors.world;
  const std::size_t peer = world.Rank() ^ 1U;
  if (peer >= world.Size()) return;
  const uit::LinkOptions options{.num_sends = 4, .num_receives = 4, .payload_bytes = sizeof(std::uint64_t)};
  std::vector<uit::AnyLink> links;
  for (const int stream : {0, 2}) links.push_back(world.OpenLink(peer, stream, options));
  world.AllGatherValue(0);
  for (const std::size_t stream : {1U, 0U}) {  // the second stream's frame is sent first
    uit::Frame frame;
    frame.Reserve(sizeof(std::uint64_t));
    frame.Header() = uit::FrameHeader{};
    frame.Header().num_bytes = sizeof(std::uint64_t);
    const std::uint64_t value = world.Rank() * 10 + stream;
    std::memcpy(frame.Payload(), &value, sizeof value);
    REQUIRE(links[stream].TrySend(frame));
  }
  for (const std::size_t stream : {0U, 1U}) {
    uit::Frame frame;
    REQUIRE(uit::WaitUntil([&] { return links[stream].TryReceive(frame); }, uit::After(10s)));
    std::uint64_t value = 0;
    std::memcpy(&value, frame.Payload(), sizeof value);
    CHECK(value == peer * 10 + stream);
  }
  for (uit::AnyLink& link : links) CHECK(uit::WaitUntil([&] { return link.TryClose(); }, uit::After(10s)));
  CHECK_THROWS_AS(world.OpenLink(peer, 1'000'000, options), uit::Error);
}

TEST_CASE("Survivors that do not all meet by the deadline find no world, and find one later") {
  const uit::World original = MpiTestWorld().Duplicate();
  if (original.Size() == 1) {
    original.Release();
    return;
  }
  if (original.IsRoot()) CHECK_FALSE(original.FindSurvivors(uit::After(50ms)));
  MpiTestWorld().AllGatherValue(0);
  const auto survivors = original.FindSurvivors(uit::After(10s));
  REQUIRE(survivors);
  CHECK(survivors->world.AllGatherValue(survivors->world.Rank()).size() == original.Size());
  if (survivors->world.IsRoot()) CHECK_FALSE(survivors->world.Release(uit::After(50ms)));
  MpiTestWorld().AllGatherValue(0);
  original.Release();
}

TEST_CASE("Memory that cannot be mapped is none") {
  CHECK(uit::mpi::MemoryFile::TryMap({.process = 1, .file = 1'000'000, .num_bytes = 64}).empty());
}
