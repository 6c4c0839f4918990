#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

/// Faults of MPI, for a program that links the shim (the CMake target `uit_pmpi`) or is started with it
/// (`LD_PRELOAD=libuit_pmpi_shim.so`). Each fault ends with its object. One thread at a time.
///
/// The environment sets faults for a whole program:
///
///     UIT_PMPI_FAIL=MPI_Comm_dup:1:0,MPI_Test:7:*   fails the n-th call of a function on one rank, or on all
///     UIT_PMPI_TRUNCATE=2:1                         truncates the n-th message that a rank receives
///     UIT_PMPI_DELAY=5  UIT_PMPI_REORDER=42         see Delaying and Reordering
///     UIT_PMPI_THREAD_LEVEL=1  UIT_PMPI_TAG_UB=32767
namespace uit::testing::pmpi {

/// Makes the n-th call from now on (1: the next, 0: none) return MPI_ERR_OTHER without reaching MPI. One at a time per
/// function.
class Failing {
 public:
  /// `call` is one of calls.def, such as "MPI_Isend". Throws for any other.
  explicit Failing(std::string_view call, int n = 1);
  Failing(const Failing&) = delete;
  Failing& operator=(const Failing&) = delete;
  ~Failing();

 private:
  std::size_t call_;
};

/// Makes the n-th message received from now on too long for its receive: MPI_Test completes it with MPI_ERR_TRUNCATE.
class Truncating {
 public:
  explicit Truncating(int n = 1);
  Truncating(const Truncating&) = delete;
  Truncating& operator=(const Truncating&) = delete;
  ~Truncating();
};

/// MPI_Test reports a send or receive complete at its `num_askings`-th call at the earliest.
class Delaying {
 public:
  explicit Delaying(int num_askings);
  Delaying(const Delaying&) = delete;
  Delaying& operator=(const Delaying&) = delete;
  ~Delaying();
};

/// MPI_Test does not report a receive complete for a few calls, at random, although its message has arrived. So messages of
/// different peers are found in another order than they arrived.
class Reordering {
 public:
  explicit Reordering(std::uint64_t seed);
  Reordering(const Reordering&) = delete;
  Reordering& operator=(const Reordering&) = delete;
  ~Reordering();
  /// Receives that were reported complete before one that MPI had completed earlier.
  std::size_t NumReordered() const;
};

/// Makes MPI_Query_thread, MPI_Init_thread and MPI_TAG_UB report other values.
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
