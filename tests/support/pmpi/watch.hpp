#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

/// Watches how a program uses MPI, through MPI's profiling interface. The program must link the shim (the CMake target
/// `uit_pmpi`); every MPI test does. Errors are counted here. MPI_Finalize makes the program fail unless all counts are 0.
/// (If UIT_PMPI_FAIL makes a call fail, requests and handles may be left.)
///
/// Buffers in flight: a checksum compares what MPI reads in a send or a non-blocking collective at the start and at
/// completion. The first and last bytes of a receive's buffer are overwritten when it is posted, so that a program that reads
/// them too early finds no message. Bytes that MPI does not write must keep that pattern: after the end of a message, and in
/// a cancelled receive. In the middle of a receive, writes of the program and of MPI cannot be distinguished.
namespace uit::testing::pmpi {

/// Requests that have begun and were not reported complete.
std::size_t NumPending();
/// Requests that have begun.
std::uint64_t NumBegun();
/// The largest number of requests pending at once. UIT_PMPI_MAX_REQUESTS is the limit, by default 65 536. With
/// UIT_PMPI_REPORT=1, MPI_Finalize prints the number.
std::size_t MostPending();
/// Sends and non-blocking collectives whose bytes were not the same at completion as at the start.
std::size_t NumModifiedSends();
/// Receives in which bytes changed that MPI did not write.
std::size_t NumModifiedReceives();
std::size_t NumCancelledSends();
/// Times that a thread entered MPI while another was inside.
std::size_t NumOverlaps();
/// Times that a thread entered MPI that had not initialised it, at a thread level that does not allow it.
std::size_t NumStrangers();
/// Communicators, windows and infos that have not been freed, and windows that have not been unlocked.
std::size_t NumUnfreed();
/// Calls to MPI.
std::uint64_t NumCalls();

/// During its lifetime, no thread of this process may call a function that may wait for other processes within MPI. calls.def
/// marks these functions, and lists all common ones.
class NoWaiting {
 public:
  NoWaiting();
  NoWaiting(const NoWaiting&) = delete;
  NoWaiting& operator=(const NoWaiting&) = delete;
  ~NoWaiting();
};
/// Returns the number of such calls during that time, and the name of the first, or "none".
std::size_t NumWaitingCalls();
std::string FirstWaitingCall();

/// Ends what a test has left pending on purpose: cancels receives, completes the rest. Afterwards nothing counts as not
/// freed. Collective over all processes that wait for each other.
void CleanUp();
/// Resets all counts, for a test of the watch itself.
void Forgive();

}  // namespace uit::testing::pmpi
