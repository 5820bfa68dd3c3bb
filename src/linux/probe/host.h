/* SPDX-License-Identifier: Apache-2.0 */
/* What the machine tells about itself: distribution, kernel, container, switches of the administrator, security modules. Used to name causes
 * and fixes, and to know when a stored trial is out of date; never to decide what holds: that is tried. */
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
	char container[HOST_TEXT_MAX]; /* "docker", "podman", "lxc", "kubernetes", ...; "" if none is known */
	char modules[HOST_TEXT_MAX]; /* the security modules in force, in order; "" if that cannot be read */
	char profile[HOST_TEXT_MAX]; /* AppArmor's or SELinux's name for this process, "" if none */
	bool is_wsl, is_gvisor, is_selinux_enforcing;
	bool is_filtered; /* a seccomp filter is in force already */
	bool has_no_new_privs;
	bool is_in_user_namespace; /* not all users are mapped */
	/* Switches; -1 if there is none. */
	long userns_clone, max_user_namespaces, apparmor_userns, yama;
};

void probe_host_read(struct probe_host *host);
/* Is the kernel at least this version? */
bool probe_host_is_at_least(const struct probe_host *host, unsigned major, unsigned minor);
/* The value of KEY in the text of os-release, without its quotes. */
void probe_host_release_value(const char *text, const char *key, char value[HOST_TEXT_MAX]);
/* A small file of the kernel's into a buffer, without the last newline; "" if it cannot be read. */
void probe_read_line(const char *path, char *buffer, size_t size);

#endif
