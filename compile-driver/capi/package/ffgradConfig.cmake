# find_package(ffgrad) defines the target ffgrad::ffgrad: the header and the library of the folder that this file is in.
get_filename_component(_ffgrad_prefix "${CMAKE_CURRENT_LIST_DIR}/../../.." ABSOLUTE)
if(NOT TARGET ffgrad::ffgrad)
  add_library(ffgrad::ffgrad SHARED IMPORTED)
  set_target_properties(ffgrad::ffgrad PROPERTIES
    IMPORTED_LOCATION "${_ffgrad_prefix}/lib/libffgrad.so"
    IMPORTED_NO_SONAME TRUE
    INTERFACE_INCLUDE_DIRECTORIES "${_ffgrad_prefix}/include")
endif()
unset(_ffgrad_prefix)
