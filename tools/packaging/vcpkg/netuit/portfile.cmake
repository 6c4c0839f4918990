# Builds from the checkout that this port lies in. In a registry, vcpkg_from_github takes the place of the next line.
get_filename_component(SOURCE_PATH "${CMAKE_CURRENT_LIST_DIR}/../../../.." ABSOLUTE)
set(VCPKG_BUILD_TYPE release)   # headers only

vcpkg_check_features(OUT_FEATURE_OPTIONS features
  FEATURES
    netuit UIT_WITH_NETUIT
    mpi    UIT_WITH_MPI
  INVERTED_FEATURES
    zlib   CMAKE_DISABLE_FIND_PACKAGE_ZLIB)

vcpkg_cmake_configure(
  SOURCE_PATH "${SOURCE_PATH}"
  OPTIONS ${features} -DUIT_TESTS=OFF -DUIT_DEMOS=OFF -DUIT_INSTALL=ON
  MAYBE_UNUSED_VARIABLES CMAKE_DISABLE_FIND_PACKAGE_ZLIB)
vcpkg_cmake_install()
vcpkg_cmake_config_fixup(CONFIG_PATH share/cmake/netuit)
vcpkg_fixup_pkgconfig()

vcpkg_install_copyright(FILE_LIST "${SOURCE_PATH}/LICENSE")
