/* SPDX-License-Identifier: Apache-2.0 */
/* Cheap before all: what a plan's key is made of is looked at afterwards. There are as many names as slots for plans, 256. */
#include "common/cache/prefork_hint.h"

#include <fcntl.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/base/checksum.h"

static uint64_t add(uint64_t sum, const char *text)
{
	return sum * 31 + checksum_of(text, strlen(text));
}

/* Plans are stored in one place only. */
static bool is_elsewhere(const char *state, const char *home)
{
	size_t length = strlen(home);
	return state && state[0] && (strncmp(state, home, length) != 0 || strcmp(state + length, "/.local/state") != 0);
}

void plan_guess_read(char *const *words, struct plan_guess *guess)
{
	const char *home = getenv("HOME");
	char directory[PATH_MAX], path[PATH_MAX];
	uint64_t sum = 0;
	int length;

	*guess = (struct plan_guess){ 0 };
	if (!home || is_elsewhere(getenv("XDG_STATE_HOME"), home) || !getcwd(directory, sizeof directory))
		return;
	sum = add(sum, directory);
	for (; *words; words++)
		sum = add(sum, *words);
	snprintf(guess->name, sizeof guess->name, ".begin-%02x", (unsigned)(sum * 0x9e3779b97f4a7c15u >> 56));
	length = snprintf(path, sizeof path, "%s/.local/state/berm/plans/%s", home, guess->name);
	guess->can_begin = length > 0 && (size_t)length < sizeof path && access(path, F_OK) == 0;
}

void plan_guess_write(const struct plan_guess *guess, int plans, bool can_begin)
{
	int fd;
	if (!can_begin) {
		unlinkat(plans, guess->name, 0);
		return;
	}
	fd = openat(plans, guess->name, O_WRONLY | O_CREAT | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK, 0600);
	if (fd >= 0)
		close(fd);
}
