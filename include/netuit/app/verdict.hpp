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

/// The file in which who started the job wants to have word of a process; none if a launcher looks after it, which ends all.
inline std::optional<std::string> VerdictPath(std::size_t rank) {
  const char* folder = std::getenv("UIT_VERDICT");
  if (folder == nullptr || *folder == '\0') return std::nullopt;
  return std::string(folder) + "/rank" + std::to_string(rank);
}

}  // namespace detail

/// Leaves the word of a process on how it ended where the environment variable UIT_VERDICT, a folder, wants it: the file
/// `rankN`, with the exit code. Launchers know little of processes that died and nothing of what the others made of it; who
/// started the job learns it from there, as tools/run does. A process that died has left none.
inline void LeaveVerdict(std::size_t rank, int exit_code) {
  const auto path = detail::VerdictPath(rank);
  if (!path) return;
  try {
    WriteFileAtomically(*path, [exit_code](std::ostream& out) { out << exit_code << '\n'; });
  } catch (const uit::OutputError& error) {
    uit::PrintLine("error", std::string("UIT_VERDICT: ") + error.what());
  }
}

/// Leaves word, in the same folder, that a process has met the others: the file `rankN.begun`. From here on it notices by
/// itself when another of its computer dies; before, MPI may wait for the dead for ever, and who started the job has to end it.
inline void LeaveBegun(std::size_t rank) {
  const auto path = detail::VerdictPath(rank);
  if (!path) return;
  const std::ofstream mark{*path + ".begun"};
  if (!mark) uit::PrintLine("error", "UIT_VERDICT: " + *path + ".begun: cannot be written");
}

/// Called when another process has died and this one has written what it has: waits until the launcher ends it, or for two
/// seconds, deaf to signals. Open MPI's sleeps between its SIGTERM and its SIGKILL, and awakes as soon as one process ends, so
/// that the slower ones would lose their results. Nothing, if UIT_VERDICT is set: tools/run ends nobody.
inline void LetOthersWrite() {
  if (detail::VerdictPath(0)) return;
  uit::SignalWatch signals;
  signals.Keep();
  std::this_thread::sleep_for(std::chrono::seconds(2));
}

}  // namespace netuit
