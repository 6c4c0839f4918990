# Finds MPI (only its C API) and a launcher of the same vendor.
#
# FindMPI takes mpiexec from PATH whatever MPI_CXX_COMPILER is. A launcher of another vendor starts n worlds of one process,
# in which most tests pass. So the wrapper `mpicxx.mpich` selects `mpirun.mpich`, and /opt/x/bin/mpicxx selects
# /opt/x/bin/mpirun.
set(MPI_CXX_SKIP_MPICXX TRUE)

# A bare name is searched in PATH. CMake would treat it as relative to the build folder.
foreach(variable MPI_CXX_COMPILER MPIEXEC_EXECUTABLE)
  if(${variable} AND NOT IS_ABSOLUTE "${${variable}}")
    cmake_path(GET ${variable} FILENAME uit_name)
    find_program(UIT_FOUND_${variable} "${${variable}}" NO_CACHE)
    if(UIT_FOUND_${variable})
      set(${variable} "${UIT_FOUND_${variable}}" CACHE FILEPATH "" FORCE)
    else()
      message(FATAL_ERROR "${variable}: no program ${${variable}} in PATH")
    endif()
  endif()
endforeach()
if(MPI_CXX_COMPILER AND NOT MPIEXEC_EXECUTABLE)
  cmake_path(GET MPI_CXX_COMPILER PARENT_PATH uit_folder)
  cmake_path(GET MPI_CXX_COMPILER EXTENSION LAST_ONLY uit_vendor)
  find_program(MPIEXEC_EXECUTABLE NAMES mpirun${uit_vendor} mpiexec${uit_vendor}
    HINTS "${uit_folder}" NO_DEFAULT_PATH)
endif()

find_package(MPI COMPONENTS CXX)
if(NOT MPI_CXX_FOUND)
  message(FATAL_ERROR "no MPI found: install libopenmpi-dev or libmpich-dev, or build with -DUIT_WITH_MPI=OFF")
endif()

# Open MPI's wrapper links the removed C++ bindings, which we do not use.
get_target_property(uit_libraries MPI::MPI_CXX INTERFACE_LINK_LIBRARIES)
if(uit_libraries)
  list(FILTER uit_libraries EXCLUDE REGEX "libmpi_cxx|libmpichcxx")
  set_target_properties(MPI::MPI_CXX PROPERTIES INTERFACE_LINK_LIBRARIES "${uit_libraries}")
endif()
