#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# The project's own checks fail on what they are for: each finds nothing in a copy of the tree, and then
# the fault that is put in.
# shellcheck source=SCRIPTDIR/../cli/support/lib.sh
. "$BERM_SOURCE_DIR/tests/cli/support/lib.sh"

tree=$scratch/tree
mkdir "$tree"
cp -R "$BERM_SOURCE_DIR"/{src,script,tests,CONTRIBUTING.md} "$tree/"
cd "$tree" || exit 1

# fault NAME FILE TEXT CHECK...: the check passes, fails with this text at the end of the file, and passes again.
fault() {
	local name=$1 file=$2 text=$3
	shift 3
	cp "$file" "$scratch/saved"
	expect_status "control: $name" 0 "$@"
	printf '%s\n' "$text" >>"$file"
	expect_status "$name" 1 "$@"
	cp "$scratch/saved" "$file"
}

fault "an include that closes a cycle" src/common/base/text.c '#include "common/policy/policy.h"' script/check-rooms
expect_contains "the cycle is named" "a cycle between rooms" "$(printf '#include "common/policy/policy.h"\n' >>src/common/base/text.c; script/check-rooms)"
cp "$BERM_SOURCE_DIR/src/common/base/text.c" src/common/base/text.c
fault "an internal header of another room" src/common/cli/cmd_plan.c '#include "common/scan/internal.h"' script/check-rooms
fault "a word that the style guide replaces" src/common/base/text.c '/* Nobody calls it. */' script/check-words
fault "a question" src/common/base/text.c '/* Is it empty? */' script/check-words
fault "such a word in a script" tests/cli/support/lib.sh "# Nobody calls it." script/check-words
fault "such a word in a message" src/common/base/text.c 'static const char unused[] = "it lies there";' script/check-words
mkdir src/common/new
echo '#include "common/base/text.h"' >src/common/new/new.c
expect_status "a room without a row in the table" 1 script/check-rooms
rm -r src/common/new
expect_status "control: the tree is as it was" 0 script/check-rooms
finish
