#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Directories in which the kernel makes files by itself, because no host looks there (src/linux/guard/trees.h). Work in and around them gives
# what it gives bare: through links, after they were moved, replaced or made again, by the command or by the host. And they lead to no name that
# a host obeys: a place is not moved into one, nor one to a place, by rename, exchange or link.
. "$(dirname "$0")/../support/lib.sh"
export PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin
umask 022

if ! "$BERM" run --strict -- true 2>"$scratch/err"; then
	echo "the guard cannot be had here: $(head -n 1 "$scratch/err")"
	exit 77
fi

renew() {
	cd "$scratch" && rm -rf project && mkdir project && cd project || exit 1
	mkdir -p src/deep docs packages/a/.vscode packages/b lib
	echo '{}' >packages/a/.vscode/tasks.json
	git init -q . && rm -rf .git/hooks .git/info
}

# rules OPTION...: the directories in which Landlock allows files alone.
rules() {
	strace -f -y -e trace=landlock_add_rule -o "$scratch/rules" "$BERM" run --strict "$@" -- true
	sed -n "s,.*allowed_access=LANDLOCK_ACCESS_FS_MAKE_REG\, parent_fd=[0-9]*<$scratch/project/\([^>]*\)>.*,\1,p" "$scratch/rules" | LC_ALL=C sort | tr '\n' ' '
}
# Only root can see what init, which is not dumpable, asks for.
if [ "$(id -u)" -eq 0 ] && command -v strace >/dev/null; then
	renew
	mkdir .hg .github
	expect_equal "the trees" ".git/objects .git/refs docs lib packages/b src " "$(rules)"
	printf 'version: 1\nfiles: {protect: [own.cfg]}\n' >"$scratch/own.yml"
	expect_equal "none where an entry of the user's own may match" "" "$(rules --policy="$scratch/own.yml")"
fi

# alike NAME SCRIPT: the same output, status and tree as bare.
tree() {
	find . -path ./.git -prune -o -printf '%y %m %P %l\n' | LC_ALL=C sort
}
alike() {
	renew
	bash -c "$2" >"$scratch/bare.out" 2>&1
	echo "status $?" >>"$scratch/bare.out"
	tree >>"$scratch/bare.out"
	renew
	"$BERM" run --strict -- bash -c "$2" >"$scratch/inside.raw" 2>&1
	echo "status $?" >>"$scratch/inside.raw"
	grep -v '^berm: ' "$scratch/inside.raw" >"$scratch/inside.out"
	tree >>"$scratch/inside.out"
	expect_equal "$1" "$(cat "$scratch/bare.out")" "$(cat "$scratch/inside.out")"
}
alike "files in a tree" 'set -e; set -C; echo a >src/a; ! echo b >src/a; set +C; echo c >src/a; cd src/deep; echo d >d; echo e >./././e; echo f >"$PWD/f"; umask 077; echo g >g'
alike "through links out of it" 'set -e; ln -s ../.. src/deep/up; echo x >src/deep/up/x; ln -s ../new src/dangling; echo y >src/dangling; ln -s "$PWD/docs" src/docs; echo z >src/docs/z; cd src/deep/up; echo w >w; ln -s .. /tmp/l-$$; echo v >src/../v'
alike "known, then a link" 'set -e; for i in 1 2 3; do mkdir src/t; echo x >src/t/a; rm -r src/t; ln -s ../lib src/t; echo y >src/t/b$i; ln -s ../absent$i src/l; echo z >src/l; rm src/t src/l; done; mv lib other; ln -s other lib; echo q >lib/q'
alike "a tree that is made again" 'set -e; echo a >src/a; rm -rf src; mkdir src; echo b >src/b; mkdir src/n; echo c >src/n/c; rm -rf docs; mkdir -p docs/x/y; echo d >docs/x/y/d; rm -rf packages/b; mkdir packages/b; echo e >packages/b/e'
alike "a tree that is moved" 'set -e; echo a >src/a; mv src moved; echo b >moved/b; mkdir src; echo c >src/c; mv moved src/inner; echo d >src/inner/d; mv docs packages/b/; echo e >packages/b/docs/e; mv packages/b lib/; echo f >lib/b/docs/f; mv lib/b packages/'
alike "trees that are exchanged" 'set -e; mkdir born; echo a >born/a; python3 -c "
import ctypes
libc = ctypes.CDLL(None)
for a, b in ((b\"src\", b\"born\"), (b\"docs\", b\"lib\"), (b\"src\", b\"docs\")):
    print(libc.renameat2(-100, a, -100, b, 2)); open(a + b\"/x\", \"w\").close(); open(b + b\"/y\", \"x\").close()"'
alike "a directory that is removed" 'mkdir src/r; cd src/r; echo a >a; rm a; rmdir ../r; echo b >b; echo $?; cd ..; echo c >c'
alike "special files" 'set -e; mkfifo src/p; (echo hi >src/p &); read -r l <src/p; echo "$l"; echo x >/dev/null; echo y >src/f; chmod 400 src/f; ln -s /dev/null src/n; echo z >src/n; ! echo w >src/deep; ! echo w >src/none/x; ! echo v >src/f/x'

# The host replaces a tree meanwhile.
renew
"$BERM" run --strict -- bash -c 'echo a >src/a; : >docs/ready; until [ -e docs/go ]; do sleep 0.05; done; echo b >src/b && echo c >lib/c && echo done' >"$scratch/out" 2>"$scratch/err" &
run=$!
until_true test -e docs/ready
rm -rf src lib && mkdir src && ln -s docs lib && : >docs/go
wait "$run"
expect_equal "replaced by the host: $(head -n 2 "$scratch/err")" "done" "$(cat "$scratch/out")"

# refuses NAME WANTED SCRIPT: bare it makes the name, inside it does not, and the host does not see it afterwards.
refuses() {
	renew
	rm -rf packages/a/.vscode && mkdir packages/a/.vscode
	bash -c "$3" >/dev/null 2>&1
	expect "$1: control" test -e "$2"
	renew
	"$BERM" run --strict -- bash -c "$3"' ; [ -e '"$2"' ] && echo made' >"$scratch/out" 2>/dev/null
	expect_equal "$1: inside" "" "$(grep made "$scratch/out")"
	expect "$1: on the host" test ! -e "$2"
}
exchange='x() { python3 -c "import ctypes, sys; sys.exit(ctypes.CDLL(None).renameat2(-100, sys.argv[1].encode(), -100, sys.argv[2].encode(), 2))" "$1" "$2"; }; '
refuses "a tree becomes a holder" .hg/hgrc 'echo x >src/hgrc; mv -T src .hg'
refuses "a part of a tree becomes one" .github/hooks 'mkdir src/g; echo x >src/g/hooks; mv -T src/g .github'
refuses "a holder is filled in a tree" .hg/hgrc 'mkdir .hg; mv .hg src/; echo x >src/.hg/hgrc; mv src/.hg .'
refuses "a holder and a tree are exchanged" .hg/hgrc "$exchange"'mkdir .hg; echo x >src/hgrc; x src .hg'
refuses "the other way round" .hg/hgrc "$exchange"'mkdir .hg; echo x >src/hgrc; x .hg src'
refuses "a holder in a tree and one in the root" .hg/hgrc "$exchange"'mkdir .hg src/h; echo x >src/h/hgrc; x src/h .hg'
refuses "a place is filled in a tree" packages/a/.mcp.json 'mv packages src/; echo x >src/packages/a/.mcp.json; mv src/packages .'
refuses "a nested place" packages/a/.mcp.json 'mv packages/a src/; echo x >src/a/.mcp.json; mv src/a packages/'
refuses "a tree instead of a place" packages/a/.mcp.json 'echo x >src/.mcp.json; mv packages/a old; mv src packages/a'
refuses "a tree instead of what is above a place" packages/a/.mcp.json 'mkdir src/a; echo x >src/a/.mcp.json; mv packages old; mv src packages'
refuses "a place made again" packages/a/.mcp.json 'chmod -R u+w packages; rm -rf packages; mkdir -p packages/a; echo x >packages/a/.mcp.json'
refuses "a hard link" .mcp.json 'echo x >src/f; ln src/f .mcp.json'
refuses "a rename" .mcp.json 'echo x >src/f; mv src/f .mcp.json'
refuses "an unnamed file" .mcp.json 'python3 -c "
import ctypes, os
fd = os.open(\"src\", os.O_TMPFILE | os.O_WRONLY)
ctypes.CDLL(None).linkat(-100, b\"/proc/self/fd/%d\" % fd, -100, b\".mcp.json\", 0x400)
ctypes.CDLL(None).linkat(fd, b\"\", -100, b\".mcp.json\", 0x1000)"'
refuses "the git directory is filled in a tree" .git/commondir 'mv .git src/g; echo x >src/g/commondir; mv src/g .git'
refuses "a tree of the git directory" .git/info/attributes 'echo x >.git/objects/attributes; mv .git/objects .git/info'
refuses "and its hooks" .git/hooks/pre-commit 'echo x >.git/refs/pre-commit; mv .git/refs .git/hooks'
refuses "through a link in a tree" .mcp.json 'ln -s .. src/up; echo x >src/up/.mcp.json; ln -s ../.mcp.json src/l; echo x >src/l; echo x >src/../.mcp.json'
finish
