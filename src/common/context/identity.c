/* SPDX-License-Identifier: Apache-2.0 */
/* Reads /proc only. A part that cannot be read makes the whole key unusable, never weaker. */
#include "common/context/identity.h"

#include <fcntl.h>
#include <stdint.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/base/cleanup.h"
#include "common/base/file_time.h"
#include "version.h"

/* With the terminating NUL, so that two texts cannot run into each other. */
static void add_text(struct sha256 *hash, const char *text)
{
	sha256_add(hash, text, strlen(text) + 1);
}

bool identity_add_program(struct sha256 *hash)
{
	struct stat info;
	uint64_t numbers[5];
	if (stat("/proc/self/exe", &info) < 0)
		return false;
	numbers[0] = (uint64_t)info.st_dev;
	numbers[1] = (uint64_t)info.st_ino;
	numbers[2] = (uint64_t)info.st_size;
	numbers[3] = (uint64_t)info.st_ctim.tv_sec;
	numbers[4] = (uint64_t)info.st_ctim.tv_nsec;
	add_text(hash, BERM_VERSION);
	sha256_add(hash, numbers, sizeof numbers);
	return true;
}

bool identity_add_boot(struct sha256 *hash)
{
	autoclose int fd = openat(AT_FDCWD, "/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC);
	char id[64] = "";
	if (fd < 0 || read(fd, id, sizeof id - 1) <= 0)
		return false;
	add_text(hash, id);
	return true;
}
