#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# A user that is not in /etc/passwd but in another database of the name service (LDAP, sssd): berm finds the home by the
# system's getent, also as a static program, and not in $HOME. The database is a module of this test, in a mount namespace.
. "$(dirname "$0")/../support/lib.sh"

skip() {
	echo "$1"
	exit 77
}
[ "$(id -u)" = 0 ] || skip "needs root: a mount over a module of the C library"
module=
for file in /lib/*/libnss_hesiod.so.2 /usr/lib/*/libnss_hesiod.so.2 /lib64/libnss_hesiod.so.2; do
	[ ! -e "$file" ] || module=$(readlink -f "$file")
done
[ -n "$module" ] || skip "no libnss_hesiod.so.2, whose place the module takes"
command -v cc >/dev/null || skip "cc is missing"

uid=54321
while getent passwd "$uid" >/dev/null; do
	uid=$((uid + 1))
done
# The state directory is that of the home in the database.
unset XDG_STATE_HOME XDG_CONFIG_HOME
chmod 755 "$scratch"
mkdir "$scratch/home-of-eve"
chown "$uid:$uid" "$scratch/home-of-eve" "$project"
cat >"$scratch/module.c" <<END
#include <errno.h>
#include <nss.h>
#include <pwd.h>
enum nss_status _nss_hesiod_getpwuid_r(uid_t uid, struct passwd *entry, char *buffer, size_t size, int *number)
{
	(void)buffer;
	(void)size;
	(void)number;
	if (uid != $uid)
		return NSS_STATUS_NOTFOUND;
	*entry = (struct passwd){ "eve", "x", $uid, $uid, "", "$scratch/home-of-eve", "/bin/sh" };
	return NSS_STATUS_SUCCESS;
}
END
expect "the module" cc -shared -fPIC -o "$scratch/module.so" "$scratch/module.c"
echo 'passwd: files hesiod' >"$scratch/nsswitch.conf"
chmod 755 "$scratch/module.so" "$scratch/nsswitch.conf"

# as_eve COMMAND...: without the database.
as_eve() {
	setpriv --reuid="$uid" --regid="$uid" --clear-groups env -i PATH=/usr/bin:/bin HOME=/nonexistent "$@"
}
# with_database COMMAND...: as_eve, with it.
with_database() {
	# shellcheck disable=SC2016
	unshare --mount --propagation private bash -c 'mount --bind "$1" "$2" && mount --bind "$3" /etc/nsswitch.conf &&
		exec setpriv --reuid="$4" --regid="$4" --clear-groups env -i PATH=/usr/bin:/bin HOME=/nonexistent "${@:5}"' bash \
		"$scratch/module.so" "$module" "$scratch/nsswitch.conf" "$uid" "$@"
}
with_database true 2>/dev/null || skip "mounts are not allowed here"

expect_status "the control: not in /etc/passwd" 1 grep -q ":$uid:" /etc/passwd
expect_contains "the control: in the database" "eve:x:$uid" "$(with_database getent passwd "$uid")"
expect_status "unknown without the database" 125 as_eve "$BERM" run -- touch ran
expect_contains "in words" "user $uid has no entry in the password database" "$err"
expect "nothing ran" test ! -e ran
expect_status "found with it" 0 with_database "$BERM" run -- sh -c 'echo "$HOME" >home && id -u >uid'
expect_equal "the home of the database" "$scratch/home-of-eve" "$(cat home)"
expect_equal "the same user" "$uid" "$(cat uid)"
expect "its state is in that home" test -d "$scratch/home-of-eve/.local/state/berm"
finish
