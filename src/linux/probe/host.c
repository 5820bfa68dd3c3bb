/* SPDX-License-Identifier: Apache-2.0 */
/* Reads files of the system and one environment variable. A file that is missing or unreadable
 * leaves its member empty. Never fails and never changes anything. */
#include "linux/probe/host.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "common/base/cleanup.h"
#include "common/base/text.h"
#include "common/base/version.h"

enum { TEXT_MAX = 8192 };

static size_t read_text(const char *path, char *buffer, size_t size)
{
	autoclose int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	ssize_t used = fd < 0 ? -1 : text_read(fd, buffer, size - 1);
	if (used < 0)
		used = 0;
	buffer[used] = '\0';
	return (size_t)used;
}

void probe_read_line(const char *path, char *buffer, size_t size)
{
	read_text(path, buffer, size);
	buffer[strcspn(buffer, "\n")] = '\0';
}

static long read_switch(const char *path)
{
	char text[32], *end;
	long value;
	probe_read_line(path, text, sizeof text);
	value = strtol(text, &end, 10);
	return text[0] && !*end ? value : -1;
}

void probe_host_release_value(const char *text, const char *key, char value[HOST_TEXT_MAX])
{
	size_t length = strlen(key), used = 0;
	value[0] = '\0';
	for (const char *line = text; line && *line; line = strchr(line, '\n'), line += line != NULL) {
		char quote;
		if (strncmp(line, key, length) != 0 || line[length] != '=')
			continue;
		line += length + 1;
		quote = *line == '"' || *line == '\'' ? *line++ : '\n';
		while (*line && *line != quote && *line != '\n' && used + 1 < HOST_TEXT_MAX)
			value[used++] = *line++;
		value[used] = '\0';
		return;
	}
}

static void read_distribution(struct probe_host *host)
{
	char text[TEXT_MAX];
	if (read_text("/etc/os-release", text, sizeof text) == 0)
		read_text("/usr/lib/os-release", text, sizeof text);
	probe_host_release_value(text, "PRETTY_NAME", host->name);
	probe_host_release_value(text, "ID", host->distribution);
	probe_host_release_value(text, "ID_LIKE", host->relatives);
	if (!host->name[0])
		strcpy(host->name, "an unknown distribution");
}

static void read_kernel(struct probe_host *host)
{
	struct utsname names;
	char version[512];
	if (uname(&names) == 0) {
		snprintf(host->release, sizeof host->release, "%s", names.release);
		snprintf(host->machine, sizeof host->machine, "%s", names.machine);
	}
	probe_read_line("/proc/version", version, sizeof version);
	host->is_wsl = strcasestr(host->release, "microsoft") || strcasestr(host->release, "wsl");
	/* gVisor has its name in the version since 2025; before, it reported this constant
	 * version. */
	host->is_gvisor = strcasestr(version, "gvisor") || strstr(version, "4.4.0 #1 SMP Sun Jan 10 15:06:54 PST 2016");
}

static void read_container(struct probe_host *host)
{
	/* Written by systemd inside containers: lxc, systemd-nspawn, docker, podman, wsl ... */
	probe_read_line("/run/systemd/container", host->container, sizeof host->container);
	if (getenv("KUBERNETES_SERVICE_HOST"))
		strcpy(host->container, "kubernetes");
	else if (access("/run/.containerenv", F_OK) == 0)
		strcpy(host->container, "podman");
	else if (access("/.dockerenv", F_OK) == 0)
		strcpy(host->container, "docker");
	if (strcmp(host->container, "wsl") == 0)
		host->container[0] = '\0';
}

static void read_modules(struct probe_host *host)
{
	char text[16];
	probe_read_line("/sys/kernel/security/lsm", host->modules, sizeof host->modules);
	probe_read_line("/sys/fs/selinux/enforce", text, sizeof text);
	host->is_selinux_enforcing = text[0] == '1';
	probe_read_line("/proc/self/attr/apparmor/current", host->profile, sizeof host->profile);
	if (!host->profile[0])
		probe_read_line("/proc/self/attr/current", host->profile, sizeof host->profile);
	host->userns_clone = read_switch("/proc/sys/kernel/unprivileged_userns_clone");
	host->max_user_namespaces = read_switch("/proc/sys/user/max_user_namespaces");
	host->apparmor_userns = read_switch("/proc/sys/kernel/apparmor_restrict_unprivileged_userns");
	host->yama = read_switch("/proc/sys/kernel/yama/ptrace_scope");
}

static long status_value(const char *status, const char *name)
{
	const char *place = strstr(status, name);
	return place ? strtol(place + strlen(name), NULL, 10) : 0;
}

static void read_self(struct probe_host *host)
{
	char text[TEXT_MAX], inside[16] = "", outside[16] = "", count[16] = "";
	read_text("/proc/self/status", text, sizeof text);
	host->is_filtered = status_value(text, "\nSeccomp:\t") == 2;
	host->has_no_new_privs = status_value(text, "\nNoNewPrivs:\t") == 1;
	probe_read_line("/proc/self/uid_map", text, sizeof text);
	host->is_in_user_namespace =
		sscanf(text, "%15s %15s %15s", inside, outside, count) == 3 &&
		(strcmp(inside, "0") != 0 || strcmp(outside, "0") != 0 || strcmp(count, "4294967295") != 0);
}

void probe_host_read(struct probe_host *host)
{
	memset(host, 0, sizeof *host);
	read_distribution(host);
	read_kernel(host);
	read_container(host);
	read_modules(host);
	read_self(host);
}

bool probe_host_is_at_least(const struct probe_host *host, unsigned major, unsigned minor)
{
	/* Do not blame the kernel's age if its version cannot be read. */
	return version_is_at_least(host->release, major, minor, true);
}
