#pragma once

#include <mpi.h>

#include <cstddef>
#include <optional>
#include <span>

/// What the wrappers in shim.cpp ask the faults and report to the watch.
namespace uit::testing::pmpi::inside {

/// The functions of calls.def.
enum class Call {
#define UIT_PMPI_CALL(name) name,
#include "tests/support/pmpi/calls.def"
  count
};

// faults.cpp

/// The name, such as "MPI_Isend".
const char* NameOf(Call call);
/// Returns whether this call must fail.
bool MustFail(Call call);
/// Returns whether the receive that has just completed must appear truncated.
bool MustTruncate();
/// How often to report a request as incomplete although it is complete.
int NumAskings();
/// Returns whether to report a completed receive as incomplete once more.
bool MustHold();
bool IsReordering();
/// A receive was reported complete before one that MPI had completed earlier.
void CountReordered();
std::optional<int> ThreadLevel();
/// The replacement value; null if MPI's own is used.
int* LargestTag();

// watch.cpp

/// A call of the program to MPI, during its lifetime.
class Visit {
 public:
  explicit Visit(Call call);
  Visit(const Visit&) = delete;
  Visit& operator=(const Visit&) = delete;
  ~Visit();

 private:
  bool is_first_;
};

enum class Kind { send, receive, collective };

/// This thread has initialised MPI, at that level.
void NoteThread(int level);
/// Called before a receive is posted.
void Poison(void* buffer, std::size_t num_bytes);
/// Called before a frame is sent. Tells valgrind to ignore gaps in pool frames, which belong to channels without a put.
void CountAsWritten(const void* buffer, std::size_t num_bytes);
/// Bytes that MPI may use until a request is complete.
struct Buffer {
  const void* bytes = nullptr;
  std::size_t num_bytes = 0;
};
/// Called after a call that begins a request; returns its code. MPI writes to a receive's buffer, and reads all others.
int Begin(int code, Kind kind, std::span<const Buffer> buffers, const MPI_Request* request);
/// Returns whether to report the request as incomplete to its owner.
bool IsHeldBack(MPI_Request* request);
/// A request is complete; says of which kind.
std::optional<Kind> End(const MPI_Request* request, const MPI_Status& status);
/// A request is being cancelled.
void Cancel(const MPI_Request* request);
/// Called after a call that creates (1) or frees (-1) a handle; returns its code.
int Count(int code, int difference);
/// Prints what was found, after MPI has ended. Returns whether anything was.
bool Report();

}  // namespace uit::testing::pmpi::inside
