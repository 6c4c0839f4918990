#include "tests/support/pmpi/watch.hpp"

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>
#include <thread>

#include "tests/support/pmpi/inside.hpp"

namespace uit::testing::pmpi {
namespace {

using inside::Kind;

struct Pending {
  Kind kind;
  const void* buffer;
  std::size_t num_bytes;
  std::uint64_t checksum;
  MPI_Request request;  // for CleanUp, after its owner has dropped it
  int num_askings = 0;
  std::uint64_t arrival = 0;  // in the order in which MPI completed receives; 0: not yet
  bool is_cancelled = false;
};

constexpr unsigned char poison = 0xDB;
constexpr std::size_t poisoned_bytes = 256;  // at either end of a receive
constexpr int max_holds = 8;                 // of a receive that is reordered

std::mutex mutex;
std::multimap<const MPI_Request*, Pending> pending;  // by where its owner keeps it
std::size_t most_pending = 0;
std::uint64_t num_arrived = 0;
std::size_t num_modified_sends = 0;
std::size_t num_modified_receives = 0;
std::size_t num_cancelled_sends = 0;
bool has_cleaned_up = false;
std::atomic<int> num_unfreed{0};
std::atomic<std::size_t> num_overlaps{0};
std::atomic<std::size_t> num_strangers{0};
std::atomic<std::uint64_t> num_calls{0};
std::atomic<bool> is_inside{false};
std::thread::id first_thread;
int thread_level = MPI_THREAD_MULTIPLE;

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

/// Whether the poison behind the first `num_received` bytes is as it was.
bool IsUntouched(const Pending& receive, std::size_t num_received) {
  const auto* bytes = static_cast<const unsigned char*>(receive.buffer);
  const auto is_poison = [&](std::size_t begin, std::size_t end) {
    return begin >= end || std::all_of(bytes + begin, bytes + end, [](unsigned char byte) { return byte == poison; });
  };
  const std::size_t size = receive.num_bytes;
  return is_poison(num_received, std::min(size, poisoned_bytes)) &&
         is_poison(std::max(num_received, size - std::min(size, poisoned_bytes)), size);
}

/// The newest is the one that its owner has there: older ones were dropped.
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

Visit::Visit() : is_first_(!is_inside.exchange(true)) {
  ++num_calls;
  if (!is_first_) ++num_overlaps;
  if (ThreadLevel().value_or(thread_level) < MPI_THREAD_SERIALIZED && std::this_thread::get_id() != first_thread)
    ++num_strangers;
}
Visit::~Visit() {
  if (is_first_) is_inside.store(false);
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

int Begin(int code, Kind kind, const void* buffer, std::size_t num_bytes, const MPI_Request* request) {
  if (code != MPI_SUCCESS) return code;
  const std::lock_guard lock(mutex);
  pending.insert({request, {kind, buffer, num_bytes, kind == Kind::send ? Checksum(buffer, num_bytes) : 0, *request}});
  most_pending = std::max(most_pending, pending.size());
  return code;
}

bool IsHeldBack(MPI_Request* request) {
  if (NumAskings() == 0 && !IsReordering()) return false;
  const std::lock_guard lock(mutex);
  const auto found = Find(request);
  if (found == pending.end() || found->second.kind == Kind::collective || found->second.is_cancelled) return false;
  Pending& asked = found->second;
  int is_complete = 0;
  PMPI_Request_get_status(*request, &is_complete, MPI_STATUS_IGNORE);  // MPI goes on meanwhile
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
  const Pending done = found->second;
  pending.erase(found);
  if (done.kind == Kind::send && done.checksum != Checksum(done.buffer, done.num_bytes)) ++num_modified_sends;
  if (done.kind == Kind::receive) {
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
  // Who gives up leaves things behind.
  const bool has_failed = std::getenv("UIT_PMPI_FAIL") != nullptr && std::getenv("UIT_PMPI_STRICT") == nullptr;
  const std::size_t num_left = has_cleaned_up || has_failed ? 0 : NumUnfreed();
  const std::size_t num_pending = has_failed ? 0 : NumPending();
  if (std::getenv("UIT_PMPI_REPORT") != nullptr) std::fprintf(stderr, "pmpi: at most %zu requests at once\n", most_pending);
  const std::size_t num_faults =
      num_pending + num_modified_sends + num_modified_receives + num_cancelled_sends + NumOverlaps() + NumStrangers() + num_left;
  if (num_faults == 0 && most_pending <= MaxPending()) return false;
  std::fprintf(stderr,
               "at the end: %zu requests pending (at most %zu), %zu sends and %zu receives modified, %zu sends cancelled, "
               "%zu calls overlapped, %zu from another thread, %zu handles not given back\n",
               num_pending, most_pending, num_modified_sends, num_modified_receives, num_cancelled_sends, NumOverlaps(),
               NumStrangers(), num_left);
  return true;
}

}  // namespace inside

std::size_t NumPending() {
  const std::lock_guard lock(mutex);
  return pending.size();
}
std::size_t MostPending() { return most_pending; }
std::size_t NumModifiedSends() { return num_modified_sends; }
std::size_t NumModifiedReceives() { return num_modified_receives; }
std::size_t NumCancelledSends() { return num_cancelled_sends; }
std::size_t NumOverlaps() { return num_overlaps.load(); }
std::size_t NumStrangers() { return num_strangers.load(); }
std::size_t NumUnfreed() { return static_cast<std::size_t>(std::max(num_unfreed.load(), 0)); }
std::uint64_t NumCalls() { return num_calls.load(); }

void CleanUp() {
  const std::lock_guard lock(mutex);
  for (auto& [place, left] : pending) {
    if (left.kind == Kind::receive) PMPI_Cancel(&left.request);
  }
  for (auto& [place, left] : pending) PMPI_Wait(&left.request, MPI_STATUS_IGNORE);
  pending.clear();
  has_cleaned_up = true;
}

void Forgive() {
  const std::lock_guard lock(mutex);
  num_modified_sends = num_modified_receives = num_cancelled_sends = 0;
  num_overlaps = 0;
  num_strangers = 0;
}

}  // namespace uit::testing::pmpi
