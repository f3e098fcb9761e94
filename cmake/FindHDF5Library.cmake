# The C library of HDF5, as the target hdf5::hdf5. CMake's own module compiles a C program, which projects without C cannot.
find_path(HDF5Library_INCLUDE_DIR hdf5.h PATH_SUFFIXES hdf5/serial)
find_library(HDF5Library_LIBRARY NAMES hdf5 hdf5_serial PATH_SUFFIXES hdf5/serial)
include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(HDF5Library REQUIRED_VARS HDF5Library_LIBRARY HDF5Library_INCLUDE_DIR)
if(HDF5Library_FOUND AND NOT TARGET hdf5::hdf5)
  add_library(hdf5::hdf5 UNKNOWN IMPORTED)
  set_target_properties(hdf5::hdf5 PROPERTIES IMPORTED_LOCATION "${HDF5Library_LIBRARY}"
                                              INTERFACE_INCLUDE_DIRECTORIES "${HDF5Library_INCLUDE_DIR}")
endif()
mark_as_advanced(HDF5Library_INCLUDE_DIR HDF5Library_LIBRARY)
