/* SPDX-License-Identifier: Apache-2.0 */
/* Stage and errno give a cause and a fix: an example reaches every row of the table, and specific
 * rows win over general ones. */
#include <greatest.h>

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "linux/probe/causes.h"

/* Makes a host from a few words: "docker filtered", "ubuntu apparmor", "5.10". */
static struct probe_host host_of(const char *words)
{
	struct probe_host host = { .distribution = "debian",
				   .release = "6.12.0",
				   .userns_clone = 1,
				   .max_user_namespaces = 1000,
				   .apparmor_userns = -1,
				   .yama = 1,
				   .profile = "unconfined" };
	char copy[128], *rest = copy, *word;
	snprintf(copy, sizeof copy, "%s", words);
	while ((word = strsep(&rest, " "))) {
		if (strcmp(word, "docker") == 0 || strcmp(word, "podman") == 0 || strcmp(word, "kubernetes") == 0 ||
		    strcmp(word, "lxc") == 0 || strcmp(word, "systemd-nspawn") == 0)
			strcpy(host.container, word);
		else if (strcmp(word, "filtered") == 0)
			host.is_filtered = true;
		else if (strcmp(word, "nested") == 0)
			host.is_in_user_namespace = true;
		else if (strcmp(word, "gvisor") == 0)
			host.is_gvisor = true;
		else if (strcmp(word, "wsl") == 0)
			host.is_wsl = true;
		else if (strcmp(word, "selinux") == 0)
			host.is_selinux_enforcing = true;
		else if (strcmp(word, "apparmor") == 0)
			host.apparmor_userns = 1;
		else if (strcmp(word, "profile") == 0)
			strcpy(host.profile, "something (enforce)");
		else if (strcmp(word, "switched-off") == 0)
			host.userns_clone = 0;
		else if (strcmp(word, "none-left") == 0)
			host.max_user_namespaces = 0;
		else if (strcmp(word, "yama") == 0)
			host.yama = 2;
		else if (word[0] >= '0' && word[0] <= '9')
			strcpy(host.release, word);
		else if (strcmp(word, "ubuntu") == 0)
			strcpy(host.distribution, "ubuntu"), strcpy(host.relatives, "debian");
		else if (strcmp(word, "rocky") == 0)
			strcpy(host.distribution, "rocky"), strcpy(host.relatives, "rhel centos fedora");
		else if (word[0])
			strcpy(host.distribution, word);
	}
	return host;
}

static const struct example {
	const char *host;
	enum stage stage;
	int number;
	const char *cause; /* part of it */
	const char *fix; /* part of it; NULL: there is none */
} examples[] = {
	{ "gvisor docker", STAGE_NAMESPACES, EPERM, "gVisor", "--runtime=runc" },
	{ "switched-off docker", STAGE_NAMESPACES, EPERM, "unprivileged_userns_clone=0", "unprivileged_userns_clone=1" },
	{ "docker filtered", STAGE_NAMESPACES, EPERM, "container", "seccomp=unconfined" },
	{ "podman filtered", STAGE_NAMESPACES, EPERM, "container", "unmask=ALL" },
	{ "kubernetes", STAGE_NAMESPACES, EPERM, "container", "hostUsers: false" },
	{ "lxc", STAGE_NAMESPACES, EPERM, "container", "security.nesting" },
	{ "systemd-nspawn", STAGE_NAMESPACES, EPERM, "container", "systemd-nspawn" },
	{ "filtered", STAGE_NAMESPACES, EPERM, "another sandbox", "outside" },
	{ "ubuntu apparmor", STAGE_NAMESPACES, EPERM, "apparmor_restrict", "--install-apparmor" },
	{ "", STAGE_NAMESPACES, EPERM, "chroot", NULL },
	{ "none-left", STAGE_NAMESPACES, ENOSPC, "max_user_namespaces=0", "max_user_namespaces=15000" },
	{ "rocky none-left", STAGE_NAMESPACES, ENOSPC, "max_user_namespaces=0", "RHEL 7" },
	{ "", STAGE_NAMESPACES, ENOSPC, "used up", "max_user_namespaces=15000" },
	{ "", STAGE_NAMESPACES, EUSERS, "nested", "outside" },
	{ "ubuntu apparmor", STAGE_NAMESPACES, EACCES, "AppArmor", "--install-apparmor" },
	{ "rocky selinux", STAGE_NAMESPACES, EACCES, "SELinux", "ausearch" },
	{ "profile", STAGE_NAMESPACES, EACCES, "profile", "that profile" },
	{ "", STAGE_NAMESPACES, EACCES, "security module", NULL },
	{ "", STAGE_NAMESPACES, EINVAL, "built without", "5.19" },
	{ "docker", STAGE_NAMESPACES, ENOSYS, "container", "seccomp=unconfined" },
	{ "4.19.0", STAGE_NAMESPACES, ENOSYS, "5.3", "5.19" },
	{ "", STAGE_NAMESPACES, ENOSYS, "seccomp profile", "outside" },
	{ "", STAGE_NAMESPACES, EAGAIN, "limit on processes", "ulimit" },
	{ "ubuntu apparmor", STAGE_MAP, EACCES, "apparmor_restrict", "--install-apparmor" },
	{ "ubuntu apparmor", STAGE_MAP, EPERM, "apparmor_restrict", "--install-apparmor" },
	{ "docker apparmor", STAGE_MAP, EPERM, "apparmor_restrict", "apparmor=unconfined" },
	{ "selinux", STAGE_MAP, EACCES, "SELinux", "ausearch" },
	{ "profile", STAGE_MAP, EACCES, "profile", "that profile" },
	{ "nested", STAGE_MAP, EPERM, "around berm", "outside" },
	{ "", STAGE_MAP, EACCES, "security module", NULL },
	{ "", STAGE_MAP, EPERM, "refused", NULL },
	{ "apparmor", STAGE_LOOPBACK, EPERM, "AppArmor", "--install-apparmor" },
	{ "filtered", STAGE_LOOPBACK, EPERM, "refuses sockets", "outside" },
	{ "filtered", STAGE_LOOPBACK, EACCES, "refuses sockets", "outside" },
	{ "", STAGE_LOOPBACK, EPERM, "capabilities", NULL },
	{ "docker", STAGE_LOCK, ENOSYS, "container", "seccomp=unconfined" },
	{ "5.10.0", STAGE_LOCK, ENOSYS, "5.12", "5.19" },
	{ "apparmor", STAGE_LOCK, EPERM, "AppArmor", "--install-apparmor" },
	{ "docker", STAGE_LOCK, EPERM, "container", "apparmor=unconfined" },
	{ "filtered", STAGE_LOCK, EPERM, "another sandbox", "outside" },
	{ "", STAGE_LOCK, EPERM, "capabilities", NULL },
	{ "docker", STAGE_LOCK, EACCES, "container", "apparmor=unconfined" },
	{ "selinux", STAGE_LOCK, EACCES, "SELinux", "ausearch" },
	{ "", STAGE_LOCK, EACCES, "security module", "that profile" },
	{ "docker", STAGE_ROOT, ENOSYS, "container", "seccomp=unconfined" },
	{ "", STAGE_ROOT, ENOSYS, "fsopen", "5.19" },
	{ "docker", STAGE_ROOT, EPERM, "container", "seccomp=unconfined" },
	{ "filtered", STAGE_ROOT, EPERM, "another sandbox", "outside" },
	{ "", STAGE_ROOT, EPERM, "capabilities", NULL },
	{ "docker", STAGE_ROOT, EACCES, "container", "seccomp=unconfined" },
	{ "", STAGE_ROOT, EACCES, "security module", "that profile" },
	{ "docker", STAGE_BIND, EPERM, "container", "seccomp=unconfined" },
	{ "", STAGE_BIND, EPERM, "refused", NULL },
	{ "", STAGE_BIND, ENOSYS, "open_tree", "5.19" },
	{ "docker", STAGE_PROC, EPERM, "/proc", "systempaths=unconfined" },
	{ "podman", STAGE_PROC, EPERM, "/proc", "unmask=ALL" },
	{ "", STAGE_PROC, EPERM, "/proc", "mounted over" },
	{ "", STAGE_PROC, EBUSY, "/proc", NULL },
	{ "podman filtered", STAGE_ENTER, EPERM, "container", "seccomp=unconfined" },
	{ "filtered", STAGE_ENTER, EPERM, "another sandbox", "outside" },
	{ "", STAGE_ENTER, ENOSYS, "new root", NULL },
	{ "gvisor", STAGE_LANDLOCK, ENOSYS, "gVisor", "runtime" },
	{ "debian", STAGE_LANDLOCK, EOPNOTSUPP, "lsm=", "update-grub" },
	{ "ubuntu", STAGE_LANDLOCK, EOPNOTSUPP, "lsm=", "update-grub" },
	{ "fedora", STAGE_LANDLOCK, EOPNOTSUPP, "lsm=", "grubby" },
	{ "rocky", STAGE_LANDLOCK, EOPNOTSUPP, "lsm=", "grubby" },
	{ "arch", STAGE_LANDLOCK, EOPNOTSUPP, "lsm=", "boot with" },
	{ "5.10.0", STAGE_LANDLOCK, ENOSYS, "5.13", "Debian 12" },
	{ "ubuntu 5.4.0", STAGE_LANDLOCK, ENOSYS, "5.13", "hwe" },
	{ "arch 5.4.0", STAGE_LANDLOCK, ENOSYS, "5.13", "5.19 or newer" },
	{ "docker", STAGE_LANDLOCK, ENOSYS, "container", "docker" },
	{ "", STAGE_LANDLOCK, ENOSYS, "CONFIG_SECURITY_LANDLOCK", "5.19" },
	{ "docker", STAGE_LANDLOCK, EPERM, "container", "docker" },
	{ "", STAGE_LANDLOCK, EPERM, "seccomp profile", "outside" },
	{ "gvisor", STAGE_FILTER, EINVAL, "gVisor", "runtime" },
	{ "", STAGE_FILTER, EINVAL, "CONFIG_SECCOMP_FILTER", "5.19" },
	{ "", STAGE_FILTER, ENOSYS, "seccomp", "5.19" },
	{ "", STAGE_FILTER, EPERM, "around berm", "outside" },
	{ "", STAGE_FILTER, EACCES, "no_new_privs", NULL },
	{ "wsl", STAGE_LISTENER, EBUSY, "WSL", "wsl --update" },
	{ "docker", STAGE_LISTENER, EBUSY, "container runtime", "docker" },
	{ "", STAGE_LISTENER, EBUSY, "supervisor", "outside" },
	{ "", STAGE_LISTENER, EINVAL, "5.0", "5.9" },
	{ "", STAGE_LISTENER, ENOSYS, "seccomp", "5.9" },
	{ "", STAGE_ADDFD, EINVAL, "5.9", "5.9" },
	{ "", STAGE_ADDFD_SEND, EINVAL, "5.14", "5.19" },
	{ "", STAGE_KILLABLE, EINVAL, "signal", "5.19" },
	{ "", STAGE_CGROUP, ENOENT, "v2", "systemd" },
	{ "", STAGE_CGROUP, EACCES, "delegated", "systemd" },
	{ "", STAGE_CGROUP, EPERM, "delegated", "systemd" },
	{ "docker", STAGE_CGROUP, EROFS, "read-only", "systemd" },
	{ "", STAGE_CGROUP, EOPNOTSUPP, "controllers", "systemd" },
	{ "5.10.0", STAGE_OVERLAY, EPERM, "5.11", "5.12" },
	{ "", STAGE_OVERLAY, ENODEV, "overlay", NULL },
	{ "6.1.0", STAGE_OVERLAY, EINVAL, "tmpfs", "6.12" },
	{ "docker", STAGE_FUSE, ENOENT, "/dev/fuse", "--device" },
	{ "podman", STAGE_FUSE, ENOENT, "/dev/fuse", "--device" },
	{ "", STAGE_FUSE, ENODEV, "FUSE", "modprobe" },
	{ "", STAGE_FUSE, EACCES, "may not open", "modprobe" },
	{ "", STAGE_FUSE, EPERM, "user namespaces", NULL },
	{ "yama", STAGE_GETFD, EPERM, "Yama", NULL },
	{ "", STAGE_GETFD, EPERM, "does not know", NULL },
	{ "", STAGE_NAMESPACES, ENFILE, "does not know", NULL },
};

TEST each_example_has_its_cause_and_fix(void)
{
	for (size_t i = 0; i < sizeof examples / sizeof examples[0]; i++) {
		const struct example *example = &examples[i];
		struct probe_host host = host_of(example->host);
		struct cause cause = cause_of(&host, example->stage, example->number);
		const char *fix = fix_for(&host, cause.fix);
		char where[256];
		snprintf(where, sizeof where, "%s, %s, %s: %s / %s", example->host, stage_name(example->stage),
			 strerror(example->number), cause.text, fix ? fix : "-");
		ASSERTm(where, strstr(cause.text, example->cause));
		ASSERT_EQm(where, example->fix != NULL, fix != NULL);
		if (fix)
			ASSERTm(where, strstr(fix, example->fix));
	}
	PASS();
}

TEST every_row_is_reached(void)
{
	for (size_t i = 0; i < cause_table_count; i++) {
		bool is_reached = false;
		char where[64];
		for (size_t j = 0; j < sizeof examples / sizeof examples[0] && !is_reached; j++) {
			struct probe_host host = host_of(examples[j].host);
			const struct cause_row *row = cause_table;
			while (row < cause_table + cause_table_count &&
			       (row->stage != examples[j].stage || (row->number != -1 && row->number != examples[j].number) ||
				(row->applies && !row->applies(&host))))
				row++;
			is_reached = row == &cause_table[i];
		}
		snprintf(where, sizeof where, "row %zu: %s", i, cause_table[i].cause.text);
		ASSERTm(where, is_reached);
	}
	PASS();
}

/* A hint has 512 bytes: cause, fix and the reference to `berm doctor` must fit on every host. */
TEST everything_fits_a_hint(void)
{
	static const char *const hosts[] = { "",	   "ubuntu", "rocky",	       "docker", "podman",
					     "kubernetes", "lxc",    "systemd-nspawn", "arch" };
	for (size_t i = 0; i < cause_table_count; i++)
		for (size_t j = 0; j < sizeof hosts / sizeof hosts[0]; j++) {
			struct probe_host host = host_of(hosts[j]);
			const char *fix = fix_for(&host, cause_table[i].cause.fix);
			ASSERT(strlen(cause_table[i].cause.text) + (fix ? strlen(fix) : 0) + 64 < ERROR_HINT_MAX);
		}
	for (int fix = FIX_NONE + 1; fix < FIX_COUNT; fix++) {
		struct probe_host host = host_of("");
		ASSERT(fix_for(&host, (enum fix)fix));
	}
	PASS();
}

TEST an_error_is_explained_once_it_has_a_stage(void)
{
	struct error err;
	error_errno(&err, EPERM, "cannot do it");
	cause_explain(&err);
	ASSERT_STR_EQ("", err.hint);
	err.stage = STAGE_LANDLOCK;
	err.number = EOPNOTSUPP;
	cause_explain(&err);
	ASSERT(strstr(err.hint, "lsm=") && strstr(err.hint, "fix: ") && strstr(err.hint, "details: berm doctor"));
	PASS();
}

TEST os_release_is_read(void)
{
	static const char text[] =
		"NAME=x\nPRETTY_NAME=\"Rocky Linux 9.4 (Blue Onyx)\"\nID='rocky'\nID_LIKE=rhel centos\nVERSION_ID=";
	char value[HOST_TEXT_MAX];
	probe_host_release_value(text, "PRETTY_NAME", value);
	ASSERT_STR_EQ("Rocky Linux 9.4 (Blue Onyx)", value);
	probe_host_release_value(text, "ID", value);
	ASSERT_STR_EQ("rocky", value);
	probe_host_release_value(text, "ID_LIKE", value);
	ASSERT_STR_EQ("rhel centos", value);
	probe_host_release_value(text, "VERSION_ID", value);
	ASSERT_STR_EQ("", value);
	probe_host_release_value(text, "ABSENT", value);
	ASSERT_STR_EQ("", value);
	PASS();
}

TEST kernels_are_compared_by_number(void)
{
	struct probe_host host = host_of("5.10.0-30-amd64");
	ASSERT(probe_host_is_at_least(&host, 5, 9));
	ASSERT(probe_host_is_at_least(&host, 5, 10));
	ASSERT_FALSE(probe_host_is_at_least(&host, 5, 12));
	ASSERT_FALSE(probe_host_is_at_least(&host, 6, 1));
	host = host_of("6.1.0");
	ASSERT(probe_host_is_at_least(&host, 5, 19));
	strcpy(host.release, "unreadable");
	ASSERT(probe_host_is_at_least(&host, 5, 12));
	PASS();
}

GREATEST_MAIN_DEFS();

int main(int argc, char **argv)
{
	GREATEST_MAIN_BEGIN();
	RUN_TEST(each_example_has_its_cause_and_fix);
	RUN_TEST(every_row_is_reached);
	RUN_TEST(everything_fits_a_hint);
	RUN_TEST(an_error_is_explained_once_it_has_a_stage);
	RUN_TEST(os_release_is_read);
	RUN_TEST(kernels_are_compared_by_number);
	GREATEST_MAIN_END();
}
