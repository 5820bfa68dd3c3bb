#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# One command that removes a directory, installs a package and commits: in a copy the project does not change, byte by byte and change
# time included; discarded, nothing is left; applied, everything is as if the command had run in the project.
. "$(dirname "$0")/../support/lib.sh"
for program in git npm; do
	if ! command -v "$program" >/dev/null; then
		echo "$program is needed"
		exit 77
	fi
done
if ! unshare -Urm true 2>/dev/null; then
	echo "user namespaces are needed"
	exit 77
fi
export GIT_AUTHOR_NAME=a GIT_AUTHOR_EMAIL=a@example.org GIT_COMMITTER_NAME=c GIT_COMMITTER_EMAIL=c@example.org
# `git status` refreshes the index, which would be a change of the project.
export GIT_OPTIONAL_LOCKS=0
export GIT_AUTHOR_DATE='2020-01-01T00:00:00Z' GIT_COMMITTER_DATE='2020-01-01T00:00:00Z'
passed=()
for name in GIT_AUTHOR_NAME GIT_AUTHOR_EMAIL GIT_COMMITTER_NAME GIT_COMMITTER_EMAIL GIT_AUTHOR_DATE GIT_COMMITTER_DATE; do
	passed+=("--env=$name=${!name}")
done

# A dependency as a tarball in the project.
mkdir -p "$scratch/package/lib"
printf '{"name": "leaf", "version": "1.2.3", "main": "lib/leaf.js", "bin": {"leaf": "lib/leaf.js"}}\n' >"$scratch/package/package.json"
printf '#!/usr/bin/env node\nmodule.exports = 1\n' >"$scratch/package/lib/leaf.js"
for i in $(seq 40); do echo "module.exports = $i" >"$scratch/package/lib/part$i.js"; done
mkdir -p src/deep vendor
tar -C "$scratch" -czf vendor/leaf-1.2.3.tgz package
printf '{"name": "example", "version": "1.0.0", "dependencies": {"leaf": "file:vendor/leaf-1.2.3.tgz"}}\n' >package.json
echo 'console.log(1)' >src/main.js
echo deep >src/deep/file
echo keep >keep
echo "the secret" >.env
printf '.env\n' >.gitignore
git init -q -b main . && git config user.name a && git config user.email a@example.org
git add -A && git commit -qm first

snapshot() {
	find "$1" -printf '%P %y %i %n %m %U %G %s %T@ %C@ %l\n' | LC_ALL=C sort
	find "$1" -type f -exec sha256sum {} + | LC_ALL=C sort
}
# Names, types, modes and contents; of the index and of npm's list, which have times and inodes, git and npm tell the content.
tree_of() {
	(cd "$1" && find . -mindepth 1 ! -path ./.git/index \( -type f -printf '%P f %m ' -exec sha256sum {} \; -o -type l -printf '%P l %l\n' \
		-o -printf '%P %y %m\n' \) | sed 's/  .*//' | LC_ALL=C sort)
	git -C "$1" ls-files --stage
}
work='rm -rf src; npm install --offline --no-audit --no-fund --loglevel=error; git add package-lock.json; git commit -qam x'

# Directly, in a second clone of the files at the same path, so that no path differs.
cp -a "$project" "$scratch/direct"
mv "$project" "$scratch/aside" && mv "$scratch/direct" "$project" && cd "$project" || exit 1
run "$BERM" run "${passed[@]}" -- sh -c "$work"
expect_equal "control: directly: $err" 0 "$status"
expect "control: it removed" test ! -e src
expect "control: it installed" test -e node_modules/leaf/lib/part40.js
expect_equal "control: it committed" x "$(git log -1 --format=%s)"
tree_of "$project" >"$scratch/wanted"
head=$(git rev-parse HEAD)
cd "$scratch" && mv "$project" "$scratch/direct" && mv "$scratch/aside" "$project" && cd "$project" || exit 1

before=$(snapshot "$project")
run "$BERM" run --copy "${passed[@]}" -- sh -c "$work"
expect_equal "in a copy: $err" 0 "$status"
expect_equal "the project has not changed" "$before" "$(snapshot "$project")"
run "$BERM" diff --name-only
expect_contains "diff: what was removed" src/main.js "$out"
expect_contains "diff: what was installed" node_modules/leaf/lib/part40.js "$out"
expect_contains "diff: the commit" .git/refs/heads/main "$out"
expect_equal "diff changes nothing" "$before" "$(snapshot "$project")"
expect_status "discard" 0 "$BERM" discard --yes
expect_equal "discarded, the project has not changed" "$before" "$(snapshot "$project")"
expect_equal "nothing is left of the copy" "" "$(find "$XDG_STATE_HOME" -path '*/copies/*')"

run "$BERM" run --copy "${passed[@]}" -- sh -c "$work"
expect_equal "again in a copy: $err" 0 "$status"
expect_status "apply" 0 "$BERM" apply
expect "names, types, modes and contents are as directly" diff "$scratch/wanted" <(tree_of "$project")
expect_equal "HEAD is as directly" "$head" "$(git rev-parse HEAD)"
expect "fsck" git fsck --full --strict
expect_equal "git finds nothing to do" "$(git -C "$scratch/direct" status --porcelain)" "$(git status --porcelain)"
if command -v node >/dev/null; then
	expect_output "the dependency works" 1 node -p 'require("leaf")'
fi
expect_status "undo" 0 "$BERM" undo
expect_equal "the commit is gone" first "$(git log -1 --format=%s)"
expect "fsck" git fsck --full --strict
expect "src is back" test -e src/deep/file

# Two at once: one applies, the other waits or reports it; in the end all of it is applied, once.
"$BERM" apply >"$scratch/one" 2>&1 &
one=$!
"$BERM" apply >"$scratch/two" 2>&1
wait "$one"
"$BERM" apply >/dev/null 2>&1
expect "two applies at once" diff "$scratch/wanted" <(tree_of "$project")
expect_equal "one of them did it" 1 "$(cat "$scratch/one" "$scratch/two" | grep -c '^applied')"
finish
