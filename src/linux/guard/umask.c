/* SPDX-License-Identifier: Apache-2.0 */
/* Tracks umasks. A value that was read is used again while no process has called umask() since, and
 * for a short time only, in which no pid can be used again. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/base/cleanup.h"
#include "common/base/clock.h"
#include "linux/guard/caller.h"

enum { STATUS_BYTES = 4096, VALID_MS = 100, PRIVATE_MASK = 077 };

void caller_umasks_begin(struct caller_umasks *umasks, mode_t initial)
{
	memset(umasks, 0, sizeof *umasks);
	pthread_mutex_init(&umasks->lock, NULL);
	umasks->initial = initial;
}

void caller_umasks_end(struct caller_umasks *umasks)
{
	pthread_mutex_destroy(&umasks->lock);
}

/* Also reports whether other threads of the caller could change it meanwhile. */
static mode_t read_mask(pid_t caller, bool *is_alone)
{
	char path[64], text[STATUS_BYTES];
	const char *mask, *threads;
	autoclose int status = -1;
	ssize_t length;
	*is_alone = false;
	snprintf(path, sizeof path, "/proc/%d/status", (int)caller);
	status = open(path, O_RDONLY | O_CLOEXEC);
	length = status < 0 ? -1 : read(status, text, sizeof text - 1);
	if (length <= 0)
		return PRIVATE_MASK;
	text[length] = '\0';
	mask = strstr(text, "\nUmask:");
	threads = strstr(text, "\nThreads:");
	*is_alone = threads && strtol(threads + 9, NULL, 10) == 1;
	return mask ? (mode_t)strtol(mask + 7, NULL, 8) : PRIVATE_MASK;
}

static mode_t mask_of(struct caller_umasks *umasks, pid_t caller)
{
	size_t at = (size_t)caller % CALLER_UMASKS;
	int64_t now = clock_ms();
	bool is_alone;
	mode_t mask;
	if (umasks->known[at].caller == caller && umasks->known[at].generation == umasks->generation &&
	    now - umasks->known[at].read_at < VALID_MS)
		return umasks->known[at].mask;
	mask = read_mask(caller, &is_alone);
	umasks->known[at].caller = is_alone ? caller : 0;
	umasks->known[at].generation = umasks->generation;
	umasks->known[at].mask = mask;
	umasks->known[at].read_at = now;
	return mask;
}

void caller_umask_take(struct caller_umasks *umasks, pid_t caller, mode_t *current)
{
	mode_t mask = umasks->initial;
	if (umasks->is_changed) {
		pthread_mutex_lock(&umasks->lock);
		mask = mask_of(umasks, caller);
		pthread_mutex_unlock(&umasks->lock);
	}
	if (mask == *current)
		return;
	umask(mask);
	*current = mask;
}

void caller_umask_note(struct caller_umasks *umasks, uint64_t mask)
{
	pthread_mutex_lock(&umasks->lock);
	umasks->generation++;
	pthread_mutex_unlock(&umasks->lock);
	if ((mask & 0777) != umasks->initial)
		umasks->is_changed = true;
}
