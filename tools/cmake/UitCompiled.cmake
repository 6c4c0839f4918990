# The compiled part: the definitions in the .ipp files, compiled once instead of in every source that includes them.
#
#   uit_add_compiled_part(uit_compiled uit FOLDER)         # of uit, for programs that link netuit::uit
#   uit_add_compiled_part(netuit_compiled netuit FOLDER)   # of netuit; link that of uit, too
#
# FOLDER has the headers. A target that links the part is compiled with UIT_COMPILED=1. All sources of a program must be.
function(uit_add_compiled_part name library folder)
  file(GLOB_RECURSE parts RELATIVE "${folder}" CONFIGURE_DEPENDS "${folder}/${library}/*.ipp")
  if(NOT parts)
    message(FATAL_ERROR "Conduit: no .ipp files in ${folder}/${library}")
  endif()
  find_path(NLOHMANN_JSON_INCLUDE_DIR nlohmann/json.hpp)
  mark_as_advanced(NLOHMANN_JSON_INCLUDE_DIR)
  if(NOT NLOHMANN_JSON_INCLUDE_DIR)   # then including netuit/checkpoint, balance or resilience says what is missing
    list(FILTER parts EXCLUDE REGEX "^netuit/(checkpoint|balance|resilience)/")
  endif()
  set(source "")
  foreach(part ${parts})
    string(APPEND source "#include <${part}>\n")
  endforeach()
  set(file "${PROJECT_BINARY_DIR}/netuit_compiled/${library}.cpp")
  file(CONFIGURE OUTPUT "${file}" CONTENT "${source}" @ONLY)
  add_library(${name} STATIC EXCLUDE_FROM_ALL "${file}")
  target_link_libraries(${name} PUBLIC netuit::${library})
  if(NLOHMANN_JSON_INCLUDE_DIR AND library STREQUAL "netuit")
    target_include_directories(${name} SYSTEM PUBLIC "${NLOHMANN_JSON_INCLUDE_DIR}")
  endif()
  target_compile_definitions(${name} PUBLIC UIT_COMPILED=1)
  set_target_properties(${name} PROPERTIES POSITION_INDEPENDENT_CODE ON)   # simulated programs are shared objects
  target_compile_options(${name} PRIVATE $<$<CXX_COMPILER_ID:GNU,Clang>:-fno-semantic-interposition>)   # or g++ inlines too little
endfunction()

# netuit::uit_compiled, and netuit::compiled if netuit::netuit exists: programs that link these compile faster than with
# netuit::uit and netuit::netuit. FOLDER: see above. If find_package is called again with more components, the missing part is added.
function(uit_add_compiled_parts folder)
  get_property(languages GLOBAL PROPERTY ENABLED_LANGUAGES)
  if(NOT "CXX" IN_LIST languages)
    return()
  endif()
  if(NOT TARGET netuit::uit_compiled)
    uit_add_compiled_part(uit_compiled uit "${folder}")
    add_library(netuit::uit_compiled ALIAS uit_compiled)
  endif()
  if(TARGET netuit::netuit AND NOT TARGET netuit::compiled)
    uit_add_compiled_part(netuit_compiled netuit "${folder}")
    target_link_libraries(netuit_compiled PUBLIC uit_compiled)
    add_library(netuit::compiled ALIAS netuit_compiled)
  endif()
endfunction()
