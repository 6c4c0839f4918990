#include "tests/support/pmpi_check.hpp"

#include <mpi.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <cstring>
#include <map>
#include <mutex>
#include <optional>

namespace uit::testing::pmpi {
namespace {

enum class Kind { send, receive, collective };

struct Pending {
  Kind kind;
  const void* buffer;
  std::size_t num_bytes;
  std::uint64_t checksum;
  MPI_Request request;  // for CleanUp, after its owner has dropped it
};

std::mutex mutex;
std::multimap<const MPI_Request*, Pending> pending;  // by where its owner keeps it
std::size_t num_modified_sends = 0;
std::size_t num_cancelled_sends = 0;
std::atomic<std::size_t> num_overlaps{0};
std::atomic<std::uint64_t> num_calls{0};
std::atomic<bool> is_inside{false};
int fail_in[3] = {0, 0, 0};
std::optional<int> thread_level;
int largest_tag = -1;

/// Of whole words, with the rest at the end.
std::uint64_t Checksum(const void* buffer, std::size_t num_bytes) {
  const auto* bytes = static_cast<const unsigned char*>(buffer);
  std::uint64_t sum = num_bytes;
  std::size_t at = 0;
  for (; at + sizeof sum <= num_bytes; at += sizeof sum) {
    std::uint64_t word = 0;
    std::memcpy(&word, bytes + at, sizeof word);
    sum = (sum ^ word) * 0x9E3779B97F4A7C15U;
  }
  for (; at < num_bytes; ++at) sum = (sum ^ bytes[at]) * 0x9E3779B97F4A7C15U;
  return sum;
}

/// A call of the program to MPI, while it lasts.
struct Inside {
  bool was_inside = is_inside.exchange(true);
  Inside() { num_overlaps += was_inside ? 1 : 0; }
  ~Inside() {
    if (!was_inside) is_inside.store(false);
  }
};

bool MustFail(Call call) {
  ++num_calls;
  const std::lock_guard lock(mutex);
  int& n = fail_in[static_cast<int>(call)];
  return n != 0 && --n == 0;
}

/// How many bytes `count` elements of a type are.
std::size_t Bytes(int count, MPI_Datatype type) {
  int size = 0;
  PMPI_Type_size(type, &size);
  return static_cast<std::size_t>(count) * static_cast<std::size_t>(size);
}

int Begin(int code, Kind kind, const void* buffer, std::size_t num_bytes, const MPI_Request* request) {
  if (code != MPI_SUCCESS) return code;
  const std::lock_guard lock(mutex);
  pending.insert({request, {kind, buffer, num_bytes, kind == Kind::send ? Checksum(buffer, num_bytes) : 0, *request}});
  return code;
}

/// The newest is the one that its owner has there: older ones were dropped.
void End(const MPI_Request* request) {
  const std::lock_guard lock(mutex);
  auto found = pending.upper_bound(request);
  if (found == pending.begin() || (--found)->first != request) return;
  const Pending& done = found->second;
  if (done.kind == Kind::send && done.checksum != Checksum(done.buffer, done.num_bytes)) ++num_modified_sends;
  pending.erase(found);
}

}  // namespace

std::size_t NumPending() {
  const std::lock_guard lock(mutex);
  return pending.size();
}
std::size_t NumModifiedSends() { return num_modified_sends; }
std::size_t NumCancelledSends() { return num_cancelled_sends; }
std::size_t NumOverlaps() { return num_overlaps.load(); }
std::uint64_t NumCalls() { return num_calls.load(); }

void Fail(Call call, int n) {
  const std::lock_guard lock(mutex);
  fail_in[static_cast<int>(call)] = n;
}

Pretence Pretence::ThreadLevel(int level) {
  thread_level = level;
  return {};
}
Pretence Pretence::LargestTag(int tag) {
  largest_tag = tag;
  return {};
}
Pretence::~Pretence() {
  thread_level.reset();
  largest_tag = -1;
}

void CleanUp() {
  const std::lock_guard lock(mutex);
  for (auto& [place, left] : pending) {
    if (left.kind == Kind::receive) PMPI_Cancel(&left.request);
  }
  for (auto& [place, left] : pending) PMPI_Wait(&left.request, MPI_STATUS_IGNORE);
  pending.clear();
}

}  // namespace uit::testing::pmpi

using namespace uit::testing::pmpi;

int MPI_Isend(const void* buffer, int count, MPI_Datatype type, int to, int tag, MPI_Comm communicator,
              MPI_Request* request) {
  const Inside inside;
  if (MustFail(Call::isend)) return MPI_ERR_OTHER;
  return Begin(PMPI_Isend(buffer, count, type, to, tag, communicator, request), Kind::send, buffer, Bytes(count, type),
               request);
}

int MPI_Irecv(void* buffer, int count, MPI_Datatype type, int from, int tag, MPI_Comm communicator,
              MPI_Request* request) {
  const Inside inside;
  if (MustFail(Call::irecv)) return MPI_ERR_OTHER;
  return Begin(PMPI_Irecv(buffer, count, type, from, tag, communicator, request), Kind::receive, buffer, 0, request);
}

int MPI_Test(MPI_Request* request, int* is_done, MPI_Status* status) {
  const Inside inside;
  if (MustFail(Call::test)) return MPI_ERR_OTHER;
  const bool was_pending = *request != MPI_REQUEST_NULL;
  const int code = PMPI_Test(request, is_done, status);
  if (code == MPI_SUCCESS && *is_done != 0 && was_pending) End(request);
  return code;
}

int MPI_Cancel(MPI_Request* request) {
  const Inside inside;
  {
    const std::lock_guard lock(mutex);
    const auto found = pending.find(request);
    if (found != pending.end() && found->second.kind == Kind::send) ++num_cancelled_sends;
  }
  return PMPI_Cancel(request);
}

int MPI_Ibarrier(MPI_Comm communicator, MPI_Request* request) {
  const Inside inside;
  return Begin(PMPI_Ibarrier(communicator, request), Kind::collective, nullptr, 0, request);
}

int MPI_Ialltoall(const void* send, int send_count, MPI_Datatype send_type, void* receive, int receive_count,
                  MPI_Datatype receive_type, MPI_Comm communicator, MPI_Request* request) {
  const Inside inside;
  return Begin(PMPI_Ialltoall(send, send_count, send_type, receive, receive_count, receive_type, communicator, request),
               Kind::collective, nullptr, 0, request);
}

int MPI_Query_thread(int* provided) {
  const int code = PMPI_Query_thread(provided);
  if (thread_level) *provided = *thread_level;
  return code;
}

int MPI_Comm_get_attr(MPI_Comm communicator, int key, void* value, int* is_set) {
  const int code = PMPI_Comm_get_attr(communicator, key, value, is_set);
  if (key == MPI_TAG_UB && largest_tag >= 0) *static_cast<int**>(value) = &largest_tag;
  return code;
}

int MPI_Finalize() {
  const std::size_t num_pending = NumPending();
  const int code = PMPI_Finalize();
  if (num_pending + num_modified_sends + num_cancelled_sends + num_overlaps.load() == 0) return code;
  std::fprintf(stderr,
               "at the end: %zu requests pending, %zu sends modified, %zu sends cancelled, %zu calls overlapped\n",
               num_pending, num_modified_sends, num_cancelled_sends, num_overlaps.load());
  _exit(1);
}
