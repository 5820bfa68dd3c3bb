/* SPDX-License-Identifier: Apache-2.0 */
/* Writes one run's file. Each line is one write at the end of the file: after a crash the last one
 * is complete or cut, and the chain before it is valid. */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "common/record/internal.h"
#include "common/state/state.h"

enum {
	/* Of the file, for the lines that end it whatever its size. */
	SIZE_RESERVE = 64 << 10,
};

static const char *const event_names[RECORD_EVENT_COUNT] = {
	[RECORD_RUN_START] = "run.start",
	[RECORD_NET] = "net",
	[RECORD_FILE_DENIED] = "file.denied",
	[RECORD_GIT] = "git",
	[RECORD_PLANT] = "plant",
	[RECORD_REPAIR] = "repair",
	[RECORD_LIMIT] = "limit",
	[RECORD_RUN_END] = "run.end",
	[RECORD_LOG_FOLDED] = "log.folded",
	[RECORD_LOG_CUT] = "log.cut",
};

const char *record_event_name(enum record_event event)
{
	return event_names[event];
}

static int64_t monotonic_ns(void)
{
	struct timespec now = { 0 };
	clock_gettime(CLOCK_MONOTONIC, &now);
	return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

static void close_all(struct record *record)
{
	int *const fds[] = { &record->log, &record->file, &record->head };
	for (size_t i = 0; i < sizeof fds / sizeof fds[0]; i++) {
		if (*fds[i] >= 0)
			close(*fds[i]);
		*fds[i] = -1;
	}
}

static void fail(struct record *record, int number, const char *what)
{
	if (!error_is_set(&record->failure))
		error_errno(&record->failure, number, "cannot write the record of this run: %s", what);
}

/* Opens the directory of the log and that of the month. */
static int open_directories(struct record *record, bool is_creating, int *month, struct error *err)
{
	const char *state = record->options.state_directory;
	const char *shown = arena_printf(record->arena, "%s/" RECORD_DIRECTORY, state);
	char name[RECORD_MONTH + 1];
	uint64_t ms = 0;
	int top = state_open(record->arena, state, is_creating, err);

	if (top < 0)
		return -1;
	record->log = state_enter(top, RECORD_DIRECTORY, shown, is_creating, err);
	close(top);
	if (record->log < 0)
		return -1;
	(void)record_is_id(record->id, RECORD_ID, &ms);
	record_month(ms, name);
	*month = state_enter(record->log, name, arena_printf(record->arena, "%s/%s", shown, name), is_creating, err);
	return *month < 0 ? -1 : 0;
}

static int open_all(struct record *record, int flags, struct error *err)
{
	char name[RECORD_NAME + 1];
	struct stat info;
	int month;

	memcpy(name, record->id, RECORD_ID);
	memcpy(name + RECORD_ID, RECORD_SUFFIX, sizeof RECORD_SUFFIX);
	if (open_directories(record, flags & O_CREAT, &month, err) < 0)
		return -1;
	record->file = record_open_file(month, name, flags | O_WRONLY | O_APPEND);
	close(month);
	if (record->file < 0 || fstat(record->file, &info) < 0)
		return error_errno(err, errno, "cannot create a file in %s/" RECORD_DIRECTORY, record->options.state_directory);
	if (!(flags & O_CREAT) && (info.st_dev != record->device || info.st_ino != record->inode))
		return error_set(err, "the record of this run was replaced");
	record->device = info.st_dev;
	record->inode = info.st_ino;
	/* Marks a run that has not ended. File systems without locks have no such mark. */
	(void)flock(record->file, LOCK_SH | LOCK_NB);
	record->head = record_open_file(record->log, RECORD_LEDGER, O_RDWR | O_APPEND | O_CREAT);
	if (record->head < 0)
		return error_errno(err, errno, "cannot open %s/" RECORD_DIRECTORY "/" RECORD_LEDGER,
				   record->options.state_directory);
	return 0;
}

int record_begin(struct record *record, struct arena *arena, const struct record_options *options, struct error *err)
{
	struct timespec now = { 0 };

	*record = (struct record){ .arena = arena, .options = *options, .log = -1, .file = -1, .head = -1 };
	clock_gettime(CLOCK_REALTIME, &now);
	record->started_ns = monotonic_ns();
	if (record_new_id(now, record->id) < 0)
		return error_errno(err, errno, "cannot make a run id");
	if (open_all(record, O_CREAT | O_EXCL, err) < 0) {
		close_all(record);
		return -1;
	}
	if (ledger_tail(record->head, record->prev) < 0) {
		error_errno(err, errno, "cannot read %s/" RECORD_DIRECTORY "/" RECORD_LEDGER, options->state_directory);
		close_all(record);
		return -1;
	}
	record->has_begun = true;
	return 0;
}

void record_park(struct record *record)
{
	close_all(record);
}

void record_resume(struct record *record)
{
	struct error err = { 0 };
	if (!record->has_begun || record->file >= 0 || open_all(record, 0, &err) == 0)
		return;
	close_all(record);
	if (!error_is_set(&record->failure))
		record->failure = err;
}

static void start_line(const struct record *record, enum record_event event, struct text *line, struct json *json)
{
	struct timespec now = { 0 };
	char time[RECORD_TIME + 1];

	clock_gettime(CLOCK_REALTIME, &now);
	record_time(now, time);
	line->length = 0;
	*json = (struct json){ .out = line, .is_compact = true };
	json_object(json, NULL);
	json_number(json, "v", RECORD_VERSION);
	json_string(json, "run", record->id);
	json_number(json, "seq", record->seq);
	json_string(json, "time", time);
	json_number(json, "mono", (uint64_t)monotonic_ns());
	json_string(json, "event", event_names[event]);
	json_string(json, "prev", record->prev);
}

/* A line that was written in part is removed again: otherwise the next one would be a part of
 * it. */
static void append(struct record *record, const struct text *line, bool is_last)
{
	if (record->file < 0) {
		record->lost++;
		return;
	}
	if (!state_may_write(record->size + line->length)) {
		record->lost++;
		fail(record, EFBIG, "the caller's limit on file sizes");
		return;
	}
	if (text_write(record->file, line->data, line->length) < 0) {
		record->lost++;
		fail(record, errno, "the line was not written");
		if (ftruncate(record->file, (off_t)record->size) < 0)
			close_all(record);
		return;
	}
	if (is_last && record->options.is_synced && fsync(record->file) < 0)
		fail(record, errno, "the disk did not confirm it");
	record->size += line->length;
	record->seq++;
	record_hash(line->data, line->length - 1, record->prev);
}

/* Writes a line about events that are not in the record. */
static void add_note(struct record *record, enum record_event event, enum record_event about, uint64_t count)
{
	struct text line = { 0 };
	struct json json;
	start_line(record, event, &line, &json);
	if (event == RECORD_LOG_FOLDED) {
		json_string(&json, "of", event_names[about]);
		json_number(&json, "count", count);
	} else {
		json_number(&json, "size", record->size);
	}
	json_object_end(&json);
	append(record, &line, false);
	text_free(&line);
}

static void add_folded(struct record *record)
{
	for (int i = 0; i < RECORD_EVENT_COUNT; i++) {
		if (record->folded[i] > 0)
			add_note(record, RECORD_LOG_FOLDED, (enum record_event)i, record->folded[i]);
		record->folded[i] = 0;
	}
}

/* The first and the last line are written whatever the rate and the size. */
static bool is_frame(enum record_event event)
{
	return event == RECORD_RUN_START || event == RECORD_RUN_END;
}

/* True if too many lines came in this second. */
static bool is_too_fast(struct record *record)
{
	int64_t second = monotonic_ns() / 1000000000;
	if (second != record->second) {
		record->second = second;
		record->in_second = 0;
		if (record->cut == 0)
			add_folded(record);
	}
	return record->in_second++ >= RECORD_RATE;
}

struct json *record_event(struct record *record, enum record_event event)
{
	/* Notes come before the line is made: it continues the chain after them. */
	if (record->has_begun && event == RECORD_RUN_END)
		add_folded(record);
	record->is_folded = record->has_begun && !is_frame(event) && is_too_fast(record);
	record->event = event;
	start_line(record, event, &record->line, &record->json);
	return &record->json;
}

void record_write(struct record *record)
{
	enum record_event event = record->event;

	json_object_end(&record->json);
	record->counts[event]++;
	if (!record->has_begun)
		return;
	if (!is_frame(event) && record->size + record->line.length > RECORD_SIZE_MAX - SIZE_RESERVE) {
		if (record->cut++ == 0)
			add_note(record, RECORD_LOG_CUT, event, 0);
		return;
	}
	if (record->is_folded)
		record->folded[event]++;
	else
		append(record, &record->line, is_frame(event));
}

void record_add_counts(const struct record *record, struct json *json)
{
	json_object(json, "counts");
	for (int i = RECORD_RUN_START + 1; i < RECORD_RUN_END; i++)
		if (record->counts[i] > 0)
			json_number(json, event_names[i], record->counts[i]);
	json_object_end(json);
	json_number(json, "duration_ms", (uint64_t)((monotonic_ns() - record->started_ns) / 1000000));
	json_number(json, "cut", record->cut);
	json_number(json, "lost", record->lost);
}

/* Once a day: the time of this file is that of the last removal. */
static void prune(struct record *record, struct timespec now)
{
	static const char stamp[] = "pruned";
	uint64_t now_ms = (uint64_t)now.tv_sec * 1000, keep = record->options.keep_ms;
	struct stat info;
	int fd;

	if (fstatat(record->log, stamp, &info, AT_SYMLINK_NOFOLLOW) == 0 && now.tv_sec >= info.st_mtime &&
	    now.tv_sec - info.st_mtime < 86400)
		return;
	fd = record_open_file(record->log, stamp, O_WRONLY | O_CREAT);
	if (fd < 0)
		return;
	(void)futimens(fd, NULL);
	close(fd);
	if (keep > 0 && now_ms > keep)
		record_remove_old(record, now_ms - keep, now);
}

bool record_end(struct record *record)
{
	struct timespec now = { 0 };

	if (record->has_begun && record->file >= 0 && record->seq > 0) {
		clock_gettime(CLOCK_REALTIME, &now);
		if (ledger_add(record, now) < 0)
			fail(record, errno, "the ledger");
		else if (record->options.is_synced && fsync(record->head) < 0)
			fail(record, errno, "the disk did not confirm it");
		prune(record, now);
	}
	close_all(record);
	text_free(&record->line);
	record->has_begun = false;
	return record->lost == 0 && !error_is_set(&record->failure);
}
