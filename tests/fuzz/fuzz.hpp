#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <span>
#include <string>
#include <string_view>

#include <uit/support/bytes.hpp>
#include <uit/support/error.hpp>

/// Shared parts of the fuzz targets. Each target is one function. libFuzzer calls it with inputs that it generates,
/// replay_main.cpp with the files of the corpus.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace uit::fuzz {

/// Returns the input as text.
inline std::string TextOf(const std::uint8_t* data, std::size_t size) {
  return size == 0 ? std::string{} : std::string(reinterpret_cast<const char*>(data), size);
}
/// Returns the input as bytes.
inline ByteView InputBytes(const std::uint8_t* data, std::size_t size) { return std::as_bytes(std::span(data, size)); }

/// Aborts the process, which libFuzzer counts as a crash, unless the condition holds.
inline void Demand(bool condition, const std::string& what) {
  if (condition) return;
  std::fprintf(stderr, "broken promise: %s\n", what.c_str());
  std::abort();
}

/// Returns whether `act` succeeds. If it throws uit::InputError, its text becomes `complaint`; that must be one line that
/// begins with `beginning` and, if `has_line`, a line number. Any other exception ends the process.
template <typename F>
bool Accepts(F&& act, std::string_view beginning, bool has_line, std::string& complaint) {
  try {
    act();
    return true;
  } catch (const InputError& error) {
    complaint = error.what();
  }
  Demand(!complaint.empty() && complaint.find('\n') == std::string::npos, "a complaint is one line: " + complaint);
  Demand(complaint.starts_with(beginning), "a complaint begins with what is at fault: " + complaint);
  if (has_line) {
    const std::size_t end = complaint.find_first_not_of("0123456789", beginning.size());
    Demand(end != beginning.size() && complaint.substr(end).starts_with(": "), "a complaint names the line: " + complaint);
  }
  return false;
}
/// The same for callers that do not need the text.
template <typename F>
bool Accepts(F&& act, std::string_view beginning, bool has_line = true) {
  std::string complaint;
  return Accepts(act, beginning, has_line, complaint);
}

}  // namespace uit::fuzz
