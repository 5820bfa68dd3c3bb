#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# berm on a terminal that node-pty made: the way editors and agents start commands. Driven by support/node-pty.cjs, with the module from
# npm's registry, in a fixed version and without running its scripts.
. "$(dirname "$0")/../support/lib.sh"
. "$(dirname "$0")/../support/npm-packages.sh"
npm_packages node-pty-1.1.0 @lydell/node-pty@1.1.0
scratch_home

status=0
node "$support/node-pty.cjs" "$modules/node_modules/@lydell/node-pty" "${BERM_PTY_ONLY:-}" || status=$?
expect_equal "node-pty.cjs" 0 "$status"

finish
