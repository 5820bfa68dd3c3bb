#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# 10,000 random (policy, path, operation) triples: the model gives the verdict of `berm check` for the
# profile, except for the differences that docs/macos.md lists, at most 2 %. BERM_SEED chooses other
# triples; BERM_LONG=1 makes twenty times as many.
. "$(dirname "$0")/model/lib.sh"

count=10000
[ -z "${BERM_LONG:-}" ] || count=200000
seed=${BERM_SEED:-1}

cases random "$seed" "$count" | model compare
# The same with paths as characters instead of bytes, and other policies.
cases random "$((seed + 1))" "$((count / 5))" | model compare chars

# A name that looks like profile syntax changes no verdict about another path.
cases hostile | model compare
