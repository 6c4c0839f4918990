# cmake -DINCLUDE_DIR=include -P check_levels.cmake
# Fails on an include of a module that stands further down in the list, and on a header of none.

# A folder is a module: its headers may include one another, and those of modules further up in this list. uit's own folder
# has two: what everything is written with, and the ends that users hold.
set(graph "netuit/graph/.*" "netuit/file/.*" "netuit/placement/.*")   # knows nothing of messages
set(modules
  "uit/(config|policy|tally)\\.hpp|uit/support/.*"
  "uit/duct/.*"
  "uit/codec/.*"
  "uit/link/.*"
  "uit/exchange/.*"
  "uit/mpi/.*"
  "uit/transport/.*"
  "uit/(inlet|outlet|conduit)\\.hpp"
  "uit/team/.*"
  "uit/conveyor/.*"
  "uit/app/.*"
  "uit/uit\\.hpp"
  ${graph}
  "netuit/barrier/.*"
  "netuit/quality/.*"
  "netuit/replay/.*"
  "netuit/mesh/.*"
  "netuit/calls/.*"
  "netuit/run/.*"
  "netuit/checkpoint/.*"
  "netuit/balance/.*"
  "netuit/resilience/.*"
  "netuit/results/.*"
  "netuit/app/.*"
  "netuit/netuit\\.hpp")
set(graph_may_include "netuit/.*|uit/(config|support/.*)\\.hpp")

# Kept in one place each, as the right-hand side says.
set(confined
  "mpi\\.h"   "uit/(mpi|app)/.*"
  "cereal/.*" "uit/codec/cereal_codec\\.hpp"
  "nlohmann/.*" "netuit/(app/manifest\\.hpp|checkpoint/manifest\\.ipp)"
  "zlib\\.h"  "netuit/file/gzip_stream\\.hpp"
  "metis\\.h" "netuit/placement/metis\\.ipp")
set(forbidden_words "atomic_thread_fence")          # thread sanitizer cannot see it

# What ends, or stands for, a whole process is for the folders of applications; programs that embed the library do without.
set(applications "(uit|netuit)/app/.*|netuit/netuit\\.hpp")
set(process_words "[^a-z](_exit|_Exit|exit|atexit|kill|signal|MPI_Abort|MPI_Init|MPI_Init_thread|MPI_Finalize|getenv|raise|sigaction|sigtimedwait|pthread_sigmask|sigprocmask|abort|terminate|printf)[(]|stderr|std::c(err|out)")
set(has_process_words
  "uit/support/assert\\.hpp|"           # as assert() of the language
  "netuit/placement/metis\\.ipp|"       # undoes what METIS does to signals
  "uit/support/peer_watch\\.ipp")        # its own thread takes no signal
list(JOIN has_process_words "" has_process_words)

function(module_of header result)
  set(module 0)
  set(${result} -1 PARENT_SCOPE)
  foreach(pattern IN LISTS modules)
    if(header MATCHES "^(${pattern})$")
      set(${result} ${module} PARENT_SCOPE)
    endif()
    math(EXPR module "${module} + 1")
  endforeach()
endfunction()

set(num_faults 0)
macro(fault text)
  message(NOTICE "${text}")
  math(EXPR num_faults "${num_faults} + 1")
endmacro()

get_filename_component(INCLUDE_DIR "${INCLUDE_DIR}" ABSOLUTE)
file(GLOB_RECURSE headers RELATIVE "${INCLUDE_DIR}" "${INCLUDE_DIR}/*.hpp" "${INCLUDE_DIR}/*.ipp")
if(NOT headers)
  message(FATAL_ERROR "no headers in ${INCLUDE_DIR}")
endif()
list(JOIN graph "|" graph)
foreach(header IN LISTS headers)
  module_of("${header}" own_module)
  if(own_module EQUAL -1)
    fault("${header}: is in no module: name its folder in ${CMAKE_CURRENT_LIST_FILE}")
    continue()
  endif()
  file(STRINGS "${INCLUDE_DIR}/${header}" lines REGEX "^[ \t]*#[ \t]*include[ \t]*[<\"]")
  foreach(line IN LISTS lines)
    string(REGEX REPLACE "^[^<\"]*[<\"]([^>\"]*)[>\"].*$" "\\1" included "${line}")
    if(line MATCHES "\"")
      fault("${header}: include \"${included}\" as <uit/…> or <netuit/…>")
    endif()
    if(included MATCHES "^(net)?uit/")
      module_of("${included}" module)
      if(included MATCHES "^(uit|netuit)/app/" AND NOT header MATCHES "^(${applications})$")
        fault("${header}: <${included}> is for applications")
      elseif(module GREATER own_module)
        fault("${header}: upward include of <${included}>")
      elseif(header MATCHES "^(${graph})$" AND NOT included MATCHES "^(${graph_may_include})$")
        fault("${header}: graphs know nothing of messages, yet includes <${included}>")
      endif()
    endif()
    set(rest ${confined})
    while(rest)
      list(POP_FRONT rest third_party home)
      if(included MATCHES "^${third_party}$" AND NOT header MATCHES "^${home}$")
        fault("${header}: <${included}> belongs in ${home}")
      endif()
    endwhile()
  endforeach()
  set(words "${forbidden_words}")
  if(NOT header MATCHES "^(${applications}|${has_process_words})$")
    string(APPEND words "|${process_words}")
  endif()
  file(STRINGS "${INCLUDE_DIR}/${header}" lines REGEX "^[^/]*(${words})")
  if(lines)
    fault("${header}: ${lines}")
  endif()
endforeach()
list(LENGTH headers num_headers)
message(STATUS "${num_headers} headers, ${num_faults} faults")
if(num_faults)
  message(FATAL_ERROR "includes flow one way")
endif()
