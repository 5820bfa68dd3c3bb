# Ubuntu's restriction of user namespaces, made with AppArmor alone: the user's programs may create
# one and have no capability in it, except those with a profile. The real parser (Debian trixie's)
# loads the real profile into the kernel. Ubuntu's own switch, which other kernels lack, is a file
# that is mounted only where berm asks for it.
mount -t securityfs securityfs /sys/kernel/security 2>/dev/null
if ! grep -qs userns_create /sys/kernel/security/apparmor/features/namespaces/mask || [ ! -x /usr/sbin/apparmor_parser ]; then
	echo "note: $(uname -r) has no AppArmor with rules for user namespaces: $(cat /sys/kernel/security/lsm)"
	echo "note: $(ls /sys/kernel/security/apparmor/features/namespaces)"
	return 0
fi
mkdir -p /home/ann/app/.git/hooks
echo 'ref: refs/heads/main' >/home/ann/app/.git/HEAD
echo '[core]' >/home/ann/app/.git/config
echo secret >/home/ann/app/.env
chown -R 1000:1000 /home/ann

# on_ubuntu COMMAND...: with the switch.
on_ubuntu() {
	# shellcheck disable=SC2016 # for the inner shell
	unshare -m sh -c 'cp -r /proc/sys/kernel /tmp/switches 2>/dev/null
		mount -t tmpfs switches /proc/sys/kernel
		cp -r /tmp/switches/. /proc/sys/kernel/
		echo 1 >/proc/sys/kernel/apparmor_restrict_unprivileged_userns
		rm -rf /tmp/switches
		exec "$@"' sh "$@"
}
# as_user starts everything with bomb: this profile is attached to it and inherited, except by
# programs that have their own.
cat >/tmp/restriction <<END
abi <abi/4.0>,
include <tunables/global>
profile restriction /usr/bin/bomb {
  /** rwlkm,
  /** pix,
  / r,
  userns,
  network,
  unix,
  signal,
  ptrace,
  capability setuid,
  capability setgid,
}
END

run as_user berm run -- true
expect "control: without the restriction it runs" 0 $status
run as_user unshare -r true
expect "control: so do namespaces of other programs" 0 $status
/usr/sbin/apparmor_parser --replace /tmp/restriction >/tmp/out 2>&1
expect "the restriction loads" 0 $?
run as_user unshare -r true
expect "the restriction: other programs are refused" 1 $status

run as_user berm run -- true
expect "a project with .git and .env is refused" 125 $status
run on_ubuntu /usr/bin/bomb as 1000 env -i HOME=/home/ann USER=ann PATH=/bin:/usr/bin sh -c 'cd /home/ann/app && exec berm run -- true'
expect "on Ubuntu too" 125 $status
contains "with the one command" "berm doctor --install-apparmor"
run on_ubuntu /usr/bin/bomb as 1000 env -i HOME=/home/ann USER=ann PATH=/bin:/usr/bin berm doctor
expect "doctor says that the policy does not hold" 1 $status
contains "doctor names the same command" "berm doctor --install-apparmor"

# holds WHEN: the sandbox is the full one.
holds() {
	run as_user berm run -- cat /home/ann/app/.git/HEAD
	expect "$1: it runs" 0 $status
	run as_user berm run -- cat .env
	expect "$1: the secret is hidden" 1 $status
	run as_user sh -c 'berm run -- sh -c "echo x >>.git/config"'
	expect "$1: git's configuration is read-only" 1 $status
	run as_user berm doctor
	expect "$1: doctor" 0 $status
	run as_user unshare -r true
	expect "$1: other programs are still refused" 1 $status
}
run on_ubuntu berm doctor --install-apparmor
expect "the command" 0 $status
contains "it is loaded" "is written and loaded"
holds "with the profile"
run berm doctor --remove-apparmor
expect "removed" 0 $status
expect "nothing is left" 1 "$(test -e /etc/apparmor.d/berm; echo $?)"
run as_user berm run -- true
expect "without the profile it is refused again" 125 $status

# The scripts of the .deb.
run on_ubuntu sh /lists/postinst configure 0.1.0
expect "postinst" 0 $status
holds "with the package"
run sh /lists/prerm upgrade 0.2.0
expect "an upgrade keeps the profile" 0 "$(test -e /etc/apparmor.d/berm; echo $?)"
run sh /lists/prerm remove
expect "prerm" 0 $status
run as_user berm run -- true
expect "without the package it is refused again" 125 $status

/usr/sbin/apparmor_parser --remove /tmp/restriction >/tmp/out 2>&1
expect "the restriction is removed" 0 $?
run as_user berm run -- true
expect "control: it runs again" 0 $status
rm -rf /home/ann/app/.git /home/ann/app/.env
