#pragma once

#include <algorithm>
#include <cstddef>
#include <limits>
#include <string>

#include <mpi.h>

#include <uit/support/error.hpp>

namespace uit::mpi {

/// A failed MPI call: its name, MPI's error code and MPI's error text.
class Error : public uit::Error {
 public:
  /// `code` is the result of the function named `call`.
  Error(int code, const char* call) : uit::Error(Words(code, call)), code_(code) {}
  /// MPI's error code, not reduced to its error class.
  int Code() const { return code_; }

 private:
  static std::string Words(int code, const char* call) {
    std::string text(MPI_MAX_ERROR_STRING, '\0');
    int length = 0;
    if (!IsRunning() || MPI_Error_string(code, text.data(), &length) != MPI_SUCCESS) length = 0;
    text.resize(static_cast<std::size_t>(length));
    std::ranges::replace(text, '\n', ' ');
    return std::string(call) + " failed: " + text + " (code " + std::to_string(code) + ")";
  }
  /// Before MPI_Init and after MPI_Finalize, some implementations abort if asked for an error text.
  static bool IsRunning() {
    int has_begun = 0;
    int is_over = 0;
    return MPI_Initialized(&has_begun) == MPI_SUCCESS && has_begun != 0 && MPI_Finalized(&is_over) == MPI_SUCCESS &&
           is_over == 0;
  }
  int code_;
};

/// Throws if an MPI call failed. The communicator must return errors rather than abort.
inline void Check(int code, const char* call) {
  if (code != MPI_SUCCESS) throw Error(code, call);
}

/// True if a call failed because a peer's process has ended. Only an MPI with user-level failure mitigation reports this.
inline bool MeansPeerEnded(int code) {
  int error_class = MPI_SUCCESS;
  if (code == MPI_SUCCESS || MPI_Error_class(code, &error_class) != MPI_SUCCESS) return false;
#ifdef MPI_ERR_PROC_FAILED
  return error_class == MPI_ERR_PROC_FAILED;
#else
  return false;
#endif
}

/// Converts a number of bytes to MPI's int. Throws beyond 1 GiB, long before an int would overflow.
inline int CheckedCount(std::size_t num_bytes) {
  constexpr std::size_t limit = std::size_t{1} << 30;
  static_assert(limit <= static_cast<std::size_t>(std::numeric_limits<int>::max()));
  if (num_bytes > limit)
    throw uit::Error("a message of " + std::to_string(num_bytes) + " bytes is over the limit of 1 GiB");
  return static_cast<int>(num_bytes);
}

}  // namespace uit::mpi
