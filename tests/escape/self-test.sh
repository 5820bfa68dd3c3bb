#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# The suite against a berm without a wall: a script that only runs the command. Every case has to notice; one that
# passes proves nothing. What would harm a host without a wall is left out by the suite itself.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
scratch=$(mktemp -d /var/tmp/berm-self-test.XXXXXX)
trap 'rm -rf "$scratch"' EXIT
chmod 755 "$scratch"

cp "$here/no-wall.sh" "$scratch/berm"
chmod 755 "$scratch/berm"
BERM=$scratch/berm "$(dirname "$BERM_ATTACK")/escape" --self-test "$@"
