# bin/tidemark, lib/tidemark/{libtidemark_gpu.so,libtidemark_core.so,extensions}, share/tidemark/{data,python,torch_extension,replay,validation}:
# apps/cli/resources.cpp looks for exactly this layout beside the executable.
# Component `tidemark` is the command and all that it needs; `development` is what find_package(tidemark) finds.
if(TARGET tidemark_cli)
  install(TARGETS tidemark_cli RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT tidemark)
endif()
if(TARGET tidemark_gpu)
  install(TARGETS tidemark_gpu LIBRARY DESTINATION lib/tidemark COMPONENT tidemark)
endif()
if(TARGET tidemark_core)
  install(TARGETS tidemark_core LIBRARY DESTINATION lib/tidemark COMPONENT tidemark)
endif()
install(DIRECTORY ${TIDEMARK_EXTENSIONS}/ DESTINATION lib/tidemark/extensions COMPONENT tidemark OPTIONAL USE_SOURCE_PERMISSIONS
  PATTERN "compiling-*" EXCLUDE)
install(DIRECTORY data/ DESTINATION share/tidemark/data COMPONENT tidemark FILES_MATCHING PATTERN "*.json")
install(DIRECTORY data/programs DESTINATION share/tidemark/data COMPONENT tidemark)
install(DIRECTORY validation/ DESTINATION share/tidemark/validation COMPONENT tidemark FILES_MATCHING PATTERN "*.json" PATTERN "*.jsonl"
  PATTERN "*.py" PATTERN "__pycache__" EXCLUDE)
install(DIRECTORY python/ DESTINATION share/tidemark/python COMPONENT tidemark PATTERN "__pycache__" EXCLUDE)
install(DIRECTORY virtual_gpu/torch_extension virtual_gpu/replay DESTINATION share/tidemark COMPONENT tidemark
  FILES_MATCHING PATTERN "*.cpp" PATTERN "*.h" PATTERN "without.txt")

# find_package(tidemark): a static library, and the headers of include/tidemark alone.
include(CMakePackageConfigHelpers)
set(tidemark_library ${CMAKE_INSTALL_LIBDIR}/libtidemark.a)
set(tidemark_include ${CMAKE_INSTALL_INCLUDEDIR})
set(tidemark_data share/tidemark/data)
configure_package_config_file(cmake/tidemarkConfig.cmake.in ${PROJECT_BINARY_DIR}/tidemarkConfig.cmake
  INSTALL_DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/tidemark PATH_VARS tidemark_library tidemark_include tidemark_data)
write_basic_package_version_file(${PROJECT_BINARY_DIR}/tidemarkConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(TARGETS tidemark ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT development)
install(FILES include/tidemark/predict.h src/base/error.h DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/tidemark COMPONENT development)
install(FILES ${PROJECT_BINARY_DIR}/tidemarkConfig.cmake ${PROJECT_BINARY_DIR}/tidemarkConfigVersion.cmake
  DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/tidemark COMPONENT development)

# `cpack` in the build folder makes tidemark_*.deb and libtidemark-dev_*.deb.
set(CPACK_GENERATOR DEB)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_PACKAGE_CONTACT "Tidemark's developers")
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION devel)
set(CPACK_DEBIAN_TIDEMARK_PACKAGE_NAME tidemark)
set(CPACK_DEBIAN_TIDEMARK_PACKAGE_DEPENDS "libc6, libgcc-s1")
set(CPACK_DEBIAN_TIDEMARK_PACKAGE_SUGGESTS "python3, g++")
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_NAME libtidemark-dev)
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_DEPENDS "tidemark, libfmt-dev, libyaml-cpp-dev")
include(CPack)
