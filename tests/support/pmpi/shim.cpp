// MPI's functions, as the program under test calls them. Each asks the faults, informs the watch, and calls MPI's own
// function.
#include <mpi.h>
#include <unistd.h>

#include <array>
#include <cstddef>
#include <vector>

#include "tests/support/before_finalize.hpp"
#include "tests/support/pmpi/inside.hpp"
#include "tests/support/pmpi/wrap.hpp"

using namespace uit::testing::pmpi::inside;

namespace {

/// Returns the size of `count` elements of a type in bytes.
std::size_t Bytes(int count, MPI_Datatype type) {
  int size = 0;
  PMPI_Type_size(type, &size);
  return static_cast<std::size_t>(count) * static_cast<std::size_t>(size);
}

/// Returns the size of a communicator.
std::size_t SizeOf(MPI_Comm communicator) {
  int size = 0;
  PMPI_Comm_size(communicator, &size);
  return static_cast<std::size_t>(size);
}
/// Returns the bytes that MPI reads from a collective's send buffer; none if it is the receive buffer.
Buffer Sent(const void* send, std::size_t num_bytes) {
  return send == MPI_IN_PLACE ? Buffer{} : Buffer{send, num_bytes};
}

/// For functions that any thread may call at any time.
template <typename F>
int DoAnytime(Call which, F call) {
  return MustFail(which) ? MPI_ERR_OTHER : call();
}

/// A test or wait, made by `call(request, is_done, status)`.
template <typename F>
int Complete(MPI_Request* request, int* is_done, MPI_Status* status, F call) {
  const bool was_pending = *request != MPI_REQUEST_NULL;
  MPI_Status own;
  MPI_Status* const seen = status == MPI_STATUS_IGNORE ? &own : status;
  const int code = call(request, is_done, seen);
  if (code != MPI_SUCCESS || *is_done == 0 || !was_pending) return code;
  const auto kind = End(request, *seen);
  int is_cancelled = 0;
  PMPI_Test_cancelled(seen, &is_cancelled);
  return kind == Kind::receive && is_cancelled == 0 && MustTruncate() ? MPI_ERR_TRUNCATE : code;
}

}  // namespace

#define UIT_PMPI_WRAP_ANYTIME(name, parameters, arguments) \
  int MPI_##name parameters { \
    return DoAnytime(Call::name, [&] { return PMPI_##name arguments; }); \
  }
// Functions that create (1) or free (-1) a handle, or lock and unlock a window.
#define UIT_PMPI_WRAP_COUNTED(name, difference, parameters, arguments) \
  int MPI_##name parameters { \
    return Do(Call::name, [&] { \
      const int code = PMPI_##name arguments; \
      return Count(code, difference); /* which may look at what was made */ \
    }); \
  }
UIT_PMPI_WRAP_ANYTIME(Abort, (MPI_Comm communicator, int code), (communicator, code))
UIT_PMPI_WRAP_ANYTIME(Error_class, (int code, int* error_class), (code, error_class))
UIT_PMPI_WRAP_ANYTIME(Error_string, (int code, char* text, int* length), (code, text, length))
UIT_PMPI_WRAP_ANYTIME(Finalized, (int* is_over), (is_over))
UIT_PMPI_WRAP_ANYTIME(Get_library_version, (char* text, int* length), (text, length))
UIT_PMPI_WRAP_ANYTIME(Initialized, (int* has_begun), (has_begun))

UIT_PMPI_WRAP(Allgather,
              (const void* send, int send_count, MPI_Datatype send_type, void* receive, int receive_count,
               MPI_Datatype receive_type, MPI_Comm communicator),
              (send, send_count, send_type, receive, receive_count, receive_type, communicator))
UIT_PMPI_WRAP(Alltoall,
              (const void* send, int send_count, MPI_Datatype send_type, void* receive, int receive_count,
               MPI_Datatype receive_type, MPI_Comm communicator),
              (send, send_count, send_type, receive, receive_count, receive_type, communicator))
UIT_PMPI_WRAP(Comm_rank, (MPI_Comm communicator, int* rank), (communicator, rank))
UIT_PMPI_WRAP(Comm_set_errhandler, (MPI_Comm communicator, MPI_Errhandler handler), (communicator, handler))
UIT_PMPI_WRAP(Comm_size, (MPI_Comm communicator, int* size), (communicator, size))
UIT_PMPI_WRAP(Get,
              (void* origin, int origin_count, MPI_Datatype origin_type, int rank, MPI_Aint offset, int count, MPI_Datatype type,
               MPI_Win window),
              (origin, origin_count, origin_type, rank, offset, count, type, window))
UIT_PMPI_WRAP(Get_count, (const MPI_Status* status, MPI_Datatype type, int* count), (status, type, count))
UIT_PMPI_WRAP(Info_set, (MPI_Info info, const char* key, const char* value), (info, key, value))
UIT_PMPI_WRAP(Iprobe, (int from, int tag, MPI_Comm communicator, int* has_come, MPI_Status* status),
              (from, tag, communicator, has_come, status))
UIT_PMPI_WRAP(Put,
              (const void* origin, int origin_count, MPI_Datatype origin_type, int rank, MPI_Aint offset, int count,
               MPI_Datatype type, MPI_Win window),
              (origin, origin_count, origin_type, rank, offset, count, type, window))
UIT_PMPI_WRAP(Win_flush_all, (MPI_Win window), (window))
UIT_PMPI_WRAP(Win_set_errhandler, (MPI_Win window, MPI_Errhandler handler), (window, handler))
UIT_PMPI_WRAP(Win_shared_query, (MPI_Win window, int rank, MPI_Aint* size, int* unit, void* base),
              (window, rank, size, unit, base))
UIT_PMPI_WRAP(Win_sync, (MPI_Win window), (window))

UIT_PMPI_WRAP_COUNTED(Comm_dup, 1, (MPI_Comm communicator, MPI_Comm* made), (communicator, made))
UIT_PMPI_WRAP_COUNTED(Comm_free, -1, (MPI_Comm * communicator), (communicator))
UIT_PMPI_WRAP_COUNTED(Comm_split, *made == MPI_COMM_NULL ? 0 : 1,
                      (MPI_Comm communicator, int color, int key, MPI_Comm* made), (communicator, color, key, made))
UIT_PMPI_WRAP_COUNTED(Comm_split_type, *made == MPI_COMM_NULL ? 0 : 1,
                      (MPI_Comm communicator, int type, int key, MPI_Info info, MPI_Comm* made),
                      (communicator, type, key, info, made))
UIT_PMPI_WRAP_COUNTED(Info_create, 1, (MPI_Info * info), (info))
UIT_PMPI_WRAP_COUNTED(Info_free, -1, (MPI_Info * info), (info))
UIT_PMPI_WRAP_COUNTED(Win_allocate, 1,
                      (MPI_Aint size, int unit, MPI_Info info, MPI_Comm communicator, void* base, MPI_Win* window),
                      (size, unit, info, communicator, base, window))
UIT_PMPI_WRAP_COUNTED(Win_allocate_shared, 1,
                      (MPI_Aint size, int unit, MPI_Info info, MPI_Comm communicator, void* base, MPI_Win* window),
                      (size, unit, info, communicator, base, window))
UIT_PMPI_WRAP_COUNTED(Win_free, -1, (MPI_Win * window), (window))
UIT_PMPI_WRAP_COUNTED(Win_lock_all, 1, (int assertion, MPI_Win window), (assertion, window))
UIT_PMPI_WRAP_COUNTED(Win_unlock_all, -1, (MPI_Win window), (window))

int MPI_Iallreduce(const void* send, void* receive, int count, MPI_Datatype type, MPI_Op operation, MPI_Comm communicator,
                   MPI_Request* request) {
  return Do(Call::Iallreduce, [&] {
    const std::size_t num_bytes = Bytes(count, type);
    if (send != MPI_IN_PLACE) Poison(receive, num_bytes);
    const int code = PMPI_Iallreduce(send, receive, count, type, operation, communicator, request);
    return Begin(code, Kind::collective, std::array{Sent(send, num_bytes)}, request);
  });
}

int MPI_Iallgather(const void* send, int send_count, MPI_Datatype send_type, void* receive, int receive_count,
                   MPI_Datatype receive_type, MPI_Comm communicator, MPI_Request* request) {
  return Do(Call::Iallgather, [&] {
    if (send != MPI_IN_PLACE) Poison(receive, SizeOf(communicator) * Bytes(receive_count, receive_type));
    const int code =
        PMPI_Iallgather(send, send_count, send_type, receive, receive_count, receive_type, communicator, request);
    return Begin(code, Kind::collective, std::array{Sent(send, Bytes(send_count, send_type))}, request);
  });
}

int MPI_Iallgatherv(const void* send, int send_count, MPI_Datatype send_type, void* receive, const int* receive_counts,
                    const int* receive_offsets, MPI_Datatype receive_type, MPI_Comm communicator, MPI_Request* request) {
  return Do(Call::Iallgatherv, [&] {
    const int code = PMPI_Iallgatherv(send, send_count, send_type, receive, receive_counts, receive_offsets, receive_type,
                                      communicator, request);
    std::vector<Buffer> buffers{Sent(send, Bytes(send_count, send_type))};
    for (const int* numbers : {receive_counts, receive_offsets})
      buffers.push_back({numbers, SizeOf(communicator) * sizeof(int)});
    return Begin(code, Kind::collective, buffers, request);
  });
}

int MPI_Ialltoall(const void* send, int send_count, MPI_Datatype send_type, void* receive, int receive_count,
                  MPI_Datatype receive_type, MPI_Comm communicator, MPI_Request* request) {
  return Do(Call::Ialltoall, [&] {
    const std::size_t size = SizeOf(communicator);
    if (send != MPI_IN_PLACE) Poison(receive, size * Bytes(receive_count, receive_type));
    const int code =
        PMPI_Ialltoall(send, send_count, send_type, receive, receive_count, receive_type, communicator, request);
    return Begin(code, Kind::collective, std::array{Sent(send, size * Bytes(send_count, send_type))}, request);
  });
}

int MPI_Ialltoallv(const void* send, const int* send_counts, const int* send_offsets, MPI_Datatype send_type, void* receive,
                   const int* receive_counts, const int* receive_offsets, MPI_Datatype receive_type, MPI_Comm communicator,
                   MPI_Request* request) {
  return Do(Call::Ialltoallv, [&] {
    const int code = PMPI_Ialltoallv(send, send_counts, send_offsets, send_type, receive, receive_counts, receive_offsets,
                                     receive_type, communicator, request);
    const std::size_t size = SizeOf(communicator);
    std::vector<Buffer> buffers;
    for (const int* numbers : {receive_counts, receive_offsets}) buffers.push_back({numbers, size * sizeof(int)});
    if (send != MPI_IN_PLACE) {
      for (const int* numbers : {send_counts, send_offsets}) buffers.push_back({numbers, size * sizeof(int)});
      for (std::size_t rank = 0; rank < size; ++rank)
        buffers.push_back({static_cast<const std::byte*>(send) + Bytes(send_offsets[rank], send_type),
                           Bytes(send_counts[rank], send_type)});
    }
    return Begin(code, Kind::collective, buffers, request);
  });
}

int MPI_Ibarrier(MPI_Comm communicator, MPI_Request* request) {
  return Do(Call::Ibarrier, [&] { return Begin(PMPI_Ibarrier(communicator, request), Kind::collective, {}, request); });
}

int MPI_Comm_idup(MPI_Comm communicator, MPI_Comm* made, MPI_Request* request) {
  return Do(Call::Comm_idup, [&] {
    const int code = Count(PMPI_Comm_idup(communicator, made, request), 1);
    return Begin(code, Kind::collective, {}, request);
  });
}

int MPI_Ibcast(void* buffer, int count, MPI_Datatype type, int root, MPI_Comm communicator, MPI_Request* request) {
  return Do(Call::Ibcast, [&] {
    int rank = 0;
    PMPI_Comm_rank(communicator, &rank);
    const std::size_t num_bytes = Bytes(count, type);
    if (rank != root) Poison(buffer, num_bytes);
    const int code = PMPI_Ibcast(buffer, count, type, root, communicator, request);
    return Begin(code, Kind::collective, std::array{rank == root ? Buffer{buffer, num_bytes} : Buffer{}}, request);
  });
}

int MPI_Isend(const void* buffer, int count, MPI_Datatype type, int to, int tag, MPI_Comm communicator,
              MPI_Request* request) {
  return Do(Call::Isend, [&] {
    CountAsWritten(buffer, Bytes(count, type));
    const int code = PMPI_Isend(buffer, count, type, to, tag, communicator, request);
    return Begin(code, Kind::send, std::array{Buffer{buffer, Bytes(count, type)}}, request);
  });
}

int MPI_Issend(const void* buffer, int count, MPI_Datatype type, int to, int tag, MPI_Comm communicator,
               MPI_Request* request) {
  return Do(Call::Issend, [&] {
    const int code = PMPI_Issend(buffer, count, type, to, tag, communicator, request);
    return Begin(code, Kind::send, std::array{Buffer{buffer, Bytes(count, type)}}, request);
  });
}

int MPI_Irecv(void* buffer, int count, MPI_Datatype type, int from, int tag, MPI_Comm communicator,
              MPI_Request* request) {
  return Do(Call::Irecv, [&] {
    Poison(buffer, Bytes(count, type));
    const int code = PMPI_Irecv(buffer, count, type, from, tag, communicator, request);
    return Begin(code, Kind::receive, std::array{Buffer{buffer, Bytes(count, type)}}, request);
  });
}

int MPI_Test(MPI_Request* request, int* is_done, MPI_Status* status) {
  return Do(Call::Test, [&] {
    if (*request != MPI_REQUEST_NULL && IsHeldBack(request)) {
      *is_done = 0;
      return MPI_SUCCESS;
    }
    return Complete(request, is_done, status, [](auto... arguments) { return PMPI_Test(arguments...); });
  });
}

int MPI_Wait(MPI_Request* request, MPI_Status* status) {
  return Do(Call::Wait, [&] {
    int is_done = 1;
    return Complete(request, &is_done, status, [](MPI_Request* r, int*, MPI_Status* s) { return PMPI_Wait(r, s); });
  });
}

int MPI_Cancel(MPI_Request* request) {
  return Do(Call::Cancel, [&] {
    Cancel(request);
    return PMPI_Cancel(request);
  });
}

int MPI_Init_thread(int* argc, char*** argv, int wanted, int* provided) {
  return DoAnytime(Call::Init_thread, [&] {
    const int code = PMPI_Init_thread(argc, argv, wanted, provided);
    if (code == MPI_SUCCESS) NoteThread(*provided);
    *provided = ThreadLevel().value_or(*provided);
    return code;
  });
}

int MPI_Query_thread(int* provided) {
  return DoAnytime(Call::Query_thread, [&] {
    const int code = PMPI_Query_thread(provided);
    *provided = ThreadLevel().value_or(*provided);
    return code;
  });
}

int MPI_Comm_get_attr(MPI_Comm communicator, int key, void* value, int* is_set) {
  return Do(Call::Comm_get_attr, [&] {
    const int code = PMPI_Comm_get_attr(communicator, key, value, is_set);
    if (key == MPI_TAG_UB && LargestTag() != nullptr) *static_cast<int**>(value) = LargestTag();
    return code;
  });
}

int MPI_Finalize() {
  return DoAnytime(Call::Finalize, [] {
    const bool has_found_fault = Report();  // first, since MPI may never return
    if (has_found_fault) uit::testing::has_watch_reported = 1;
    const int code = PMPI_Finalize();
    if (has_found_fault) _exit(1);
    return code;
  });
}
