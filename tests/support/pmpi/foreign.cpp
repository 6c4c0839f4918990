// Functions that wait for other processes within MPI, and that neither the library nor a demo calls. If one did, the watch
// would report it. (The watch does not see which requests MPI_Waitall and similar functions complete.)
#include <mpi.h>

#include "tests/support/pmpi/wrap.hpp"

using namespace uit::testing::pmpi::inside;

UIT_PMPI_WRAP(Allgatherv,
              (const void* send, int send_count, MPI_Datatype send_type, void* receive, const int* receive_counts,
               const int* receive_offsets, MPI_Datatype receive_type, MPI_Comm communicator),
              (send, send_count, send_type, receive, receive_counts, receive_offsets, receive_type, communicator))
UIT_PMPI_WRAP(Allreduce,
              (const void* send, void* receive, int count, MPI_Datatype type, MPI_Op operation, MPI_Comm communicator),
              (send, receive, count, type, operation, communicator))
UIT_PMPI_WRAP(Alltoallv,
              (const void* send, const int* send_counts, const int* send_offsets, MPI_Datatype send_type, void* receive,
               const int* receive_counts, const int* receive_offsets, MPI_Datatype receive_type, MPI_Comm communicator),
              (send, send_counts, send_offsets, send_type, receive, receive_counts, receive_offsets, receive_type,
               communicator))
UIT_PMPI_WRAP(Barrier, (MPI_Comm communicator), (communicator))
UIT_PMPI_WRAP(Bcast,
              (void* buffer, int count, MPI_Datatype type, int root, MPI_Comm communicator),
              (buffer, count, type, root, communicator))
UIT_PMPI_WRAP(Comm_create, (MPI_Comm communicator, MPI_Group group, MPI_Comm* made), (communicator, group, made))
UIT_PMPI_WRAP(Exscan,
              (const void* send, void* receive, int count, MPI_Datatype type, MPI_Op operation, MPI_Comm communicator),
              (send, receive, count, type, operation, communicator))
UIT_PMPI_WRAP(Gather,
              (const void* send, int send_count, MPI_Datatype send_type, void* receive, int receive_count,
               MPI_Datatype receive_type, int root, MPI_Comm communicator),
              (send, send_count, send_type, receive, receive_count, receive_type, root, communicator))
UIT_PMPI_WRAP(Gatherv,
              (const void* send, int send_count, MPI_Datatype send_type, void* receive, const int* receive_counts,
               const int* receive_offsets, MPI_Datatype receive_type, int root, MPI_Comm communicator),
              (send, send_count, send_type, receive, receive_counts, receive_offsets, receive_type, root, communicator))
UIT_PMPI_WRAP(Mprobe,
              (int from, int tag, MPI_Comm communicator, MPI_Message* message, MPI_Status* status),
              (from, tag, communicator, message, status))
UIT_PMPI_WRAP(Probe, (int from, int tag, MPI_Comm communicator, MPI_Status* status), (from, tag, communicator, status))
UIT_PMPI_WRAP(Recv,
              (void* buffer, int count, MPI_Datatype type, int from, int tag, MPI_Comm communicator, MPI_Status* status),
              (buffer, count, type, from, tag, communicator, status))
UIT_PMPI_WRAP(Reduce,
              (const void* send, void* receive, int count, MPI_Datatype type, MPI_Op operation, int root,
               MPI_Comm communicator),
              (send, receive, count, type, operation, root, communicator))
UIT_PMPI_WRAP(Reduce_scatter_block,
              (const void* send, void* receive, int receive_count, MPI_Datatype type, MPI_Op operation,
               MPI_Comm communicator),
              (send, receive, receive_count, type, operation, communicator))
UIT_PMPI_WRAP(Rsend,
              (const void* buffer, int count, MPI_Datatype type, int to, int tag, MPI_Comm communicator),
              (buffer, count, type, to, tag, communicator))
UIT_PMPI_WRAP(Scan,
              (const void* send, void* receive, int count, MPI_Datatype type, MPI_Op operation, MPI_Comm communicator),
              (send, receive, count, type, operation, communicator))
UIT_PMPI_WRAP(Scatter,
              (const void* send, int send_count, MPI_Datatype send_type, void* receive, int receive_count,
               MPI_Datatype receive_type, int root, MPI_Comm communicator),
              (send, send_count, send_type, receive, receive_count, receive_type, root, communicator))
UIT_PMPI_WRAP(Send,
              (const void* buffer, int count, MPI_Datatype type, int to, int tag, MPI_Comm communicator),
              (buffer, count, type, to, tag, communicator))
UIT_PMPI_WRAP(Sendrecv,
              (const void* send, int send_count, MPI_Datatype send_type, int to, int send_tag, void* receive,
               int receive_count, MPI_Datatype receive_type, int from, int receive_tag, MPI_Comm communicator,
               MPI_Status* status),
              (send, send_count, send_type, to, send_tag, receive, receive_count, receive_type, from, receive_tag,
               communicator, status))
UIT_PMPI_WRAP(Ssend,
              (const void* buffer, int count, MPI_Datatype type, int to, int tag, MPI_Comm communicator),
              (buffer, count, type, to, tag, communicator))
UIT_PMPI_WRAP(Waitall, (int count, MPI_Request* requests, MPI_Status* statuses), (count, requests, statuses))
UIT_PMPI_WRAP(Waitany, (int count, MPI_Request* requests, int* index, MPI_Status* status), (count, requests, index, status))
UIT_PMPI_WRAP(Waitsome,
              (int count, MPI_Request* requests, int* num_done, int* indices, MPI_Status* statuses),
              (count, requests, num_done, indices, statuses))
UIT_PMPI_WRAP(Win_create,
              (void* base, MPI_Aint size, int unit, MPI_Info info, MPI_Comm communicator, MPI_Win* window),
              (base, size, unit, info, communicator, window))
UIT_PMPI_WRAP(Win_fence, (int assertion, MPI_Win window), (assertion, window))
UIT_PMPI_WRAP(Win_flush, (int rank, MPI_Win window), (rank, window))
UIT_PMPI_WRAP(Win_flush_local, (int rank, MPI_Win window), (rank, window))
UIT_PMPI_WRAP(Win_lock, (int kind, int rank, int assertion, MPI_Win window), (kind, rank, assertion, window))
UIT_PMPI_WRAP(Win_unlock, (int rank, MPI_Win window), (rank, window))
