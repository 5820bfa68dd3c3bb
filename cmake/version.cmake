# SPDX-License-Identifier: Apache-2.0
#
# Writes version.h: VERSION alone in a release archive, VERSION+COMMIT in a clone. Nothing else about
# the machine or the time goes in, so that the same commit gives the same binary.

set(version "${VERSION}")
# A .git of our own: an archive unpacked inside some other repository must not take that one's commit.
if(EXISTS "${SOURCE_DIR}/.git")
	execute_process(
		COMMAND git -C "${SOURCE_DIR}" rev-parse --short=12 HEAD
		OUTPUT_VARIABLE commit OUTPUT_STRIP_TRAILING_WHITESPACE
		ERROR_QUIET RESULT_VARIABLE status)
	if(status EQUAL 0 AND commit MATCHES "^[0-9a-f]+$")
		string(APPEND version "+${commit}")
	endif()
endif()
configure_file("${TEMPLATE}" "${OUTPUT}" @ONLY)
