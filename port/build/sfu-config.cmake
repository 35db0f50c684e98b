# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The sfu authors
#
# find_package(sfu) of what `make install` has installed: the core, sfu.h and arch/, as the target sfu::sfu. Folders are
# those beside this file, so that an installed tree may be moved.
get_filename_component(sfu_libraries "${CMAKE_CURRENT_LIST_DIR}/../.." ABSOLUTE)
if(NOT TARGET sfu::sfu)
    add_library(sfu::sfu STATIC IMPORTED)
    set_target_properties(sfu::sfu PROPERTIES
        IMPORTED_LOCATION "${sfu_libraries}/libsfu.a"
        INTERFACE_INCLUDE_DIRECTORIES "${CMAKE_CURRENT_LIST_DIR}/@INCLUDE@/sfu")
endif()
