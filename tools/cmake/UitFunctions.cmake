# One function per kind of target. The first argument is the target's name.
#
#   uit_add_test(name SOURCES a.cpp … [LIBS netuit::uit] [THREADS n] [TIMEOUT s] [LABELS stress …])
#   uit_add_mpi_test(name SOURCES a.cpp … RANKS 1 2 4 [OVER_MPI 2] [LIBS …] [THREADS n] [TIMEOUT s] [LABELS …] [WAITS] [NO_WATCH])
#   uit_add_program_tests(name CASES a b … [LABELS …])   # of the demo `name`, by program_test.cmake beside; no other arguments
#   uit_add_refusal_test(name SOURCE a.cpp EXPECT "text that the compiler must print" [LIBS …])
#   uit_add_benchmark(name SOURCES a.cpp … [LIBS …] [RANKS n])
#   uit_add_demo(name SOURCES a.cpp … [LIBS …])
#
# THREADS is per process. OVER_MPI lists numbers of ranks that run a second time without shared memory. Under sanitizers,
# a commit runs only tests of 2 ranks, if a test has any; a night runs all. WAITS says that the processes wait most of the
# time, so CTest counts the test as one processor. TIMEOUT is for a quiet machine: a test is taken to hang after
# UIT_TIMEOUT_FACTOR times as long. The MPI calls of a test are checked (tests/support/pmpi), unless NO_WATCH says that its
# processes do not end properly, or that it counts allocations. Labels are added: `unit` or `mpi` and `ranks=n`; `threads`
# if a process has more than one; `refusal`. Every label L has a build target `tests_L`; `tests_ranks` is for all `ranks=n`. Tests with
# the label `any_mpi` do not depend on the MPI. A commit runs the others, tests_each_mpi and tests_each_threads, over two MPIs and
# under sanitizers.

string(COMPARE NOTEQUAL "$ENV{UIT_NIGHTLY}" "" UIT_IS_NIGHTLY)
if("$ENV{UIT_NIGHTLY}" STREQUAL "0")
  set(UIT_IS_NIGHTLY FALSE)
endif()
set(UIT_TIMEOUT_FACTOR "" CACHE STRING "how many times its TIMEOUT a test may take; usually 4, and 40 at night")
set(UIT_TEST_PATIENCE "${UIT_TIMEOUT_FACTOR}")
if(NOT UIT_TEST_PATIENCE)
  set(UIT_TEST_PATIENCE 4)   # others may use the machine, too
  if(UIT_IS_NIGHTLY)
    set(UIT_TEST_PATIENCE 40)
  endif()
endif()

add_library(uit_warnings INTERFACE)
target_compile_options(uit_warnings INTERFACE -Wall -Wextra -Wconversion -Wshadow $<$<BOOL:${UIT_WERROR}>:-Werror>)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
  target_compile_options(uit_warnings INTERFACE -Wno-restrict)   # wrong about "text" + string (GCC bug 105651)
endif()

if(CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
  target_compile_options(uit_warnings INTERFACE -Wno-unused-lambda-capture)   # where one branch of an if constexpr uses it
endif()

# Lets tests run as root, in a container, and with more ranks than cores, over Open MPI 4 and 5 and MPICH.
set(UIT_LAUNCH_ENVIRONMENT
  OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1     # Open MPI 4 and 5
  OMPI_MCA_rmaps_base_oversubscribe=1                           # 4
  PRTE_MCA_rmaps_default_mapping_policy=:oversubscribe          # 5
  OMPI_MCA_hwloc_base_binding_policy=none                       # 4: do not pin a rank's threads to one core
  PRTE_MCA_hwloc_default_binding_policy=none                    # 5
  OMPI_MCA_mpi_yield_when_idle=1                                # give the core away while waiting
  OMPI_MCA_btl_vader_single_copy_mechanism=none                 # 4: containers without CAP_SYS_PTRACE
  OMPI_MCA_btl_sm_single_copy_mechanism=none                    # 5: likewise
  OMPI_MCA_plm_rsh_agent=)                                      # 4: no ssh needed on one machine
set(symbolizer "")
if(CMAKE_CXX_FLAGS MATCHES "-fsanitize=" AND CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
  # Debian's clang runs the symbolizer of its own version, and writes a warning if that is not installed.
  find_program(UIT_SYMBOLIZER NAMES llvm-symbolizer-19 llvm-symbolizer)
  mark_as_advanced(UIT_SYMBOLIZER)
  set(symbolizer ":symbolize=0")
  if(UIT_SYMBOLIZER)
    set(symbolizer ":external_symbolizer_path=${UIT_SYMBOLIZER}")
  endif()
endif()
set(UIT_TEST_ENVIRONMENT ${UIT_LAUNCH_ENVIRONMENT}
  "ASAN_OPTIONS=detect_leaks=1${symbolizer}"
  "UBSAN_OPTIONS=print_stacktrace=1${symbolizer}"
  "TSAN_OPTIONS=ignore_noninstrumented_modules=1:halt_on_error=1${symbolizer}")
if(CMAKE_CXX_FLAGS MATCHES "-fsanitize=")
  list(APPEND UIT_TEST_ENVIRONMENT UCX_MEM_EVENTS=no UCX_MEM_MMAP_HOOK_MODE=none)   # MPICH's hooks crash
endif()
# Full stacks distinguish leaks of MPI's plugins from ours, but they are slow to unwind.
set(UIT_MPI_TEST_ENVIRONMENT ${UIT_TEST_ENVIRONMENT}
  "LSAN_OPTIONS=suppressions=${PROJECT_SOURCE_DIR}/tests/support/lsan.supp:print_suppressions=0:fast_unwind_on_malloc=0")

# Reads the common arguments into T_…, and the name into `name`.
macro(uit_parse_arguments one_value many_values)
  cmake_parse_arguments(T "NO_WATCH;WAITS;HEADERS_ONLY" "NAME;TIMEOUT;THREADS;${one_value}" "SOURCES;LIBS;LABELS;${many_values}" ${ARGN})
  if(NOT T_NAME)
    list(POP_FRONT T_UNPARSED_ARGUMENTS T_NAME)
  endif()
  if(NOT T_NAME OR T_UNPARSED_ARGUMENTS OR T_KEYWORDS_MISSING_VALUES)
    message(FATAL_ERROR "${CMAKE_CURRENT_FUNCTION}(${ARGN}): not understood: ${T_UNPARSED_ARGUMENTS} ${T_KEYWORDS_MISSING_VALUES}")
  endif()
  set(name "${T_NAME}")
  if(NOT T_LIBS)
    set(T_LIBS netuit::uit)
  endif()
  if(NOT T_THREADS)
    set(T_THREADS 1)
  endif()
  if(NOT T_TIMEOUT)
    set(T_TIMEOUT 30)
  endif()
  math(EXPR T_TIMEOUT "${T_TIMEOUT} * ${UIT_TEST_PATIENCE}")
endmacro()

function(uit_add_own_executable name)
  cmake_parse_arguments(T "" "" "SOURCES;LIBS" ${ARGN})
  add_executable(${name} ${T_SOURCES})
  target_link_libraries(${name} PRIVATE ${T_LIBS} uit_warnings)
  target_include_directories(${name} PRIVATE "${PROJECT_SOURCE_DIR}")
endfunction()

# Links the definition of build_commit.hpp: the commit of the sources, read at each build.
function(uit_link_build_commit name)
  if(NOT TARGET uit_build_commit)
    set(file "${PROJECT_BINARY_DIR}/build_commit.cpp")
    add_custom_target(uit_look_up_commit BYPRODUCTS "${file}" VERBATIM COMMAND ${CMAKE_COMMAND}
      "-DROOT=${PROJECT_SOURCE_DIR}" "-DFILE=${file}" -P "${PROJECT_SOURCE_DIR}/tools/cmake/WriteBuildCommit.cmake")
    add_library(uit_build_commit STATIC EXCLUDE_FROM_ALL "${file}")
    add_dependencies(uit_build_commit uit_look_up_commit)
    target_include_directories(uit_build_commit PRIVATE "${PROJECT_SOURCE_DIR}")
    set_target_properties(uit_build_commit PROPERTIES POSITION_INDEPENDENT_CODE ON)   # simulated programs are shared objects
  endif()
  target_link_libraries(${name} PUBLIC uit_build_commit)
endfunction()

# Under test, misuse throws; builds with assertions check for all of it. The library's .ipp files are compiled once for all
# tests, except for tests that are HEADERS_ONLY.
function(uit_grade_assertions name)
  target_compile_definitions(${name} PRIVATE UIT_ASSERT_THROWS=1 $<$<CONFIG:Debug>:UIT_ASSERT_LEVEL=2>)
  if("HEADERS_ONLY" IN_LIST ARGN)
    return()
  endif()
  if(NOT TARGET uit_compiled_for_tests)
    uit_add_compiled_part(uit_compiled_for_tests uit "${PROJECT_SOURCE_DIR}/include")
    set(parts uit_compiled_for_tests)
    if(UIT_WITH_NETUIT)
      uit_add_compiled_part(netuit_compiled_for_tests netuit "${PROJECT_SOURCE_DIR}/include")
      target_link_libraries(netuit_compiled_for_tests PUBLIC uit_compiled_for_tests)
      list(APPEND parts netuit_compiled_for_tests)
    endif()
    foreach(part ${parts})
      target_compile_definitions(${part} PRIVATE UIT_ASSERT_THROWS=1 $<$<CONFIG:Debug>:UIT_ASSERT_LEVEL=2>)
      target_link_libraries(${part} PRIVATE uit_warnings)
      target_compile_options(${part} PRIVATE $<$<CONFIG:Release>:-O1>)   # as the tests that link it; that of the demos has -O3
    endforeach()
  endif()
  if(TARGET netuit_compiled_for_tests)
    target_link_libraries(${name} PRIVATE netuit_compiled_for_tests)
  else()
    target_link_libraries(${name} PRIVATE uit_compiled_for_tests)
  endif()
endfunction()

function(uit_build_with_labels name)
  if("mpi" IN_LIST ARGN AND NOT "any_mpi" IN_LIST ARGN)
    list(APPEND ARGN each_mpi)
  endif()
  if("threads" IN_LIST ARGN AND NOT "any_mpi" IN_LIST ARGN)
    list(APPEND ARGN each_threads)
  endif()
  if("unit" IN_LIST ARGN AND NOT "programs" IN_LIST ARGN AND NOT "schedule" IN_LIST ARGN)
    list(APPEND ARGN plain_unit)
  endif()
  foreach(label ${ARGN})
    if(NOT label MATCHES "=")
      if(NOT TARGET tests_${label})
        add_custom_target(tests_${label})
      endif()
      add_dependencies(tests_${label} ${name})
    endif()
  endforeach()
endfunction()

# Under UIT_PRECOMPILE, tests share one precompiled header of all that most of them include, `uit_test_headers`, and demos and
# benchmarks another, `uit_program_headers`. Compile time is then less by a third under g++, and by half under clang without
# optimisation. Other builds show that each source includes what it uses.
function(uit_precompile name headers)
  if(NOT UIT_PRECOMPILE OR NOT UIT_WITH_NETUIT)
    return()
  endif()
  if(NOT TARGET ${headers})
    set(included "${PROJECT_SOURCE_DIR}/include/netuit/netuit.hpp")
    add_library(${headers} OBJECT EXCLUDE_FROM_ALL "${PROJECT_SOURCE_DIR}/tools/cmake/precompiled.cpp")
    target_link_libraries(${headers} PRIVATE netuit::netuit uit_warnings)
    if(headers STREQUAL "uit_test_headers")
      list(APPEND included "${PROJECT_SOURCE_DIR}/tests/support/catch.hpp")
      target_link_libraries(${headers} PRIVATE uit_catch)
      uit_grade_assertions(${headers})
    else()
      target_link_libraries(${headers} PRIVATE netuit::compiled)
    endif()
    target_precompile_headers(${headers} PRIVATE ${included})
  endif()
  target_precompile_headers(${name} REUSE_FROM ${headers})
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
    # Wrong about std::string, of which it knows too little then.
    target_compile_options(${name} PRIVATE -Wno-stringop-overflow -Wno-array-bounds)
  endif()
endfunction()

# Compiles a target at -O1 also in a Debug build, because its tests have too much to compute.
function(uit_optimise name)
  target_compile_options(${name} PRIVATE $<$<CONFIG:Debug>:-O1>)
  set_target_properties(${name} PROPERTIES DISABLE_PRECOMPILE_HEADERS ON)   # the shared header is made without
endfunction()

function(uit_add_test)
  uit_parse_arguments("" "" ${ARGN})
  uit_add_own_executable(${name} SOURCES ${T_SOURCES} LIBS ${T_LIBS} uit_catch_main uit_catch_runner)
  if(T_HEADERS_ONLY)
    uit_grade_assertions(${name} HEADERS_ONLY)
  else()
    uit_grade_assertions(${name})
    uit_precompile(${name} uit_test_headers)
  endif()
  set(labels unit ${T_LABELS})
  if(T_THREADS GREATER 1)
    list(APPEND labels threads)
  endif()
  add_test(NAME ${name} COMMAND ${name} --order decl --rng-seed 1)
  set_tests_properties(${name} PROPERTIES
    ENVIRONMENT "${UIT_TEST_ENVIRONMENT}" TIMEOUT ${T_TIMEOUT} PROCESSORS ${T_THREADS} SKIP_RETURN_CODE 77 LABELS "${labels}")
  uit_build_with_labels(${name} ${labels})
endfunction()

function(uit_add_mpi_test)
  uit_parse_arguments("" "RANKS;OVER_MPI" ${ARGN})
  if(NOT T_RANKS)
    message(FATAL_ERROR "uit_add_mpi_test(${name}): RANKS are missing")
  endif()
  if(NOT UIT_WITH_MPI)
    return()
  endif()
  if(NOT T_NO_WATCH)
    list(APPEND T_SOURCES $<TARGET_OBJECTS:uit_pmpi>)
  endif()
  uit_add_own_executable(${name} SOURCES ${T_SOURCES} LIBS ${T_LIBS} uit_catch_mpi_main uit_catch_runner)
  uit_grade_assertions(${name})
  uit_precompile(${name} uit_test_headers)
  set(labels mpi ${T_LABELS})
  if(T_THREADS GREATER 1)
    list(APPEND labels threads)
  endif()
  if(CMAKE_CXX_FLAGS MATCHES "-fsanitize=" AND NOT UIT_IS_NIGHTLY AND 2 IN_LIST T_RANKS)
    set(T_RANKS 2)
    if(T_OVER_MPI)
      set(T_OVER_MPI 2)
    endif()
  endif()
  math(EXPR kill_after "${T_TIMEOUT} + 10")          # the ranks end themselves first
  list(TRANSFORM T_OVER_MPI APPEND " over MPI")
  foreach(how IN LISTS T_RANKS T_OVER_MPI)
    string(REGEX MATCH "^[0-9]+" ranks "${how}")
    string(COMPARE EQUAL "${how}" "${ranks}" shares_memory)
    set(processors 3)   # of the four tests that run at a time on two cores, so not one beside another: they slow each other much
    if(T_WAITS)
      set(processors 1)
    elseif(ranks EQUAL 1)
      set(processors ${T_THREADS})
    endif()
    add_test(NAME "${name} x${how}"
      COMMAND ${MPIEXEC_EXECUTABLE} ${MPIEXEC_NUMPROC_FLAG} ${ranks} ${MPIEXEC_PREFLAGS}
              $<TARGET_FILE:${name}> ${MPIEXEC_POSTFLAGS} --order decl --rng-seed 1)
    set_tests_properties("${name} x${how}" PROPERTIES
      ENVIRONMENT "${UIT_MPI_TEST_ENVIRONMENT};UIT_TEST_RANKS=${ranks};UIT_TEST_TIMEOUT=${T_TIMEOUT};UIT_SHARED_MEMORY=${shares_memory}"
      FAIL_REGULAR_EXPRESSION "UCX +WARN"
      TIMEOUT ${kill_after} PROCESSORS ${processors} LABELS "${labels};ranks=${ranks}")
  endforeach()
  uit_build_with_labels(${name} ${labels} ranks)
  if(NOT UIT_RANKS_TESTS)
    set_target_properties(${name} PROPERTIES EXCLUDE_FROM_ALL ON)
  endif()
endfunction()

# The program itself, started as by a user; needs a launcher.
function(uit_add_program_tests name)
  cmake_parse_arguments(T "" "" "CASES;LABELS" ${ARGN})
  if(NOT TARGET ${name} OR NOT UIT_WITH_MPI)
    return()
  endif()
  foreach(case ${T_CASES})
    add_test(NAME "${name} ${case}" COMMAND ${CMAKE_COMMAND} -DCASE=${case}
      "-DPROGRAM=$<TARGET_FILE:${name}>" "-DMPIEXEC=${MPIEXEC_EXECUTABLE}"
      "-DFOLDER=${CMAKE_CURRENT_BINARY_DIR}/${case}" -DPATIENCE=${UIT_TEST_PATIENCE} -P "${CMAKE_CURRENT_SOURCE_DIR}/program_test.cmake")
    math(EXPR limit "75 * ${UIT_TEST_PATIENCE}")
    set_tests_properties("${name} ${case}" PROPERTIES
      ENVIRONMENT "${UIT_MPI_TEST_ENVIRONMENT}" TIMEOUT ${limit} LABELS "mpi;${T_LABELS}")   # they wait most of the time
  endforeach()
  uit_build_with_labels(${name} mpi ${T_LABELS})
endfunction()

function(uit_add_refusal_test)
  uit_parse_arguments("SOURCE;EXPECT" "" ${ARGN})
  if(NOT T_SOURCE OR NOT T_EXPECT)
    message(FATAL_ERROR "uit_add_refusal_test(${name}): SOURCE and EXPECT are needed")
  endif()
  cmake_path(ABSOLUTE_PATH T_SOURCE)
  list(GET T_LIBS 0 library)
  set(includes "$<TARGET_PROPERTY:${library},INTERFACE_INCLUDE_DIRECTORIES>")
  set(definitions "$<TARGET_PROPERTY:${library},INTERFACE_COMPILE_DEFINITIONS>")
  add_test(NAME ${name} COMMAND ${CMAKE_COMMAND} "-DEXPECT=${T_EXPECT}"
    -P "${PROJECT_SOURCE_DIR}/tools/cmake/ExpectRefusal.cmake" --
    "${CMAKE_CXX_COMPILER}" -std=c++20 -fsyntax-only "-I${PROJECT_SOURCE_DIR}"
    "$<$<BOOL:${includes}>:-I$<JOIN:${includes},;-I>>"
    "$<$<BOOL:${definitions}>:-D$<JOIN:${definitions},;-D>>" "${T_SOURCE}" COMMAND_EXPAND_LISTS)
  set_tests_properties(${name} PROPERTIES TIMEOUT ${T_TIMEOUT} LABELS "refusal;${T_LABELS}")
endfunction()

function(uit_add_benchmark)
  uit_parse_arguments("RANKS" "" ${ARGN})
  if(T_RANKS AND NOT UIT_WITH_MPI)
    return()
  endif()
  uit_add_own_executable(${name} SOURCES ${T_SOURCES} LIBS ${T_LIBS})
  if(UIT_PRECOMPILE AND UIT_WITH_NETUIT)   # not to be measured; headers alone take four times as long to compile
    target_link_libraries(${name} PRIVATE netuit::compiled)
    uit_precompile(${name} uit_program_headers)
  endif()
  uit_link_build_commit(${name})
  if(NOT T_RANKS)
    set(T_RANKS 0)
  endif()
  # one line a benchmark: name, ranks (0: started without a launcher), program
  set_property(GLOBAL APPEND_STRING PROPERTY UIT_BENCHMARK_LINES "${name}\t${T_RANKS}\t$<TARGET_FILE:${name}>\n")
endfunction()

function(uit_add_demo)
  uit_parse_arguments("" "" ${ARGN})
  uit_add_own_executable(${name} SOURCES ${T_SOURCES} LIBS ${T_LIBS})
  if(UIT_WITH_NETUIT)
    target_link_libraries(${name} PRIVATE netuit::compiled)
    uit_precompile(${name} uit_program_headers)
  else()
    target_link_libraries(${name} PRIVATE netuit::uit_compiled)
  endif()
  set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/demos")
  string(TOUPPER "${CMAKE_BUILD_TYPE}" type)   # what results are to say of the build
  string(STRIP "${CMAKE_CXX_FLAGS} ${CMAKE_CXX_FLAGS_${type}}" flags)
  target_compile_definitions(${name} PRIVATE UIT_BUILD_TYPE="${CMAKE_BUILD_TYPE}" UIT_COMPILE_FLAGS="${flags}")
endfunction()

# Adds every direct subfolder that has a CMakeLists.txt.
function(uit_add_subdirectories)
  file(GLOB folders RELATIVE "${CMAKE_CURRENT_SOURCE_DIR}" CONFIGURE_DEPENDS "${CMAKE_CURRENT_SOURCE_DIR}/*/CMakeLists.txt")
  foreach(list_file ${folders})
    cmake_path(GET list_file PARENT_PATH folder)
    add_subdirectory("${folder}")
  endforeach()
endfunction()
