#pragma once

#include <chrono>
#include <cstddef>
#include <cstdlib>
#include <fstream>
#include <optional>
#include <ostream>
#include <string>
#include <thread>

#include <netuit/file/atomic_file.hpp>
#include <uit/app/application_hooks.hpp>
#include <uit/app/signal_watch.hpp>
#include <uit/support/error.hpp>

namespace netuit {

namespace detail {

/// The file for a process's verdict; none if UIT_VERDICT is not set, when the launcher alone watches the job.
inline std::optional<std::string> VerdictPath(std::size_t rank) {
  const char* folder = std::getenv("UIT_VERDICT");
  if (folder == nullptr || *folder == '\0') return std::nullopt;
  return std::string(folder) + "/rank" + std::to_string(rank);
}

}  // namespace detail

/// Writes this process's exit code to the file `rankN` in the folder named by the environment variable UIT_VERDICT, if it is
/// set. Launchers report little about processes that died, and nothing about how the others ended. tools/run reads these
/// files instead. A process that died has left none.
inline void LeaveVerdict(std::size_t rank, int exit_code) {
  const auto path = detail::VerdictPath(rank);
  if (!path) return;
  try {
    WriteFileAtomically(*path, [exit_code](std::ostream& out) { out << exit_code << '\n'; });
  } catch (const uit::OutputError& error) {
    uit::PrintLine("error", std::string("UIT_VERDICT: ") + error.what());
  }
}

/// Writes the file `rankN.begun` in the same folder: this process has met the others in MPI. From now on it notices by itself
/// if another process of its host dies. Before, MPI may wait for a dead process for ever, so tools/run must end the job.
inline void LeaveBegun(std::size_t rank) {
  const auto path = detail::VerdictPath(rank);
  if (!path) return;
  const std::ofstream mark{*path + ".begun"};
  if (!mark) uit::PrintLine("error", "UIT_VERDICT: " + *path + ".begun: cannot be written");
}

/// Call this after another process has died and this one has written its results. Ignores signals, and waits two seconds or
/// until the launcher ends this process. Open MPI's launcher sleeps between SIGTERM and SIGKILL, but wakes as soon as one process
/// ends; then slower processes would lose their results. Does nothing if UIT_VERDICT is set, because tools/run ends no process.
inline void LetOthersWrite() {
  if (detail::VerdictPath(0)) return;
  uit::SignalWatch signals;
  signals.Keep();
  std::this_thread::sleep_for(std::chrono::seconds(2));
}

}  // namespace netuit
