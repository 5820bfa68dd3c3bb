# SPDX-License-Identifier: Apache-2.0
#
# Files made at build time: version.h (BERM_VERSION), install_dirs.h (see common/install_paths.h) and embedded_policies.c
# (see common/embedded.h).

set(BERM_GENERATED_DIR "${CMAKE_CURRENT_BINARY_DIR}/generated")

# Runs on every build, writes only when the version or the commit has changed.
add_custom_target(berm_version
	COMMAND "${CMAKE_COMMAND}"
		"-DVERSION=${PROJECT_VERSION}"
		"-DSOURCE_DIR=${PROJECT_SOURCE_DIR}"
		"-DTEMPLATE=${PROJECT_SOURCE_DIR}/cmake/version.h.in"
		"-DOUTPUT=${BERM_GENERATED_DIR}/version.h"
		-P "${PROJECT_SOURCE_DIR}/cmake/version.cmake"
	BYPRODUCTS "${BERM_GENERATED_DIR}/version.h"
	COMMENT ""
	VERBATIM)

file(RELATIVE_PATH berm_shims_from_bindir "${CMAKE_INSTALL_FULL_BINDIR}" "${CMAKE_INSTALL_FULL_LIBEXECDIR}/berm/shims")
configure_file(cmake/install_dirs.h.in "${BERM_GENERATED_DIR}/install_dirs.h" @ONLY)

file(GLOB policies CONFIGURE_DEPENDS policies/*.yml policies/*.json)
set(BERM_EMBEDDED_POLICIES "${BERM_GENERATED_DIR}/embedded_policies.c")
add_custom_command(
	OUTPUT "${BERM_EMBEDDED_POLICIES}"
	COMMAND "${CMAKE_COMMAND}"
		"-DOUTPUT=${BERM_EMBEDDED_POLICIES}"
		"-DFILES=${policies}"
		-P "${PROJECT_SOURCE_DIR}/cmake/embed.cmake"
	DEPENDS ${policies} "${PROJECT_SOURCE_DIR}/cmake/embed.cmake"
	COMMENT "Embedding policies"
	VERBATIM)
