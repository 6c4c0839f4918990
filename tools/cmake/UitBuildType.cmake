# Says if what the including project compiles is not optimised: such a program is about ten times slower. Part of the package.
string(TOUPPER "${CMAKE_BUILD_TYPE}" _uit_type)
set(_uit_flags "${CMAKE_CXX_FLAGS} ${CMAKE_CXX_FLAGS_${_uit_type}}")
if(NOT CMAKE_CONFIGURATION_TYPES AND NOT _uit_flags MATCHES "(^| )[-/](O[1-3sgfz]|O( |$))")
  if(CMAKE_BUILD_TYPE)
    message(STATUS "Conduit: the build type ${CMAKE_BUILD_TYPE} does not optimise, so times and rates say little")
  else()
    message(WARNING "Conduit: CMAKE_BUILD_TYPE is not set, so programs are compiled without optimisation and run about ten times "
      "slower. Configure with -DCMAKE_BUILD_TYPE=Release")
  endif()
endif()
unset(_uit_type)
unset(_uit_flags)
