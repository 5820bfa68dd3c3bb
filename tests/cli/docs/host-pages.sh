#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Every page of docs/hosts has the same five headings in the same order, from the command to the undo.
# Other headings come after these.
. "$(dirname "$0")/../support/lib.sh"
wanted="What you type|What is covered|What is not covered|See that it works|Undo"

# in_order PAGE: its first headings are these, each has text, and none of them comes again.
in_order() {
	local found
	found=$(sed -n 's/^## //p' "$1" | head -n 5 | tr '\n' '|')
	[ "${found%|}" = "$wanted" ] || { echo "${1##*/}: the headings are $found"; return 1; }
	! awk '/^## / { if (heading && !lines) { print "empty: " heading; bad = 1 } heading = $0; lines = 0; if (seen[$0]++) { print "twice: " $0; bad = 1 }; next }
		NF { lines++ } END { if (!lines) bad = 1; exit !bad }' "$1"
}

pages=0
for page in "$BERM_SOURCE_DIR"/docs/hosts/*.md; do
	[ "${page##*/}" != README.md ] || continue
	pages=$((pages + 1))
	expect "${page##*/}: the order of headings" in_order "$page"
done
expect "every host has a page" test "$pages" -eq "$("$BERM" setup --json | grep -c '"host":')"

# The check can fail: a page in another order, without a heading, with an empty one.
page=$BERM_SOURCE_DIR/docs/hosts/tmux.md
sed 's/^## What is covered$/## X/; s/^## What is not covered$/## What is covered/; s/^## X$/## What is not covered/' "$page" >"$scratch/swapped.md"
sed '/^## Undo$/d' "$page" >"$scratch/without.md"
awk '/^## / { empty = $0 == "## Undo" } !empty || /^## /' "$page" >"$scratch/empty.md"
for fault in swapped without empty; do
	expect "$fault: is found" test -n "$(in_order "$scratch/$fault.md" || echo found)"
	expect_equal "$fault: fails" 1 "$(in_order "$scratch/$fault.md" >/dev/null && echo 0 || echo 1)"
done
finish
