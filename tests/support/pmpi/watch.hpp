#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

/// Watches what a program that links the shim (the CMake target `uit_pmpi`; every MPI test does) does with MPI, through
/// MPI's profiling interface. What it finds is counted here; MPI_Finalize then fails the program, unless it is 0. (Where
/// UIT_PMPI_FAIL lets a call fail, requests and handles may be left.)
///
/// Buffers in flight: what MPI reads of a send, or of a collective that does not wait, is compared, by a checksum, when
/// it is complete. A receive's first and last bytes are overwritten when it is posted, so that who reads them too early
/// finds no message there; and where MPI may not write, behind the end of a message and in a receive that was cancelled,
/// they must stay as they are. In the midst of a receive, what the program writes and what MPI writes look alike.
namespace uit::testing::pmpi {

/// Requests that have begun and not been found complete.
std::size_t NumPending();
/// The most that there have been at once. UIT_PMPI_MAX_REQUESTS says how many there may be, by default 65 536; with
/// UIT_PMPI_REPORT=1, MPI_Finalize prints the number.
std::size_t MostPending();
/// Sends, and collectives that do not wait, of which what MPI reads was not the same at the end as at the beginning.
std::size_t NumModifiedSends();
/// Receives whose bytes were not as they had been posted where MPI did not write.
std::size_t NumModifiedReceives();
std::size_t NumCancelledSends();
/// Times that a thread entered MPI while another was inside.
std::size_t NumOverlaps();
/// Times that a thread entered MPI that had not initialised it, at a thread level that does not allow it.
std::size_t NumStrangers();
/// Communicators, windows and infos that have not been given back.
std::size_t NumUnfreed();
/// Calls of MPI.
std::uint64_t NumCalls();

/// While there is one, no thread of this process may call a function that may wait for other processes within MPI (those that
/// calls.def marks, and it has all that are usual).
class NoWaiting {
 public:
  NoWaiting();
  NoWaiting(const NoWaiting&) = delete;
  NoWaiting& operator=(const NoWaiting&) = delete;
  ~NoWaiting();
};
/// Calls of such functions meanwhile, and the name of the first, or "none".
std::size_t NumWaitingCalls();
std::string FirstWaitingCall();

/// Ends what a test has left pending on purpose: cancels receives, completes the rest. Nothing then counts as unfreed at
/// the end. Collective over all that wait for each other.
void CleanUp();
/// Forgets all that was found, for a test of the watch itself.
void Forgive();

}  // namespace uit::testing::pmpi
