# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
#
# Shared by the scripts of tests/macos: a scratch directory, the model, profiles of machine.yml.
set -euo pipefail

: "${BERM:?the path of the program under test}" "${BERM_BUILD_DIR:?}"
here=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
if ! command -v guile >/dev/null; then
	echo "guile is missing: script/setup --test installs it"
	exit 77
fi
scratch=$(mktemp -d "${TMPDIR:-/tmp}/berm-macos.XXXXXX")
trap 'rm -rf "$scratch"' EXIT
# Guile's cache of compiled files, outside of the user's home.
export XDG_CACHE_HOME=$BERM_BUILD_DIR/tests/macos/cache
mkdir -p "$XDG_CACHE_HOME" 2>/dev/null && [ -w "$XDG_CACHE_HOME" ] || XDG_CACHE_HOME=$scratch/cache
export GUILE_AUTO_COMPILE=1

model() {
	guile "$here/model/sbpl.scm" "$@" 2> >(grep -v '^;;;' >&2)
}

cases() {
	"$BERM_BUILD_DIR/tests/macos/profile_cases" "$@"
}

# profile NAME: writes the profile of the policy on stdin to $scratch/NAME.sb
profile() {
	cat >"$scratch/$1.yml"
	"$BERM" plan --format=sbpl --context="$here/machine.yml" --policy="$scratch/$1.yml" >"$scratch/$1.sb"
}
