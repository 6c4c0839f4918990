# cmake -DROOT=<checkout> -DFILE=<build_commit.cpp> -P WriteBuildCommit.cmake: writes the definition of build_commit.hpp's commit.
# The file changes only if the commit does, so that nothing is linked anew without need.
#
# Sources are what demos and benchmarks are built from: a commit that changes tests or documents alone leaves results comparable.
set(sources CMakeLists.txt CMakePresets.json include demos microbenchmarks tools/cmake ":(exclude)microbenchmarks/results")
set(commit "")
find_program(git git)
if(git)
  set(in_checkout "${git}" --no-optional-locks -C "${ROOT}")
  # A copy inside another repository has a prefix: that repository's commits say nothing of the copy.
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
