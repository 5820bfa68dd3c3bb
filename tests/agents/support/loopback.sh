# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
#
# Sourced first: the script starts again in a network namespace that has a loopback and nothing else. No
# agent reaches the internet, and none waits for it: without a route every attempt fails at once.
if [ -z "${BERM_LOOPBACK:-}" ]; then
	options=(--net)
	[ "$(id -u)" -eq 0 ] || options+=(--user --map-current-user --keep-caps)
	PATH=$PATH:/usr/sbin:/sbin
	export BERM_LOOPBACK=1
	if ! command -v ip >/dev/null || ! unshare "${options[@]}" true; then
		echo "a network namespace and ip are needed"
		exit 77
	fi
	# shellcheck disable=SC2016 # for the inner shell
	exec unshare "${options[@]}" bash -c 'ip link set lo up && exec bash "$@"' bash "$0" "$@"
fi
