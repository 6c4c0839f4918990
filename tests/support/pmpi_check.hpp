#pragma once

#include <cstddef>
#include <cstdint>

/// Watches every nonblocking call of MPI in a program that links pmpi_check.cpp, through MPI's profiling interface.
///
/// At MPI_Finalize the program fails if a request is pending, the buffer of a send was modified before it was complete,
/// a send was cancelled, or two threads were inside MPI at once.
namespace uit::testing::pmpi {

/// Requests that have begun and not been found complete.
std::size_t NumPending();
/// Sends whose bytes were not the same at the end as at the beginning.
std::size_t NumModifiedSends();
std::size_t NumCancelledSends();
/// Times that a thread entered MPI while another was inside.
std::size_t NumOverlaps();
/// Calls of MPI_Test, MPI_Isend and MPI_Irecv.
std::uint64_t NumCalls();

enum class Call { isend, irecv, test };
/// Lets the n-th call from now on fail (1: the next) with MPI_ERR_OTHER, and not reach MPI.
void Fail(Call call, int n);

/// Lets MPI_Query_thread and MPI_TAG_UB say something else; undone by its destructor.
class Pretence {
 public:
  static Pretence ThreadLevel(int level);
  static Pretence LargestTag(int tag);
  Pretence(const Pretence&) = delete;
  Pretence& operator=(const Pretence&) = delete;
  ~Pretence();

 private:
  Pretence() = default;
};

/// Ends what a test has left pending on purpose: cancels receives, completes the rest. Collective over all that wait
/// for each other.
void CleanUp();

}  // namespace uit::testing::pmpi
