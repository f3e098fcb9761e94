# cmake --install: library, headers, command, examples, and a package for find_package(Limber).
include(CMakePackageConfigHelpers)

install(TARGETS limber EXPORT LimberTargets ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(TARGETS limber_app RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
# Of the headers those that limber/limber.hpp needs.
set(headers limber/limber.hpp)
set(todo ${headers})
while(todo)
  list(POP_FRONT todo header)
  file(STRINGS ${PROJECT_SOURCE_DIR}/src/${header} lines REGEX "^#include \"limber/")
  foreach(line IN LISTS lines)
    string(REGEX REPLACE "^#include \"([^\"]+)\".*" "\\1" included "${line}")
    if(NOT included IN_LIST headers)
      list(APPEND headers ${included})
      list(APPEND todo ${included})
    endif()
  endforeach()
endwhile()
foreach(header IN LISTS headers)
  cmake_path(GET header PARENT_PATH room)
  install(FILES ${PROJECT_SOURCE_DIR}/src/${header} DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/${room})
endforeach()
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
