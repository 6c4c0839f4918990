#pragma once

#include <chrono>
#include <cstdint>
#include <ctime>
#include <ostream>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include <netuit/file/atomic_file.hpp>
#include <uit/config.hpp>
#include <uit/support/simulation.hpp>

namespace netuit {

/// Describes results in a JSON file beside them: how they were made, and whether they are complete.
struct Manifest {
  std::string program{};                     ///< its name
  std::string version = UIT_VERSION;         ///< of the library
  std::string commit{};                      ///< of the program's sources; empty if not known
  std::vector<std::string> command_line{};   ///< word by word
  std::uint64_t seed = 0;                    ///< of the first replicate
  std::string compiler = CompilerName();     ///< name and version
  std::string build_type{};                  ///< as CMake calls it
  std::string compile_flags{};               ///< in addition to the build type's
  std::string mpi_library{};                 ///< name and version; empty without MPI
  std::uint64_t processes = 1;               ///< of the job
  std::uint64_t threads = 1;                 ///< workers of each
  std::uint64_t nodes = 0;                   ///< of the graph
  std::uint64_t edges = 0;                   ///< of the graph, directed
  std::string graph{};                       ///< a file, or a description of the generated graph
  std::string placement{};                   ///< how nodes were assigned to workers
  std::string addressing{};                  ///< how colours travel: multicast or edge
  std::vector<std::uint32_t> modes{};        ///< asynchronicity modes
  std::uint64_t replicates = 1;              ///< of each mode
  bool oversubscribed = false;               ///< some host had more workers than CPUs
  bool simulated = uit::is_simulated;        ///< on a simulated cluster, by its clock
  std::string started = TimeOfDay();         ///< UTC, ISO 8601
  bool complete = false;                     ///< all requested results are present
  std::string stopped_by{};                  ///< why the last run ended
  std::vector<std::uint64_t> lost_processes{};  ///< processes that ended or fell silent, as far as the writer knows

  /// Every field under its name, in the order above.
  nlohmann::ordered_json ToJson() const {
    return {{"program", program},
            {"version", version},
            {"commit", commit},
            {"command_line", command_line},
            {"seed", seed},
            {"compiler", compiler},
            {"build_type", build_type},
            {"compile_flags", compile_flags},
            {"mpi_library", mpi_library},
            {"processes", processes},
            {"threads", threads},
            {"nodes", nodes},
            {"edges", edges},
            {"graph", graph},
            {"placement", placement},
            {"addressing", addressing},
            {"modes", modes},
            {"replicates", replicates},
            {"oversubscribed", oversubscribed},
            {"simulated", simulated},
            {"started", started},
            {"complete", complete},
            {"stopped_by", stopped_by},
            {"lost_processes", lost_processes}};
  }
  /// Replaces the file in one step. Bytes that are not UTF-8 become U+FFFD. If it cannot, it throws uit::OutputError and leaves
  /// the file unchanged.
  void Save(const std::string& path) const {
    const std::string text = ToJson().dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
    WriteFileAtomically(path, [&](std::ostream& out) { out << text << '\n'; });
  }

  /// The compiler of this program.
  static std::string CompilerName() {
#ifdef __clang__
    return "clang " __clang_version__;
#else
    return "g++ " __VERSION__;
#endif
  }
  /// The present time in UTC, to the second.
  static std::string TimeOfDay() {
    const std::time_t now = std::chrono::system_clock::to_time_t(std::chrono::system_clock::now());
    std::tm utc{};
    gmtime_r(&now, &utc);
    char text[32];
    return {text, std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &utc)};
  }
};

}  // namespace netuit
