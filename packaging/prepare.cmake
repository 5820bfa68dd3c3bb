# SPDX-License-Identifier: Apache-2.0
#
# Run by cpack between installing into a scratch tree and packing it. Directories get the usual
# permissions, independent of the umask. A .deb also follows Debian's policy: copyright and changelog
# at their paths, no licence text (every Debian system has it), man pages and changelog compressed
# without a time stamp, and zsh completions in Debian's directory for packages.

function(prepare_run)
	execute_process(COMMAND ${ARGN} RESULT_VARIABLE status)
	if(NOT status EQUAL 0)
		message(FATAL_ERROR "failed: ${ARGN}")
	endif()
endfunction()

function(prepare_add name place)
	configure_file("${CPACK_BERM_SOURCE_DIR}/packaging/debian/${name}" "${place}" COPYONLY
		FILE_PERMISSIONS OWNER_READ OWNER_WRITE GROUP_READ WORLD_READ)
endfunction()

function(prepare_debian tree)
	set(documents "${tree}/share/doc/berm")
	file(STRINGS "${CPACK_BERM_SOURCE_DIR}/packaging/debian/changelog" newest LIMIT_COUNT 1)
	if(NOT newest MATCHES "^berm \\(([^)]*)\\)" OR NOT CMAKE_MATCH_1 STREQUAL CPACK_PACKAGE_VERSION)
		message(FATAL_ERROR "packaging/debian/changelog does not begin with version ${CPACK_PACKAGE_VERSION}")
	endif()
	prepare_add(copyright "${documents}/copyright")
	prepare_add(changelog "${documents}/changelog")
	prepare_add(lintian-overrides "${tree}/share/lintian/overrides/berm")
	file(REMOVE "${documents}/LICENSE")
	if(EXISTS "${tree}/share/zsh/site-functions")
		file(RENAME "${tree}/share/zsh/site-functions" "${tree}/share/zsh/vendor-completions")
	endif()
	file(GLOB pages "${tree}/share/man/man*/*.[0-9]")
	prepare_run(gzip -9 -n "${documents}/changelog" ${pages})
endfunction()

if(CPACK_GENERATOR STREQUAL "DEB")
	prepare_debian("${CPACK_TEMPORARY_DIRECTORY}/usr")
endif()
prepare_run(find "${CPACK_TEMPORARY_DIRECTORY}" -type d -exec chmod 755 {} +)
