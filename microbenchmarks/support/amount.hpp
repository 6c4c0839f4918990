#pragma once

#include <functional>
#include <string>
#include <thread>

#include "microbenchmarks/support/program.hpp"

namespace bench {

/// A figure that is an amount, not a ratio to a competitor. It is to be at most `most`.
inline Row Amount(const std::string& figure, double value, const std::string& unit, double most, const std::string& detail = {}) {
  return {.figure = figure,
          .value = Digits(value),
          .spread = unit,
          .target = "<= " + Digits(most),
          .verdict = value <= most ? "ok" : "short",
          .proximity = "-",
          .detail = detail};
}

/// Returns a competitor for a contest that takes a fixed time per operation, in ns: a bound, to which others are compared. It sleeps,
/// because a sample must take some time.
inline std::function<double(const Load&)> Bound(double time) {
  return [time](const Load& load) {
    std::this_thread::sleep_for(load.window);
    return time;
  };
}

}  // namespace bench
