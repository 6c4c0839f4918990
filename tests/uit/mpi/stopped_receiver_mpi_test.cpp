// A receiver that stops: once it does not step one of its channels, once the system suspends it. Senders go on, and
// nobody's memory grows.
//
// UIT_TEST_STOP_SECONDS says for how long; a few seconds by default.

#include <signal.h>
#include <sys/types.h>
#include <unistd.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <memory>
#include <string>
#include <vector>

#include "tests/support/catch.hpp"
#include "tests/support/pmpi_check.hpp"
#include "tests/uit/mpi/support/ring.hpp"

using namespace uit;
using namespace uit::testing;
using namespace std::chrono_literals;

namespace {

constexpr Policy every{};
constexpr Policy latest{.retain = Retain::latest};
using Message = Load<1024>;
constexpr std::uint64_t no_end = ~std::uint64_t{0};
constexpr std::int64_t max_growth = 5'000'000;  // bytes

std::chrono::duration<double> StopFor() {
  const char* text = std::getenv("UIT_TEST_STOP_SECONDS");
  return std::chrono::duration<double>(text == nullptr ? 3.0 : std::atof(text));
}

/// Bytes of memory that a process of this machine has resident.
std::int64_t Resident(pid_t process) {
  std::ifstream file("/proc/" + std::to_string(process) + "/statm");
  std::int64_t total = 0;
  std::int64_t resident = 0;
  file >> total >> resident;
  return resident * sysconf(_SC_PAGESIZE);
}
bool IsCheckingMemory() {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  return false;  // they keep books of their own
#else
  return true;
#endif
}

/// The process numbers of all ranks. Collective.
std::vector<pid_t> Pids(const World& world) {
  const pid_t mine = getpid();
  const auto bytes = BytesOf(mine);
  std::vector<pid_t> pids;
  for (const Bytes& theirs : world.AllToAll(std::vector<Bytes>(world.Size(), Bytes(bytes.begin(), bytes.end()))))
    pids.push_back(LoadBytes<pid_t>(theirs));
  return pids;
}

/// Conduits to one process and from one, of both kinds.
struct Line {
  Line(Fabric& fabric, const RingPlace& place, std::uint32_t layer)
      : all(fabric, place, {.key = {.layer = layer}}), newest(fabric, place, {.key = {.layer = layer + 1}}) {}

  void Put() {
    all.TryPut(no_end);
    newest.TryPut(no_end);
  }
  void Step() {
    all.TryStep();
    newest.TryStep();
  }

  RingEnds<Message, every> all;
  RingEnds<Message, latest> newest;
};

/// The place of a process that has to do with one other alone.
RingPlace Between(const World& world, std::size_t peer) {
  RingPlace place{world};
  place.next = peer;
  place.previous = peer;
  return place;
}

template <typename Ends>
void CheckAccount(Ends& ends, const Tally& tally) {
  while (ends.TryStep()) {
  }
  CHECK(ends.is_right);
  CHECK((Tally{} += tally.put).put.Accepted() == ends.num_got);
  CHECK(((Tally{} += tally.put) += ends.outlet.Tally()).Balanced());
}

}  // namespace

TEST_CASE("A channel that its receiver does not step stalls no other, and nobody's memory grows") {
  const World world = TheWorld();
  const RingPlace place{world};
  Fabric fabric{world};
  Line unread{fabric, place, 0};
  Line read{fabric, place, 2};
  fabric.Connect();
  const auto work = [&](auto span) {
    WaitUntil(
        [&] {
          unread.Put();
          read.Put();
          read.Step();
          return false;
        },
        After(span), [] { return true; });
  };
  work(300ms);
  const std::int64_t before = Resident(getpid());
  const std::uint64_t num_read_before = read.all.num_got;
  const std::uint64_t num_newest_before = read.newest.num_got;
  work(StopFor());
  const std::int64_t growth = Resident(getpid()) - before;
  const std::uint64_t num_read = read.all.num_got - num_read_before;
  if (world.IsRoot())
    std::printf("not stepped: %llu others read, %lld bytes grown\n", static_cast<unsigned long long>(num_read),
                static_cast<long long>(growth));
  CHECK(num_read > 100);
  CHECK(read.newest.num_got > num_newest_before);
  CHECK(unread.all.inlet.Tally().dropped > 100);
  if (IsCheckingMemory()) CHECK(growth <= max_growth);
  CHECK(fabric.Close());
  const auto check = [&](auto& ends) { CheckAccount(ends, JoinTallies(world, place, ends.inlet.Tally(), {})); };
  check(read.all);
  check(read.newest);
  check(unread.all);
  check(unread.newest);
}

TEST_CASE("A process that the system suspends stalls no other, and nobody's memory grows") {
  // Rank 0 suspends rank 1, to which all send.
  const World world = TheWorld();
  const std::vector<pid_t> pids = Pids(world);
  Fabric fabric{world};
  std::vector<std::size_t> peers;
  std::vector<std::unique_ptr<Line>> lines;
  // How far the run is: rank 0 says so to all.
  std::vector<std::unique_ptr<RingEnds<Load<8>, latest>>> stages;
  for (std::size_t peer = 0; peer < world.Size(); ++peer) {
    if (peer == world.Rank()) continue;
    peers.push_back(peer);
    lines.push_back(std::make_unique<Line>(fabric, Between(world, peer), 0));
    if (peer == 0 || world.IsRoot())
      stages.push_back(
          std::make_unique<RingEnds<Load<8>, latest>>(fabric, Between(world, peer), Process{.key = {.layer = 2}}));
  }
  fabric.Connect();
  std::uint64_t num_rounds = 0;
  const auto work_once = [&] {
    for (auto& line : lines) {
      line->Put();
      line->Step();
    }
    ++num_rounds;
  };
  const auto work = [&](auto span, auto until) {
    return WaitUntil(
        [&] {
          work_once();
          return until();
        },
        After(span), [] { return true; });
  };
  const auto never_over = [] { return false; };
  if (world.IsRoot()) {
    work(500ms, never_over);
    const std::int64_t before = Resident(getpid());
    const std::int64_t before_there = Resident(pids[1]);
    const std::uint64_t num_rounds_before = num_rounds;
    const std::uint64_t num_from_last_before = lines.back()->all.num_got;
    REQUIRE(kill(pids[1], SIGSTOP) == 0);
    work(StopFor(), never_over);
    const std::int64_t growth = Resident(getpid()) - before;
    const std::int64_t growth_there = Resident(pids[1]) - before_there;
    const std::uint64_t num_rounds_stopped = num_rounds - num_rounds_before;
    kill(pids[1], SIGCONT);
    std::printf("suspended: %llu rounds of the sender, %lld bytes grown, %lld at the receiver\n",
                static_cast<unsigned long long>(num_rounds_stopped), static_cast<long long>(growth),
                static_cast<long long>(growth_there));
    CHECK(num_rounds_stopped > 1000);
    if (world.Size() > 2) CHECK(lines.back()->all.num_got > num_from_last_before + 100);
    if (IsCheckingMemory()) {
      CHECK(growth <= max_growth);
      CHECK(growth_there <= max_growth);
    }
    const std::uint64_t num_from_1_before = lines.front()->all.num_got;
    CHECK(work(10s, [&] { return lines.front()->all.num_got > num_from_1_before + 100; }));  // it catches up
    for (auto& stage : stages) CHECK(stage->TryPut(1));
  } else {
    work(60s, [&] {
      stages.front()->TryStep();
      return stages.front()->num_got == 1;
    });
  }
  CHECK(fabric.Close());
  // Accounts of all pairs at once.
  std::vector<Bytes> outgoing(world.Size());
  for (std::size_t i = 0; i < peers.size(); ++i) {
    for (const PutTally& puts : {lines[i]->all.inlet.Tally(), lines[i]->newest.inlet.Tally()}) {
      const auto bytes = BytesOf(puts);
      outgoing[peers[i]].insert(outgoing[peers[i]].end(), bytes.begin(), bytes.end());
    }
  }
  const std::vector<Bytes> incoming = world.AllToAll(std::move(outgoing));
  for (std::size_t i = 0; i < peers.size(); ++i) {
    const ByteView from = incoming[peers[i]];
    CheckAccount(lines[i]->all, Tally{} += LoadBytes<PutTally>(from));
    CheckAccount(lines[i]->newest, Tally{} += LoadBytes<PutTally>(from.subspan(sizeof(PutTally))));
  }
  CHECK(pmpi::NumPending() == 0);
}
