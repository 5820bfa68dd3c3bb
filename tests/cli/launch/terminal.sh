#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# berm on a terminal: keys, job control, window size, modes. Driven by support/terminal.py.
. "$(dirname "$0")/../support/lib.sh"
scratch_home

python terminal.py

finish
