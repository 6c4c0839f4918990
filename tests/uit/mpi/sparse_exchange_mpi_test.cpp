// The exchange in which each process sends to some others and none knows how many messages come.
#include <uit/mpi/mpi_world.hpp>

#include <cstddef>
#include <cstdint>
#include <random>
#include <utility>

#include "tests/support/catch.hpp"
#include "tests/support/pmpi/faults.hpp"
#include "tests/support/pmpi/watch.hpp"
#include "tests/uit/mpi/support/ring.hpp"

using namespace uit;
using namespace uit::testing;

namespace {

/// What one rank sends to another in a round: nothing in half of the cases, and now and then much.
Bytes BytesFor(std::size_t from, std::size_t to, std::uint64_t round) {
  std::mt19937_64 random(from * 1'000'003 + to * 10'007 + round);
  if (random() % 2 == 0) return {};
  const std::size_t count = random() % 16 == 0 ? 100'000 : random() % 40;
  return Bytes(count, static_cast<std::byte>(random()));
}

/// Returns whether every rank gets in a round what others have sent to it in that round. Collective.
bool Exchange(const World& world, std::uint64_t round) {
  BytesByRank outgoing;
  for (std::size_t to = 0; to < world.Size(); ++to) outgoing.emplace(to, BytesFor(world.Rank(), to, round));
  BytesByRank expected;
  for (std::size_t from = 0; from < world.Size(); ++from)
    if (Bytes bytes = BytesFor(from, world.Rank(), round); !bytes.empty()) expected.emplace(from, std::move(bytes));
  return world.ExchangeSparsely(std::move(outgoing)) == expected;
}

}  // namespace

TEST_CASE("Sparse exchanges that follow each other never mix") {
  const World world = TheWorld();
  const World second = world.Duplicate();
  const auto run = [&] {
    for (std::uint64_t round = 0; round < 300; ++round) {
      CAPTURE(round);
      REQUIRE(Exchange(round % 3 == 0 ? second : world, round));
    }
  };
  SECTION("undisturbed") { run(); }
  SECTION("with messages that are noticed late") {
    const pmpi::Reordering reordering{17 + world.Rank()};
    const pmpi::Delaying delaying{static_cast<int>(1 + world.Rank() * 3)};  // so processes leave an exchange at different times
    run();
  }
  CHECK(second.Release());
}

TEST_CASE("A sparse exchange sends one message to each peer, and none to others") {
  const World world = TheWorld();
  const RingPlace place{world};
  const pmpi::NoWaiting no_waiting;
  const std::uint64_t num_before = pmpi::NumBegun();
  const BytesByRank incoming = world.ExchangeSparsely({{place.next, Bytes(10, std::byte{1})}});
  CHECK(incoming == BytesByRank{{place.previous, Bytes(10, std::byte{1})}});
  const std::uint64_t barrier = 1;
  const std::uint64_t messages = world.Size() == 1 ? 0 : 2;  // one sent, one received
  CHECK(pmpi::NumBegun() - num_before == barrier + messages);
  CHECK(pmpi::NumWaitingCalls() == 0);
}

TEST_CASE("To agree takes one reduction if nobody complains") {
  const World world = TheWorld();
  const std::uint64_t num_before = pmpi::NumBegun();
  world.Agree({});
  CHECK(pmpi::NumBegun() - num_before == 1);
}
