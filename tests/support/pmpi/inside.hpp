#pragma once

#include <mpi.h>

#include <cstddef>
#include <optional>
#include <span>

/// What the wrappers in shim.cpp ask the faults and tell the watch.
namespace uit::testing::pmpi::inside {

/// The functions of calls.def.
enum class Call {
#define UIT_PMPI_CALL(name) name,
#include "tests/support/pmpi/calls.def"
  count
};

// faults.cpp

/// As "MPI_Isend".
const char* NameOf(Call call);
/// Whether this call is to fail.
bool MustFail(Call call);
/// Whether the receive that has just ended is to have been too long.
bool MustTruncate();
/// How often to say that a request is not complete, whatever is true.
int NumAskings();
/// Whether to say it once more of a receive that is.
bool MustHold();
bool IsReordering();
/// A receive was found complete before one that had been so earlier.
void CountReordered();
std::optional<int> ThreadLevel();
/// Null if MPI may say what it likes.
int* LargestTag();

// watch.cpp

/// A call of the program to MPI, while it lasts.
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

/// MPI has been initialised by this thread, at that level.
void NoteThread(int level);
/// Before a receive is posted.
void Poison(void* buffer, std::size_t num_bytes);
/// Before a frame is sent: valgrind need not say that frames of pools have gaps, where who has put nothing has its place.
void CountAsWritten(const void* buffer, std::size_t num_bytes);
/// Bytes that MPI has until a request is complete.
struct Buffer {
  const void* bytes = nullptr;
  std::size_t num_bytes = 0;
};
/// After a call that begins a request; returns its code. MPI writes to a receive's buffer, and reads all others.
int Begin(int code, Kind kind, std::span<const Buffer> buffers, const MPI_Request* request);
/// Whether the owner is to be told that the request is not complete.
bool IsHeldBack(MPI_Request* request);
/// A request of its owner's is complete; of which kind.
std::optional<Kind> End(const MPI_Request* request, const MPI_Status& status);
/// A request is being cancelled.
void Cancel(const MPI_Request* request);
/// After a call that makes (1) or gives back (-1) a handle; returns its code.
int Count(int code, int difference);
/// Says what was found, after MPI has ended; whether anything was.
bool Report();

}  // namespace uit::testing::pmpi::inside
