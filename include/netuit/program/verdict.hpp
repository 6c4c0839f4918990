#pragma once

#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <ostream>
#include <string>

#include <netuit/file/atomic_file.hpp>
#include <uit/support/error.hpp>

namespace netuit {

/// Leaves the word of a process on how it ended where the environment variable UIT_VERDICT, a folder, wants it: the file
/// `rankN`, with the exit code. Launchers know little of processes that died and nothing of what the others made of it; who
/// started the job learns it from there, as tools/run does. A process that died has left none.
inline void LeaveVerdict(std::size_t rank, int exit_code) {
  const char* folder = std::getenv("UIT_VERDICT");
  if (folder == nullptr || *folder == '\0') return;
  try {
    WriteFileAtomically(std::string(folder) + "/rank" + std::to_string(rank),
                        [exit_code](std::ostream& out) { out << exit_code << '\n'; });
  } catch (const uit::OutputError& error) {
    std::fprintf(stderr, "conduit: error: UIT_VERDICT: %s\n", error.what());
  }
}

}  // namespace netuit
