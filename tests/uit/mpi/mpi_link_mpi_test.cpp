#include <uit/mpi/mpi_link.hpp>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "tests/support/catch.hpp"
#include "tests/support/pmpi/faults.hpp"
#include "tests/support/pmpi/watch.hpp"
#include "tests/support/thrown.hpp"
#include "tests/uit/mpi/support/ring.hpp"

using namespace uit;
using namespace uit::testing;

namespace {

constexpr std::size_t two_gigabytes = std::size_t{1} << 31;

/// A link of this process to itself, on its own communicator.
struct LinkToSelf {
  explicit LinkToSelf(const LinkOptions& options)
      : world(TheWorld().Duplicate()), link(world.OpenLink(world.Rank(), 0, options)) {}

  bool TrySend(std::uint64_t number, std::size_t num_bytes) {
    Frame sent{std::max(num_bytes, sizeof number)};
    sent.Header().num_bytes = static_cast<std::uint32_t>(num_bytes);
    std::memcpy(sent.Payload(), &number, sizeof number);
    return link.TrySend(sent);
  }
  /// Returns the number of the next frame, which must have that size, or 0 if none has come.
  std::uint64_t Next(std::size_t num_bytes) {
    std::uint64_t number = 0;
    if (!WaitUntil([this] { return link.TryReceive(received); }, After(std::chrono::seconds(5)))) return 0;
    if (received.Header().num_bytes == num_bytes) std::memcpy(&number, received.Payload(), sizeof number);
    return number;
  }
  bool Close() {
    return WaitUntil([this] { return link.TryClose(); }, After(std::chrono::seconds(5))) && world.Release();
  }

  World world;
  AnyLink link;
  Frame received;
};

}  // namespace

TEST_CASE("Frames of any size come in order, through few slots") {
  for (const std::size_t largest : {8U, 100U, 100'000U, 2'000'000U}) {
    LinkToSelf to{{.num_sends = 3, .num_receives = 3, .payload_bytes = largest}};
    const auto size_of = [largest](std::uint64_t number) { return number % 2 == 0 ? largest : 8; };
    std::uint64_t num_sent = 0;
    for (std::uint64_t number = 1; number <= 30; ++number) {
      while (num_sent < 30 && num_sent < number + 2 && to.TrySend(num_sent + 1, size_of(num_sent + 1))) ++num_sent;
      REQUIRE(to.Next(size_of(number)) == number);
    }
    CHECK(to.Close());
  }
  CHECK(pmpi::NumPending() == 0);
}

TEST_CASE("A buffer that MPI still reads is not written again") {
  constexpr std::size_t largest = 2'000'000;  // so large that MPI copies it nowhere before its receive is posted
  LinkToSelf to{{.num_sends = 3, .num_receives = 1, .payload_bytes = largest}};
  std::uint64_t num_sent = 0;
  while (num_sent < 10 && to.TrySend(num_sent + 1, largest)) ++num_sent;
  CHECK(num_sent >= 3);
  for (std::uint64_t number = 1; number <= num_sent; ++number) REQUIRE(to.Next(largest) == number);
  CHECK(to.Close());
  CHECK(pmpi::NumPending() == 0);
  CHECK(pmpi::NumModifiedSends() == 0);
}

TEST_CASE("A frame larger than its link is refused before it reaches MPI") {
  LinkToSelf to{{.num_sends = 2, .num_receives = 2, .payload_bytes = 16}};
  CheckThrows([&] { to.TrySend(1, 17); }, "a frame of 17 bytes is too large for its link of 16");
  CHECK(to.TrySend(2, 16));
  CHECK(to.Next(16) == 2);
  CHECK(to.Close());
}

TEST_CASE("Counts above one gigabyte are refused") {
  CHECK(mpi::CheckedCount(std::size_t{1} << 30) == 1 << 30);
  CheckThrows([] { mpi::CheckedCount((std::size_t{1} << 30) + 1); }, "over the limit of 1 GiB");
  CheckThrows([] { mpi::CheckedCount((std::size_t{1} << 32) + 1); }, "over the limit");
  const World world = TheWorld();
  CheckThrows([&] { world.OpenLink(0, 0, {.payload_bytes = two_gigabytes}); }, "over the limit");
}

TEST_CASE("A tag above the limit of this MPI is refused") {
  const World world = TheWorld();
  CheckThrows([&] { world.OpenLink(0, -1, {}); }, "no tag for stream -1");
  const auto pretence = pmpi::Pretence::LargestTag(32'767);
  CheckThrows([&] { world.OpenLink(0, 32'768, {}); }, "no tag for stream 32768");
}

TEST_CASE("Receives that were posted before a failure keep their buffers") {
  const World world = TheWorld();
  const std::size_t num_before = pmpi::NumPending();
  const pmpi::Failing failing{"MPI_Irecv", 3};
  CheckThrows([&] { world.OpenLink(0, 5, {.num_receives = 4, .payload_bytes = 64}); }, "MPI_Irecv failed");
  CHECK(pmpi::NumPending() == num_before + 2);
  pmpi::CleanUp();
}
