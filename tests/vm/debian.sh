# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
#
# Sourced by fetch-*, with $suites: `private_apt apt-get|apt-cache ...` works on these releases of
# Debian, from the machine's own mirror, with package lists in $scratch.
: "${suites:?releases of Debian}"

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
chmod 755 "$scratch"
mkdir -p "$scratch/parts" "$scratch/lists/partial" "$scratch/cache/archives/partial" "$scratch/state"
touch "$scratch/state/status"

# mirror SUITE: the address that this machine uses for Debian, or for its security updates.
mirror() {
	local kind=debian
	case $1 in *-security) kind=debian-security ;; esac
	cat /etc/apt/sources.list /etc/apt/sources.list.d/*.list /etc/apt/sources.list.d/*.sources 2>/dev/null |
		grep -v '^#' | grep -oE "https?://[^ ]*/$kind/?( |$)" | head -n 1 | tr -d ' ' || true
}

for suite in $suites; do
	address=$(mirror "$suite")
	if [ -n "$address" ]; then
		printf 'deb [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] %s %s main\n' "$address" "$suite"
	fi
done >"$scratch/sources.list"

private_apt() {
	local program=$1
	shift
	"$program" -o Dir::Etc::sourcelist="$scratch/sources.list" -o Dir::Etc::sourceparts="$scratch/parts" \
		-o Dir::State::lists="$scratch/lists" -o Dir::State::status="$scratch/state/status" -o Dir::Cache="$scratch/cache" \
		-o Dir::Etc::preferences=/dev/null -o Dir::Etc::preferencesparts="$scratch/parts" -o APT::Architecture=amd64 \
		-o APT::Sandbox::User= -o Acquire::Languages=none -o Acquire::Retries=2 -o Acquire::http::Timeout=20 "$@" </dev/null
}

private_apt apt-get -qq update || true
