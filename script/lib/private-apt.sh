# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
#
# Sourced by scripts that download from the machine's package mirror without changing its
# configuration. Copies the package sources to $scratch, a directory of the caller. Mirrors, keys
# and options are those of the administrator; proxies and credentials come from apt's configuration.
# Needs no root.

# private_apt_sources deb|deb-src: copies the package sources, for binary or source packages.
private_apt_sources() {
	local file kind=$1
	# apt downloads as an unprivileged user, which must reach its directories.
	chmod 755 "$scratch"
	mkdir -p "$scratch/parts" "$scratch/lists/partial" "$scratch/cache/archives/partial" "$scratch/download"
	for file in /etc/apt/sources.list /etc/apt/sources.list.d/*.list; do
		if [ -r "$file" ]; then
			sed -n "s/^[[:space:]]*deb\([[:space:]]\)/$kind\1/p" "$file"
		fi
	done >"$scratch/sources.list"
	for file in /etc/apt/sources.list.d/*.sources; do
		if [ -r "$file" ]; then
			sed "s/^[Tt]ypes:.*/Types: $kind/" "$file" >"$scratch/parts/${file##*/}"
		fi
	done
	if [ "$(id -u)" -eq 0 ]; then
		chown _apt "$scratch/download" 2>/dev/null || true
	fi
}

# private_apt ARGUMENT...: runs apt-get with these sources; its output goes to $scratch/apt.log.
private_apt() {
	apt-get -qq -o Dir::Etc::sourcelist="$scratch/sources.list" -o Dir::Etc::sourceparts="$scratch/parts" \
		-o Dir::State::lists="$scratch/lists" -o Dir::Cache="$scratch/cache" \
		-o Acquire::Retries=1 -o Acquire::http::Timeout=20 -o Acquire::https::Timeout=20 "$@" \
		>>"$scratch/apt.log" 2>&1 </dev/null
}
