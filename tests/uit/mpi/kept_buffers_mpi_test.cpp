// Memory that MPI keeps: windows that are lent again, and what it may still use when the library gives up: the memory of a collective
// call, and that of messages between survivors.
#include <uit/mpi/collective.hpp>
#include <uit/mpi/survivor_votes.hpp>

#include <chrono>
#include <cstddef>
#include <memory>
#include <utility>
#include <vector>

#include <mpi.h>

#include <uit/link/process_state.hpp>
#include <uit/mpi/error.hpp>
#include <uit/mpi/host_group.hpp>
#include <uit/support/clock.hpp>
#include <uit/support/peer_watch.hpp>

#include "tests/support/catch.hpp"
#include "tests/support/goal.hpp"
#include "tests/support/mpi_world.hpp"
#include "tests/support/pmpi/watch.hpp"
#include "tests/support/thrown.hpp"

using namespace uit;
using namespace uit::testing;
using namespace std::chrono_literals;

namespace {

/// A request of MPI that completes only when it is told to.
class OpenRequest {
 public:
  OpenRequest() {
    const auto query = [](void*, MPI_Status* status) {
      MPI_Status_set_elements(status, MPI_BYTE, 0);
      return MPI_Status_set_cancelled(status, 0);
    };
    MPI_Grequest_start(query, [](void*) { return MPI_SUCCESS; }, [](void*, int) { return MPI_SUCCESS; }, nullptr, &request_);
  }
  OpenRequest(const OpenRequest&) = delete;
  OpenRequest& operator=(const OpenRequest&) = delete;
  ~OpenRequest() {
    MPI_Grequest_complete(request_);
    MPI_Wait(&request_, MPI_STATUS_IGNORE);
  }
  MPI_Request Get() const { return request_; }

 private:
  MPI_Request request_ = MPI_REQUEST_NULL;
};

constexpr auto at_once = [](MPI_Request*) { return MPI_SUCCESS; };

}  // namespace

TEST_CASE("The buffers of a collective call that does not complete stay, and those of one that does are freed") {
  ProcessState process;
  auto buffers = std::make_shared<int>(1);
  const std::weak_ptr<int> watched = buffers;
  SECTION("it completes") {
    CHECK(mpi::Collective(process, "a call", std::move(buffers), at_once, After(10s)));
    CHECK(watched.expired());
  }
  SECTION("its deadline passes") {
    const OpenRequest open;
    const auto start = [&](MPI_Request* request) {
      *request = open.Get();
      return MPI_SUCCESS;
    };
    CHECK_FALSE(mpi::Collective(process, "a call", std::move(buffers), start, After(1ms)));
    CHECK_FALSE(watched.expired());
  }
  SECTION("it fails") {
    const auto start = [](MPI_Request*) { return MPI_ERR_OTHER; };
    CheckThrows([&] { mpi::Collective(process, "a call", std::move(buffers), start); }, "a call failed");
    CHECK_FALSE(watched.expired());
  }
}

TEST_CASE("Survivors that end a vote before its messages have gone keep them") {
  if (MpiTestWorld().Size() == 1) return;
  constexpr std::size_t num_processes = 100'000;  // as if, so that MPI waits for the receiver before it sends all bytes
  mpi::Roll gone(num_processes, 1);
  gone[0] = gone[1] = 0;
  MPI_Comm communicator = MPI_COMM_NULL;
  MPI_Comm_dup(MPI_COMM_WORLD, &communicator);
  const World world = MpiTestWorld();
  if (world.Rank() == 0) {
    {
      const mpi::SurvivorSite site{.communicator = communicator, .identities = std::vector<ProcessIdentity>(num_processes)};
      mpi::Roll roll;
      CHECK_FALSE(mpi::SurvivorVotes(site).TryAgree(roll, After(20ms), [&] { return gone; }));
    }
    const std::vector<mpi::Roll> reused(8, mpi::Roll(num_processes, 7));  // takes what has been freed
    world.AllGatherValue(0);
    pmpi::CleanUp();
    CHECK(reused.back().back() == 7);
  } else {
    world.AllGatherValue(0);
  }
  if (world.Rank() == 1) {
    mpi::Roll heard(num_processes);
    MPI_Recv(heard.data(), static_cast<int>(num_processes), MPI_BYTE, 0, mpi::SurvivorSite::vote_tag, communicator, MPI_STATUS_IGNORE);
    const bool is_whole = heard == gone;
    CHECK(is_whole);
  }
  MPI_Comm_free(&communicator);
}

TEST_CASE("Shared memory that was given back is lent again, however many windows there are") {
  // With other processes, which wait for each other at each new window, this takes seconds on a busy machine.
  mpi::HostGroup group(PerCommitOrNight(MPI_COMM_SELF, MPI_COMM_WORLD), std::make_shared<ProcessState>(), true);
  const auto lend = [&](std::size_t num_bytes) {
    std::size_t number = 0;
    REQUIRE(group.Lend(num_bytes, number).size() == group.Ranks().size());
    return number;
  };
  constexpr std::size_t large = std::size_t{1} << 20U;
  for (std::size_t i = 0; i < 66; ++i) REQUIRE(lend(1) == i);
  group.TakeBack(65);
  group.TakeBack(3);
  CHECK(lend(1) == 3);
  CHECK(lend(1) == 65);
  CHECK(lend(large) == 66);
  for (std::size_t i = 0; i <= 66; ++i) group.TakeBack(i);
  CHECK(lend(large) == 66);
  CHECK(lend(1) == 0);
}
