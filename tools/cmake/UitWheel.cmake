# What the Python package's wheel is built of. scikit-build-core reads CMakeLists.txt with SKBUILD set, builds the target `wheel`
# and installs the component `python`; tools/python/pyproject.toml says so.
#
#   -C cmake.define.UIT_WHEEL_PROGRAMS=channel_selection    # to pip: programs of demos/ in the wheel, separated by semicolons
#   -C cmake.define.UIT_WITH_MPI=OFF                        # threads only, even if MPI is found
set(UIT_WHEEL_PROGRAMS "channel_selection;digital_evolution" CACHE STRING "programs of demos/ in the wheel")
set(UIT_TESTS OFF)
set(UIT_DEMOS ON)
set(UIT_INSTALL OFF)

# netuit._native, unless Python's headers are missing.
find_package(Python 3.9 QUIET COMPONENTS Interpreter Development.Module)
set(UIT_PYTHON ${Python_FOUND})
if(NOT UIT_PYTHON)
  message(WARNING "Python's headers are missing (python3-dev), so the wheel is without netuit.Mesh")
endif()

# Without MPI the programs run on threads of one process.
if(NOT DEFINED UIT_WITH_MPI AND NOT MPI_CXX_COMPILER)
  set(MPI_CXX_SKIP_MPICXX TRUE)
  find_package(MPI QUIET COMPONENTS CXX)
  if(NOT MPI_CXX_FOUND)
    set(UIT_WITH_MPI OFF)
  endif()
endif()

# netuit/programs is a build folder as netuit.program and netuit.launch know it: the programs in demos/, and of CMakeCache.txt
# the entries that they read.
function(uit_fill_wheel)
  add_custom_target(wheel)
  if(UIT_PYTHON)
    add_dependencies(wheel netuit_native)
    set_target_properties(netuit_native PROPERTIES INSTALL_RPATH_USE_LINK_PATH ON)
  endif()
  foreach(program IN LISTS UIT_WHEEL_PROGRAMS)
    if(NOT TARGET ${program})
      message(FATAL_ERROR "UIT_WHEEL_PROGRAMS: no program ${program} in demos/")
    endif()
    add_dependencies(wheel ${program})
    set_target_properties(${program} PROPERTIES INSTALL_RPATH_USE_LINK_PATH ON)   # MPI may be in a folder of its own
    install(TARGETS ${program} RUNTIME DESTINATION netuit/programs/demos COMPONENT python)
  endforeach()
  set(entries "// Of the build in this wheel, what the package netuit reads.\n")
  foreach(entry UIT_WITH_MPI:BOOL MPIEXEC_EXECUTABLE:FILEPATH)
    string(REGEX REPLACE ":.*" "" name "${entry}")
    if(DEFINED ${name})
      string(APPEND entries "${entry}=${${name}}\n")
    endif()
  endforeach()
  set(file "${PROJECT_BINARY_DIR}/wheel/CMakeCache.txt")
  file(CONFIGURE OUTPUT "${file}" CONTENT "${entries}" @ONLY)
  install(FILES "${file}" DESTINATION netuit/programs COMPONENT python)
endfunction()
cmake_language(DEFER CALL uit_fill_wheel)   # at the end of the calling CMakeLists.txt, when its targets are there
