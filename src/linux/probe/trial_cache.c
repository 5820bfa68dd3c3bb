/* SPDX-License-Identifier: Apache-2.0 */
/* One private file, whole or absent. Never an error to the user: without it the trial is made again. */
#include "linux/probe/trial_cache.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/base/cleanup.h"
#include "common/base/sha256.h"
#include "common/state/state.h"
#include "version.h"

enum { FORMAT = 1 };

struct stored {
	char magic[8];
	char key[SHA256_HEX];
	struct probe_trial trial;
	char sum[SHA256_HEX]; /* of what stands before it; against damage */
};

static const char magic[8] = "bermprob";

static void add(struct sha256 *hash, const void *bytes, size_t length)
{
	sha256_add(hash, &length, sizeof length);
	sha256_add(hash, bytes, length);
}

static bool add_link(struct sha256 *hash, const char *path)
{
	char target[256];
	ssize_t length = readlink(path, target, sizeof target);
	if (length <= 0)
		return false;
	add(hash, target, (size_t)length);
	return true;
}

static bool add_binary(struct sha256 *hash)
{
	struct stat info;
	if (stat("/proc/self/exe", &info) < 0)
		return false;
	add(hash, BERM_VERSION, strlen(BERM_VERSION));
	add(hash, &info.st_dev, sizeof info.st_dev);
	add(hash, &info.st_ino, sizeof info.st_ino);
	add(hash, &info.st_ctim, sizeof info.st_ctim);
	return true;
}

bool probe_cache_key(const struct probe_host *host, bool has_host_network, char key[SHA256_HEX + 1])
{
	static const char *const namespaces[] = { "/proc/self/ns/user", "/proc/self/ns/mnt", "/proc/self/ns/pid",
						  "/proc/self/ns/net", "/proc/self/ns/cgroup" };
	struct sha256 hash;
	char boot[64], group[512];
	unsigned numbers[] = { FORMAT, sizeof(struct stored), STAGE_COUNT, getuid(), getgid(), has_host_network };

	/* Filters cannot be told apart from within; sandboxes of other kinds announce themselves by no_new_privs. */
	if (host->is_filtered || host->has_no_new_privs)
		return false;
	probe_read_line("/proc/sys/kernel/random/boot_id", boot, sizeof boot);
	if (!boot[0])
		return false;
	sha256_start(&hash);
	add(&hash, boot, strlen(boot));
	add(&hash, numbers, sizeof numbers);
	add(&hash, host, sizeof *host);
	probe_read_line("/proc/self/cgroup", group, sizeof group);
	add(&hash, group, strlen(group));
	if (!add_binary(&hash) || !add_link(&hash, "/proc/self/root"))
		return false;
	for (size_t i = 0; i < sizeof namespaces / sizeof namespaces[0]; i++)
		if (!add_link(&hash, namespaces[i]))
			return false;
	sha256_finish_hex(&hash, key);
	return true;
}

static void sum_of(const struct stored *stored, char sum[SHA256_HEX + 1])
{
	struct sha256 hash;
	sha256_start(&hash);
	sha256_add(&hash, stored, offsetof(struct stored, sum));
	sha256_finish_hex(&hash, sum);
}

bool probe_cache_load(struct arena *arena, const char *state_directory, const char *key, struct probe_trial *trial)
{
	struct error ignored;
	struct stored stored = { 0 };
	struct stat info;
	char sum[SHA256_HEX + 1];
	autoclose int directory = state_open(arena, state_directory, false, &ignored);
	autoclose int fd = directory < 0 ? -1 : openat(directory, "probe", O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK);

	if (fd < 0 || fstat(fd, &info) < 0 || !S_ISREG(info.st_mode) || info.st_uid != geteuid() || (info.st_mode & 077) ||
	    info.st_nlink != 1 || info.st_size != (off_t)sizeof stored)
		return false;
	if (read(fd, &stored, sizeof stored) != (ssize_t)sizeof stored)
		return false;
	sum_of(&stored, sum);
	if (memcmp(stored.magic, magic, sizeof magic) != 0 || memcmp(stored.sum, sum, SHA256_HEX) != 0 ||
	    memcmp(stored.key, key, SHA256_HEX) != 0)
		return false;
	*trial = stored.trial;
	return true;
}

void probe_cache_save(struct arena *arena, const char *state_directory, const char *key, const struct probe_trial *trial)
{
	struct error ignored;
	struct stored stored = { 0 };
	char sum[SHA256_HEX + 1], temporary[64];
	autoclose int directory = state_open(arena, state_directory, false, &ignored);
	autoclose int fd = -1;

	if (directory < 0)
		return;
	memcpy(stored.magic, magic, sizeof magic);
	memcpy(stored.key, key, SHA256_HEX);
	stored.trial = *trial;
	sum_of(&stored, sum);
	memcpy(stored.sum, sum, SHA256_HEX);
	snprintf(temporary, sizeof temporary, ".probe-%ld", (long)getpid());
	unlinkat(directory, temporary, 0); /* of a process of this number that was killed */
	fd = openat(directory, temporary, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (fd < 0)
		return;
	if (write(fd, &stored, sizeof stored) != (ssize_t)sizeof stored ||
	    renameat(directory, temporary, directory, "probe") < 0)
		unlinkat(directory, temporary, 0);
}
