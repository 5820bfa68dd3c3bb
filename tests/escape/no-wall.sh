#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# Stands in for berm in the self-test of the escape suite: takes its arguments and runs the command without any wall.
if [ "$1" != run ]; then
	exit 0
fi
while [ $# -gt 0 ] && [ "$1" != -- ]; do
	shift
done
shift
exec "$@"
