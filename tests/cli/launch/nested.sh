#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# berm inside another sandbox: its own, in both tiers, and bubblewrap. The inner one adds a wall, counts what the outer one holds, and refuses what
# neither does. Nothing in the environment makes it skip anything.
. "$(dirname "$0")/../support/lib.sh"

for tool in git cc bwrap; do
	if ! command -v "$tool" >/dev/null; then
		echo "$tool is needed"
		exit 77
	fi
done
cc -O1 -o "$scratch/no-namespaces" "$support/no-namespaces.c" || exit 1
mkdir "$scratch/extra"
git init -q .
git config user.name ann
echo SECRET=1 >.env
echo one >file

# outer COMMAND...: in a berm that also lets the command write to $scratch/extra and run berm. Below `strict` the inner one has a
# listener, and can keep the command from changing modes there.
for level in launch repair strict; do
	printf 'version: 1\nfiles: {guard: %s}\n' "$level" >"$scratch/$level.yml"
done
outer() {
	"$BERM" run --policy="$scratch/repair.yml" --allow-read="$BERM" --allow-write="$scratch/extra" -- "$@"
}

tier() {
	sed -n 's/.*"tier": "\([a-z]*\)".*/\1/p'
}

expect_equal "here" full "$("$BERM" plan --json | tier)"
expect_equal "in berm" landlock "$(outer "$BERM" plan --json | tier)"
expect_status "in berm: a project with a repository and a secret, nothing accepted" 0 outer "$BERM" run -- cat file
expect_equal "in berm: it runs" one "$out"
expect_equal "in berm: which tier is said" 1 "$(grep -c '^berm: tier landlock, ' <<<"$err")"
expect_status "in berm: the secret" 1 outer "$BERM" run -- cat .env
expect_status "in berm: planting" 2 outer "$BERM" run -- sh -c 'echo x >>.git/config'
expect_status "in berm: planting by renaming" 1 outer "$BERM" run -- mv .git .git2
expect_equal "in berm: the host's files" "ann SECRET=1" "$(git config user.name) $(cat .env)"
expect_status "in berm: the outer one lets it write there: the control" 0 outer touch "$scratch/extra/outer"
expect_status "in berm: the inner one does not" 1 outer "$BERM" run -- touch "$scratch/extra/inner"
expect_status "in berm: nor with a variable" 1 outer env BERM=1 BERM_TIER=full "$BERM" run -- touch "$scratch/extra/inner"
expect "in berm: not there" test ! -e "$scratch/extra/inner"
expect_status "in berm: a status" 7 outer "$BERM" run -- sh -c 'exit 7'
expect_status "in berm: work" 0 outer "$BERM" run -- sh -c 'chmod 600 file && git add file && git -c user.name=a -c user.email=b commit -qm x'

# The guarantees of the outer one count for the inner one, at every level of both. at OUTER COMMAND...
at() {
	local level=$1
	shift
	"$BERM" run --policy="$scratch/$level.yml" --allow-read="$BERM" --allow-read="$scratch" -- "$@"
}
planting_level() {
	tr -d ' \n' | sed -n 's/.*"name":"planting",[^}]*"level":"\([a-z]*\)".*/\1/p'
}
planting() {
	"$@" "$BERM" plan --json | planting_level
}
if [ "$("$BERM" plan --policy="$scratch/strict.yml" --json | planting_level)" = strict ]; then
	strict=strict
else
	strict= # a kernel before 6.6
fi
for outer in launch repair $strict; do
	expect_equal "outer $outer: what the inner one reports" "$outer" "$(planting at "$outer")"
	expect_status "outer $outer: a plain inner one" 0 at "$outer" "$BERM" run -- cat file
	expect_equal "outer $outer: a plain inner one runs" one "$out"
	expect_status "outer $outer: work" 0 at "$outer" "$BERM" run -- sh -c \
		'mkdir -p d/e && echo x >d/e/f && mv d/e/f d/g && ln d/g d/h && ln -s g d/i && chmod 600 d/g && rm -r d && date +%N >time && git add time &&
		git -c user.name=a -c user.email=b commit -qm "$(date +%N)"'
	for inner in launch repair $strict; do
		case $outer-$inner in
		*-launch | repair-repair | strict-*) expected=0 ;;
		*) expected=125 ;;
		esac
		expect_status "outer $outer, inner $inner" "$expected" at "$outer" "$BERM" run --policy="$scratch/$inner.yml" -- true
	done
done
if [ "$strict" ]; then
	expect_contains "strict: who holds it is said" "the berm around this one" "$(at strict "$BERM" plan)"
	expect_status "strict: an absent name" 1 at strict "$BERM" run -- mkdir .vscode
	expect "strict: it is not there" test ! -e .vscode
	# The inner one's own rules hold for what the outer one's init makes.
	mkdir -p "$scratch/extra/sub"
	wide() {
		"$BERM" run --policy="$scratch/strict.yml" --allow-read="$BERM" --allow-write="$scratch/extra" -- "$@"
	}
	expect_status "strict, more is writable outside: the control" 0 wide touch "$scratch/extra/outer"
	expect_status "strict, more is writable outside: refused, because modes could be changed there" 125 wide "$BERM" run -- true
	expect_contains "strict, more is writable outside: said" writes "$err"
	expect_status "strict, more is writable outside, accepted" 1 wide "$BERM" run --accept-weaker=writes -- touch "$scratch/extra/inner"
	expect "strict, more is writable outside, accepted: not there" test ! -e "$scratch/extra/inner"
	expect_status "strict, more is writable outside: its own files" 0 wide "$BERM" run --accept-weaker=writes -- touch made-inside
	expect_equal "strict, more is writable outside: names there are not held for it" launch \
		"$(wide "$BERM" plan --allow-write="$scratch/extra/sub" --json | planting_level)"
	expect_status "strict, the same is writable inside" 0 wide "$BERM" run --allow-write="$scratch/extra" -- touch "$scratch/extra/both"
	expect_status "the outer one's document cannot be replaced" 1 at strict sh -c 'echo x >/run/berm/held || mv /run/berm/held /run/berm/h || rm -f /run/berm/held'
fi

# In the tier landlock the only places that a second one could keep its state in are the command's own: it refuses.
poor() {
	"$scratch/no-namespaces" "$BERM" run --accept-weaker=secrets --accept-weaker=planting --allow-read="$BERM" -- "$@"
}
expect_status "in tier landlock: the control" 0 poor cat .env
for weaker in '' --accept-weaker=writes; do
	expect_status "in tier landlock" 125 poor "$BERM" run ${weaker:+"$weaker"} -- cat .env
	expect_contains "in tier landlock: said" "state directory" "$err"
	expect_contains "in tier landlock: explained" "already in a sandbox of berm" "$err"
	expect_equal "in tier landlock: nothing ran" "" "$out"
done

# Sandboxes that allow no Unix sockets (srt), or none of the internet (Codex).
refuse=$BERM_BUILD_DIR/tests/refuse/refuse
expect_status "no Unix sockets: the control" 1 "$refuse" socket=1 -- python3 -c 'import socket; socket.socket(socket.AF_UNIX)'
expect_output "no Unix sockets: a repository" one "$refuse" socket=1 -- "$BERM" run -- cat file
expect_status "no Unix sockets: its configuration is locked" 2 "$refuse" socket=1 -- "$BERM" run -- sh -c 'echo x >>.git/config'
expect_status "no Unix sockets: the secret" 1 "$refuse" socket=1 -- "$BERM" run -- cat .env
expect_status "no Unix sockets: git works" 0 "$refuse" socket=1 -- "$BERM" run -- git status --short
expect_equal "no Unix sockets: git says nothing about it" "" "$err"
expect_status "no internet sockets" 125 "$refuse" socket=2 -- "$BERM" run -- true
expect_contains "no internet sockets: why" "inside another sandbox, which refuses sockets" "$err"

# A state directory that cannot be written is said to be needed.
mkdir -p "$XDG_STATE_HOME/berm"
expect_status "a state that cannot be written" 125 bwrap --dev-bind / / --ro-bind "$XDG_STATE_HOME" "$XDG_STATE_HOME" \
	"$BERM" run --project="$scratch/extra" -- true
expect_contains "a state that cannot be written: what for" "allow writing to it" "$err"

# bubblewrap, with and without user namespaces inside.
bubble() {
	bwrap --bind / / --dev /dev --proc /proc --unshare-user --unshare-pid "$@"
}
if ! bubble true 2>"$scratch/log"; then
	echo "bwrap does not run here: $(cat "$scratch/log")"
	exit 77
fi
expect_equal "in bwrap" full "$(bubble "$BERM" plan --json | tier)"
expect_status "in bwrap: the control" 0 bubble touch "$scratch/extra/bubble"
# In a private /tmp there may be a directory of that name.
run bubble "$BERM" run -- touch "$scratch/extra/inner"
expect "in bwrap: the wall" test ! -e "$scratch/extra/inner"
expect_status "in bwrap: the secret" 1 bubble "$BERM" run -- cat .env
expect_equal "in bwrap without user namespaces" landlock "$(bubble --disable-userns "$BERM" plan --json | tier)"
expect_status "in bwrap without user namespaces: refused, because nothing hides the secret" 125 bubble --disable-userns "$BERM" run -- true
rm .env
expect_status "nor the hooks" 125 bubble --disable-userns "$BERM" run -- true
expect_contains "nor the hooks: said" .git/hooks "$err"
expect_status "in bwrap without user namespaces, accepted" 1 \
	bubble --disable-userns "$BERM" run --accept-weaker=planting -- touch "$scratch/extra/inner"
expect "in bwrap: not there" test ! -e "$scratch/extra/inner"

# The document of an outer berm counts only on a read-only mount, which no command can make.
mkdir "$scratch/plain" "$scratch/document"
(cd "$scratch/plain" && "$BERM" run --policy="$scratch/repair.yml" -- cat /run/berm/held) >"$scratch/document/held"
forged() {
	(cd "$scratch/plain" && bubble --disable-userns "$@" "$scratch/document" /run/berm "$BERM" plan --json | planting_level)
}
expect_equal "a document on a read-only mount: the control" repair "$(forged --ro-bind)"
expect_equal "a document that can be written" launch "$(forged --bind)"

# A read-only mount protects a file only if no directory above it can be moved away.
locked=(--ro-bind .git/hooks "$project/.git/hooks" --ro-bind .git/config "$project/.git/config")
expect_status "locked, but movable: the control" 0 bubble "${locked[@]}" sh -c 'mv .git .git2 && mv .git2 .git'
expect_status "locked, but movable" 125 bubble --disable-userns "${locked[@]}" "$BERM" run -- true
pinned=(--bind .git "$project/.git" "${locked[@]}")
expect_status "locked and pinned: the control" 1 bubble "${pinned[@]}" mv .git .git2
expect_status "locked and pinned" 0 bubble --disable-userns "${pinned[@]}" "$BERM" run -- true
finish
