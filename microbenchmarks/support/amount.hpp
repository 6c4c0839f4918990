#pragma once

#include <string>

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

}  // namespace bench
