# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
#
# For scripts whose programs take the home from the password database and not from the environment. Sourced before lib.sh: the
# script starts again in a new mount namespace, where /etc/passwd is another file. After lib.sh, `move_home` makes $scratch/home
# the user's home, and `set_home` changes the password database alone; the user's real state is left alone. A useradd or passwd
# on the host replaces /etc/passwd and so removes the mount: no test may add a user while these run. write_passwd notices it, and
# never writes the host's file.
if [ -z "${BERM_HOME_PASSWD:-}" ]; then
	options=(--mount)
	[ "$(id -u)" -eq 0 ] || options+=(--user --map-current-user --keep-caps)
	if ! unshare "${options[@]}" true; then
		echo "a mount namespace of its own is needed"
		exit 77
	fi
	BERM_HOME_PASSWD=$(mktemp) || exit 1
	export BERM_HOME_PASSWD
	cat /etc/passwd >"$BERM_HOME_PASSWD"
	chmod 644 "$BERM_HOME_PASSWD"
	# shellcheck disable=SC2016 # for the inner shell
	BERM_HOME_INODE=$(stat -c %i "$BERM_HOME_PASSWD") || exit 1
	export BERM_HOME_INODE
	exec unshare "${options[@]}" bash -c 'mount --bind "$BERM_HOME_PASSWD" /etc/passwd && rm "$BERM_HOME_PASSWD" &&
		exec setpriv --inh-caps=-all --ambient-caps=-all bash "$@"' bash "$0" "$@"
fi

# write_passwd: the password database is stdin. It is written through a descriptor that was compared with the copy: the mount may be
# gone at any moment, and the host's own file is below it.
write_passwd() {
	local fd
	exec {fd}>>/etc/passwd || exit 1
	if [ "$(stat -L -c %i "/proc/self/fd/$fd")" != "$BERM_HOME_INODE" ]; then
		echo "a change of /etc/passwd on the host took away this test's copy: run it again"
		exit 1
	fi
	cat >"/proc/self/fd/$fd"
	exec {fd}>&-
}

# set_home HOME: sets the user's home in the password database, not in the environment.
set_home() {
	if ! getent passwd "$(id -u)" | grep -qxFf /etc/passwd; then
		echo "this user is not in /etc/passwd"
		exit 77
	fi
	awk -F: -v OFS=: -v uid="$(id -u)" -v home="$1" '$3 == uid { $6 = home } { print }' /etc/passwd >"$scratch/passwd.new"
	write_passwd <"$scratch/passwd.new"
}

move_home() {
	home=$scratch/home
	mkdir -p "$home"
	set_home "$home"
	unset XDG_STATE_HOME XDG_CONFIG_HOME
	export HOME=$home
}
