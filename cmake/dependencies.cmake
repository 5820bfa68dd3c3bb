# SPDX-License-Identifier: Apache-2.0
#
# berm::yaml, berm::seccomp, berm::cap: the static archive if the system has one, for one binary
# with a fast start; else the shared library. A missing library stops the configuration with a hint.

function(berm_dependency name header)
	string(TOUPPER "${name}" upper)
	find_path(BERM_${upper}_INCLUDE_DIR ${header})
	find_library(BERM_${upper}_LIBRARY NAMES lib${name}.a ${name})
	mark_as_advanced(BERM_${upper}_INCLUDE_DIR BERM_${upper}_LIBRARY)
	set(library "${BERM_${upper}_LIBRARY}")
	if(NOT library OR NOT BERM_${upper}_INCLUDE_DIR)
		message(FATAL_ERROR "lib${name} or its header ${header} is missing; script/setup installs it")
	endif()
	if(library MATCHES "\\.a$")
		message(STATUS "lib${name}: static (${library})")
	else()
		message(STATUS "lib${name}: shared (${library})")
	endif()
	add_library(berm::${name} UNKNOWN IMPORTED GLOBAL)
	set_target_properties(berm::${name} PROPERTIES
		IMPORTED_LOCATION "${library}"
		INTERFACE_INCLUDE_DIRECTORIES "${BERM_${upper}_INCLUDE_DIR}")
endfunction()

berm_dependency(yaml yaml.h)
if(CMAKE_SYSTEM_NAME STREQUAL "Linux")
	berm_dependency(seccomp seccomp.h)
	berm_dependency(cap sys/capability.h)
endif()
