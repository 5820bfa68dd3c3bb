# SPDX-License-Identifier: Apache-2.0
#
# cmake -DOUTPUT=file.c "-DFILES=a;b" -P embed.cmake: writes embedded_policies[] with the exact
# bytes of each file and a final NUL, which the length does not count. Every byte is a hexadecimal
# escape, so no content can end its literal. One source line per line of text.

set(texts "")
set(entries "")
set(index 0)
foreach(file IN LISTS FILES)
	get_filename_component(name "${file}" NAME)
	file(READ "${file}" hex HEX)
	string(LENGTH "${hex}" digits)
	math(EXPR length "${digits} / 2")
	string(REGEX REPLACE "(..)" "\\\\x\\1" literal "${hex}")
	string(REPLACE "\\x0a" "\\x0a\"\n\t\"" literal "${literal}")
	string(APPEND texts "static const char text_${index}[] =\n\t\"${literal}\";\n\n")
	string(APPEND entries "\t{ \"${name}\", text_${index}, ${length} },\n")
	math(EXPR index "${index} + 1")
endforeach()
if(index EQUAL 0)
	set(entries "\t{ 0 },\n")
endif()

file(WRITE "${OUTPUT}" "/* Made by cmake/embed.cmake from policies/. */
#include \"common/policy/embedded.h\"

${texts}const struct embedded_file embedded_policies[] = {
${entries}};

const size_t embedded_policies_count = ${index};
")
