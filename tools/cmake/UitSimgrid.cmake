# MPI of simulated clusters: SimGrid's SMPI replaces MPI::MPI_CXX. Takes headers and libraries from `smpicxx`, but not its C++
# standard, nor its macros for malloc, sleep and the like.
#
# `smpirun` loads a program as a shared object, once per process. With -fno-gnu-unique each process has its own inline
# variables and statics of templates.
if(UIT_TESTS OR UIT_INSTALL OR NOT UIT_WITH_MPI)
  message(FATAL_ERROR "UIT_SIMULATED is for programs with MPI alone: set UIT_TESTS=OFF and UIT_INSTALL=OFF")
endif()
find_path(SIMGRID_INCLUDE_DIR NAMES smpi/mpi.h)
find_library(SIMGRID_LIBRARY NAMES simgrid)
find_program(MPIEXEC_EXECUTABLE NAMES smpirun)
if(NOT SIMGRID_INCLUDE_DIR OR NOT SIMGRID_LIBRARY OR NOT MPIEXEC_EXECUTABLE)
  message(FATAL_ERROR "no SimGrid found: install libsimgrid-dev, or run tools/setup simgrid")
endif()
add_library(MPI::MPI_CXX INTERFACE IMPORTED GLOBAL)
target_include_directories(MPI::MPI_CXX SYSTEM INTERFACE "${SIMGRID_INCLUDE_DIR}" "${SIMGRID_INCLUDE_DIR}/smpi")
target_compile_definitions(MPI::MPI_CXX INTERFACE UIT_SIMULATED=1)
target_compile_options(MPI::MPI_CXX INTERFACE -fPIC $<$<CXX_COMPILER_ID:GNU>:-fno-gnu-unique>
  "SHELL:-include ${CMAKE_CURRENT_LIST_DIR}/simgrid_codes.hpp")
target_link_libraries(MPI::MPI_CXX INTERFACE "${SIMGRID_LIBRARY}")
target_link_options(MPI::MPI_CXX INTERFACE -shared LINKER:-z,defs)
