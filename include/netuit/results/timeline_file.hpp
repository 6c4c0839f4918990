#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include <netuit/quality/timeline.hpp>
#include <uit/config.hpp>

namespace netuit {

/// The timelines of one or more runs, to be looked at in Perfetto (ui.perfetto.dev) or chrome://tracing: a track for each worker with
/// what it did, and tracks of its counts. Written in Chrome's trace event format.
///
///     const auto report = mesh.Run(schedule, update, {.timeline = {.spans = 100'000}});
///     if (team.IsRoot()) {
///       netuit::TimelineFile file;
///       file.Add("best effort", report.timeline);
///       file.Save("run.json");
///     }
///
/// Clocks of different hosts are not compared: all tracks of a run begin at its start barrier.
class TimelineFile {
 public:
  /// Adds a run under this name.
  void Add(const std::string& name, const Timeline& timeline);
  /// Writes the file whole, or not at all. Throws uit::OutputError.
  void Save(const std::filesystem::path& path) const;

 private:
  std::vector<std::string> events_{};
  std::uint64_t next_process_ = 0;  // number of the next process in the file
};

}  // namespace netuit

#if !UIT_COMPILED
#include <netuit/results/timeline_file.ipp>
#endif
