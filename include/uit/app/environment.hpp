#pragma once

#include <chrono>
#include <cmath>
#include <cstdlib>
#include <string>

#include <uit/support/error.hpp>

namespace uit {

/// The number of seconds in the environment variable `name`, or `fallback` if it is not set or empty. Throws
/// uit::InputError if the value is not a number of seconds.
inline std::chrono::duration<double> SecondsFromEnvironment(const char* name, std::chrono::duration<double> fallback) {
  const char* text = std::getenv(name);
  if (text == nullptr || *text == '\0') return fallback;
  char* end = nullptr;
  const double seconds = std::strtod(text, &end);
  if (*end != '\0' || !std::isfinite(seconds) || seconds < 0)
    throw uit::InputError(std::string(name) + "=" + text + ": not a number of seconds");
  return std::chrono::duration<double>{seconds};
}

}  // namespace uit
