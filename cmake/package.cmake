# SPDX-License-Identifier: Apache-2.0
#
# `cpack` in a build directory makes a .tar.gz of the static program, which runs on every Linux; of
# other builds a .deb on Debian and its derivatives, and a .tar.gz on other systems.

set(CPACK_PACKAGE_NAME berm)
set(CPACK_PACKAGE_VERSION "${PROJECT_VERSION}")
set(CPACK_PACKAGE_VENDOR "berm maintainers")
set(CPACK_PACKAGE_CONTACT "berm maintainers <maintainers@example.org>")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "run a command in a sandbox made of the operating system's own mechanisms")
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
a policy allows it, the network are inaccessible. It is for commands of AI
agents and untrusted build scripts on a machine that also holds keys.

No daemon, no root, no image: namespaces, mounts, Landlock and seccomp. Where
AppArmor restricts user namespaces (Ubuntu 23.10 and later), the package
installs a profile that permits them to berm.")
set(CPACK_DEBIAN_PACKAGE_CONTROL_EXTRA
	"${PROJECT_SOURCE_DIR}/packaging/debian/postinst" "${PROJECT_SOURCE_DIR}/packaging/debian/prerm")
# Beside each package, as sha256sum writes it: PACKAGE.sha256.
set(CPACK_PACKAGE_CHECKSUM SHA256)

set(CPACK_BERM_SOURCE_DIR "${PROJECT_SOURCE_DIR}")
set(CPACK_PRE_BUILD_SCRIPTS "${PROJECT_SOURCE_DIR}/packaging/prepare.cmake")
include(CPack)
