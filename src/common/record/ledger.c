/* SPDX-License-Identifier: Apache-2.0 */
/* The ledger: one line per finished run, each with the hash of the line before. Every berm of the
 * user appends to it, under a lock. A line that a crash cut is removed by the next one. */
#include "common/record/internal.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/state/state.h"

enum {
	TAIL = 2048, /* bytes: more than two lines */
	LOCK_TRIES = 5000,
	LOCK_WAIT_NS = 1000000,
};

void ledger_last(const char *bytes, size_t size, const char **line, size_t *length)
{
	size_t end = size, start;
	while (end > 0 && bytes[end - 1] != '\n')
		end--;
	start = end > 0 ? end - 1 : 0;
	while (start > 0 && bytes[start - 1] != '\n')
		start--;
	*line = bytes + start;
	*length = end > 0 ? end - 1 - start : 0;
}

void ledger_hash(const char *line, size_t length, char hash[SHA256_HEX + 1])
{
	static const char pruned[] = "{\"v\":1,\"event\":\"ledger.pruned\"", prev[] = "\"prev\":\"";
	/* "prev" is the last member of every line. */
	size_t tail = SHA256_HEX + 2, name = sizeof prev - 1;
	if (length == 0) {
		memcpy(hash, record_no_hash, SHA256_HEX + 1);
	} else if (length > sizeof pruned + name + tail && memcmp(line, pruned, sizeof pruned - 1) == 0 &&
		   memcmp(line + length - tail - name, prev, name) == 0) {
		memcpy(hash, line + length - tail, SHA256_HEX);
		hash[SHA256_HEX] = '\0';
	} else {
		record_hash(line, length, hash);
	}
}

/* *end receives the size without a line that was cut. */
static int read_tail(int head, char hash[SHA256_HEX + 1], off_t *end, off_t *size)
{
	char bytes[TAIL];
	const char *line;
	struct stat info;
	size_t length, wanted;
	ssize_t got;

	if (fstat(head, &info) < 0)
		return -1;
	wanted = info.st_size < TAIL ? (size_t)info.st_size : TAIL;
	got = wanted > 0 ? pread(head, bytes, wanted, info.st_size - (off_t)wanted) : 0;
	if (got < 0 || (size_t)got != wanted) {
		errno = got < 0 ? errno : EIO;
		return -1;
	}
	ledger_last(bytes, wanted, &line, &length);
	ledger_hash(line, length, hash);
	*size = info.st_size;
	*end = info.st_size - (off_t)wanted + (length > 0 ? line + length + 1 - bytes : 0);
	return 0;
}

int ledger_tail(int head, char hash[SHA256_HEX + 1])
{
	off_t end, size;
	return read_tail(head, hash, &end, &size);
}

static bool is_in_place(int log, int head)
{
	struct stat named, open;
	return fstatat(log, RECORD_LEDGER, &named, AT_SYMLINK_NOFOLLOW) == 0 && fstat(head, &open) == 0 &&
	       named.st_dev == open.st_dev && named.st_ino == open.st_ino;
}

/* Never waits for ever: another berm may be stopped while it holds the lock. */
int ledger_lock(int log, int *head)
{
	const struct timespec moment = { .tv_nsec = LOCK_WAIT_NS };
	for (int tries = 0; tries < LOCK_TRIES; tries++) {
		if (*head < 0)
			*head = record_open_file(log, RECORD_LEDGER, O_RDWR | O_APPEND | O_CREAT);
		if (*head < 0)
			return -1;
		if (flock(*head, LOCK_EX | LOCK_NB) == 0) {
			if (is_in_place(log, *head))
				return 0;
			close(*head); /* another berm has replaced it */
			*head = -1;
			continue;
		}
		if (errno != EWOULDBLOCK && errno != EINTR)
			return -1;
		nanosleep(&moment, NULL);
	}
	errno = EAGAIN;
	return -1;
}

static void add_line(const struct record *record, const char *prev, struct timespec now, struct text *out)
{
	struct json json = { .out = out, .is_compact = true };
	char time[RECORD_TIME + 1];

	record_time(now, time);
	json_object(&json, NULL);
	json_number(&json, "v", RECORD_VERSION);
	json_string(&json, "event", "ledger.run");
	json_string(&json, "time", time);
	json_string(&json, "run", record->id);
	json_number(&json, "seq", record->seq - 1);
	json_string(&json, "hash", record->prev);
	json_string(&json, "prev", prev);
	json_object_end(&json);
}

int ledger_add(struct record *record, struct timespec now)
{
	char prev[SHA256_HEX + 1];
	struct text line = { 0 };
	off_t end, size;
	int status;

	if (ledger_lock(record->log, &record->head) < 0 || read_tail(record->head, prev, &end, &size) < 0)
		return -1;
	if (end < size && ftruncate(record->head, end) < 0)
		return -1;
	add_line(record, prev, now, &line);
	if (!state_may_write((size_t)end + line.length)) {
		text_free(&line);
		errno = EFBIG;
		return -1;
	}
	status = text_write(record->head, line.data, line.length);
	if (status < 0) {
		int number = errno;
		(void)!ftruncate(record->head, end);
		errno = number;
	}
	text_free(&line);
	return status;
}
