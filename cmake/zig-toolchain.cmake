# SPDX-License-Identifier: Apache-2.0
#
# For script/cross: compiles for macOS on another system with `zig cc`, which includes Apple's
# headers and stubs for linking. BERM_ZIG_TOOLS has cc, ar and ranlib, which call zig for
# BERM_ZIG_TARGET (aarch64-macos or x86_64-macos).

set(CMAKE_SYSTEM_NAME Darwin)
if(BERM_ZIG_TARGET MATCHES "^aarch64")
	set(CMAKE_SYSTEM_PROCESSOR arm64)
else()
	set(CMAKE_SYSTEM_PROCESSOR x86_64)
endif()
set(CMAKE_C_COMPILER "${BERM_ZIG_TOOLS}/cc")
set(CMAKE_AR "${BERM_ZIG_TOOLS}/ar")
set(CMAKE_RANLIB "${BERM_ZIG_TOOLS}/ranlib")
# CMake would look for Apple's own tools and SDK.
set(CMAKE_C_COMPILER_WORKS ON)
set(CMAKE_OSX_SYSROOT "" CACHE STRING "" FORCE)
set(CMAKE_OSX_DEPLOYMENT_TARGET "" CACHE STRING "" FORCE)
set(CMAKE_TRY_COMPILE_PLATFORM_VARIABLES BERM_ZIG_TOOLS BERM_ZIG_TARGET)
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
