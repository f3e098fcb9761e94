# Approximate minimum degree ordering of SuiteSparse, as the target SuiteSparse::AMD.
find_path(SuiteSparseAMD_INCLUDE_DIR amd.h PATH_SUFFIXES suitesparse)
find_library(SuiteSparseAMD_LIBRARY amd)
include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(SuiteSparseAMD REQUIRED_VARS SuiteSparseAMD_LIBRARY SuiteSparseAMD_INCLUDE_DIR)
if(SuiteSparseAMD_FOUND AND NOT TARGET SuiteSparse::AMD)
  add_library(SuiteSparse::AMD UNKNOWN IMPORTED)
  set_target_properties(SuiteSparse::AMD PROPERTIES IMPORTED_LOCATION "${SuiteSparseAMD_LIBRARY}"
                                                    INTERFACE_INCLUDE_DIRECTORIES "${SuiteSparseAMD_INCLUDE_DIR}")
endif()
mark_as_advanced(SuiteSparseAMD_INCLUDE_DIR SuiteSparseAMD_LIBRARY)
