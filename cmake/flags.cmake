# SPDX-License-Identifier: Apache-2.0
#
# berm_flags: warnings, hardening and instrumentation for every target. A flag is added only if the
# compiler or linker accepts it, so that older and other compilers work.

include(CheckCCompilerFlag)
include(CheckCSourceCompiles)
include(CheckLinkerFlag)
include(CheckPIESupported)

add_library(berm_flags INTERFACE)

function(berm_compile_flag flag)
	string(MAKE_C_IDENTIFIER "has_c${flag}" result)
	check_c_compiler_flag("${flag}" ${result})
	if(${result})
		target_compile_options(berm_flags INTERFACE "SHELL:${flag}")
	endif()
endfunction()

function(berm_link_flag flag)
	string(MAKE_C_IDENTIFIER "has_link${flag}" result)
	check_linker_flag(C "${flag}" ${result})
	if(${result})
		target_link_options(berm_flags INTERFACE "${flag}")
	endif()
endfunction()

set(CMAKE_REQUIRED_QUIET ON)

foreach(flag IN ITEMS
	-Wall -Wextra -Wshadow -Wformat=2 -Wstrict-prototypes -Wmissing-prototypes -Wswitch-enum -Wvla
	-Wimplicit-fallthrough -Wundef -Wnull-dereference -Wpointer-arith -Wcast-qual)
	berm_compile_flag(${flag})
endforeach()
if(BERM_WERROR)
	berm_compile_flag(-Werror)
endif()

# PIE for the executables, so the libraries are position independent too.
check_pie_supported(LANGUAGES C)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)

# Empty, so that a source that defines it too does not clash.
target_compile_definitions(berm_flags INTERFACE _GNU_SOURCE=)
if(BERM_STATIC)
	target_compile_definitions(berm_flags INTERFACE BERM_STATIC)
endif()

foreach(flag IN ITEMS -fstack-protector-strong -fno-common)
	berm_compile_flag(${flag})
endforeach()
if(NOT APPLE) # clang accepts it there and warns that it has no effect
	berm_compile_flag(-fstack-clash-protection)
endif()
# clang before 16 accepts the zero pattern only with a second flag.
berm_compile_flag(-ftrivial-auto-var-init=zero)
if(NOT has_c_ftrivial_auto_var_init_zero)
	berm_compile_flag("-ftrivial-auto-var-init=zero -enable-trivial-auto-var-init-zero-knowing-it-will-be-removed-from-clang")
endif()
if(CMAKE_SYSTEM_PROCESSOR MATCHES "^(x86_64|AMD64|i.86)$")
	berm_compile_flag(-fcf-protection)
elseif(CMAKE_SYSTEM_PROCESSOR MATCHES "^(aarch64|arm64)$")
	berm_compile_flag(-mbranch-protection=standard)
endif()
foreach(flag IN ITEMS -Wl,-z,relro -Wl,-z,now -Wl,-z,noexecstack -Wl,-z,separate-code -Wl,--as-needed)
	berm_link_flag(${flag})
endforeach()

# _FORTIFY_SOURCE needs optimisation (glibc warns otherwise) and hides calls from the sanitizers. -U
# first: several distributions define a lower level by default.
string(TOUPPER "${CMAKE_BUILD_TYPE}" build_type)
set(effective_flags "${CMAKE_C_FLAGS} ${CMAKE_C_FLAGS_${build_type}}")
if(effective_flags MATCHES "-O[123sz]" AND NOT BERM_SANITIZE AND NOT BERM_FUZZ)
	set(CMAKE_REQUIRED_FLAGS "-U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=3 -Werror")
	check_c_source_compiles("#include <string.h>\nint main(void) { return 0; }" has_fortify_3)
	unset(CMAKE_REQUIRED_FLAGS)
	set(level 2)
	if(has_fortify_3)
		set(level 3)
	endif()
	target_compile_options(berm_flags INTERFACE -U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=${level})
endif()

set(sanitizers ${BERM_SANITIZE})
if(BERM_FUZZ)
	set(sanitizers address,undefined)
	# A separate flag: afl-clang-fast does not recognise it in a list.
	target_compile_options(berm_flags INTERFACE -fsanitize=fuzzer-no-link)
endif()
if(sanitizers)
	target_compile_options(berm_flags INTERFACE
		-fsanitize=${sanitizers} -fno-sanitize-recover=all -fno-omit-frame-pointer)
	target_link_options(berm_flags INTERFACE -fsanitize=${sanitizers})
endif()
if(BERM_COVERAGE)
	target_compile_options(berm_flags INTERFACE --coverage)
	target_link_options(berm_flags INTERFACE --coverage)
endif()

# Link-time optimisation only for releases, and only if a test project links with it.
if(build_type STREQUAL "RELEASE" AND NOT sanitizers AND NOT BERM_COVERAGE)
	include(CheckIPOSupported)
	check_ipo_supported(RESULT has_lto OUTPUT lto_output LANGUAGES C)
	if(has_lto)
		set(CMAKE_INTERPROCEDURAL_OPTIMIZATION ON)
		# Fat objects: tests link without it, because optimising a hundred programs takes
		# minutes.
		if(BERM_TESTS AND CMAKE_C_COMPILER_ID STREQUAL "GNU")
			set(CMAKE_C_COMPILE_OPTIONS_IPO -flto=auto -ffat-lto-objects)
			set(BERM_TEST_LINK_OPTIONS -fno-lto)
		endif()
	endif()
endif()

if(BERM_STATIC)
	set(CMAKE_REQUIRED_LINK_OPTIONS -static-pie)
	set(CMAKE_REQUIRED_FLAGS -fPIE)
	check_c_source_compiles("int main(void) { return 0; }" has_static_pie)
	unset(CMAKE_REQUIRED_LINK_OPTIONS)
	unset(CMAKE_REQUIRED_FLAGS)
	# CMake adds -pie after the options, which cancels -static-pie: replace its -pie.
	set(CMAKE_C_LINK_OPTIONS_PIE -static-pie)
	if(NOT has_static_pie)
		message(FATAL_ERROR "BERM_STATIC=ON, but a static-pie program does not link here")
	endif()
endif()
