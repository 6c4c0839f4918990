#pragma once

#include <cstddef>
#include <cstdint>

/// Watches what a program that links the shim (the CMake target `uit_pmpi`) does with MPI, through MPI's profiling
/// interface. What it finds is counted here; MPI_Finalize then fails the program, unless it is 0. (Where UIT_PMPI_FAIL lets
/// a call fail, requests and handles may be left.)
///
/// Buffers in flight: the bytes of a send are compared, by a checksum, when it is complete. A receive's first and last
/// bytes are overwritten when it is posted, so that who reads them too early finds no message there; and where MPI may not
/// write, behind the end of a message and in a receive that was cancelled, they must stay as they are. In the midst of a
/// receive, what the program writes and what MPI writes look alike.
namespace uit::testing::pmpi {

/// Requests that have begun and not been found complete.
std::size_t NumPending();
/// The most that there have been at once. UIT_PMPI_MAX_REQUESTS says how many there may be, by default 65 536; with
/// UIT_PMPI_REPORT=1, MPI_Finalize prints the number.
std::size_t MostPending();
/// Sends whose bytes were not the same at the end as at the beginning.
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

/// Ends what a test has left pending on purpose: cancels receives, completes the rest. Nothing then counts as unfreed at
/// the end. Collective over all that wait for each other.
void CleanUp();
/// Forgets all that was found, for a test of the watch itself.
void Forgive();

}  // namespace uit::testing::pmpi
