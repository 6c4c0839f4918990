#pragma once

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <string>

#include <netuit/run/spectral_radius.hpp>
#include <uit/config.hpp>
#include <uit/link/world.hpp>

namespace netuit {

UIT_DEFINE std::string SpectralBounds::Words() const {
  char text[240];
  if (Converges()) {
    const double num_updates = at_most <= 0 ? 1 : std::ceil(std::log(0.1) / std::log(at_most));
    std::snprintf(text, sizeof text,
                  "the iteration converges in every mode: the spectral radius of |B| is at most %.6g, so that the error falls to a "
                  "tenth in about %.0f effective updates",
                  at_most, std::max(1.0, num_updates));
  } else if (at_least >= 1) {
    std::snprintf(text, sizeof text,
                  "the iteration need not converge where values are old: the spectral radius of |B| is at least %.6g", at_least);
  } else {
    std::snprintf(text, sizeof text, "undecided: the spectral radius of |B| is between %.6g and %.6g", at_least, at_most);
  }
  return text;
}

namespace detail {

UIT_DEFINE Extremes Agree(const uit::World& world, const Extremes& mine) {
  Extremes all;
  for (const Extremes& theirs : world.AllGatherValue(mine)) all.Add(theirs);
  return all;
}

}  // namespace detail

}  // namespace netuit
