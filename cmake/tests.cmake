# SPDX-License-Identifier: Apache-2.0
#
# Registers every test in tests/ with ctest. Labels: unit, cli, escape, work, fuzz, package, macos,
# bench, agents, editors; once, for tests that do not depend on the user; root, for tests that need
# it; long, for tests that take minutes and that only `script/test --all` and CI run. A test that
# exits with 77 was skipped; BERM_MUST_RUN=1 makes script/test treat that as a failure.

set(BERM_TEST_SKIPPED 77)
set(BERM_TEST_TIMEOUT_SECONDS 600)
set(berm_test_environment
	"BERM=${CMAKE_CURRENT_BINARY_DIR}/berm"
	"BERM_SOURCE_DIR=${PROJECT_SOURCE_DIR}"
	"BERM_BUILD_DIR=${CMAKE_CURRENT_BINARY_DIR}")

# berm_test(name label command...)
function(berm_test name label)
	add_test(NAME ${name} COMMAND ${ARGN})
	set_tests_properties(${name} PROPERTIES
		LABELS "${label}"
		ENVIRONMENT "${berm_test_environment}"
		SKIP_RETURN_CODE ${BERM_TEST_SKIPPED}
		TIMEOUT ${BERM_TEST_TIMEOUT_SECONDS})
	# Tests of tests/work run after all others; see tests/work/CMakeLists.txt.
	set_property(GLOBAL APPEND PROPERTY BERM_TESTS_BEFORE_WORK ${name})
endfunction()

# berm_test_executable(name directory source...): a program that may include every header of src.
function(berm_test_executable name directory)
	add_executable(${name} ${ARGN})
	target_include_directories(${name} PRIVATE "${PROJECT_SOURCE_DIR}/tests")
	target_link_libraries(${name} PRIVATE berm_flags ${BERM_LIBRARIES})
	target_link_options(${name} PRIVATE ${BERM_TEST_LINK_OPTIONS})
	set_target_properties(${name} PROPERTIES
		RUNTIME_OUTPUT_DIRECTORY "${CMAKE_CURRENT_BINARY_DIR}/tests/${directory}"
		INTERPROCEDURAL_OPTIMIZATION OFF)
endfunction()

# One program per tests/unit/ROOM/test_NAME.c, as unit-ROOM-NAME. tests/unit/support has shared
# helpers.
function(berm_add_unit_tests)
	berm_glob(tests tests/unit/*/test_*.c tests/unit/*/*/test_*.c)
	berm_glob(helpers tests/unit/support/*.c)
	if(NOT tests)
		return()
	endif()
	find_path(BERM_GREATEST_DIR greatest.h
		HINTS "${PROJECT_SOURCE_DIR}/build/deps/greatest"
		PATH_SUFFIXES greatest NO_CMAKE_FIND_ROOT_PATH)
	mark_as_advanced(BERM_GREATEST_DIR)
	if(NOT BERM_GREATEST_DIR)
		message(WARNING "greatest.h is missing, so the unit tests are not built; "
			"script/setup --test fetches it")
		return()
	endif()
	# A library: compiling the helpers once per program would double the build time.
	add_library(berm_unit_helpers STATIC ${helpers})
	target_include_directories(berm_unit_helpers PRIVATE "${PROJECT_SOURCE_DIR}/tests")
	target_include_directories(berm_unit_helpers SYSTEM PRIVATE "${BERM_GREATEST_DIR}")
	target_link_libraries(berm_unit_helpers PRIVATE berm_flags ${BERM_LIBRARIES})
	set_target_properties(berm_unit_helpers PROPERTIES INTERPROCEDURAL_OPTIMIZATION OFF)
	foreach(source IN LISTS tests)
		get_filename_component(name "${source}" NAME_WE)
		get_filename_component(room "${source}" DIRECTORY)
		get_filename_component(room "${room}" NAME)
		string(REGEX REPLACE "^test_" "" name "${name}")
		set(program "test_${room}_${name}")
		berm_test_executable(${program} unit "${source}")
		target_link_libraries(${program} PRIVATE berm_unit_helpers ${BERM_LIBRARIES})
		target_include_directories(${program} SYSTEM PRIVATE "${BERM_GREATEST_DIR}")
		berm_test(unit-${room}-${name} unit ${program})
	endforeach()
endfunction()

function(berm_add_cli_tests)
	berm_glob(scripts tests/cli/*/*.sh)
	list(FILTER scripts EXCLUDE REGEX "/support/")
	foreach(script IN LISTS scripts)
		get_filename_component(name "${script}" NAME_WE)
		berm_test(cli-${name} cli bash "${script}")
	endforeach()
	# Independent of the user: script/test runs them once.
	set_tests_properties(cli-completions PROPERTIES LABELS "cli;once")
	set_tests_properties(cli-attack-mounts cli-init-memory cli-install-apparmor PROPERTIES LABELS "cli;root")
	set_tests_properties(cli-doctor-refusals PROPERTIES LABELS "cli;long")
	# Long tests first, so that none runs alone at the end. Approximate seconds on a quiet
	# machine.
	set_tests_properties(cli-handover PROPERTIES COST 25)
	set_tests_properties(cli-completions cli-terminal PROPERTIES COST 15)
	set_tests_properties(cli-differential cli-limits cli-network cli-signals PROPERTIES COST 10)
endfunction()

# Real agents and editors from npm, as agents-NAME and editors-NAME. script/test runs them in parts
# of their own, because they take a gigabyte of packages and an ordinary user.
function(berm_add_agent_tests)
	foreach(kind IN ITEMS agents editors)
		berm_glob(scripts tests/${kind}/*.sh)
		foreach(script IN LISTS scripts)
			get_filename_component(name "${script}" NAME_WE)
			berm_test(${kind}-${name} ${kind} bash "${script}")
			# Two at once on two cores reach their own timeouts. opencode takes a minute
			# for a conversation without the internet, on a busy machine two.
			set_tests_properties(${kind}-${name} PROPERTIES RUN_SERIAL ON TIMEOUT 3600)
			# Sandboxes of agents make /tmp writable, so that a home in it would prove
			# nothing.
			set_property(TEST ${kind}-${name} APPEND PROPERTY
				ENVIRONMENT "TMPDIR=/var/tmp;BERM_AGENT_TABLE=${PROJECT_BINARY_DIR}/agents-table")
		endforeach()
	endforeach()
endfunction()

# One program per tests/fuzz/fuzz_*.c: a libFuzzer target with BERM_FUZZ, else a replay of its
# seeds.
function(berm_add_fuzz_targets)
	berm_glob(targets tests/fuzz/fuzz_*.c)
	berm_glob(helpers tests/fuzz/*.c)
	set(replay "${PROJECT_SOURCE_DIR}/tests/fuzz/replay_main.c")
	list(REMOVE_ITEM helpers ${targets} "${replay}" "")
	foreach(source IN LISTS targets)
		get_filename_component(program "${source}" NAME_WE)
		string(REGEX REPLACE "^fuzz_" "" name "${program}")
		if(BERM_FUZZ)
			berm_test_executable(${program} fuzz "${source}" ${helpers})
			target_link_options(${program} PRIVATE -fsanitize=fuzzer)
		else()
			berm_test_executable(${program} fuzz "${source}" "${replay}" ${helpers})
			set(seeds "${PROJECT_SOURCE_DIR}/tests/fuzz/seeds/${name}")
			if(IS_DIRECTORY "${seeds}")
				berm_test(fuzz-replay-${name} fuzz ${program} "${seeds}")
			endif()
		endif()
	endforeach()
endfunction()

berm_add_fuzz_targets()
if(NOT BERM_FUZZ)
	berm_add_unit_tests()
	berm_add_cli_tests()
	berm_add_agent_tests()
	if(EXISTS "${PROJECT_SOURCE_DIR}/tests/escape/CMakeLists.txt")
		add_subdirectory(tests/escape)
	endif()
	berm_test(lint-checks package bash "${PROJECT_SOURCE_DIR}/tests/lint/checks.sh")
	add_subdirectory(tests/refuse)
	add_subdirectory(tests/package)
	add_subdirectory(tests/bench)
	add_subdirectory(tests/macos)
	if(EXISTS "${PROJECT_SOURCE_DIR}/tests/work/CMakeLists.txt")
		add_subdirectory(tests/work)
	endif()
endif()
