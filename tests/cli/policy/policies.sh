#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# `berm policies`: the list, one policy, the keys, the schema; the man page knows every key; errors have their place.
# lib.sh sets status, out and err.
# shellcheck disable=SC1091,SC2154
. "$(dirname "$0")/../support/lib.sh"

run "$BERM" policies
expect_equal "policies: status" 0 "$status"
expect_equal "policies: no line is wider than a terminal" "" "$(awk 'length > 80' <<<"$out")"
for file in "$BERM_SOURCE_DIR"/policies/*.yml; do
	name=$(basename "$file" .yml)
	expect_contains "policies: $name is listed" "  $name " "$out"
	"$BERM" policies --show="$name" >shown
	expect "--show=$name is the file" cmp shown "$file"
done

"$BERM" policies --schema >schema
expect "the shipped schema is the generated one" cmp schema "$BERM_SOURCE_DIR/policies/berm.schema.json"

run "$BERM" policies --keys
expect_equal "keys: status" 0 "$status"
keys=$(sed -n 's/^\([a-z_.]*\) (.*)$/\1/p' <<<"$out")
expect_contains "keys: nested ones are there" files.deny "$keys"
missing=
for key in $keys; do
	grep -Eq "^\.It Ic (.* )?${key##*.}( |$)|^\.Ic ${key##*.}( |$)" "$BERM_SOURCE_DIR/docs/berm-policy.5" || missing="$missing $key"
done
expect_equal "the man page describes every key" "" "$missing"

expect_status "unknown policy" 125 "$BERM" policies --show=defualt
expect_contains "unknown policy: the nearest" "did you mean \`default\`?" "$err"
expect_status "stray argument" 125 "$BERM" policies default
expect_contains "stray argument: what to write" "--show=default" "$err"

# Mistakes in a file: exit 125, the place, the line, a caret under the column, the nearest key.
printf 'version: 1\nfiles:\n  denny: [x]\nhome: privat\n' >p.yml
expect_status "mistakes" 125 "$BERM" plan --policy p.yml
expect_contains "mistakes: the place" "p.yml:3:3:" "$err"
expect_contains "mistakes: the line" "  denny: [x]" "$err"
expect_contains "mistakes: the nearest key" "did you mean \`deny\`?" "$err"
expect_contains "mistakes: all at once" "p.yml:4:7:" "$err"
expect_equal "mistakes: the caret" "      ^" "$(grep -m 1 '^ *^$' <<<"$err")"
expect_status "mistakes: nothing runs" 125 "$BERM" run --policy=p.yml -- touch ran
expect "mistakes: nothing ran" test ! -e ran
printf 'version: 1\n' >p.yml
expect_status "the control: without mistakes it runs" 0 "$BERM" run --policy=p.yml -- touch ran
expect "the control has run" test -e ran

finish
