/* SPDX-License-Identifier: Apache-2.0 */
/* Removes old records. The ledger then begins with a line that has the number of removed runs and
 * the hash of the last removed line, so that the chain continues from it. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include "common/base/cleanup.h"
#include "common/base/private_file.h"
#include "common/record/internal.h"
#include "common/state/state.h"

enum { LEDGER_MAX = 64 << 20 };

/* Returns 1 if the file was removed. A run that has not ended holds a lock on it. */
static unsigned remove_file(int month, const char *name)
{
	autoclose int fd = record_open_file(month, name, O_RDONLY);
	if (fd < 0 || flock(fd, LOCK_EX | LOCK_NB) < 0)
		return 0;
	return unlinkat(month, name, 0) == 0;
}

static unsigned prune_month(int log, const char *name, uint64_t cutoff)
{
	struct error ignored = { 0 };
	int fd = state_enter(log, name, name, false, &ignored);
	autoclosedir DIR *stream = fd < 0 ? NULL : fdopendir(fd);
	const struct dirent *entry;
	unsigned removed = 0;

	if (!stream && fd >= 0)
		close(fd);
	while (stream && (entry = readdir(stream))) {
		uint64_t ms;
		if (strlen(entry->d_name) == RECORD_NAME && strcmp(entry->d_name + RECORD_ID, RECORD_SUFFIX) == 0 &&
		    record_is_id(entry->d_name, RECORD_ID, &ms) && ms < cutoff)
			removed += remove_file(fd, entry->d_name);
	}
	if (removed > 0)
		(void)unlinkat(log, name, AT_REMOVEDIR); /* unless it has other files */
	return removed;
}

static unsigned prune_files(int log, uint64_t cutoff)
{
	int copy = openat(log, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	autoclosedir DIR *stream = copy < 0 ? NULL : fdopendir(copy);
	char newest[RECORD_MONTH + 1];
	const struct dirent *entry;
	unsigned removed = 0;

	if (!stream && copy >= 0)
		close(copy);
	record_month(cutoff, newest);
	while (stream && (entry = readdir(stream)))
		if (record_is_month(entry->d_name) && strcmp(entry->d_name, newest) <= 0)
			removed += prune_month(log, entry->d_name, cutoff);
	return removed;
}

/* Returns the string of a member of a ledger line, which ends at the next quote. */
static bool find_member(const char *line, size_t length, const char *name, char *value, size_t size)
{
	const char *at = memmem(line, length, name, strlen(name));
	const char *end = at ? memchr(at + strlen(name), '"', length - (size_t)(at - line) - strlen(name)) : NULL;
	if (!end || (size_t)(end - at) - strlen(name) >= size)
		return false;
	memcpy(value, at + strlen(name), (size_t)(end - at) - strlen(name));
	value[(size_t)(end - at) - strlen(name)] = '\0';
	return true;
}

/* The lines at the start of the ledger that go. */
struct removed_lines {
	size_t bytes;
	uint64_t runs;
	char hash[SHA256_HEX + 1];
};

static uint64_t number_after(const char *line, size_t length, const char *name)
{
	const char *at = memmem(line, length, name, strlen(name));
	return at ? strtoull(at + strlen(name), NULL, 10) : 0;
}

/* Lines of runs that ended before the cutoff, and the note of an earlier removal. */
static void find_removed(const char *bytes, size_t length, uint64_t cutoff, struct removed_lines *removed)
{
	memcpy(removed->hash, record_no_hash, sizeof removed->hash);
	while (removed->bytes < length) {
		const char *line = bytes + removed->bytes, *newline = memchr(line, '\n', length - removed->bytes);
		size_t size = newline ? (size_t)(newline - line) : 0;
		char time[RECORD_TIME + 1], event[32];
		if (!newline || !find_member(line, size, "\"event\":\"", event, sizeof event) ||
		    !find_member(line, size, "\"time\":\"", time, sizeof time))
			return;
		if (strcmp(event, "ledger.pruned") == 0)
			removed->runs += number_after(line, size, "\"runs\":");
		else if (record_time_ms(time) < 0 || (uint64_t)record_time_ms(time) >= cutoff)
			return;
		else
			removed->runs++;
		ledger_hash(line, size, removed->hash);
		removed->bytes += size + 1;
	}
}

static void add_note(const struct removed_lines *removed, uint64_t cutoff, struct timespec now, struct text *out)
{
	const struct timespec before = { .tv_sec = (time_t)(cutoff / 1000), .tv_nsec = (long)(cutoff % 1000) * 1000000 };
	struct json json = { .out = out, .is_compact = true };
	char time[RECORD_TIME + 1], limit[RECORD_TIME + 1];

	record_time(now, time);
	record_time(before, limit);
	json_object(&json, NULL);
	json_number(&json, "v", RECORD_VERSION);
	json_string(&json, "event", "ledger.pruned");
	json_string(&json, "time", time);
	json_string(&json, "before", limit);
	json_number(&json, "runs", removed->runs);
	json_string(&json, "prev", removed->hash);
	json_object_end(&json);
}

/* The lock of the old file is held until the new one has its name; other runs that wait for it find
 * that it was replaced. */
static void prune_ledger(struct record *record, uint64_t cutoff, struct timespec now)
{
	const struct private_file_options options = { .mode = 0600 };
	struct removed_lines removed = { 0 };
	struct private_file file = { 0 };
	struct text out = { 0 };

	if (ledger_lock(record->log, &record->head) < 0 || lseek(record->head, 0, SEEK_SET) < 0 ||
	    private_file_read_fd(NULL, record->head, LEDGER_MAX, &file) < 0)
		return;
	find_removed(file.bytes, file.length, cutoff, &removed);
	add_note(&removed, cutoff, now, &out);
	text_add_n(&out, file.bytes + removed.bytes, file.length - removed.bytes);
	if (state_may_write(out.length))
		(void)private_file_write(record->log, RECORD_LEDGER, out.data, out.length, &options);
	text_free(&out);
	free(file.bytes);
}

void record_remove_old(struct record *record, uint64_t cutoff_ms, struct timespec now)
{
	if (prune_files(record->log, cutoff_ms) > 0)
		prune_ledger(record, cutoff_ms, now);
}
