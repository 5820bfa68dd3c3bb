#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# 10,000 random (policy, path, operation) triples: the profile on the model says what `berm check` says, but for the differences that
# docs/macos.md lists, which are at most 2 %. BERM_SEED chooses others; BERM_LONG=1 asks twenty times as many.
. "$(dirname "$0")/model/lib.sh"

count=10000
[ -z "${BERM_LONG:-}" ] || count=200000
seed=${BERM_SEED:-1}

cases random "$seed" "$count" | model compare
# The same with characters for bytes; other policies.
cases random "$((seed + 1))" "$((count / 5))" | model compare chars

# A name that looks like the language's own changes no verdict about any other path.
cases hostile | model compare
