# SPDX-License-Identifier: Apache-2.0
#
# `cpack` in a build directory makes the package that fits it: of the static program a .tar.gz, which runs on every Linux; else a .deb
# on Debian and its relatives, and a .tar.gz elsewhere.

set(CPACK_PACKAGE_NAME berm)
set(CPACK_PACKAGE_VERSION "${PROJECT_VERSION}")
set(CPACK_PACKAGE_VENDOR "berm maintainers")
set(CPACK_PACKAGE_CONTACT "berm maintainers <maintainers@example.org>")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "run a command behind a wall made of what the system has")
set(CPACK_RESOURCE_FILE_LICENSE "${PROJECT_SOURCE_DIR}/LICENSE")
string(TOLOWER "${CMAKE_SYSTEM_NAME}-${CMAKE_SYSTEM_PROCESSOR}" system)
set(CPACK_PACKAGE_FILE_NAME "berm-${PROJECT_VERSION}-${system}")
set(CPACK_STRIP_FILES ON)

set(CPACK_GENERATOR TGZ)
find_program(BERM_DPKG_DEB dpkg-deb)
find_program(BERM_DPKG_SHLIBDEPS dpkg-shlibdeps)
mark_as_advanced(BERM_DPKG_DEB BERM_DPKG_SHLIBDEPS)
if(BERM_DPKG_DEB AND BERM_DPKG_SHLIBDEPS AND CMAKE_SYSTEM_NAME STREQUAL "Linux" AND NOT BERM_STATIC)
	set(CPACK_GENERATOR DEB)
endif()

set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION utils)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)
set(CPACK_DEBIAN_COMPRESSION_TYPE xz)
set(CPACK_DEBIAN_PACKAGE_DESCRIPTION
"berm runs one command so that it can use the project it works on and little
else: the rest of the home directory, credentials, other processes and, unless
a policy names it, the network are out of reach. It is for commands that an
agent or a stranger's build script runs on a machine that also holds keys.

No daemon, no root, no image: namespaces, mounts, Landlock and seccomp. Where
AppArmor restricts user namespaces (Ubuntu 23.10 and later), the profile in
/usr/share/berm/apparmor has to be installed; it says how.")

set(CPACK_BERM_SOURCE_DIR "${PROJECT_SOURCE_DIR}")
set(CPACK_PRE_BUILD_SCRIPTS "${PROJECT_SOURCE_DIR}/packaging/prepare.cmake")
include(CPack)
