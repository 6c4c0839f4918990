# `find_package(netuit COMPONENTS uit netuit)` and pkg-config. Header-only, so independent of the architecture: a project that
# links netuit::compiled compiles that itself. Each component has its own target file, so `uit` alone does not need METIS.
include(CMakePackageConfigHelpers)
set(uit_package_dir "${CMAKE_INSTALL_DATADIR}/cmake/netuit")

install(DIRECTORY include/uit DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}" FILES_MATCHING PATTERN "*.hpp" PATTERN "*.ipp")
install(TARGETS uit EXPORT UitTargets)
install(EXPORT UitTargets NAMESPACE netuit:: DESTINATION "${uit_package_dir}")
set(uit_components uit)
if(UIT_WITH_NETUIT)
  install(DIRECTORY include/netuit DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}" FILES_MATCHING PATTERN "*.hpp" PATTERN "*.ipp")
  install(TARGETS netuit EXPORT NetuitTargets)
  install(EXPORT NetuitTargets NAMESPACE netuit:: DESTINATION "${uit_package_dir}")
  list(APPEND uit_components netuit)
endif()

configure_package_config_file(tools/cmake/netuitConfig.cmake.in
  "${CMAKE_CURRENT_BINARY_DIR}/netuitConfig.cmake" INSTALL_DESTINATION "${uit_package_dir}" PATH_VARS CMAKE_INSTALL_INCLUDEDIR)
write_basic_package_version_file("${CMAKE_CURRENT_BINARY_DIR}/netuitConfigVersion.cmake"
  COMPATIBILITY SameMinorVersion ARCH_INDEPENDENT)
install(FILES
  "${CMAKE_CURRENT_BINARY_DIR}/netuitConfig.cmake"
  "${CMAKE_CURRENT_BINARY_DIR}/netuitConfigVersion.cmake"
  tools/cmake/FindMETIS.cmake tools/cmake/FindRandom123.cmake tools/cmake/UitBuildType.cmake tools/cmake/UitCompiled.cmake
  DESTINATION "${uit_package_dir}")

if(UIT_WITH_MPI)
  set(uit_mpi_flags "-DUIT_WITH_MPI=1 -DOMPI_SKIP_MPICXX -DMPICH_SKIP_MPICXX")   # MPI's old C++ interface gives warnings
else()
  set(uit_mpi_flags "-DUIT_WITH_MPI=0")
endif()
set(uit_zlib "")
if(UIT_WITH_ZLIB)
  set(uit_zlib " -lz")
endif()
foreach(component ${uit_components})
  configure_file(tools/cmake/${component}.pc.in "${CMAKE_CURRENT_BINARY_DIR}/${component}.pc" @ONLY)
  install(FILES "${CMAKE_CURRENT_BINARY_DIR}/${component}.pc" DESTINATION "${CMAKE_INSTALL_DATADIR}/pkgconfig")
endforeach()
