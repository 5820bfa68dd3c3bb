/* SPDX-License-Identifier: Apache-2.0 */
/* Two tables: stage, errno and host give a cause; fix and host give a command. The first matching
 * row decides, so specific rows come before general ones. Never prints, never tries anything. */
#include "linux/probe/causes.h"

#include <errno.h>
#include <string.h>

static const char *const stage_names[STAGE_COUNT] = {
	[STAGE_NONE] = "none",
	[STAGE_NAMESPACES] = "namespaces",
	[STAGE_MAP] = "uid_map",
	[STAGE_LOOPBACK] = "loopback",
	[STAGE_LOCK] = "mount_setattr",
	[STAGE_ROOT] = "tmpfs",
	[STAGE_BIND] = "move_mount",
	[STAGE_PROC] = "procfs",
	[STAGE_ENTER] = "enter_root",
	[STAGE_LANDLOCK] = "landlock",
	[STAGE_FILTER] = "seccomp",
	[STAGE_LISTENER] = "notify",
	[STAGE_ADDFD] = "notify_addfd",
	[STAGE_ADDFD_SEND] = "notify_addfd_send",
	[STAGE_KILLABLE] = "notify_wait_killable",
	[STAGE_CGROUP] = "cgroup",
	[STAGE_OVERLAY] = "overlay",
	[STAGE_FUSE] = "fuse",
	[STAGE_GETFD] = "pidfd_getfd",
};

const char *stage_name(enum stage stage)
{
	return stage_names[stage];
}

/* A sysctl of Debian and its derivatives. */
static bool has_userns_switched_off(const struct probe_host *host)
{
	return host->userns_clone == 0;
}

static bool has_no_namespaces_left(const struct probe_host *host)
{
	return host->max_user_namespaces == 0;
}

/* Ubuntu 23.10 and later. A profile for berm lifts it (apparmor.h). */
static bool has_apparmor_restriction(const struct probe_host *host)
{
	return host->apparmor_userns > 0;
}

static bool has_apparmor_profile(const struct probe_host *host)
{
	return host->profile[0] && strncmp(host->profile, "unconfined", strlen("unconfined")) != 0 &&
	       !host->is_selinux_enforcing;
}

static bool is_selinux(const struct probe_host *host)
{
	return host->is_selinux_enforcing;
}

static bool is_gvisor(const struct probe_host *host)
{
	return host->is_gvisor;
}

static bool is_container(const struct probe_host *host)
{
	return host->container[0] != '\0';
}

static bool is_wsl(const struct probe_host *host)
{
	return host->is_wsl;
}

/* True inside another sandbox: it left a filter, or no_new_privs, which every sandbox needs. */
static bool is_sandboxed(const struct probe_host *host)
{
	return host->is_filtered || host->has_no_new_privs;
}

static bool is_nested(const struct probe_host *host)
{
	return host->is_in_user_namespace;
}

static bool is_before_53(const struct probe_host *host)
{
	return !probe_host_is_at_least(host, 5, 3);
}

static bool is_before_513(const struct probe_host *host)
{
	return !probe_host_is_at_least(host, 5, 13);
}

static bool has_yama(const struct probe_host *host)
{
	return host->yama >= 2;
}

static const char ubuntu_restriction[] = "AppArmor refuses user namespaces to programs without a profile "
					 "(kernel.apparmor_restrict_unprivileged_userns=1)";
static const char selinux_denies[] = "SELinux denies user namespaces to this domain";
static const char profile_denies[] = "the AppArmor profile of this process denies user namespaces";
static const char container_mounts[] = "the container's seccomp or AppArmor profile refuses mounts";
static const char container_root[] = "the container's seccomp profile refuses both chroot(2) and setns(2)";
static const char sandbox_root[] = "berm was started inside another sandbox, which refuses chroot(2) and setns(2)";
static const char sandbox_mounts[] = "berm was started inside another sandbox, which refuses mounts";
static const char sandbox_sockets[] = "berm was started inside another sandbox, which refuses sockets";
static const char old_mounts[] = "this kernel has no mount_setattr(2): it is older than Linux 5.12";
static const char no_capability[] = "the new user namespace has no capabilities: a security module removed them";

enum { ANY = -1 };

const struct cause_row cause_table[] = {
	{ STAGE_NAMESPACES,
	  ANY,
	  is_gvisor,
	  { "gVisor replaces the kernel here and does not implement what berm needs", FIX_GVISOR } },
	{ STAGE_NAMESPACES,
	  EPERM,
	  has_userns_switched_off,
	  { "user namespaces are switched off (kernel.unprivileged_userns_clone=0)", FIX_USERNS_CLONE } },
	{ STAGE_NAMESPACES, EPERM, is_container, { "the container's seccomp profile refuses namespaces", FIX_CONTAINER } },
	{ STAGE_NAMESPACES,
	  EPERM,
	  is_sandboxed,
	  { "berm was started inside another sandbox, which refuses namespaces", FIX_OUTSIDE } },
	/* The other namespaces of the call need a capability in the new one (seen on 6.12). */
	{ STAGE_NAMESPACES, EPERM, has_apparmor_restriction, { ubuntu_restriction, FIX_APPARMOR } },
	{ STAGE_NAMESPACES,
	  EPERM,
	  NULL,
	  { "user namespaces are refused here: a chroot, a seccomp profile or a security module", FIX_NONE } },
	{ STAGE_NAMESPACES,
	  ENOSPC,
	  has_no_namespaces_left,
	  { "no user namespace is allowed here (user.max_user_namespaces=0)", FIX_MAX_USERNS } },
	{ STAGE_NAMESPACES,
	  ENOSPC,
	  NULL,
	  { "the limit on namespaces is used up (user.max_*_namespaces here or in an outer namespace)", FIX_MAX_USERNS } },
	{ STAGE_NAMESPACES, EUSERS, NULL, { "user namespaces are nested too deeply", FIX_OUTSIDE } },
	{ STAGE_NAMESPACES, EACCES, has_apparmor_restriction, { ubuntu_restriction, FIX_APPARMOR } },
	{ STAGE_NAMESPACES, EACCES, is_selinux, { selinux_denies, FIX_SELINUX } },
	{ STAGE_NAMESPACES, EACCES, has_apparmor_profile, { profile_denies, FIX_PROFILE } },
	{ STAGE_NAMESPACES, EACCES, NULL, { "a security module refuses user namespaces to this program", FIX_NONE } },
	{ STAGE_NAMESPACES, EINVAL, NULL, { "this kernel was built without one of the namespace types", FIX_KERNEL_519 } },
	{ STAGE_NAMESPACES, ENOSYS, is_container, { "the container's seccomp profile refuses namespaces", FIX_CONTAINER } },
	{ STAGE_NAMESPACES,
	  ENOSYS,
	  is_before_53,
	  { "this kernel has no clone3(2): it is older than Linux 5.3", FIX_KERNEL_519 } },
	{ STAGE_NAMESPACES, ENOSYS, NULL, { "clone3(2) is refused here by a seccomp profile", FIX_OUTSIDE } },
	{ STAGE_NAMESPACES, EAGAIN, NULL, { "the limit on processes is reached", FIX_PROCESSES } },

	{ STAGE_MAP, EACCES, has_apparmor_restriction, { ubuntu_restriction, FIX_APPARMOR } },
	{ STAGE_MAP, EPERM, has_apparmor_restriction, { ubuntu_restriction, FIX_APPARMOR } },
	{ STAGE_MAP, EACCES, is_selinux, { selinux_denies, FIX_SELINUX } },
	{ STAGE_MAP, EACCES, has_apparmor_profile, { profile_denies, FIX_PROFILE } },
	{ STAGE_MAP,
	  EPERM,
	  is_nested,
	  { "the user namespace around berm does not allow its users to be mapped again", FIX_OUTSIDE } },
	{ STAGE_MAP, EACCES, NULL, { "a security module refuses to map users into the user namespace", FIX_NONE } },
	{ STAGE_MAP, EPERM, NULL, { "mapping users into the user namespace is refused", FIX_NONE } },

	{ STAGE_LOOPBACK, EPERM, has_apparmor_restriction, { ubuntu_restriction, FIX_APPARMOR } },
	{ STAGE_LOOPBACK, EPERM, is_sandboxed, { sandbox_sockets, FIX_OUTSIDE } },
	{ STAGE_LOOPBACK, EACCES, is_sandboxed, { sandbox_sockets, FIX_OUTSIDE } },
	{ STAGE_LOOPBACK, EPERM, NULL, { no_capability, FIX_NONE } },

	{ STAGE_LOCK, ENOSYS, is_container, { container_mounts, FIX_CONTAINER } },
	{ STAGE_LOCK, ENOSYS, NULL, { old_mounts, FIX_KERNEL_519 } },
	{ STAGE_LOCK, EPERM, has_apparmor_restriction, { ubuntu_restriction, FIX_APPARMOR } },
	{ STAGE_LOCK, EPERM, is_container, { container_mounts, FIX_CONTAINER } },
	{ STAGE_LOCK, EPERM, is_sandboxed, { sandbox_mounts, FIX_OUTSIDE } },
	{ STAGE_LOCK, EPERM, NULL, { no_capability, FIX_NONE } },
	{ STAGE_LOCK, EACCES, is_container, { container_mounts, FIX_CONTAINER } },
	{ STAGE_LOCK, EACCES, is_selinux, { "SELinux denies mounts to this domain", FIX_SELINUX } },
	{ STAGE_LOCK, EACCES, NULL, { "a security module refuses mounts to this program", FIX_PROFILE } },

	{ STAGE_ROOT, ENOSYS, is_container, { container_mounts, FIX_CONTAINER } },
	{ STAGE_ROOT, ENOSYS, NULL, { "this kernel has no fsopen(2), or a seccomp filter hides it", FIX_KERNEL_519 } },
	{ STAGE_ROOT, EPERM, is_container, { container_mounts, FIX_CONTAINER } },
	{ STAGE_ROOT, EPERM, is_sandboxed, { sandbox_mounts, FIX_OUTSIDE } },
	{ STAGE_ROOT, EPERM, NULL, { no_capability, FIX_NONE } },
	{ STAGE_ROOT, EACCES, is_container, { container_mounts, FIX_CONTAINER } },
	{ STAGE_ROOT, EACCES, NULL, { "a security module refuses mounts to this program", FIX_PROFILE } },

	{ STAGE_BIND, EPERM, is_container, { container_mounts, FIX_CONTAINER } },
	{ STAGE_BIND, EPERM, NULL, { "mounts are refused in this user namespace", FIX_NONE } },
	{ STAGE_BIND,
	  ENOSYS,
	  NULL,
	  { "this kernel has no open_tree(2) or mount_setattr(2), or a seccomp filter hides them", FIX_KERNEL_519 } },

	{ STAGE_PROC,
	  EPERM,
	  NULL,
	  { "parts of the host's /proc are covered, as in a container, so a new /proc is refused", FIX_CONTAINER_PROC } },
	{ STAGE_PROC, EBUSY, NULL, { "a new /proc is refused: the kernel requires a new pid namespace for it", FIX_NONE } },

	{ STAGE_ENTER, ANY, is_container, { container_root, FIX_CONTAINER } },
	{ STAGE_ENTER, ANY, is_sandboxed, { sandbox_root, FIX_OUTSIDE } },
	{ STAGE_ENTER, ANY, NULL, { "chroot(2) and setns(2) are refused here, so a new root cannot be entered", FIX_NONE } },

	{ STAGE_LANDLOCK, ANY, is_gvisor, { "gVisor has no Landlock", FIX_GVISOR } },
	{ STAGE_LANDLOCK, EOPNOTSUPP, NULL, { "this kernel has Landlock, but it is not enabled (lsm=)", FIX_LSM } },
	{ STAGE_LANDLOCK,
	  ENOSYS,
	  is_before_513,
	  { "this kernel has no Landlock: it is older than Linux 5.13", FIX_KERNEL_519 } },
	{ STAGE_LANDLOCK,
	  ENOSYS,
	  is_container,
	  { "no Landlock: not in this kernel, or the container hides it", FIX_CONTAINER } },
	{ STAGE_LANDLOCK,
	  ENOSYS,
	  NULL,
	  { "this kernel was built without Landlock (CONFIG_SECURITY_LANDLOCK)", FIX_KERNEL_519 } },
	{ STAGE_LANDLOCK, EPERM, is_container, { "the container's seccomp profile refuses Landlock", FIX_CONTAINER } },
	{ STAGE_LANDLOCK, EPERM, NULL, { "a seccomp profile refuses Landlock", FIX_OUTSIDE } },

	{ STAGE_FILTER, ANY, is_gvisor, { "gVisor does not accept the seccomp filter", FIX_GVISOR } },
	{ STAGE_FILTER,
	  EINVAL,
	  NULL,
	  { "this kernel was built without seccomp filters (CONFIG_SECCOMP_FILTER)", FIX_KERNEL_519 } },
	{ STAGE_FILTER, ENOSYS, NULL, { "this kernel was built without seccomp, or a filter hides it", FIX_KERNEL_519 } },
	{ STAGE_FILTER, EPERM, NULL, { "a seccomp filter around berm refuses further filters", FIX_OUTSIDE } },
	{ STAGE_FILTER, EACCES, NULL, { "no_new_privs is not set", FIX_NONE } },

	{ STAGE_LISTENER, EBUSY, is_wsl, { "WSL already has a seccomp listener, and the kernel allows only one", FIX_WSL } },
	{ STAGE_LISTENER,
	  EBUSY,
	  is_container,
	  { "the container runtime already has a seccomp listener, and the kernel allows only one", FIX_CONTAINER } },
	{ STAGE_LISTENER,
	  EBUSY,
	  NULL,
	  { "a supervisor around berm already has a seccomp listener, and the kernel allows only one", FIX_OUTSIDE } },
	{ STAGE_LISTENER, EINVAL, NULL, { "this kernel has no seccomp notification (before Linux 5.0)", FIX_KERNEL_59 } },
	{ STAGE_LISTENER, ENOSYS, NULL, { "this kernel was built without seccomp, or a filter hides it", FIX_KERNEL_59 } },
	{ STAGE_ADDFD,
	  EINVAL,
	  NULL,
	  { "the supervisor cannot pass file descriptors on this kernel (before Linux 5.9)", FIX_KERNEL_59 } },
	{ STAGE_ADDFD_SEND,
	  EINVAL,
	  NULL,
	  { "the supervisor cannot pass a file descriptor as the reply on this kernel (before Linux 5.14)", FIX_KERNEL_519 } },
	{ STAGE_KILLABLE,
	  EINVAL,
	  NULL,
	  { "a signal can interrupt a call that waits for the supervisor (before Linux 5.19)", FIX_KERNEL_519 } },

	{ STAGE_CGROUP, ENOENT, NULL, { "no cgroup v2 hierarchy is mounted", FIX_DELEGATE } },
	{ STAGE_CGROUP, EACCES, NULL, { "this session's control group is not delegated to the user", FIX_DELEGATE } },
	{ STAGE_CGROUP, EPERM, NULL, { "this session's control group is not delegated to the user", FIX_DELEGATE } },
	{ STAGE_CGROUP, EROFS, NULL, { "control groups are mounted read-only, as in a container", FIX_DELEGATE } },
	{ STAGE_CGROUP, EOPNOTSUPP, NULL, { "cgroup v2 has no memory and pids controllers here", FIX_DELEGATE } },

	{ STAGE_OVERLAY,
	  EPERM,
	  NULL,
	  { "this kernel refuses overlay mounts in user namespaces (before Linux 5.11)", FIX_KERNEL_512 } },
	{ STAGE_OVERLAY, ENODEV, NULL, { "this kernel has no overlay file system", FIX_NONE } },
	{ STAGE_OVERLAY, EINVAL, NULL, { "this kernel refuses an overlay whose upper layer is a tmpfs", FIX_KERNEL_612 } },
	{ STAGE_FUSE, ENOENT, NULL, { "/dev/fuse does not exist", FIX_DEV_FUSE } },
	{ STAGE_FUSE, ENODEV, NULL, { "this kernel has no FUSE", FIX_DEV_FUSE } },
	{ STAGE_FUSE, EACCES, NULL, { "this user may not open /dev/fuse", FIX_DEV_FUSE } },
	{ STAGE_FUSE, EPERM, NULL, { "FUSE mounts are refused in user namespaces", FIX_NONE } },
	{ STAGE_GETFD, EPERM, has_yama, { "Yama refuses it (kernel.yama.ptrace_scope); berm does not need it", FIX_NONE } },
};

const size_t cause_table_count = sizeof cause_table / sizeof cause_table[0];

/* Fixes by host. `where` is a container, a distribution or an ID_LIKE of it; NULL: anywhere. */
static const struct fix_row {
	enum fix fix;
	const char *where;
	const char *text;
} fix_table[] = {
	{ FIX_APPARMOR, "docker", "docker run --security-opt apparmor=unconfined ..." },
	{ FIX_APPARMOR, "podman", "podman run --security-opt apparmor=unconfined ..." },
	{ FIX_APPARMOR, NULL, "sudo berm doctor --install-apparmor" },
	{ FIX_PROFILE, NULL, "allow userns and mounts in that profile, or start berm from a program without a profile" },
	{ FIX_USERNS_CLONE, NULL,
	  "sudo sysctl -w kernel.unprivileged_userns_clone=1 (permanently: in a file in /etc/sysctl.d)" },
	{ FIX_MAX_USERNS, "rhel",
	  "sudo sysctl -w user.max_user_namespaces=15000 (permanently: in a file in /etc/sysctl.d; "
	  "RHEL 7 also needs user_namespace.enable=1 on the kernel's command line)" },
	{ FIX_MAX_USERNS, NULL, "sudo sysctl -w user.max_user_namespaces=15000 (permanently: in a file in /etc/sysctl.d)" },
	{ FIX_SELINUX, "podman", "podman run --security-opt label=disable ..." },
	{ FIX_SELINUX, "docker", "docker run --security-opt label=disable ..." },
	{ FIX_SELINUX, NULL,
	  "`sudo ausearch -m avc -ts recent` names the rule; start berm from an unconfined shell, or allow "
	  "user_namespace create for its domain" },
	{ FIX_CONTAINER, "docker",
	  "docker run --security-opt seccomp=unconfined --security-opt apparmor=unconfined "
	  "--security-opt systempaths=unconfined ..." },
	{ FIX_CONTAINER, "podman", "podman run --security-opt seccomp=unconfined --security-opt unmask=ALL ..." },
	{ FIX_CONTAINER, "kubernetes",
	  "in the pod: hostUsers: false, seccompProfile: {type: Unconfined}, procMount: Unmasked" },
	{ FIX_CONTAINER, "lxc", "lxc config set NAME security.nesting true" },
	{ FIX_CONTAINER, "systemd-nspawn", "systemd-nspawn --private-users=pick --system-call-filter='@mount' ..." },
	{ FIX_CONTAINER, NULL, "allow namespaces and mounts in the container, or run berm outside of it" },
	{ FIX_CONTAINER_PROC, "docker", "docker run --security-opt systempaths=unconfined ..." },
	{ FIX_CONTAINER_PROC, "podman", "podman run --security-opt unmask=ALL ..." },
	{ FIX_CONTAINER_PROC, "kubernetes", "in the pod: procMount: Unmasked (with hostUsers: false)" },
	{ FIX_CONTAINER_PROC, NULL, "remove what is mounted over parts of /proc" },
	{ FIX_OUTSIDE, NULL, "start berm outside of the sandbox around it, or allow this in that sandbox" },
	{ FIX_GVISOR, NULL, "run the container with another runtime (docker run --runtime=runc ...)" },
	{ FIX_WSL, NULL, "wsl --update (only the tier landlock needs a listener)" },
	{ FIX_LSM, "debian",
	  "in /etc/default/grub put landlock first in lsm= of GRUB_CMDLINE_LINUX (the others are in "
	  "/sys/kernel/security/lsm), then sudo update-grub and reboot" },
	{ FIX_LSM, "fedora",
	  "sudo grubby --update-kernel=ALL --args=\"lsm=landlock,$(cat /sys/kernel/security/lsm)\", then reboot" },
	{ FIX_LSM, "rhel",
	  "sudo grubby --update-kernel=ALL --args=\"lsm=landlock,$(cat /sys/kernel/security/lsm)\", then reboot" },
	{ FIX_LSM, NULL, "boot with landlock first in lsm= (the others are in /sys/kernel/security/lsm)" },
	{ FIX_KERNEL_59, NULL, "Linux 5.9 or newer" },
	{ FIX_KERNEL_512, NULL, "Linux 5.12 or newer" },
	{ FIX_KERNEL_519, "ubuntu",
	  "Linux 5.19 or newer: sudo apt install linux-generic-hwe-$(. /etc/os-release; echo $VERSION_ID)" },
	{ FIX_KERNEL_519, "debian", "Linux 5.19 or newer: Debian 12, or linux-image-amd64 from backports" },
	{ FIX_KERNEL_519, NULL, "Linux 5.19 or newer" },
	{ FIX_KERNEL_612, "ubuntu",
	  "Linux 6.12 or newer: sudo apt install linux-generic-hwe-$(. /etc/os-release; echo $VERSION_ID)" },
	{ FIX_KERNEL_612, "debian", "Linux 6.12 or newer: Debian 13, or linux-image-amd64 from backports" },
	{ FIX_KERNEL_612, NULL, "Linux 6.12 or newer" },
	{ FIX_PROCESSES, NULL, "end some of this user's processes, or raise `ulimit -u`" },
	{ FIX_DELEGATE, NULL, "start berm in a systemd session: a login, or `systemd-run --user --scope -p Delegate=yes`" },
	{ FIX_DEV_FUSE, "docker", "docker run --device /dev/fuse ..." },
	{ FIX_DEV_FUSE, "podman", "podman run --device /dev/fuse ..." },
	{ FIX_DEV_FUSE, NULL, "sudo modprobe fuse" },
};

struct cause cause_of(const struct probe_host *host, enum stage stage, int number)
{
	for (size_t i = 0; i < cause_table_count; i++) {
		const struct cause_row *row = &cause_table[i];
		if (row->stage == stage && (row->number == ANY || row->number == number) &&
		    (!row->applies || row->applies(host)))
			return row->cause;
	}
	return (struct cause){ "the kernel refused it, and berm does not know why", FIX_NONE };
}

static bool has_word(const char *words, const char *word)
{
	size_t length = strlen(word);
	for (const char *at = words; (at = strstr(at, word)); at += length)
		if ((at == words || at[-1] == ' ') && (at[length] == ' ' || at[length] == '\0'))
			return true;
	return false;
}

static bool is_at(const struct probe_host *host, const char *where)
{
	return !where || strcmp(host->container, where) == 0 || strcmp(host->distribution, where) == 0 ||
	       has_word(host->relatives, where);
}

const char *fix_for(const struct probe_host *host, enum fix fix)
{
	for (size_t i = 0; i < sizeof fix_table / sizeof fix_table[0]; i++)
		if (fix_table[i].fix == fix && is_at(host, fix_table[i].where))
			return fix_table[i].text;
	return NULL;
}

void cause_explain(struct error *err)
{
	struct probe_host host;
	struct cause cause;
	const char *fix;

	if (err->stage <= STAGE_NONE || err->stage >= STAGE_COUNT)
		return;
	probe_host_read(&host);
	cause = cause_of(&host, (enum stage)err->stage, err->number);
	fix = fix_for(&host, cause.fix);
	error_hint(err, "%s", cause.text);
	if (fix)
		error_hint(err, "fix: %s", fix);
	error_hint(err, "details: berm doctor");
}
