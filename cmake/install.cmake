# cmake --install: library, headers, command, examples, and a package for find_package(Limber).
include(CMakePackageConfigHelpers)

install(TARGETS limber EXPORT LimberTargets ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(TARGETS limber_app RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
install(DIRECTORY ${PROJECT_SOURCE_DIR}/src/limber DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} FILES_MATCHING PATTERN "*.hpp")
install(DIRECTORY ${PROJECT_SOURCE_DIR}/examples DESTINATION ${CMAKE_INSTALL_DATADIR}/limber)
install(EXPORT LimberTargets NAMESPACE Limber:: DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/Limber)
install(FILES ${PROJECT_SOURCE_DIR}/cmake/FindSuiteSparseAMD.cmake ${PROJECT_SOURCE_DIR}/cmake/FindMETIS.cmake
              ${PROJECT_SOURCE_DIR}/cmake/FindHDF5Library.cmake
        DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/Limber)

configure_package_config_file(${PROJECT_SOURCE_DIR}/cmake/LimberConfig.cmake.in ${PROJECT_BINARY_DIR}/LimberConfig.cmake
                              INSTALL_DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/Limber)
write_basic_package_version_file(${PROJECT_BINARY_DIR}/LimberConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/LimberConfig.cmake ${PROJECT_BINARY_DIR}/LimberConfigVersion.cmake
        DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/Limber)
