// Tests of the shim: it notices what it watches, and the faults that it injects occur.

#include <mpi.h>

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <thread>

#include "tests/support/catch.hpp"
#include "tests/support/pmpi/faults.hpp"
#include "tests/support/pmpi/watch.hpp"
#include "tests/uit/mpi/support/ring.hpp"

using namespace uit;
using namespace uit::testing;
using namespace std::chrono_literals;

namespace {

using Words = std::array<std::uint64_t, 100>;

/// A message of this process to itself, half as long as its receive.
struct ToSelf {
  explicit ToSelf(int tag) {
    MPI_Irecv(received.data(), sizeof received, MPI_BYTE, 0, tag, MPI_COMM_SELF, &receive);
    MPI_Isend(sent.data(), sizeof sent / 2, MPI_BYTE, 0, tag, MPI_COMM_SELF, &send);
  }
  static bool IsDone(MPI_Request& request) {
    int is_done = 0;
    MPI_Test(&request, &is_done, MPI_STATUS_IGNORE);
    return is_done != 0;
  }
  void Complete() {
    CHECK(WaitUntil([this] { return IsDone(receive); }, After(10s)));
    CHECK(WaitUntil([this] { return IsDone(send); }, After(10s)));
  }
  Words sent{};
  Words received{};
  MPI_Request send = MPI_REQUEST_NULL;
  MPI_Request receive = MPI_REQUEST_NULL;
};

}  // namespace

TEST_CASE("The watch reports changes of buffers that MPI still uses") {
  const std::size_t num_before = pmpi::NumPending();
  {
    ToSelf to{1};
    CHECK(pmpi::NumPending() == num_before + 2);
    to.Complete();
    CHECK(to.received[0] == 0);
    CHECK(pmpi::NumModifiedSends() + pmpi::NumModifiedReceives() == 0);
  }
  {
    ToSelf to{1};
    to.sent[0] = 1;
    to.received.back() = 1;
    to.Complete();
    CHECK(pmpi::NumModifiedSends() == 1);
    CHECK(pmpi::NumModifiedReceives() == 1);
  }
  MPI_Request receive = MPI_REQUEST_NULL;
  Words message{};
  MPI_Irecv(message.data(), sizeof message, MPI_BYTE, 0, 2, MPI_COMM_SELF, &receive);
  CHECK(message[0] != 0);  // a reader that is too early finds no message
  message[0] = 1;
  MPI_Cancel(&receive);
  CHECK(WaitUntil([&] { return ToSelf::IsDone(receive); }, After(10s)));
  CHECK(pmpi::NumModifiedReceives() == 2);
  CHECK(pmpi::NumPending() == num_before);
  CHECK(pmpi::MostPending() >= num_before + 2);
  pmpi::Forgive();
}

TEST_CASE("The watch reports changes of buffers of a non-blocking collective") {
  const auto complete = [](MPI_Request& request) {
    CHECK(WaitUntil([&request] { return ToSelf::IsDone(request); }, After(10s)));
  };
  const std::size_t num_before = pmpi::NumModifiedSends();
  for (const std::size_t modified : {0U, 1U}) {
    MPI_Request request = MPI_REQUEST_NULL;
    Words sent{};
    Words received{};
    MPI_Iallreduce(sent.data(), received.data(), 100, MPI_UINT64_T, MPI_SUM, MPI_COMM_SELF, &request);
    sent.back() += modified;
    complete(request);
    CHECK(pmpi::NumModifiedSends() == num_before + modified);
    MPI_Ialltoall(sent.data(), 100, MPI_UINT64_T, received.data(), 100, MPI_UINT64_T, MPI_COMM_SELF, &request);
    sent.front() += modified;
    complete(request);
    CHECK(pmpi::NumModifiedSends() == num_before + 2 * modified);
    int count = 50;
    const int offset = 50;
    const auto exchange = [&] {
      MPI_Ialltoallv(sent.data(), &count, &offset, MPI_UINT64_T, received.data(), &count, &offset, MPI_UINT64_T, MPI_COMM_SELF,
                     &request);
    };
    exchange();
    sent[10] += modified;  // MPI does not use this byte
    complete(request);
    CHECK(pmpi::NumModifiedSends() == num_before + 2 * modified);
    exchange();
    sent[60] += modified;
    complete(request);
    CHECK(pmpi::NumModifiedSends() == num_before + 3 * modified);
    exchange();
    count -= static_cast<int>(modified);
    complete(request);
    CHECK(pmpi::NumModifiedSends() == num_before + 4 * modified);
    MPI_Ibcast(sent.data(), 100, MPI_UINT64_T, 0, MPI_COMM_SELF, &request);
    sent[70] += modified;
    complete(request);
    CHECK(pmpi::NumModifiedSends() == num_before + 5 * modified);
    MPI_Iallgather(sent.data(), 100, MPI_UINT64_T, received.data(), 100, MPI_UINT64_T, MPI_COMM_SELF, &request);
    sent[80] += modified;
    complete(request);
    CHECK(pmpi::NumModifiedSends() == num_before + 6 * modified);
    count = 50;
    MPI_Iallgatherv(sent.data(), 50, MPI_UINT64_T, received.data(), &count, &offset, MPI_UINT64_T, MPI_COMM_SELF, &request);
    count -= static_cast<int>(modified);
    complete(request);
    CHECK(pmpi::NumModifiedSends() == num_before + 7 * modified);
  }
  CHECK(pmpi::NumPending() == 0);
  pmpi::Forgive();
}

TEST_CASE("The watch reports calls that may wait while none may") {
  const auto meet = [] { MPI_Barrier(MPI_COMM_SELF); };
  meet();
  CHECK(pmpi::NumWaitingCalls() == 0);
  {
    const pmpi::NoWaiting no_waiting;
    ToSelf to{4};
    to.Complete();
    CHECK(pmpi::NumWaitingCalls() == 0);
    CHECK(pmpi::FirstWaitingCall() == "none");
    meet();
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    CHECK(pmpi::NumWaitingCalls() == 2);
    CHECK(pmpi::FirstWaitingCall() == "MPI_Barrier");
  }
  meet();
  CHECK(pmpi::NumWaitingCalls() == 2);
  pmpi::Forgive();
}

TEST_CASE("The watch reports threads that must not call MPI, and handles that are not freed") {
  const std::size_t num_before = pmpi::NumUnfreed();
  MPI_Comm copy = MPI_COMM_NULL;
  MPI_Comm_dup(MPI_COMM_SELF, &copy);
  CHECK(pmpi::NumUnfreed() == num_before + 1);
  MPI_Comm_free(&copy);
  CHECK(pmpi::NumUnfreed() == num_before);
  const auto call_elsewhere = [] {
    int rank = 0;
    std::thread([&rank] { MPI_Comm_rank(MPI_COMM_SELF, &rank); }).join();
  };
  call_elsewhere();
  CHECK(pmpi::NumStrangers() == 0);
  const auto pretence = pmpi::Pretence::ThreadLevel(MPI_THREAD_FUNNELED);
  call_elsewhere();
  CHECK(pmpi::NumStrangers() == 1);
  pmpi::Forgive();
}

TEST_CASE("A call fails once when it is told to") {
  int rank = 0;
  {
    const pmpi::Failing failing{"MPI_Comm_rank", 2};
    CHECK(MPI_Comm_rank(MPI_COMM_SELF, &rank) == MPI_SUCCESS);
    CHECK(MPI_Comm_rank(MPI_COMM_SELF, &rank) == MPI_ERR_OTHER);
    CHECK(MPI_Comm_rank(MPI_COMM_SELF, &rank) == MPI_SUCCESS);
  }
  { const pmpi::Failing undone{"MPI_Comm_rank"}; }
  CHECK(MPI_Comm_rank(MPI_COMM_SELF, &rank) == MPI_SUCCESS);
  CHECK_THROWS_AS(pmpi::Failing{"MPI_Neverwhere"}, std::invalid_argument);
}

TEST_CASE("A delayed request is reported complete at its k-th test") {
  const pmpi::Delaying delaying{5};
  ToSelf to{3};
  for (int asking = 1; asking < 5; ++asking) {
    CHECK_FALSE(ToSelf::IsDone(to.receive));
    CHECK_FALSE(ToSelf::IsDone(to.send));
  }
  to.Complete();
}

TEST_CASE("Reordered receives are found complete in another order than they came") {
  const pmpi::Reordering reordering{42};
  std::array<Words, 20> messages{};
  std::array<MPI_Request, 20> requests{};
  for (std::size_t i = 0; i < requests.size(); ++i)
    MPI_Irecv(messages[i].data(), sizeof(Words), MPI_BYTE, 0, static_cast<int>(i), MPI_COMM_SELF, &requests[i]);
  const std::uint64_t word = 7;
  for (std::size_t i = 0; i < requests.size(); ++i) {
    MPI_Request send = MPI_REQUEST_NULL;
    MPI_Isend(&word, sizeof word, MPI_BYTE, 0, static_cast<int>(i), MPI_COMM_SELF, &send);
    CHECK(WaitUntil([&] { return ToSelf::IsDone(send); }, After(10s)));
  }
  for (MPI_Request& request : requests) {
    for (MPI_Request& other : requests) {
      if (other != MPI_REQUEST_NULL) ToSelf::IsDone(other);
    }
    CHECK(WaitUntil([&] { return ToSelf::IsDone(request); }, After(10s)));
  }
  CHECK(reordering.NumReordered() > 0);
}

TEST_CASE("A message longer than its receive throws") {
  const World world = TheWorld().Duplicate();
  AnyLink link = world.OpenLink(world.Rank(), 0, {.num_sends = 2, .num_receives = 2, .payload_bytes = 8});
  Frame frame{8};
  frame.Header().num_bytes = 8;
  CHECK(link.TrySend(frame));
  const pmpi::Truncating truncating;
  Frame received;
  std::string words;
  CHECK(WaitUntil(
      [&] {
        try {
          return link.TryReceive(received);
        } catch (const mpi::Error& error) {
          words = error.what();
          return true;
        }
      },
      After(10s)));
  CHECK(words.find("MPI_Test failed") != std::string::npos);
  CHECK(WaitUntil([&] { return link.TryClose(); }, After(10s)));
  CHECK(world.Release());
}
