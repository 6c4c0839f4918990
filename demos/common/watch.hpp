#pragma once

#include <unistd.h>

#include <chrono>
#include <cmath>
#include <cstdio>
#include <netuit/mesh/status_board.hpp>
#include <span>
#include <string>
#include <utility>

namespace demo {

/// A table of all workers on stderr. On a terminal it overwrites the previous table.
class Watch {
 public:
  /// A table with this heading.
  explicit Watch(std::string heading) : heading_{std::move(heading)} {}

  /// Prints the state of all workers.
  void Show(std::span<const netuit::WorkerStatus> workers) {
    std::string text = is_terminal_ && num_lines_ != 0 ? "\033[" + std::to_string(num_lines_) + "A" : std::string{};
    num_lines_ = 0;
    AddLine(text, heading_);
    AddLine(text, "worker        time     updates   updates/s     latency   failed  skipped");
    for (const netuit::WorkerStatus& status : workers) AddLine(text, Row(status));
    std::fputs(text.c_str(), stderr);
  }

 private:
  static std::string Row(const netuit::WorkerStatus& status) {
    char text[160];
    const std::string name = std::to_string(status.worker.process) + '.' + std::to_string(status.worker.thread);
    if (status.elapsed.count() == 0) {
      std::snprintf(text, sizeof text, "%-8s  no report yet", name.c_str());
    } else {
      std::snprintf(text, sizeof text, "%-8s %7.1f s %11llu %11.0f %11s %8s %8s", name.c_str(),
                    std::chrono::duration<double>(status.elapsed).count(),
                    static_cast<unsigned long long>(status.num_updates), status.rate, Span(status.latency).c_str(),
                    Percent(status.failure_rate).c_str(), Percent(status.skip_rate).c_str());
    }
    return text;
  }
  static std::string Span(double seconds) {
    char text[32];
    if (std::isnan(seconds)) return "-";
    if (seconds < 1e-3) std::snprintf(text, sizeof text, "%.1f us", 1e6 * seconds);
    else if (seconds < 1) std::snprintf(text, sizeof text, "%.1f ms", 1e3 * seconds);
    else std::snprintf(text, sizeof text, "%.1f s", seconds);
    return text;
  }
  static std::string Percent(double part) {
    char text[32];
    if (std::isnan(part)) return "-";
    std::snprintf(text, sizeof text, "%.1f %%", 100 * part);
    return text;
  }
  void AddLine(std::string& text, const std::string& line) {
    text += line + (is_terminal_ ? "\033[K\n" : "\n");
    ++num_lines_;
  }

  std::string heading_;
  bool is_terminal_ = isatty(STDERR_FILENO) == 1;
  int num_lines_ = 0;
};

}  // namespace demo
