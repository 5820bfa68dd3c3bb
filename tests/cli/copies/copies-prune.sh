#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# `berm state prune`: copies of projects that are gone, and with --older old ones, are removed after a question. Copies in use, new
# ones and those of a project that is there stay.
. "$(dirname "$0")/../support/lib.sh"
. "$(dirname "$0")/../support/copy.sh"

echo "version: 1" >berm.yml
in_copy default sh -c 'echo 2 >new'
in_copy old sh -c 'head -c 100000 /dev/zero >old'
expect_output "nothing is orphaned or old" "nothing to prune" "$BERM" state prune --yes
touch -d '40 days ago' "$state/copies/old"
expect_output "without an age it stays" "nothing to prune" "$BERM" state prune --yes
run "$BERM" state prune --older=30 --dry-run
expect_contains "--dry-run names it" "copy old" "$out"
expect_contains "with the project" "$project" "$out"
expect "and removes nothing" test -e "$state/copies/old/upper/old"
expect_status "without a terminal it asks nobody" 125 "$BERM" state prune --older=30
expect "and removes nothing" test -e "$state/copies/old/upper/old"
exec 9<"$state/copies/old"
flock -x 9
expect_output "what is in use stays" "nothing to prune" "$BERM" state prune --older=30 --yes
exec 9<&-
expect_output "an old one is removed" "removed: 1" "$BERM" state prune --older=30 --yes
expect "it is gone" test ! -e "$state/copies/old"
expect "the other one stays" test -e "$state/copies/default/upper/new"
for wrong in 0 x -1 99999999; do
	expect_status "no number of days: $wrong" 125 "$BERM" state prune --older="$wrong" --yes
done
expect_status "it takes no word" 125 "$BERM" state prune x

# A project that is gone. One that only cannot be searched is not.
expect_status "apply" 0 "$BERM" apply
in_copy default sh -c 'echo 3 >new'
"$BERM" state list >/dev/null
printf '%s' "$project" >"$state/path"
cd "$scratch" || exit 1
mv "$project" "$scratch/moved"
if [ "$(id -u)" != 0 ]; then
	mkdir -p "$scratch/closed/p" && (cd "$scratch/closed/p" && echo "version: 1" >berm.yml && "$BERM" run --copy -- sh -c 'echo x >f') >/dev/null 2>&1
	chmod 000 "$scratch/closed"
fi
run "$BERM" state prune --dry-run
expect_contains "a copy of a project that is gone" "copy default" "$out"
expect_contains "and what undo needs" "undo" "$out"
expect_equal "nothing of others" "" "$(grep closed <<<"$out")"
expect_status "prune" 0 "$BERM" state prune --yes
expect "the copy is gone" test ! -e "$state/copies"
expect "undo, too" test ! -e "$state/undo"
[ "$(id -u)" = 0 ] || chmod 755 "$scratch/closed"
mv "$scratch/moved" "$project"

# A copy with the name of a class leaves the temporary directory of the class.
cd "$project" || exit 1
"$BERM" run -- sh -c 'echo kept >/tmp/kept; echo ready >started; exec sleep 60' >/dev/null 2>&1 &
pid=$!
until_true test -e started || fail "the command does not start"
in_copy offline sh -c 'echo 2 >new'
touch -d '40 days ago' "$state/copies/offline"
expect_output "a copy named as a class is removed" "removed: 1" "$BERM" state prune --older=30 --yes
kill "$pid"
wait "$pid" 2>/dev/null
expect_output "the class keeps its files" kept "$BERM" run -- cat /tmp/kept
finish
