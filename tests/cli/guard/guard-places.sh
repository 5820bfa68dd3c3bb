#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# A directory with a policy that the user trusted is a place, whatever it holds: with `--strict` its policy cannot be made again while it is
# absent, with the content that is trusted, and neither can another protected name. One without a record is free.
. "$(dirname "$0")/../support/lib.sh"

if ! "$BERM" run --strict -- true 2>"$scratch/err"; then
	echo "the guard cannot be had here: $(head -n 1 "$scratch/err")"
	exit 77
fi

mkdir "$scratch/outside"
echo secret >"$scratch/outside/file"
policy="version: 1
files: {read: [$scratch/outside]}
"
# trusted: a directory with a trusted policy; free: one without a record.
renew() {
	rm -rf sub free && mkdir -p sub/deep/trusted free && printf %s "$policy" >sub/deep/trusted/berm.yml
	(cd sub/deep/trusted && "$BERM" trust --yes) >"$scratch/trust.log" 2>&1 || fail "control: trust" "$(cat "$scratch/trust.log")"
	rm sub/deep/trusted/berm.yml
}
is_trusted() {
	"$BERM" trust --list | grep -q sub/deep/trusted
}
# refuses NAME SCRIPT: nothing of it is there afterwards, and the record is.
refuses() {
	renew
	run "$BERM" run --strict -- bash -c "$2"
	expect "$1: no name" test ! -e sub/deep/trusted/berm.yml -a ! -e sub/deep/trusted/.vscode -a ! -e sub/deep/trusted/.mcp.json
	expect "$1: still trusted" is_trusted
}

renew
expect "control: there is a record" is_trusted
run "$BERM" run --strict -- bash -c 'mkdir free/.vscode && echo x >free/.mcp.json && echo "version: 1" >free/new.yml'
expect_equal "control: elsewhere such names are made: $err" 0 "$status"
printf %s "$policy" >sub/deep/trusted/berm.yml
expect_output "control: made by the host, it is obeyed" secret "$BERM" run --project=sub/deep/trusted -- cat "$scratch/outside/file"
rm -f sub/deep/trusted/berm.yml

make="printf '%s\n' 'version: 1' 'files: {read: [$scratch/outside]}'"
refuses "its policy" "$make >sub/deep/trusted/berm.yml; mkdir sub/deep/trusted/.vscode; echo x >sub/deep/trusted/.mcp.json"
refuses "renamed" "$make >free/x; mv free/x sub/deep/trusted/berm.yml; ln free/x sub/deep/trusted/berm.yml; ln -s ../../../free/x sub/deep/trusted/berm.yml"
refuses "the directory made again" "rm -rf sub/deep/trusted; mkdir sub/deep/trusted; $make >sub/deep/trusted/berm.yml"
refuses "the directory replaced" "mkdir -p free/k; $make >free/k/berm.yml; rm -rf sub/deep/trusted; mv free/k sub/deep/trusted"
refuses "the directory above replaced" "mkdir -p free/k/trusted; $make >free/k/trusted/berm.yml; rm -rf sub/deep; mv free/k sub/deep"
refuses "moved away and back" "mv sub/deep/trusted free/k && { $make >free/k/berm.yml; mv free/k sub/deep/trusted; }"
refuses "the directory above moved away" "mv sub free/k && { $make >free/k/deep/trusted/berm.yml; mv free/k sub; }"
refuses "a link" "mkdir -p free/k; $make >free/k/berm.yml; rm -rf sub/deep/trusted; ln -s ../../free/k sub/deep/trusted"
renew
rm -rf sub
run "$BERM" run --strict -- bash -c "mkdir -p sub/deep/trusted; $make >sub/deep/trusted/berm.yml"
expect "the directory was absent at launch" test -d sub/deep/trusted -a ! -e sub/deep/trusted/berm.yml
renew
run "$BERM" run --strict -- bash -c 'echo work >sub/deep/trusted/file; mkdir sub/deep/trusted/src; mv sub/deep/trusted/file sub/deep/trusted/src/'
expect_equal "ordinary work in it: $err" 0 "$status"
run "$BERM" check --strict write sub/deep/trusted/.mcp.json
expect_equal "check says it" "no" "${out%% *}"

# Without the guard the trust goes, so that the name is worth nothing.
renew
printf 'version: 1\nfiles: {guard: repair}\n' >"$scratch/repair.yml"
run "$BERM" run --policy="$scratch/repair.yml" -- true
expect "below the level strict the record is dropped" bash -c '! "$BERM" trust --list | grep -q sub/deep/trusted'

finish
