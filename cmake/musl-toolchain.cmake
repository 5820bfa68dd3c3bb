# SPDX-License-Identifier: Apache-2.0
#
# For `script/build static`: the system's gcc with musl instead of its own C library, and the libraries that script/musl built with it.
# What is built runs here, so this is no cross build.

set(BERM_MUSL "${CMAKE_CURRENT_LIST_DIR}/../build/deps/musl")
get_filename_component(BERM_MUSL "${BERM_MUSL}" ABSOLUTE)
if(NOT EXISTS "${BERM_MUSL}/identity")
	message(FATAL_ERROR "${BERM_MUSL} is missing; script/musl makes it, and script/build static calls that")
endif()
set(CMAKE_C_COMPILER gcc)
set(CMAKE_C_FLAGS_INIT "-specs=${BERM_MUSL}/static.specs")
# Only there: a header or an archive that was made for the system's C library would do harm quietly.
set(CMAKE_FIND_ROOT_PATH "${BERM_MUSL}")
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
