#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Where no overlay can be had, because something is mounted below the project or the state is on an overlay, --copy copies the whole
# project. Changes are shown, applied, taken back and refused alike; the host's own changes are neither shown nor undone; a project
# that is too large is refused. The control is the same command without --copy, and an overlay where there is no mount.
if [ -z "${BERM_FULL_INNER:-}" ]; then
	if ! unshare -Urm true 2>/dev/null || ! command -v python3 >/dev/null; then
		echo "user namespaces and python3 are needed"
		exit 77
	fi
	exec unshare -Urm env BERM_FULL_INNER=1 bash "$0"
fi
. "$(dirname "$0")/../support/lib.sh"

snapshot() {
	find "$project" -printf '%P %y %i %m %s %T@ %C@ %l\n' | LC_ALL=C sort
	find "$project" -type f -exec sha256sum {} + | LC_ALL=C sort
}
tree_of() {
	(cd "$1" && find . -mindepth 1 ! -path './mounted*' \( -type f -printf '%P f %m ' -exec sha256sum {} \; -o -type l -printf '%P l %l\n' \
		-o -printf '%P %y %m\n' \) | sed 's/  .*//' | LC_ALL=C sort)
}
renew() {
	cd "$scratch" || exit 1
	mountpoint -q "$project/mounted" && umount "$project/mounted"
	chmod -R u+rwX "$project" "$XDG_STATE_HOME" 2>/dev/null
	rm -rf "$project" "$XDG_STATE_HOME"
	mkdir -p "$project" && cd "$project" || exit 1
	mkdir -p mounted src/deep old host
	echo "version: 1" >berm.yml
	echo "the secret" >.env
	echo one >a
	echo two >src/b
	echo three >src/deep/c
	echo four >old/d
	echo five >host/e
	echo same >same
	ln -s a link
	mkfifo pipe
	chmod 640 same
}
work='echo changed >a; rm -r old; mkdir -p new/er; echo n >new/er/n; chmod 600 same; mv src moved; rm link; ln -s src/b link; : >empty; echo m >"$(printf "new\nline")"'

renew
expect_status "control: an overlay where nothing is mounted" 0 "$BERM" run --copy -- sh -c "$work 2>/dev/null"
expect_equal "control: no word of a full copy" "" "$(grep full <<<"$err")"
run "$BERM" run --copy --dry-run
expect_contains "the plan names the overlay" "copy: an overlay" "$out"
mount -t tmpfs none mounted || exit 77
expect_status "its changes cannot be mounted any more" 125 "$BERM" run --copy -- sh -c 'echo ran >ran'
expect_contains "with the way out" "discard" "$err"
expect "nothing ran" test ! -e ran
expect_status "discard" 0 "$BERM" discard --yes

echo inside >mounted/file
before=$(snapshot)
run "$BERM" run --copy --dry-run
expect_contains "the plan names the full copy" "the whole project is copied" "$(tr -s ' \n' ' ' <<<"$out")"
expect_contains "and the mount" "$project/mounted" "$(tr -d ' \n' <<<"$out")"
expect_status "it runs" 0 "$BERM" run --copy -- sh -c "cat mounted/file; cat .env; $work"
expect_equal "it sees the mount's files, not the secret" inside "$out"
expect_contains "what was done is said" "the whole project was copied" "$err"
expect_contains "and why" "$project/mounted is a mount of its own" "$err"
expect_contains "at the end, too" "in full copy 'default'" "$err"
expect_equal "the project has not changed" "$before" "$(snapshot)"
expect_equal "the secret was not copied" "" "$(grep -rl 'the secret' "$XDG_STATE_HOME")"
expect_status "the same copy goes on" 0 "$BERM" run --copy -- sh -c 'cat a moved/deep/c; [ ! -e src ] && [ ! -e old ]'
expect_equal "the project has still not changed" "$before" "$(snapshot)"
run "$BERM" diff --name-only
expect_equal "the changes" "a
empty
link
moved
moved/b
moved/deep
moved/deep/c
new
new/er
new/er/n
new\\x0aline
old
old/d
same
src
src/b
src/deep
src/deep/c" "$(LC_ALL=C sort <<<"$out")"
cp -a "$project" "$scratch/plain"
(cd "$scratch/plain" && sh -c "$work") && tree_of "$scratch/plain" >"$scratch/after"
tree_of "$project" >"$scratch/before"
expect_status "apply" 0 "$BERM" apply
expect "as if the command had run in the project" cmp "$scratch/after" <(tree_of "$project")
expect_output "nothing is left in the copy" "" "$BERM" diff
expect_equal "nothing of berm is left" "" "$(find . -name '.berm*')"
expect_status "undo" 0 "$BERM" undo
expect "as before" cmp "$scratch/before" <(tree_of "$project")
expect_equal "the copy has its changes again" 18 "$("$BERM" diff --name-only | wc -l)"
expect_status "a part" 0 "$BERM" apply a old
expect_equal "is applied" changed "$(cat a)"
expect_equal "and not shown any more" 15 "$("$BERM" diff --name-only | wc -l)"
expect_status "then the rest" 0 "$BERM" apply
expect "all is applied" cmp "$scratch/after" <(tree_of "$project")
expect_status "undo of the rest" 0 "$BERM" undo
expect_status "undo of the part" 0 "$BERM" undo
expect "as before" cmp "$scratch/before" <(tree_of "$project")
expect_status "and again" 0 "$BERM" apply
expect "applied" cmp "$scratch/after" <(tree_of "$project")
echo later >later
expect_status "a copy without changes begins with the project as it is now" 0 "$BERM" run --copy -- sh -c 'cat later && echo x >x'
expect_output "only the new change" x "$BERM" diff --name-only

# A repository: a commit in the copy, and what git would obey stays there.
if command -v git >/dev/null; then
	renew
	mount -t tmpfs none mounted
	git init -q . && git config user.name a && git config user.email a@example.org && git add a src && git commit -qm first
	expect_status "a commit in a full copy" 0 "$BERM" run --copy -- sh -c 'echo more >>a && git commit -qam second && git gc -q'
	expect_equal "the project has it not" first "$(git log -1 --format=%s)"
	expect_status "apply" 0 "$BERM" apply
	expect_equal "it is applied" second "$(git log -1 --format=%s)"
	expect "and sound" git fsck --strict
	"$BERM" run --copy -- sh -c 'echo x >.git/hooks/pre-commit; chmod +x .git/hooks/pre-commit; mkdir -p sub && git init -q sub/r && git -C sub/r config core.fsmonitor "touch x"; echo fine >fine' >/dev/null 2>&1
	run "$BERM" apply
	expect_equal "what git would run is left: $err" 1 "$status"
	expect "no hook" test ! -e .git/hooks/pre-commit -a ! -e sub/r/.git/config
	expect_equal "the rest is applied" fine "$(cat fine)"
fi

# A change of the host meanwhile is neither a change of the copy nor undone by it.
renew
mount -t tmpfs none mounted
"$BERM" run --copy -- sh -c 'echo copy >a; echo copy >src/b; rm -r old; echo copy >mounted/new' >/dev/null 2>&1
echo host >same
echo host >host/added
rm host/e
chmod 700 host
mkdir host/dir
run "$BERM" diff --name-only
expect_equal "only the command's changes are shown" "a
mounted
old
old/d
src/b" "$(LC_ALL=C sort <<<"$out")"
run "$BERM" apply
expect_equal "what is on the mount is left" 1 "$status"
expect_contains "by name" "! mounted: not applied: a file system is mounted there" "$err"
expect_equal "the rest is applied" "copy copy" "$(cat a src/b | tr '\n' ' ' | sed 's/ $//')"
expect_equal "the host's changes stay" "host host 700" "$(cat same host/added | tr '\n' ' ')$(stat -c %a host)"
expect "and its deletion" test ! -e host/e
expect "nothing on the mount changed" test ! -e mounted/new
expect_status "undo" 0 "$BERM" undo
expect_equal "the host's changes still stay" host "$(cat same)"

# conflict NAME PATH COMMAND
conflict() {
	renew
	mount -t tmpfs none mounted
	"$BERM" run --copy -- sh -c 'echo copy >a; echo copy >src/deep/c; rm -r old; echo copy >added' >/dev/null 2>&1
	bash -c "$3"
	tree_of "$project" >"$scratch/before"
	expect_status "$1: refused" 1 "$BERM" apply
	expect_contains "$1: named" "! $2: conflict" "$err"
	expect "$1: nothing was applied" cmp "$scratch/before" <(tree_of "$project")
	expect_status "$1: --ours" 0 "$BERM" apply --ours="$2"
	expect_equal "$1: the rest is applied" copy "$(cat added)"
}
conflict "an edited file" a 'echo host >a'
conflict "a removed file" a 'rm a'
conflict "a file became a directory" a 'rm a; mkdir a'
conflict "a directory is gone" src 'rm -r src'
conflict "a directory became a symlink" src 'mv src elsewhere; ln -s host src'
expect "nothing went through it" test ! -e host/deep
conflict "a deleted directory got a file" old 'echo host >old/new'
expect_equal "which is still there" host "$(cat old/new)"

# A command cannot say that it deleted, with the marks of an overlay.
renew
mount -t tmpfs none mounted
expect_status "marks are set" 0 "$BERM" run --copy -- python3 -c 'import os
for name in "src", "host", ".": os.setxattr(name, "user.overlay.opaque", b"y")
try: os.mknod("host/e2", 0o20600, 0)
except OSError: pass
open("a", "w").write("copy\n")'
echo host >host/later
expect_output "marks of an overlay mean nothing" a "$BERM" diff --name-only -- a src host/e host/later .
expect_status "apply" 0 "$BERM" apply a
expect_equal "nothing was deleted" "five host three" "$(cat host/e host/later src/deep/c | tr '\n' ' ' | sed 's/ $//')"

# A hidden file that the project loses does not show in the copy, and protected files stay there.
renew
mount -t tmpfs none mounted
"$BERM" run --copy -- sh -c 'echo copy >a' >/dev/null 2>&1
rm .env
run "$BERM" run --copy -- sh -c 'cat .env; mkdir .vscode; echo x >.vscode/tasks.json; echo S=2 >.env'
expect_equal "it does not show" "" "$(grep secret <<<"$out")"
run "$BERM" apply
expect_equal "names that are protected or denied are left" 1 "$status"
expect "no task" test ! -e .vscode/tasks.json
expect "no secret" test ! -e .env
expect_equal "the rest is applied" copy "$(cat a)"

# Too large: nothing runs. The bound is 5,000 files.
renew
mount -t tmpfs none mounted
(cd mounted && seq 5100 | xargs touch)
expect_status "too many files" 125 "$BERM" run --copy -- sh -c 'echo ran >ran'
expect_contains "says so" "5,000 files" "$err"
expect_contains "and why it would have to be copied" "$project/mounted is a mount of its own" "$err"
expect "nothing ran" test ! -e ran
run "$BERM" run --copy --dry-run
expect_contains "the plan says it before" "too large" "$(tr -s ' \n' ' ' <<<"$out")"
expect_equal "nothing is left of it" "" "$(find "$XDG_STATE_HOME" -name tree)"
expect_status "control: without --copy it runs" 0 "$BERM" run -- sh -c 'echo ran >ran'

# Killed while the project is being copied, and while it is being applied.
renew
mount -t tmpfs none mounted
if command -v strace >/dev/null; then
	(strace -f -qq -o /dev/null -e trace=symlinkat -e inject=symlinkat:signal=KILL "$BERM" run --copy -- true >/dev/null 2>&1; exit 0) 2>/dev/null
	expect_status "a copy that was interrupted is made again" 0 "$BERM" run --copy -- sh -c 'cat src/deep/c && echo copy >a && rm -r old && echo copy >added'
	for point in 1 3 5 7; do
		tree_of "$project" >"$scratch/before"
		(strace -qq -o /dev/null -e trace=renameat2 -e inject=renameat2:signal=KILL:when=$point "$BERM" apply >/dev/null 2>&1; exit 0) 2>/dev/null
		run "$BERM" apply
		expect_equal "killed at $point: applied" "copy copy" "$(cat a added | tr '\n' ' ' | sed 's/ $//')"
		expect "killed at $point: deleted" test ! -e old
		run "$BERM" undo
		expect "killed at $point: and taken back" cmp "$scratch/before" <(tree_of "$project")
	done
fi

# --undo, and the state on an overlay, as in a container.
renew
mount -t tmpfs none mounted
expect_status "--undo" 0 "$BERM" run --undo -- sh -c 'echo undo >a'
expect_equal "is applied" undo "$(cat a)"
expect_status "and undone" 0 "$BERM" undo
expect_equal "as before" one "$(cat a)"
renew
mkdir -p "$scratch/layers" "$XDG_STATE_HOME"
chmod 700 "$scratch/layers" "$XDG_STATE_HOME"
mount -t tmpfs none "$scratch/layers" && mkdir "$scratch/layers/l" "$scratch/layers/u" "$scratch/layers/w"
if mount -t overlay -o "lowerdir=$scratch/layers/l,upperdir=$scratch/layers/u,workdir=$scratch/layers/w,userxattr" overlay "$XDG_STATE_HOME"; then
	chmod 700 "$XDG_STATE_HOME"
	run "$BERM" doctor --json
	expect_contains "doctor names it" "full copies of small projects only" "$out"
	expect_status "in a container" 0 "$BERM" run --copy -- sh -c "$work"
	expect_contains "a full copy with the reason" "as in a container" "$err"
	expect_status "is applied" 0 "$BERM" apply
	expect "as if the command had run in the project" cmp "$scratch/after" <(tree_of "$project")
	umount "$XDG_STATE_HOME"
else
	echo "no overlay on a tmpfs: the container was not tried"
fi
umount "$scratch/layers"
renew
finish
