# SPDX-License-Identifier: Apache-2.0
#
# Writes version.h: VERSION in a release archive, VERSION+COMMIT in a clone. It contains nothing
# about the machine or the time, so that the same commit gives the same binary.

set(version "${VERSION}")
# Only this directory's .git: an archive inside another repository must not use that one's commit.
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
