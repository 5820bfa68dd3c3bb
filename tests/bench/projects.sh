# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
#
# The projects that benchmarks launch in. Sourced by script/bench and by tests/bench/many.sh.

# tree DIRECTORY DIRECTORIES FILES: makes a project with ten secrets, a repository and editor
# settings.
tree() {
	(
		cd "$1" || exit
		seq -f 'd%.0f' "$2" | xargs mkdir
		awk -v d="$2" -v n="$3" 'BEGIN { for (i = 0; i < n; i++) print "d" i % d + 1 "/file" i ".c" }' | xargs touch
		for i in 1 2 3 4 5 6 7 8 9 10; do
			echo secret >"d$i/.env"
		done
		mkdir -p .git/hooks .vscode
		touch .git/config .git/HEAD .vscode/settings.json
	)
}

# linked DIRECTORY [REPOSITORIES]: the small project with 250 more directories; 200 of them behind
# symlinks and 50 of them repositories, or none.
linked() {
	tree "$1" 60 500
	mkdir "$1/targets" "$1/repositories"
	for i in $(seq 200); do
		mkdir "$1/targets/t$i"
		: >"$1/targets/t$i/file"
		[ -z "${2:-}" ] || ln -s "targets/t$i" "$1/link$i"
	done
	for i in $(seq 50); do
		mkdir "$1/repositories/r$i"
		: >"$1/repositories/r$i/file"
		[ -z "${2:-}" ] || git -c init.defaultBranch=main init -q "$1/repositories/r$i"
	done
}

# secrets DIRECTORY COUNT: hidden files in as many directories.
secrets() {
	local i
	for i in $(seq "$2"); do
		mkdir "$1/d$i"
		echo secret >"$1/d$i/.env"
	done
}
