#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# `berm doctor --install-apparmor`, on a machine that looks like one with Ubuntu's restriction: in a private mount namespace with its own
# /etc/apparmor.d, switches and parser. Does not test whether a kernel accepts the profile.
. "$(dirname "${BASH_SOURCE[0]}")/../support/lib.sh"

if [ "$(id -u)" != 0 ]; then
	run "$BERM" doctor --install-apparmor
	if [ -e /proc/sys/kernel/apparmor_restrict_unprivileged_userns ]; then
		echo "needs root"
		exit 77
	fi
	expect_equal "not needed here: exit status" 0 "$status"
	expect_contains "not needed here" "nothing was changed" "$out"
	finish
fi

# The machine: $1 is the value of the switch, $2 what the parser ends with; the rest is run on it.
cat >"$scratch/machine" <<'END'
set -e
umask 022
mount -t tmpfs none /sys/module
mkdir -p /sys/module/apparmor/parameters
echo Y >/sys/module/apparmor/parameters/enabled
cp /proc/sys/kernel/osrelease /proc/sys/kernel/random/boot_id "$scratch"
mount -t tmpfs none /proc/sys/kernel
echo "$1" >/proc/sys/kernel/apparmor_restrict_unprivileged_userns
mkdir -p "$scratch/etc" "$scratch/sbin"
mkdir -p /etc/apparmor.d
mount --bind "$scratch/etc" /etc/apparmor.d
printf '#!/bin/sh\necho "$0 $*" >>%s/parser.log\ncp "$2" %s/loaded\nexit %s\n' "$scratch" "$scratch" "$2" >"$scratch/sbin/apparmor_parser"
chmod 755 "$scratch/sbin/apparmor_parser"
mkdir "$scratch/bin"
mount -t tmpfs -o mode=755 none /usr/local/sbin
for place in /usr/sbin/apparmor_parser; do
	[ -e "$place" ] || { echo "no $place"; exit 77; }
	mount --bind "$scratch/sbin/apparmor_parser" "$place"
done
mount -t tmpfs -o mode=755 none /usr/local/bin
cp "$BERM" /usr/local/bin/berm
shift 2
"$@"
END
export scratch BERM

# on_machine SWITCH PARSER_STATUS COMMAND...
on_machine() {
	rm -rf "${scratch:?}"/{etc,sbin,bin,loaded,parser.log}
	unshare --mount --propagation private bash "$scratch/machine" "$@"
}

run on_machine 1 0 sh -c '/usr/local/bin/berm doctor --install-apparmor && stat -c %a:%u /etc/apparmor.d/berm && ls -A /etc/apparmor.d'
if [ "$status" = 77 ]; then
	echo "$out"
	exit 77
fi
expect_equal "installed: exit status ($err)" 0 "$status"
expect_contains "installed: words" "/etc/apparmor.d/berm is written and loaded" "$out"
expect_contains "installed: a file of root's" "644:0
berm" "$out"
expect_contains "loaded by the parser" "--replace /etc/apparmor.d/berm" "$(cat "$scratch/parser.log")"
expect_contains "the profile" "profile berm /usr/{,local/}bin/berm flags=(unconfined) {" "$(cat "$scratch/loaded")"

run on_machine 1 0 sh -c '/usr/local/bin/berm doctor --install-apparmor && /usr/local/bin/berm doctor --install-apparmor'
expect_equal "twice" 0 "$status"
run on_machine 1 0 sh -c '/usr/local/bin/berm doctor --install-apparmor && /usr/local/bin/berm doctor --remove-apparmor; ls -A /etc/apparmor.d'
expect_contains "removed: words" "is unloaded and removed" "$out"
expect_equal "removed: nothing is left" "" "$(sed -n '3,$p' <<<"$out")"
expect_contains "unloaded by the parser" "--remove /etc/apparmor.d/berm" "$(cat "$scratch/parser.log")"
run on_machine 1 0 sh -c '/usr/local/bin/berm doctor --remove-apparmor; ls -A /etc/apparmor.d'
expect_contains "nothing to remove" "nothing was changed" "$out"
run on_machine 1 0 sh -c 'echo "profile berm {}" >/etc/apparmor.d/berm; /usr/local/bin/berm doctor --remove-apparmor; cat /etc/apparmor.d/berm'
expect_equal "another profile is not removed" "profile berm {}" "$out"
run on_machine 1 0 sh -c '/usr/local/bin/berm doctor --install-apparmor; mkdir "$scratch/usr-bin"; cp /usr/local/bin/berm "$scratch/usr-bin";
	mount --bind "$scratch/usr-bin" /usr/bin; /usr/local/bin/berm doctor --remove-apparmor'
expect_contains "kept while another berm needs it" "is kept: /usr/bin/berm needs it" "$out"
run on_machine 1 3 sh -c '/usr/local/bin/berm doctor --install-apparmor; echo "$?"; ls -A /etc/apparmor.d'
expect_equal "the parser refuses: nothing is left" 125 "$out"
expect_contains "the parser refuses: said" "did not accept the profile" "$err"
run on_machine 1 0 sh -c 'echo "profile berm {}" >/etc/apparmor.d/berm; /usr/local/bin/berm doctor --install-apparmor; cat /etc/apparmor.d/berm'
expect_equal "somebody else's profile stays" "profile berm {}" "$out"
expect_contains "somebody else's profile: said" "was not written by berm" "$err"
run on_machine 1 0 sh -c 'echo keep >'"$scratch"'/kept; ln -s '"$scratch"'/kept /etc/apparmor.d/berm; /usr/local/bin/berm doctor --install-apparmor; cat '"$scratch"'/kept'
expect_equal "a link is not followed" keep "$out"
run on_machine 1 0 sh -c 'chmod 777 /usr/local/bin; /usr/local/bin/berm doctor --install-apparmor; ls -A /etc/apparmor.d'
expect_contains "a program that others can replace" "users other than root" "$err"
expect_equal "a program that others can replace: nothing is written" "" "$out"
run on_machine 0 0 sh -c '/usr/local/bin/berm doctor --install-apparmor; ls -A /etc/apparmor.d'
expect_contains "no restriction: nothing to do" "nothing was changed" "$out"
expect "no restriction: no parser was run" test ! -e "$scratch/parser.log"
finish
