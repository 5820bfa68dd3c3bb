# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
#
# Sourced before lib.sh by scripts that need a network with a peer. The script starts again in new network and mount
# namespaces: this machine has the address 11.22.33.1, the other one (internet.py, in a further namespace) public, private
# and metadata addresses and the only name server. No packet leaves. `internet` is the directory of the other end's logs.
if [ -z "${BERM_INTERNET:-}" ]; then
	options=(--net --mount)
	[ "$(id -u)" -eq 0 ] || options+=(--user --map-current-user --keep-caps)
	if ! unshare "${options[@]}" true; then
		echo "network and mount namespaces of its own are needed"
		exit 77
	fi
	PATH=$PATH:/usr/sbin:/sbin
	for program in ip nsenter setpriv openssl python3; do
		if ! command -v "$program" >/dev/null; then
			echo "$program is needed"
			exit 77
		fi
	done
	BERM_INTERNET=$(mktemp -d "${TMPDIR:-/tmp}/berm-internet.XXXXXX") || exit 1
	chmod 755 "$BERM_INTERNET"
	export BERM_INTERNET
	exec unshare "${options[@]}" bash "$0" "$@"
fi

internet=$BERM_INTERNET

internet_make() {
	local support other
	support=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
	mkdir "$internet/site"
	openssl req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=allowed.test -addext subjectAltName=DNS:allowed.test,DNS:denied.test \
		-keyout "$internet/key" -out "$internet/certificate" 2>/dev/null || return 1
	unshare --net python3 "$support/internet.py" "$internet" &
	other=$!
	until [ "$(readlink "/proc/$other/ns/net")" != "$(readlink /proc/$$/ns/net)" ]; do
		[ -e "/proc/$other/ns/net" ] || return 1
		sleep 0.01
	done
	local inside=(nsenter "--net=/proc/$other/ns/net")
	ip link set lo up
	ip link add berm0 type veth peer name berm1 netns "$other" || return 1
	ip addr add 11.22.33.1/24 dev berm0
	ip -6 addr add 2a00:1::1/64 dev berm0 nodad
	ip link set berm0 up
	"${inside[@]}" ip link set lo up
	local address
	for address in 11.22.33.44/24 11.22.33.53/24 10.1.2.3/32 169.254.169.254/32; do
		"${inside[@]}" ip addr add "$address" dev berm1
	done
	"${inside[@]}" ip -6 addr add 2a00:1::44/64 dev berm1 nodad
	"${inside[@]}" ip -6 addr add fd00:ec2::254/128 dev berm1 nodad
	"${inside[@]}" ip link set berm1 up
	ip route add default via 11.22.33.44
	ip -6 route add default via 2a00:1::44
	echo "nameserver 11.22.33.53" >"$internet/resolv.conf"
	printf '127.0.0.1 localhost\n::1 localhost\n11.22.33.44 inhosts.test\n10.1.2.3 privatehosts.test\n' >"$internet/hosts"
	mount --bind "$internet/resolv.conf" "$(realpath /etc/resolv.conf)" && mount --bind "$internet/hosts" /etc/hosts || return 1
	: >"$internet/names"
	: >"$internet/requests"
	: >"$internet/arrivals"
	: >"$internet/go"
	local end=$((SECONDS + 60))
	until [ -e "$internet/ready" ]; do
		[ "$SECONDS" -lt "$end" ] || return 1
		sleep 0.02
	done
}

if [ -z "${BERM_INTERNET_READY:-}" ]; then
	if ! internet_make; then
		rm -rf "$internet"
		echo "a network of its own could not be made (veth?)"
		exit 77
	fi
	export BERM_INTERNET_READY=1
	exec setpriv --inh-caps=-all --ambient-caps=-all bash "$0" "$@"
fi

# arrivals: how many connections the other end has seen.
arrivals() {
	wc -l <"$internet/arrivals"
}
