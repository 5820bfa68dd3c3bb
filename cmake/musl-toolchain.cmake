# SPDX-License-Identifier: Apache-2.0
#
# For `script/build static`: the system's gcc with musl as C library, and the libraries that
# script/musl has built. The result runs on the build machine, so this is no cross build.

set(BERM_MUSL "${CMAKE_CURRENT_LIST_DIR}/../build/deps/musl")
get_filename_component(BERM_MUSL "${BERM_MUSL}" ABSOLUTE)
if(NOT EXISTS "${BERM_MUSL}/identity")
	message(FATAL_ERROR "${BERM_MUSL} is missing; `script/build static` calls script/musl, which builds it")
endif()
set(CMAKE_C_COMPILER gcc)
set(CMAKE_C_FLAGS_INIT "-specs=${BERM_MUSL}/static.specs")
# Only there: a header or archive for the system's C library would cause silent errors.
set(CMAKE_FIND_ROOT_PATH "${BERM_MUSL}")
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
