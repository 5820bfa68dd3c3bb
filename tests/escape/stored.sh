#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Failing calls where the plan comes from the cache, as in every usual launch. Plans are cached in the home that the password database
# names and nowhere else, so the test moves that home.
# shellcheck source=tests/cli/support/home.sh
. "$(dirname "$0")/../cli/support/home.sh"
set -euo pipefail

scratch=$(mktemp -d /var/tmp/berm-stored.XXXXXX)
trap 'rm -rf "$scratch"' EXIT
chmod 755 "$scratch"
move_home
BERM_STORED=1 "$(dirname "$BERM_ATTACK")/faults"
