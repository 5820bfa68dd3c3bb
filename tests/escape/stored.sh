#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Failing calls where the plan is a stored one, as in every usual launch: plans are stored in the home of the password database only, so
# this is another one.
# shellcheck source=tests/cli/support/home.sh
. "$(dirname "$0")/../cli/support/home.sh"
set -euo pipefail

scratch=$(mktemp -d /var/tmp/berm-stored.XXXXXX)
trap 'rm -rf "$scratch"' EXIT
chmod 755 "$scratch"
move_home
BERM_STORED=1 "$(dirname "$BERM_ATTACK")/faults"
