/* SPDX-License-Identifier: Apache-2.0 */
#include "common/record/reader.h"

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

enum { FILE_MAX = 80 << 20, WORD_MIN = 4 };

/* Returns the fd of the log, or -1; err is not set if there is none. */
static int open_log(struct arena *arena, const char *state_directory, struct error *err)
{
	autoclose int top = state_open(arena, state_directory, false, err);
	int log = top < 0 ? -1
			  : state_enter(top, RECORD_DIRECTORY, arena_printf(arena, "%s/" RECORD_DIRECTORY, state_directory),
					false, err);
	if (log < 0 && err->number == ENOENT)
		*err = (struct error){ 0 };
	return log;
}

static void list_month(struct arena *arena, int log, const char *month, struct record_names *names)
{
	struct error ignored = { 0 };
	int fd = state_enter(log, month, month, false, &ignored);
	autoclosedir DIR *stream = fd < 0 ? NULL : fdopendir(fd);
	const struct dirent *entry;

	if (!stream && fd >= 0)
		close(fd);
	while (stream && (entry = readdir(stream))) {
		struct record_name *name;
		if (strlen(entry->d_name) != RECORD_NAME || strcmp(entry->d_name + RECORD_ID, RECORD_SUFFIX) != 0 ||
		    !record_is_id(entry->d_name, RECORD_ID, NULL))
			continue;
		name = arena_push(arena, names);
		memcpy(name->id, entry->d_name, RECORD_ID);
		name->month = month;
	}
}

static int compare_names(const void *left, const void *right)
{
	const struct record_name *one = left, *other = right;
	return strcmp(other->id, one->id);
}

int record_runs(struct arena *arena, const char *state_directory, struct record_names *names, struct error *err)
{
	int log = open_log(arena, state_directory, err);
	autoclosedir DIR *stream = log < 0 ? NULL : fdopendir(log);
	const struct dirent *entry;

	*names = (struct record_names){ 0 };
	if (log < 0)
		return error_is_set(err) ? -1 : 0;
	if (!stream) {
		close(log);
		return error_errno(err, errno, "cannot list %s/" RECORD_DIRECTORY, state_directory);
	}
	while ((entry = readdir(stream)))
		if (record_is_month(entry->d_name))
			list_month(arena, log, arena_copy(arena, entry->d_name), names);
	if (names->count > 0)
		qsort(names->items, names->count, sizeof *names->items, compare_names);
	return 0;
}

int record_find(const struct record_names *names, const char *word, const struct record_name **name, struct error *err)
{
	size_t length = strlen(word);
	*name = NULL;
	for (size_t i = 0; length >= WORD_MIN && i < names->count; i++) {
		const char *id = names->items[i].id;
		if (!text_starts_with(id, word) && !text_ends_with(id, word))
			continue;
		if (*name) {
			error_set(err, "several runs have `%s`, for example %s and %s", word, (*name)->id, id);
			return error_hint(err, "give more of the id");
		}
		*name = &names->items[i];
	}
	if (*name)
		return 0;
	error_set(err, "there is no record of a run `%s`", word);
	return error_hint(err, "`berm log list` shows the runs; an id can be shortened to its last %d characters", WORD_MIN);
}

static void parse_line(struct arena *arena, struct record_line *line)
{
	struct error ignored = { 0 };
	const struct jsonc_value *event;

	line->event = "";
	if (jsonc_parse(arena, JSONC_STRICT, "line", (struct jsonc_text){ line->bytes, line->length }, &line->value, &ignored) <
		    0 ||
	    line->value.type != JSONC_OBJECT)
		return;
	line->is_valid = true;
	event = jsonc_member(&line->value, "event");
	if (event && event->type == JSONC_STRING)
		line->event = event->string;
}

void record_parse(struct arena *arena, const char *id, const char *bytes, size_t length, struct record_run *run)
{
	*run = (struct record_run){ .id = id };
	(void)record_is_id(id, strlen(id), &run->ms);
	while (length > 0) {
		const char *newline = memchr(bytes, '\n', length);
		struct record_line *line;
		size_t size;
		if (!newline) {
			run->cut = length;
			break;
		}
		size = (size_t)(newline - bytes);
		line = arena_push(arena, &run->lines);
		*line = (struct record_line){ .bytes = bytes, .length = size };
		parse_line(arena, line);
		run->damaged += !line->is_valid;
		bytes += size + 1;
		length -= size + 1;
	}
	for (size_t i = 0; i < run->lines.count; i++) {
		const struct record_line *line = &run->lines.items[i];
		if (strcmp(line->event, "run.start") == 0 && !run->start)
			run->start = line;
		else if (strcmp(line->event, "run.end") == 0)
			run->end = line;
	}
}

static int read_file(struct arena *arena, const char *state_directory, const struct record_name *name, bool *is_running,
		     struct private_file *file, struct error *err)
{
	const char *shown =
		arena_printf(arena, "%s/" RECORD_DIRECTORY "/%s/%s" RECORD_SUFFIX, state_directory, name->month, name->id);
	autoclose int log = open_log(arena, state_directory, err);
	autoclose int month = log < 0 ? -1 : state_enter(log, name->month, name->month, false, err);
	autoclose int fd =
		month < 0 ? -1 : record_open_file(month, arena_printf(arena, "%s" RECORD_SUFFIX, name->id), O_RDONLY);

	if (error_is_set(err))
		return -1;
	if (fd < 0 || private_file_read_fd(arena, fd, FILE_MAX, file) < 0)
		return error_errno(err, errno, "cannot read %s", shown);
	*is_running = flock(fd, LOCK_EX | LOCK_NB) < 0 && errno == EWOULDBLOCK;
	return 0;
}

int record_read(struct arena *arena, const char *state_directory, const struct record_name *name, struct record_run *run,
		struct error *err)
{
	struct private_file file = { 0 };
	bool is_running = false;
	if (read_file(arena, state_directory, name, &is_running, &file, err) < 0)
		return -1;
	record_parse(arena, name->id, file.bytes, file.length, run);
	run->is_running = is_running;
	return 0;
}

const char *record_value(struct arena *arena, const struct jsonc_value *value)
{
	const struct jsonc_value *encoded;
	size_t length;
	char *bytes;

	if (!value)
		return NULL;
	if (value->type == JSONC_STRING)
		return strlen(value->string) == value->length ? value->string : "(damaged)";
	encoded = value->type == JSONC_OBJECT ? jsonc_member(value, "b64") : NULL;
	if (!encoded || encoded->type != JSONC_STRING)
		return NULL;
	bytes = record_from_base64(arena, encoded->string, &length);
	return bytes && strlen(bytes) == length ? bytes : "(damaged)";
}

const char *record_text(struct arena *arena, const struct jsonc_value *object, const char *name)
{
	return object && object->type == JSONC_OBJECT ? record_value(arena, jsonc_member(object, name)) : NULL;
}

uint64_t record_number(const struct jsonc_value *object, const char *name, uint64_t fallback)
{
	const struct jsonc_value *value = object && object->type == JSONC_OBJECT ? jsonc_member(object, name) : NULL;
	char digits[24] = "";
	uint64_t number;
	if (!value || value->type != JSONC_NUMBER || value->end - value->start >= sizeof digits)
		return fallback;
	memcpy(digits, value->raw, value->end - value->start);
	return text_parse_u64(digits, UINT64_MAX, &number) ? number : fallback;
}

bool record_is(const struct jsonc_value *object, const char *name)
{
	const struct jsonc_value *value = object && object->type == JSONC_OBJECT ? jsonc_member(object, name) : NULL;
	return value && value->type == JSONC_TRUE;
}

const char *record_command(struct arena *arena, const struct record_run *run)
{
	const struct jsonc_value *argv = run->start ? jsonc_member(&run->start->value, "argv") : NULL;
	struct text out = { 0 };
	const char *result;

	for (size_t i = 0; argv && argv->type == JSONC_ARRAY && i < argv->count; i++) {
		const char *word = record_value(arena, &argv->children[i].value);
		text_add(&out, "%s", i > 0 ? " " : "");
		if (word && strcmp(word, "[redacted]") == 0)
			text_add(&out, "%s", word);
		else
			text_add_shell_word(&out, word ? word : "?");
	}
	result = arena_copy(arena, out.data ? out.data : "?");
	text_free(&out);
	return result;
}
