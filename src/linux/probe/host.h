/* SPDX-License-Identifier: Apache-2.0 */
/* Properties of the host: distribution, kernel, container, sysctls, security modules. They select
 * causes and fixes and invalidate a cached trial. They never decide which guarantees hold: a trial
 * does. */
#ifndef BERM_LINUX_PROBE_HOST_H
#define BERM_LINUX_PROBE_HOST_H

#include <stdbool.h>
#include <stddef.h>

enum { HOST_TEXT_MAX = 128 };

struct probe_host {
	char name[HOST_TEXT_MAX]; /* "Debian GNU/Linux 12 (bookworm)" */
	char distribution[HOST_TEXT_MAX]; /* ID of os-release: "debian" */
	char relatives[HOST_TEXT_MAX]; /* ID_LIKE */
	char release[HOST_TEXT_MAX]; /* uname -r */
	char machine[HOST_TEXT_MAX];
	char container[HOST_TEXT_MAX]; /* "docker", "podman", "lxc", "kubernetes", ...; "" if none was detected */
	char modules[HOST_TEXT_MAX]; /* the active security modules, in order; "" if unreadable */
	char profile[HOST_TEXT_MAX]; /* AppArmor profile or SELinux domain of this process, "" if none */
	bool is_wsl, is_gvisor, is_selinux_enforcing;
	bool is_filtered; /* a seccomp filter is already loaded */
	bool has_no_new_privs;
	bool is_in_user_namespace; /* not all users are mapped */
	/* Values of sysctls; -1 if the kernel has no such sysctl. */
	long userns_clone, max_user_namespaces, apparmor_userns, yama;
};

/* Fills in every member. A property that cannot be read stays empty; never fails. */
void probe_host_read(struct probe_host *host);
/* True if the kernel has at least this version, or its version cannot be read. */
bool probe_host_is_at_least(const struct probe_host *host, unsigned major, unsigned minor);
/* Finds KEY in the text of os-release and copies its value without quotes; "" if it is missing. */
void probe_host_release_value(const char *text, const char *key, char value[HOST_TEXT_MAX]);
/* Reads the first line of a file into a buffer, without the newline; "" if it cannot be read. */
void probe_read_line(const char *path, char *buffer, size_t size);

#endif
