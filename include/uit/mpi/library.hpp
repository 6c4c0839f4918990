#pragma once

#include <algorithm>
#include <cstddef>
#include <string>

#include <mpi.h>

#include <uit/mpi/error.hpp>
#include <uit/support/error.hpp>

namespace uit::mpi {

/// Returns the name and version of the MPI library: the first words of MPI's own description.
inline std::string DescribeLibrary() {
  char text[MPI_MAX_LIBRARY_VERSION_STRING];
  int length = 0;
  Check(MPI_Get_library_version(text, &length), "MPI_Get_library_version");
  std::string words(text, static_cast<std::size_t>(length));
  words.resize(std::min(words.find_first_of("\n,"), words.size()));
  std::ranges::replace(words, '\t', ' ');
  return words;
}

/// Throws if this MPI has no such tag.
inline void CheckTag(MPI_Comm communicator, int tag) {
  int* largest = nullptr;
  int is_known = 0;
  Check(MPI_Comm_get_attr(communicator, MPI_TAG_UB, &largest, &is_known), "MPI_Comm_get_attr");
  if (tag < 0 || (is_known != 0 && tag > *largest)) throw uit::Error("this MPI has no tag for stream " + std::to_string(tag));
}

}  // namespace uit::mpi
