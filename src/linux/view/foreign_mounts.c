/* SPDX-License-Identifier: Apache-2.0 */
/* What else is mounted in a writable tree comes along with it. Files may; the kernel's own switches (a chroot with its /proc and /sys in
 * the project) must not: their owner is root, and root without capabilities is still that owner. Only reads. */
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

static bool is_kernels(const char *type)
{
	for (size_t i = 0; i < sizeof kernel_types / sizeof kernel_types[0]; i++)
		if (strcmp(type, kernel_types[i]) == 0)
			return true;
	return false;
}

/* Blanks, backslashes and line breaks stand there as three octal digits. */
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

static bool is_in_writable(const struct plan *plan, const char *path)
{
	const struct plan_grant *grant = plan_grant_for(plan, path);
	return grant && grant->kind == GRANT_WRITE;
}

/* "36 35 98:0 /root /mount/point options [tags...] - type source options" */
static int judge_line(const struct plan *plan, char *line, struct error *err)
{
	char *fields[5] = { 0 }, *type = strstr(line, " - ");
	if (!type)
		return 0;
	*type = '\0';
	type += strlen(" - ");
	type[strcspn(type, " \n")] = '\0';
	for (size_t i = 0; i < 5; i++)
		if (!(fields[i] = strsep(&line, " ")))
			return 0;
	decode(fields[4]);
	if (!is_kernels(type) || !is_in_writable(plan, fields[4]))
		return 0;
	error_set(err, "%s is a %s of this machine, and the command could write it", fields[4], type);
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
		if (judge_line(plan, line, err) < 0)
			return -1;
	return ferror(file) ? error_errno(err, errno, "cannot read /proc/self/mountinfo") : 0;
}
