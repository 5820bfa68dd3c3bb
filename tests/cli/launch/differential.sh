#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# 300 random command lines, bare and inside: the same output and status. BERM_SEED and BERM_LINES choose others.
. "$(dirname "$0")/../support/lib.sh"

python differential.py --seed="${BERM_SEED:-1}" --lines="${BERM_LINES:-300}"

finish
