#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# berm on a terminal that node-pty made: the way editors and agents start commands. Driven by support/node-pty.cjs, with the module from
# npm's registry, of a fixed version and with no script of its own run.
. "$(dirname "$0")/support/lib.sh"
. "$(dirname "$0")/support/node-pty-module.sh"

status=0
node "$support/node-pty.cjs" "$modules/node_modules/@lydell/node-pty" "${BERM_PTY_ONLY:-}" || status=$?
expect_equal "node-pty.cjs" 0 "$status"

finish
