# SPDX-License-Identifier: Apache-2.0
#
# Files that `cmake --install` installs besides the program and its man pages.

# The program generates the completions from its tables, so a cross build cannot.
if(CMAKE_CROSSCOMPILING AND NOT CMAKE_CROSSCOMPILING_EMULATOR)
	message(STATUS "Cross-compiling: no shell completions (`berm completions bash|zsh|fish` prints them)")
elseif(TARGET berm AND NOT BERM_FUZZ)
	set(completions "${CMAKE_CURRENT_BINARY_DIR}/completions")
	file(MAKE_DIRECTORY "${completions}")
	configure_file(packaging/plugins/opencode.js "${CMAKE_CURRENT_BINARY_DIR}/plugins/opencode.js" COPYONLY)
	install(FILES packaging/plugins/opencode.js DESTINATION "${CMAKE_INSTALL_LIBEXECDIR}/berm/plugins")
	foreach(shell IN ITEMS bash zsh fish)
		add_custom_command(
			OUTPUT "${completions}/${shell}"
			COMMAND berm completions ${shell} > "${completions}/${shell}"
			DEPENDS berm
			COMMENT ""
			VERBATIM)
	endforeach()
	add_custom_target(berm_completions ALL
		DEPENDS "${completions}/bash" "${completions}/zsh" "${completions}/fish")
	install(FILES "${completions}/bash"
		DESTINATION "${CMAKE_INSTALL_DATADIR}/bash-completion/completions" RENAME berm)
	install(FILES "${completions}/zsh"
		DESTINATION "${CMAKE_INSTALL_DATADIR}/zsh/site-functions" RENAME _berm)
	install(FILES "${completions}/fish"
		DESTINATION "${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d" RENAME berm.fish)
endif()

install(FILES policies/berm.schema.json DESTINATION "${CMAKE_INSTALL_DATADIR}/berm")
install(FILES LICENSE DESTINATION "${CMAKE_INSTALL_DOCDIR}")
install(FILES README.md DESTINATION "${CMAKE_INSTALL_DOCDIR}" OPTIONAL)
install(DIRECTORY docs/hosts DESTINATION "${CMAKE_INSTALL_DOCDIR}")
if(CMAKE_SYSTEM_NAME STREQUAL "Linux")
	# Not in /etc: `berm doctor --install-apparmor` writes it there where a kernel needs it.
	install(FILES packaging/apparmor/berm DESTINATION "${CMAKE_INSTALL_DATADIR}/berm/apparmor")
endif()

# berm-sh and the shims are the same program under other names: relative links, which work under any
# prefix.
if(TARGET berm AND NOT BERM_FUZZ)
	file(RELATIVE_PATH shim_target
		"${CMAKE_INSTALL_FULL_LIBEXECDIR}/berm/shims" "${CMAKE_INSTALL_FULL_BINDIR}/berm")
	set(links "${CMAKE_CURRENT_BINARY_DIR}/links")
	file(MAKE_DIRECTORY "${links}" "${CMAKE_CURRENT_BINARY_DIR}/shims")
	file(CREATE_LINK berm "${links}/berm-sh" SYMBOLIC)
	file(CREATE_LINK berm "${CMAKE_CURRENT_BINARY_DIR}/berm-sh" SYMBOLIC)
	install(FILES "${links}/berm-sh" DESTINATION "${CMAKE_INSTALL_BINDIR}")
	foreach(shell IN ITEMS bash zsh sh dash fish)
		file(CREATE_LINK "${shim_target}" "${links}/${shell}" SYMBOLIC)
		file(CREATE_LINK ../berm "${CMAKE_CURRENT_BINARY_DIR}/shims/${shell}" SYMBOLIC)
		install(FILES "${links}/${shell}" DESTINATION "${CMAKE_INSTALL_LIBEXECDIR}/berm/shims")
	endforeach()
	# For programs that are debugged: src/common/shell/editor_terminal.h.
	file(MAKE_DIRECTORY "${links}/debug" "${CMAKE_CURRENT_BINARY_DIR}/shims/debug")
	foreach(program IN ITEMS bash berm-node)
		file(CREATE_LINK "../${shim_target}" "${links}/debug/${program}" SYMBOLIC)
		file(CREATE_LINK ../../berm "${CMAKE_CURRENT_BINARY_DIR}/shims/debug/${program}" SYMBOLIC)
		install(FILES "${links}/debug/${program}" DESTINATION "${CMAKE_INSTALL_LIBEXECDIR}/berm/shims/debug")
	endforeach()
endif()
