#pragma once

#include <cstdio>
#include <cstdlib>
#include <source_location>
#include <stdexcept>
#include <string>

#include <uit/config.hpp>

/// How thoroughly misuse is checked: 0 not at all, 1 cheap checks, 2 expensive ones too. Must be the same in every
/// translation unit of a program.
#ifndef UIT_ASSERT_LEVEL
#ifdef NDEBUG
#define UIT_ASSERT_LEVEL 0
#else
#define UIT_ASSERT_LEVEL 1
#endif
#endif

namespace uit {

/// Thrown by a failed UIT_ASSERT if UIT_ASSERT_THROWS is defined, as in the tests.
class AssertionError : public std::logic_error {
 public:
  using std::logic_error::logic_error;
};

namespace detail {

/// Throws if UIT_ASSERT_THROWS is defined; otherwise prints one line to stderr and aborts.
[[noreturn]] inline void FailAssertion(const char* condition, const char* text,
                                       const std::source_location& where) {
  const std::string line = std::string{"conduit: misuse: "} + text + " (" + condition + ", " +
                           where.file_name() + ':' + std::to_string(where.line()) + ')';
#ifdef UIT_ASSERT_THROWS
  throw AssertionError{line};
#else
  std::fprintf(stderr, "%s\n", line.c_str());
  std::abort();
#endif
}

}  // namespace detail
}  // namespace uit

#define UIT_DETAIL_CHECK(condition, text)                                                \
  ((condition) ? static_cast<void>(0)                                                    \
               : ::uit::detail::FailAssertion(#condition, text,                          \
                                              std::source_location::current()))
#define UIT_DETAIL_IGNORE(condition) static_cast<void>(sizeof((condition) ? 1 : 0))

/// Checks for misuse by the caller that is cheap to detect. `text` states the requirement: "a step needs a limit".
#if UIT_ASSERT_LEVEL >= 1
#define UIT_ASSERT(condition, text) UIT_DETAIL_CHECK(condition, text)
#else
#define UIT_ASSERT(condition, text) UIT_DETAIL_IGNORE(condition)
#endif

/// Checks for misuse that is expensive to detect, such as a second producer.
#if UIT_ASSERT_LEVEL >= 2
#define UIT_ASSERT_HEAVY(condition, text) UIT_DETAIL_CHECK(condition, text)
#else
#define UIT_ASSERT_HEAVY(condition, text) UIT_DETAIL_IGNORE(condition)
#endif
