# cmake -DROOT=<checkout> -DFILE=<build_commit.cpp> -P WriteBuildCommit.cmake: writes the definition of build_commit.hpp's commit.
# The file changes only if the commit does, to avoid unnecessary links.
#
# Only the sources of demos and benchmarks count: a commit that changes only tests or documents leaves results comparable.
set(sources CMakeLists.txt CMakePresets.json include demos microbenchmarks tools/cmake ":(exclude)microbenchmarks/results")
set(commit "")
find_program(git git)
if(git)
  set(in_checkout "${git}" --no-optional-locks -C "${ROOT}")
  # A copy inside another repository has a prefix; that repository's commits do not describe the copy.
  execute_process(COMMAND ${in_checkout} rev-parse --show-prefix
    OUTPUT_VARIABLE prefix OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET RESULT_VARIABLE code)
  if(code EQUAL 0 AND prefix STREQUAL "")
    execute_process(COMMAND ${in_checkout} log -1 --format=%H -- ${sources}
      OUTPUT_VARIABLE commit OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
    execute_process(COMMAND ${in_checkout} status --porcelain -- ${sources}
      OUTPUT_VARIABLE changes OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
  endif()
endif()
if(commit MATCHES "^[0-9a-f]+$")
  string(SUBSTRING "${commit}" 0 12 commit)
  if(NOT changes STREQUAL "")
    string(APPEND commit "-dirty")
  endif()
else()
  set(commit "")
endif()
file(CONFIGURE OUTPUT "${FILE}" @ONLY CONTENT [[#include "tools/cmake/build_commit.hpp"

const char* const uit_build::commit = "@commit@";
]])
