#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# docs/planting.md has a row for every entry of files.protect and files.unprotect in the built-in
# policies, and no other rows. Each name of another sandbox's list is taken or has a reason.
# lib.sh sets status, out and err.
# shellcheck disable=SC1091,SC2154
. "$(dirname "$0")/../support/lib.sh"
page=$BERM_SOURCE_DIR/docs/planting.md

# entries KEY POLICY...: the list of a key, one entry per line.
entries() {
	local key=$1 policy
	shift
	for policy; do
		"$BERM" policies --show="$policy" | awk -v key="  $key:" '
			$0 == key { is_in = 1; next }
			/^  [a-z]/ || /^[a-z]/ { is_in = 0 }
			is_in && /^    - / { sub(/^    - /, ""); sub(/ +#.*$/, ""); gsub(/"/, ""); print }'
	done | sort
}
# rows MARK: the names in the first column of the table after a mark, one per line.
rows() {
	awk -v mark="<!-- $1 -->" '$0 == mark { is_in = 1; next } is_in && !/^\|/ { is_in = 0 } is_in' "$page" | sed 1,2d
}
names() {
	rows "$1" | cut -d'|' -f2 | grep -o '`[^`]*`' | tr -d '`' | sort
}

expect "control: the policy has entries" test "$(entries protect default floor | wc -l)" -gt 100
expect_equal "the page has every protected name, and no other" "$(entries protect default floor)" "$(names protect)"
expect_equal "the page has every opened name, and no other" "$(entries unprotect default)" "$(names unprotect)"
expect_equal "each has a reason" "" "$(rows protect | awk -F'|' 'NF < 5 || $3 ~ /^ *$/ || $4 ~ /^ *$/'; rows unprotect | awk -F'|' 'NF < 4 || $3 ~ /^ *$/')"

while IFS='|' read -r _ name _ verdict _; do
	name=$(tr -d ' `' <<<"$name")
	case $verdict in
	" taken ") expect "$name of another list is protected" grep -qxF -- "$name" <(names protect) ;;
	" not taken"*": "*) expect "$name of another list is not protected" test -z "$(grep -xF -- "$name" <(names protect))" ;;
	*) fail "$name of another list has neither an entry nor a reason" "$verdict" ;;
	esac
done < <(rows peers)
expect "control: names of other lists were compared" test "$(rows peers | wc -l)" -ge 18

finish
