# For scripts that run a program as a user would: cmake -DCASE=… -DPROGRAM=… -DMPIEXEC=… -DFOLDER=… -DPATIENCE=…
# -P program_test.cmake, as uit_add_program_tests starts them. Begins with an empty FOLDER. Wants `seconds`, after which a run is
# given up: PATIENCE times what it takes on a quiet machine.
file(REMOVE_RECURSE "${FOLDER}")
file(MAKE_DIRECTORY "${FOLDER}")
set(stop_when_begun "${CMAKE_CURRENT_LIST_DIR}/stop_when_begun.sh")

# run(RANKS ARGUMENT…): sets code, out, err. A job that ends well leaves nothing under way.
macro(run ranks)
  set(launch ${MPIEXEC} -n ${ranks})
  if(${ranks} EQUAL 1)
    set(launch "")
  endif()
  execute_process(COMMAND ${launch} "${PROGRAM}" ${ARGN} WORKING_DIRECTORY "${FOLDER}"
    RESULT_VARIABLE code OUTPUT_VARIABLE out ERROR_VARIABLE err TIMEOUT ${seconds})
  if(code EQUAL 0 AND "${out}${err}" MATCHES "UCX +WARN")
    message(SEND_ERROR "${ARGN}: ${err}")
  endif()
endmacro()

# expect_error(RANKS CODE PATTERN ARGUMENT…): one line that says it, and nothing written. `short_run`: arguments of them all
function(expect_error ranks wanted_code pattern)
  run(${ranks} ${short_run} ${ARGN})
  string(REPLACE ";" "," said "${err}")
  string(REGEX MATCHALL "conduit: error: [^\n]*\n" lines "${said}")
  list(LENGTH lines num_lines)
  file(GLOB written "${FOLDER}/*.csv*" "${FOLDER}/*.tmp")
  if(NOT code EQUAL wanted_code OR NOT num_lines EQUAL 1 OR NOT lines MATCHES "${pattern}" OR written OR out)
    message(SEND_ERROR "${ARGN}: code ${code}, wrote '${written}${out}', said:\n${err}")
  endif()
endfunction()
