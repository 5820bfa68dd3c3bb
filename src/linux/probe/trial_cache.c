/* SPDX-License-Identifier: Apache-2.0 */
/* One private file, replaced atomically. Failures are not reported: the trial runs again. */
#include "linux/probe/trial_cache.h"

#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/base/cleanup.h"
#include "common/base/private_file.h"
#include "common/base/sha256.h"
#include "common/context/identity.h"
#include "common/state/state.h"

enum { FORMAT = 1 };

struct stored {
	char magic[8];
	char key[SHA256_HEX];
	struct trial trial;
	char sum[SHA256_HEX]; /* of the members before it; against damage */
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

bool trial_cache_key(const struct probe_host *host, bool has_host_network, char key[SHA256_HEX + 1])
{
	static const char *const namespaces[] = { "/proc/self/ns/user", "/proc/self/ns/mnt", "/proc/self/ns/pid",
						  "/proc/self/ns/net", "/proc/self/ns/cgroup" };
	struct sha256 hash;
	char group[512];
	unsigned numbers[] = { FORMAT, sizeof(struct stored), STAGE_COUNT, getuid(), getgid(), has_host_network };

	/* One filter cannot be distinguished from another. Other kinds of sandbox set
	 * no_new_privs. */
	if (host->is_filtered || host->has_no_new_privs)
		return false;
	sha256_start(&hash);
	if (!identity_add_boot(&hash) || !identity_add_program(&hash))
		return false;
	add(&hash, numbers, sizeof numbers);
	add(&hash, host, sizeof *host);
	probe_read_line("/proc/self/cgroup", group, sizeof group);
	add(&hash, group, strlen(group));
	if (!add_link(&hash, "/proc/self/root"))
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

bool trial_cache_load(struct arena *arena, const char *state_directory, const char *key, struct trial *trial)
{
	struct error ignored;
	struct stored stored = { 0 };
	struct private_file file;
	char sum[SHA256_HEX + 1];
	autoclose int directory = state_open(arena, state_directory, false, &ignored);

	if (directory < 0 || private_file_read(arena, directory, "probe", PRIVATE_FILE_OWN, sizeof stored, &file) < 0 ||
	    file.length != sizeof stored)
		return false;
	memcpy(&stored, file.bytes, sizeof stored);
	sum_of(&stored, sum);
	if (memcmp(stored.magic, magic, sizeof magic) != 0 || memcmp(stored.sum, sum, SHA256_HEX) != 0 ||
	    memcmp(stored.key, key, SHA256_HEX) != 0)
		return false;
	*trial = stored.trial;
	return true;
}

void trial_cache_save(struct arena *arena, const char *state_directory, const char *key, const struct trial *trial)
{
	struct error ignored;
	struct stored stored = { 0 };
	char sum[SHA256_HEX + 1];
	autoclose int directory = state_open(arena, state_directory, false, &ignored);

	if (directory < 0)
		return;
	memcpy(stored.magic, magic, sizeof magic);
	memcpy(stored.key, key, SHA256_HEX);
	stored.trial = *trial;
	sum_of(&stored, sum);
	memcpy(stored.sum, sum, SHA256_HEX);
	(void)private_file_write(directory, "probe", &stored, sizeof stored, &(struct private_file_options){ .mode = 0600 });
}
