/* SPDX-License-Identifier: Apache-2.0 */
/* Reads the list of mounts. Refuses kernel file systems in writable trees. A writable tree is
 * copied with its submounts, for example a chroot with its /proc and /sys in the project. Ordinary
 * files are fine. The kernel's settings are not: they belong to root, and root without capabilities
 * is still their owner. Only reads. */
#include "linux/view/internal.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/cleanup.h"

static const char *const kernel_types[] = {
	"proc",	    "sysfs",  "cgroup", "cgroup2",   "devtmpfs", "debugfs", "tracefs",	   "securityfs", "configfs",
	"efivarfs", "pstore", "bpf",	"selinuxfs", "smackfs",	 "fusectl", "binfmt_misc", "rpc_pipefs", "resctrl",
};

static bool is_kernel_type(const char *type)
{
	for (size_t i = 0; i < sizeof kernel_types / sizeof kernel_types[0]; i++)
		if (strcmp(type, kernel_types[i]) == 0)
			return true;
	return false;
}

/* Decodes blanks, backslashes and line breaks, which mountinfo writes as a backslash and three
 * octal digits. */
static void decode(char *path)
{
	char *out = path;
	for (const char *at = path; *at; at++) {
		if (at[0] == '\\' && strspn(at + 1, "01234567") >= 3) {
			*out++ = (char)((at[1] - '0') * 64 + (at[2] - '0') * 8 + (at[3] - '0'));
			at += 3;
		} else {
			*out++ = *at;
		}
	}
	*out = '\0';
}

/* "36 35 98:0 /root /mount/point options [tags...] - type source options". Returns the mount point,
 * or NULL. */
static char *parse_line(char *line, char **type)
{
	char *fields[5] = { 0 };
	*type = strstr(line, " - ");
	if (!*type)
		return NULL;
	**type = '\0';
	*type += strlen(" - ");
	(*type)[strcspn(*type, " \n")] = '\0';
	for (size_t i = 0; i < 5; i++)
		if (!(fields[i] = strsep(&line, " ")))
			return NULL;
	decode(fields[4]);
	return fields[4];
}

static int check_line(const struct plan *plan, char *line, struct error *err)
{
	char *type;
	const char *path = parse_line(line, &type);
	if (!path || !is_kernel_type(type) || !plan_is_writable(plan, path))
		return 0;
	error_set(err, "%s is a %s mount of this machine, and the command could write to it", path, type);
	return error_hint(err, "unmount it, or use another --project");
}

int view_refuse_mounts(const struct plan *plan, struct error *err)
{
	autofclose FILE *file = fopen("/proc/self/mountinfo", "re");
	autofree char *line = NULL;
	size_t size = 0;
	if (!file)
		return error_errno(err, errno, "cannot read /proc/self/mountinfo");
	while (getline(&line, &size, file) > 0)
		if (check_line(plan, line, err) < 0)
			return -1;
	return ferror(file) ? error_errno(err, errno, "cannot read /proc/self/mountinfo") : 0;
}

bool view_has_mounts_below(const char *path)
{
	autofclose FILE *file = fopen("/proc/self/mountinfo", "re");
	autofree char *line = NULL;
	size_t size = 0;
	while (file && getline(&line, &size, file) > 0) {
		char *type;
		const char *point = parse_line(line, &type);
		if (!point || (path_is_within(point, path) && strcmp(point, path) != 0))
			return true;
	}
	return !file || ferror(file);
}

bool view_mount_below(const char *path, char *found, size_t size)
{
	autofclose FILE *file = fopen("/proc/self/mountinfo", "re");
	autofree char *line = NULL;
	size_t room = 0;
	while (file && getline(&line, &room, file) > 0) {
		char *type;
		const char *point = parse_line(line, &type);
		if (!point || !path_is_within(point, path) || strcmp(point, path) == 0)
			continue;
		snprintf(found, size, "%s", point);
		return true;
	}
	return false;
}
