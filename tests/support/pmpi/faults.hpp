#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

/// Faults of MPI, for a program that links the shim (the CMake target `uit_pmpi`) or is started with it
/// (`LD_PRELOAD=libuit_pmpi_shim.so`). Each is undone by its destructor. One thread at a time.
///
/// A whole program is told by the environment:
///
///     UIT_PMPI_FAIL=MPI_Comm_dup:1:0,MPI_Test:7:*   the n-th call of a function on a rank, or on all
///     UIT_PMPI_TRUNCATE=2:1                         the n-th message that a rank receives
///     UIT_PMPI_DELAY=5  UIT_PMPI_REORDER=42         see Delaying and Reordering
///     UIT_PMPI_THREAD_LEVEL=1  UIT_PMPI_TAG_UB=32767
namespace uit::testing::pmpi {

/// Lets the n-th call from now on (1: the next, 0: none) return MPI_ERR_OTHER, and not reach MPI. One at a time per function.
class Failing {
 public:
  /// `call` is one of calls.def's, as "MPI_Isend"; throws for another.
  explicit Failing(std::string_view call, int n = 1);
  Failing(const Failing&) = delete;
  Failing& operator=(const Failing&) = delete;
  ~Failing();

 private:
  std::size_t call_;
};

/// Lets the n-th message from now on that is received be too long for its receive: MPI_Test ends it with
/// MPI_ERR_TRUNCATE.
class Truncating {
 public:
  explicit Truncating(int n = 1);
  Truncating(const Truncating&) = delete;
  Truncating& operator=(const Truncating&) = delete;
  ~Truncating();
};

/// MPI_Test finds a send or receive complete at its `num_askings`-th asking at the earliest.
class Delaying {
 public:
  explicit Delaying(int num_askings);
  Delaying(const Delaying&) = delete;
  Delaying& operator=(const Delaying&) = delete;
  ~Delaying();
};

/// MPI_Test does not find a receive complete for a few askings, at random, though its message has come, so that messages
/// of different peers are found in another order than they came.
class Reordering {
 public:
  explicit Reordering(std::uint64_t seed);
  Reordering(const Reordering&) = delete;
  Reordering& operator=(const Reordering&) = delete;
  ~Reordering();
  /// Receives that were found complete before one that had been so earlier.
  std::size_t NumReordered() const;
};

/// Lets MPI_Query_thread, MPI_Init_thread and MPI_TAG_UB say something else.
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

}  // namespace uit::testing::pmpi
