#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# A repository of 20 000 files, two of them hidden: status and commit work, and how long status takes inside and outside.
. "$(dirname "$0")/support/lib.sh"
need git python3

python3 - <<'END'
import os
for directory in range(200):
    os.makedirs(f"part{directory // 20}/dir{directory}")
    for file in range(100):
        with open(f"part{directory // 20}/dir{directory}/file{file}.txt", "w") as f:
            f.write(f"{directory} {file}\n")
END
echo tracked >part3/.env
touch -d '1 hour ago' part3/.env
host init -q . && host add -A && host commit -qm first
echo untracked >part5/.env
sleep 1.1
git status --porcelain >/dev/null

works "status" git status --porcelain
expect_equal "clean" "" "$out"
works_sh "add -A, commit" 'echo more >>part1/dir20/file0.txt; git add -A; git commit -qm second'
expect_equal "one file" part1/dir20/file0.txt "$(git diff --name-only HEAD~1)"

# best COMMAND...: the fastest of three, in $best.
best() {
	best=
	for _ in 1 2 3; do
		milliseconds "$@"
		if [ -z "$best" ] || [ "$elapsed" -lt "$best" ]; then
			best=$elapsed
		fi
	done
}
best git status --porcelain
outside=$best
best "$BERM" run -- git status --porcelain
inside=$best
best "$BERM" run -- true
echo "git status, 20 002 files: $outside ms outside, $inside ms inside, of that $best ms for berm with its scan of the project"

finish_work
