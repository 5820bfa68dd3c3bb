#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# The job-control check of script/macos-live works: bare and with berm, and a command that ignores
# ^Z is noticed.
set -euo pipefail

here=$(cd "$(dirname "$0")" && pwd)
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
mkdir "$scratch/project"
cd "$scratch/project"
python3 "$here/live/terminal.py"
HOME=$scratch/home python3 "$here/live/terminal.py" "$BERM" run --
if SECONDS_TO_WAIT=3 python3 "$here/live/terminal.py" sh -c 'trap "" TSTP; exec "$@"' sh >"$scratch/log"; then
	echo "a command that ignores ^Z is not noticed"
	exit 1
fi
