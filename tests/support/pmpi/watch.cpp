#include "tests/support/pmpi/watch.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#if UIT_VALGRIND
#include <valgrind/memcheck.h>
#endif

#include "tests/support/pmpi/inside.hpp"

namespace uit::testing::pmpi {
namespace {

using inside::Kind;

struct Pending {
  Kind kind;
  std::vector<inside::Buffer> buffers;
  std::uint64_t checksum;  // of the bytes that MPI reads
  MPI_Request request;  // for CleanUp, after its owner has dropped it
  int num_askings = 0;
  std::uint64_t arrival = 0;  // order in which MPI completed receives; 0: not yet
  bool is_cancelled = false;
};

constexpr unsigned char poison = 0xDB;
constexpr std::size_t poisoned_bytes = 256;  // at each end of a receive
constexpr int max_holds = 8;                 // of a receive that is reordered

std::mutex mutex;
std::multimap<const MPI_Request*, Pending> pending;  // by the address at which its owner keeps it
std::size_t most_pending = 0;
std::uint64_t num_begun = 0;
std::uint64_t num_arrived = 0;
std::size_t num_modified_sends = 0;
std::size_t num_modified_receives = 0;
std::size_t num_cancelled_sends = 0;
bool has_cleaned_up = false;
std::atomic<int> num_unfreed{0};
std::atomic<std::size_t> num_overlaps{0};
std::atomic<std::size_t> num_strangers{0};
std::atomic<std::uint64_t> num_calls{0};
std::atomic<int> num_bans{0};  // number of NoWaiting objects
std::atomic<std::size_t> num_waiting_calls{0};
std::atomic<const char*> first_waiting_call{nullptr};
std::atomic<bool> is_inside{false};
std::thread::id first_thread;
int thread_level = MPI_THREAD_MULTIPLE;

constexpr std::array may_wait{
#define UIT_PMPI_CALL(name) false,
#define UIT_PMPI_WAITING_CALL(name) true,
#include "tests/support/pmpi/calls.def"
};

/// Checksum of whole words, with the rest at the end.
std::uint64_t Checksum(const inside::Buffer& buffer, std::uint64_t sum) {
  const auto* bytes = static_cast<const unsigned char*>(buffer.bytes);
  const std::size_t num_bytes = buffer.num_bytes;
  sum += num_bytes;
  std::size_t at = 0;
  for (; at + sizeof sum <= num_bytes; at += sizeof sum) {
    std::uint64_t word = 0;
    std::memcpy(&word, bytes + at, sizeof word);
    sum = (sum ^ word) * 0x9E3779B97F4A7C15U;
  }
  for (; at < num_bytes; ++at) sum = (sum ^ bytes[at]) * 0x9E3779B97F4A7C15U;
  return sum;
}

std::uint64_t Checksum(std::span<const inside::Buffer> buffers) {
  std::uint64_t sum = 0;
  for (const inside::Buffer& buffer : buffers) sum = Checksum(buffer, sum);
  return sum;
}

/// Returns whether the poison after the first `num_received` bytes is unchanged.
bool IsUntouched(const Pending& receive, std::size_t num_received) {
  const auto* bytes = static_cast<const unsigned char*>(receive.buffers.front().bytes);
  const auto is_poison = [&](std::size_t begin, std::size_t end) {
    return begin >= end || std::all_of(bytes + begin, bytes + end, [](unsigned char byte) { return byte == poison; });
  };
  const std::size_t size = receive.buffers.front().num_bytes;
  return is_poison(num_received, std::min(size, poisoned_bytes)) &&
         is_poison(std::max(num_received, size - std::min(size, poisoned_bytes)), size);
}

/// Until a receive is complete, the program must not touch its buffer; valgrind reports if it does.
void Forbid([[maybe_unused]] std::span<const inside::Buffer> buffers) {
#if UIT_VALGRIND
  for (const inside::Buffer& buffer : buffers) VALGRIND_MAKE_MEM_NOACCESS(buffer.bytes, buffer.num_bytes);
#endif
}
void Permit([[maybe_unused]] std::span<const inside::Buffer> buffers) {
#if UIT_VALGRIND
  for (const inside::Buffer& buffer : buffers) VALGRIND_MAKE_MEM_DEFINED(buffer.bytes, buffer.num_bytes);
#endif
}

/// The newest is the owner's current one; older ones were dropped.
auto Find(const MPI_Request* request) {
  auto found = pending.upper_bound(request);
  return found == pending.begin() || (--found)->first != request ? pending.end() : found;
}

std::size_t MaxPending() {
  const char* text = std::getenv("UIT_PMPI_MAX_REQUESTS");
  return text == nullptr ? 65'536 : static_cast<std::size_t>(std::atoll(text));
}

}  // namespace

namespace inside {

// Nothing here orders threads, so that a sanitizer can find out whether the program does.
Visit::Visit(Call call) : is_first_(!is_inside.exchange(true, std::memory_order_relaxed)) {
  num_calls.fetch_add(1, std::memory_order_relaxed);
  if (!is_first_) num_overlaps.fetch_add(1, std::memory_order_relaxed);
  if (may_wait[static_cast<std::size_t>(call)] && num_bans.load(std::memory_order_relaxed) != 0 &&
      num_waiting_calls.fetch_add(1, std::memory_order_relaxed) == 0)
    first_waiting_call.store(NameOf(call), std::memory_order_relaxed);
  if (ThreadLevel().value_or(thread_level) < MPI_THREAD_SERIALIZED && std::this_thread::get_id() != first_thread)
    ++num_strangers;
}
Visit::~Visit() {
  if (is_first_) is_inside.store(false, std::memory_order_relaxed);
}

void NoteThread(int level) {
  first_thread = std::this_thread::get_id();
  thread_level = level;
}

void Poison(void* buffer, std::size_t num_bytes) {
  const std::size_t count = std::min(num_bytes, poisoned_bytes);
  if (count == 0) return;
  std::memset(buffer, poison, count);
  std::memset(static_cast<unsigned char*>(buffer) + num_bytes - count, poison, count);
}

void CountAsWritten([[maybe_unused]] const void* buffer, [[maybe_unused]] std::size_t num_bytes) {
#if UIT_VALGRIND
  VALGRIND_MAKE_MEM_DEFINED(buffer, num_bytes);
#endif
}

int Begin(int code, Kind kind, std::span<const Buffer> buffers, const MPI_Request* request) {
  if (code != MPI_SUCCESS) return code;
  const std::lock_guard lock(mutex);
  pending.insert({request, {kind, {buffers.begin(), buffers.end()}, kind == Kind::receive ? 0 : Checksum(buffers), *request}});
  most_pending = std::max(most_pending, pending.size());
  ++num_begun;
  if (kind == Kind::receive) Forbid(buffers);
  return code;
}

bool IsHeldBack(MPI_Request* request) {
  if (NumAskings() == 0 && !IsReordering()) return false;
  const std::lock_guard lock(mutex);
  const auto found = Find(request);
  if (found == pending.end() || found->second.kind == Kind::collective || found->second.is_cancelled) return false;
  Pending& asked = found->second;
  int is_complete = 0;
  PMPI_Request_get_status(*request, &is_complete, MPI_STATUS_IGNORE);  // gives MPI a chance to make progress
  if (++asked.num_askings < NumAskings()) return true;
  if (!IsReordering() || asked.kind != Kind::receive || is_complete == 0) return false;
  if (asked.arrival == 0) {
    asked.arrival = ++num_arrived;
    asked.num_askings = NumAskings();
  }
  if (asked.num_askings < NumAskings() + max_holds && MustHold()) return true;
  const auto came_before = [&](const auto& entry) { return entry.second.arrival != 0 && entry.second.arrival < asked.arrival; };
  if (std::any_of(pending.begin(), pending.end(), came_before)) CountReordered();
  return false;
}

std::optional<Kind> End(const MPI_Request* request, const MPI_Status& status) {
  const std::lock_guard lock(mutex);
  const auto found = Find(request);
  if (found == pending.end()) return std::nullopt;
  const Pending done = std::move(found->second);
  pending.erase(found);
  if (done.kind != Kind::receive && done.checksum != Checksum(done.buffers)) ++num_modified_sends;
  if (done.kind == Kind::receive) {
    Permit(done.buffers);
    int is_cancelled = 0;
    int num_received = 0;
    PMPI_Test_cancelled(&status, &is_cancelled);
    PMPI_Get_count(&status, MPI_BYTE, &num_received);
    if (!IsUntouched(done, is_cancelled != 0 ? 0 : static_cast<std::size_t>(num_received))) ++num_modified_receives;
  }
  return done.kind;
}

void Cancel(const MPI_Request* request) {
  const std::lock_guard lock(mutex);
  const auto found = Find(request);
  if (found == pending.end()) return;
  found->second.is_cancelled = true;
  if (found->second.kind == Kind::send) ++num_cancelled_sends;
}

int Count(int code, int difference) {
  if (code == MPI_SUCCESS) num_unfreed += difference;
  return code;
}

bool Report() {
  // A process that gives a peer up leaves requests and handles behind.
  const bool has_failed = std::getenv("UIT_PMPI_FAIL") != nullptr && std::getenv("UIT_PMPI_STRICT") == nullptr;
  const std::size_t num_left = has_cleaned_up || has_failed ? 0 : NumUnfreed();
  const std::size_t num_pending = has_failed ? 0 : NumPending();
  if (std::getenv("UIT_PMPI_REPORT") != nullptr) std::fprintf(stderr, "pmpi: at most %zu requests at once\n", most_pending);
  const std::size_t num_faults = num_pending + num_modified_sends + num_modified_receives + num_cancelled_sends + NumOverlaps() +
                                 NumStrangers() + NumWaitingCalls() + num_left;
  if (num_faults == 0 && most_pending <= MaxPending()) return false;
  std::fprintf(stderr,
               "at the end: %zu requests pending (at most %zu), %zu sends and %zu receives modified, %zu sends cancelled, "
               "%zu calls overlapped, %zu from another thread, %zu waited where none may (first %s), %zu handles not given back\n",
               num_pending, most_pending, num_modified_sends, num_modified_receives, num_cancelled_sends, NumOverlaps(),
               NumStrangers(), NumWaitingCalls(), FirstWaitingCall().c_str(), num_left);
  return true;
}

}  // namespace inside

std::size_t NumPending() {
  const std::lock_guard lock(mutex);
  return pending.size();
}
std::uint64_t NumBegun() {
  const std::lock_guard lock(mutex);
  return num_begun;
}
std::size_t MostPending() { return most_pending; }
std::size_t NumModifiedSends() { return num_modified_sends; }
std::size_t NumModifiedReceives() { return num_modified_receives; }
std::size_t NumCancelledSends() { return num_cancelled_sends; }
std::size_t NumOverlaps() { return num_overlaps.load(); }
std::size_t NumStrangers() { return num_strangers.load(); }
std::size_t NumUnfreed() { return static_cast<std::size_t>(std::max(num_unfreed.load(), 0)); }
std::size_t NumWaitingCalls() { return num_waiting_calls.load(); }
std::string FirstWaitingCall() {
  const char* name = first_waiting_call.load();
  return name == nullptr ? "none" : name;
}
NoWaiting::NoWaiting() { ++num_bans; }
NoWaiting::~NoWaiting() { --num_bans; }
std::uint64_t NumCalls() { return num_calls.load(); }

void CleanUp() {
  const std::lock_guard lock(mutex);
  for (auto& [place, left] : pending) {
    if (left.kind == Kind::receive) PMPI_Cancel(&left.request);
  }
  for (auto& [place, left] : pending) {
    PMPI_Wait(&left.request, MPI_STATUS_IGNORE);
    if (left.kind == Kind::receive) Permit(left.buffers);
  }
  pending.clear();
  has_cleaned_up = true;
}

void Forgive() {
  const std::lock_guard lock(mutex);
  num_modified_sends = num_modified_receives = num_cancelled_sends = 0;
  num_overlaps = 0;
  num_strangers = 0;
  num_waiting_calls = 0;
  first_waiting_call = nullptr;
}

}  // namespace uit::testing::pmpi
