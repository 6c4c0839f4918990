# cmake -DINCLUDE_DIR=include -P check_levels.cmake
# Fails on an include that points upwards, and on a header that the table does not place.

# What graphs are made of knows nothing of messages.
set(graph
  "netuit/graph/(label|label_hash|random_stream|reciprocal_matcher)\\.hpp"
  "netuit/graph/topology\\.hpp"
  "netuit/graph/.*\\.hpp"
  "netuit/file/.*\\.hpp"
  "netuit/placement/.*\\.hpp")

# Lowest level first; a header may include its own level and those below. uit stands below netuit.
# The last match wins, so an exception comes after the folder that it is in.
set(levels
  "uit/(config|support/.*)\\.hpp"
  "uit/(policy|tally)\\.hpp"
  "uit/duct/.*\\.hpp"
  "uit/codec/.*\\.hpp"
  "uit/wire/.*\\.hpp"
  "uit/exchange/.*\\.hpp"
  "uit/(mpi|shm)/.*\\.hpp"
  "uit/team/.*\\.hpp"
  "uit/transport/.*\\.hpp"
  "uit/(inlet|outlet|conduit)\\.hpp"
  "uit/app/.*\\.hpp"
  "uit/uit\\.hpp"
  ${graph}
  "netuit/barrier/.*\\.hpp"
  "netuit/quality/(latency_histogram|exchange_counts)\\.hpp"
  "netuit/quality/.*\\.hpp"
  "netuit/mesh/on_root\\.hpp"
  "netuit/mesh/(place_graph|surroundings|status_board|mesh_options|node_counts|node_random|field_memory|initial)\\.hpp"
  "netuit/mesh/network_part\\.hpp"
  "netuit/replay/(record_format|tape)\\.hpp"
  "netuit/replay/(delta|record_reader|record_writer)\\.hpp"
  "netuit/replay/tap\\.hpp"
  "netuit/mesh/layer_part\\.hpp"
  "netuit/mesh/(edge_peers|partition)\\.hpp"
  "netuit/mesh/(node|layer_base|edge_conduits|value_part)\\.hpp"
  "netuit/mesh/(published_part|value_layer)\\.hpp"
  "netuit/mesh/(channel_layer|channels|edge_field|field|field_layer)\\.hpp"
  "netuit/mesh/mesh_core\\.hpp"
  "netuit/mesh/(gather|node_data|root_networks)\\.hpp"
  "netuit/mesh/mesh\\.hpp"
  "netuit/run/schedule\\.hpp"
  "netuit/run/schedules\\.hpp"
  "netuit/run/modes\\.hpp"
  "netuit/run/(run_options|late_notice)\\.hpp"
  "netuit/run/(team|quality_sampler|status_reporter|channel_rows|run_record)\\.hpp"
  "netuit/run/(layer_traffic|observers|sweep)\\.hpp"
  "netuit/run/flow\\.hpp"
  "netuit/run/worker\\.hpp"
  "netuit/run/run\\.hpp"
  "netuit/results/.*\\.hpp"
  "netuit/app/.*\\.hpp"
  "netuit/netuit\\.hpp")
set(graph_may_include "netuit/.*|uit/(config|support/.*)\\.hpp")

# Kept in one place each, as the right-hand side says.
set(confined
  "mpi\\.h"   "uit/(mpi|app)/.*"
  "cereal/.*" "uit/codec/cereal_codec\\.hpp"
  "nlohmann/.*" "netuit/app/manifest\\.hpp"
  "metis\\.h" "netuit/placement/metis\\.ipp")
set(forbidden_words "atomic_thread_fence")          # thread sanitizer cannot see it

# What ends, or stands for, a whole process is for the folders of applications; programs that embed the library do without.
set(applications "(uit|netuit)/app/.*|netuit/netuit\\.hpp")
set(process_words "[^a-z](_exit|exit|MPI_Abort|MPI_Init|MPI_Init_thread|MPI_Finalize|getenv|raise|sigaction|sigtimedwait)[(]|stderr")
set(has_process_words
  "uit/support/assert\\.hpp|"           # as assert() of the language
  "netuit/placement/metis\\.ipp")       # undoes what METIS does to signals
list(JOIN has_process_words "" has_process_words)

# What an .ipp file defines is its header's.
function(level_of header result)
  string(REGEX REPLACE "\\.ipp$" ".hpp" header "${header}")
  set(level 0)
  set(${result} -1 PARENT_SCOPE)
  foreach(pattern IN LISTS levels)
    if(header MATCHES "^(${pattern})$")
      set(${result} ${level} PARENT_SCOPE)
    endif()
    math(EXPR level "${level} + 1")
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
  level_of("${header}" own_level)
  if(own_level EQUAL -1)
    fault("${header}: has no level: place it in ${CMAKE_CURRENT_LIST_FILE}")
    continue()
  endif()
  file(STRINGS "${INCLUDE_DIR}/${header}" lines REGEX "^[ \t]*#[ \t]*include[ \t]*[<\"]")
  foreach(line IN LISTS lines)
    string(REGEX REPLACE "^[^<\"]*[<\"]([^>\"]*)[>\"].*$" "\\1" included "${line}")
    if(line MATCHES "\"")
      fault("${header}: include \"${included}\" as <uit/…> or <netuit/…>")
    endif()
    if(included MATCHES "^(net)?uit/")
      level_of("${included}" level)
      if(included MATCHES "^(uit|netuit)/app/" AND NOT header MATCHES "^(${applications})$")
        fault("${header}: <${included}> is for applications")
      elseif(level GREATER own_level)
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
