# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
#
# Packages from npm's registry for tests, kept in build/deps. Sourced after lib.sh. npm runs with the caller's home and variables, so that
# the registry, the proxy and the certificates of its configuration are used.

# npm_packages NAME PACKAGE...: sets $modules to a directory in whose node_modules they are, or skips the test. No script of theirs is run.
npm_packages() {
	local tool
	for tool in node npm; do
		command -v "$tool" >/dev/null || { echo "$tool is not installed; script/setup --test installs it"; exit 77; }
	done
	modules=${BERM_SOURCE_DIR:?the top of the source tree}/build/deps/$1
	shift
	# Another user may have installed them, in a directory that this one can only read.
	[ ! -d "$modules/node_modules" ] || return 0
	# One at a time: the second of two tests that need the packages waits for the first.
	mkdir -p "${modules%/*}" && exec 8>"$modules.lock" && flock 8
	if [ ! -d "$modules/node_modules" ]; then
		# A registry that could not be reached a moment ago is not asked again by every test.
		if [ -n "$(find "$modules.failed" -mmin -10 2>/dev/null)" ]; then
			echo "npm could not install $* a moment ago"
			exit 77
		fi
		install_packages "$@"
	fi
	exec 8>&-
}

# install_packages PACKAGE...: beside $modules and then renamed, because half of it would stay. One attempt, at most $npm_patience seconds.
# npm's cache is beside it and removed: agents would put a gigabyte into the one in the user's home.
install_packages() {
	local new=$modules.$$ log=${scratch:?of lib.sh}/npm.log cache=$modules.$$.cache status=0
	mkdir -p "$new"
	timeout "${npm_patience:-60}" npm install --prefix "$new" --cache "$cache" --no-save --no-audit --no-fund --ignore-scripts \
		--loglevel=error --fetch-retries=0 --fetch-timeout=20000 "$@" >"$log" 2>&1 || status=$?
	rm -rf "$cache"
	if [ "$status" -eq 0 ] && mv "$new" "$modules"; then
		rm -f "$modules.failed"
		return
	fi
	rm -rf "$new"
	: >"$modules.failed"
	echo "npm cannot install $*: $(head -n 1 "$log")"
	exit 77
}
