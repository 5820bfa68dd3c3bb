#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# `nesting: true` permits user namespaces and no mounts, and the message explains it. Hidden files stay
# hidden for a command in nested namespaces.
. "$(dirname "$0")/../support/lib.sh"

if [ "$(id -u)" -eq 0 ]; then
	# Inside, root is a user without a mapping that it could pass on.
	nested=(unshare --user)
else
	nested=(unshare --user --map-root-user)
fi
echo secret >"$project/.env"
git init -q "$project"
expect "control: namespaces and mounts outside" "${nested[@]}" --mount true
printf 'version: 1\nnesting: true\n' >"$scratch/nesting.yml"
inside=("$BERM" run --policy="$scratch/nesting.yml" --)

expect_status "without it: no namespace" 1 "$BERM" run -- "${nested[@]}" true
expect_contains "and what to do" "turn that sandbox off" "$err"
expect "with it: a namespace" "${inside[@]}" "${nested[@]}" true
run "${inside[@]}" "${nested[@]}" --mount --propagation unchanged sh -c 'mount -t tmpfs none /mnt'
expect "no mounts" test "$status" -ne 0
expect_contains "and why" "refuses mounts" "$err"
# Attempts to uncover a mask, or to see the file below.
for attempt in 'umount -l .env' 'mount --bind . /mnt' 'mount --rbind / /mnt' 'mount -t proc none /proc' \
	'mount -t overlay -o lowerdir=.:/usr none /mnt' 'mount -o remount,rw,bind .git/config'; do
	run "${inside[@]}" "${nested[@]}" --mount --propagation unchanged sh -c "$attempt && echo done-it; cat .env /mnt/.env 2>/dev/null; echo end"
	expect_equal "$attempt: refused, and nothing is read" end "$out"
done
finish
