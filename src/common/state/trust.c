/* SPDX-License-Identifier: Apache-2.0 */
/* Writes records of trust atomically and reads them strictly. A record that differs from the
 * format, is not private to the user, or has the name of another path counts as absent. Never reads
 * a policy. */
#include "common/state/trust.h"

#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "common/base/cleanup.h"
#include "common/base/private_file.h"
#include "common/fs/path.h"
#include "common/state/state.h"
#include "common/context/inside.h"
#include "common/base/text.h"

/* A larger content is recorded without its text: only the difference to it cannot be shown. */
enum { TEXT_MAX = 1 << 16, PATH_LENGTH_MAX = 4096, RECORD_MAX = TEXT_MAX + PATH_LENGTH_MAX + 256 };
enum { NAME_SIZE = 2 * SHA256_HEX + 2 };

static const char directory_name[] = "trust";
static const char shown_name[] = "untrusted";

void trust_hash(const char *text, size_t length, char content[SHA256_HEX + 1])
{
	struct sha256 hash;
	sha256_start(&hash);
	sha256_add(&hash, text, length);
	sha256_finish_hex(&hash, content);
}

/* The records of one path have the first part of the name in common. */
static void record_name(const char *path, const char *content, char name[NAME_SIZE])
{
	trust_hash(path, strlen(path), name);
	name[SHA256_HEX] = '-';
	memcpy(name + SHA256_HEX + 1, content, SHA256_HEX + 1);
}

static int open_directory(struct arena *arena, const char *state_directory, const char *name, bool is_creating,
			  struct error *err)
{
	autoclose int state = state_open(arena, state_directory, is_creating, err);
	if (state < 0)
		return -1;
	return state_enter(state, name, path_join(arena, state_directory, name), is_creating, err);
}

/* Path and text have their lengths before them, because they may contain any byte, the path except
 * NUL. */
static void format_record(struct text *out, const char *path, struct trust_text text, const char *content)
{
	size_t length = text.length <= TEXT_MAX ? text.length : 0;
	text_add(out, "berm trust 2\nsha256 %s\ntime %" PRId64 "\npath %zu\ntext %zu\n", content, (int64_t)time(NULL),
		 strlen(path), length);
	text_add_n(out, path, strlen(path));
	text_add_n(out, text.bytes, length);
}

/* Returns the value of a line that starts with `label` and moves past the line; NULL for any other
 * line. */
static char *take_line(char **rest, const char *label)
{
	char *value, *end = strchr(*rest, '\n');
	if (!end || !text_starts_with(*rest, label))
		return NULL;
	value = *rest + strlen(label);
	*end = '\0';
	*rest = end + 1;
	return value;
}

static bool is_hash(const char *text)
{
	return strlen(text) == SHA256_HEX && strspn(text, "0123456789abcdef") == SHA256_HEX;
}

static bool take_number(char **rest, const char *label, uint64_t maximum, uint64_t *number)
{
	const char *value = take_line(rest, label);
	return value && text_parse_u64(value, maximum, number);
}

/* True if the text of a record is the recorded content, or there is none. */
static bool has_valid_text(const struct trust_entry *entry)
{
	char content[SHA256_HEX + 1];
	if (!entry->text)
		return true;
	trust_hash(entry->text, entry->length, content);
	return strcmp(content, entry->content) == 0;
}

static bool parse_record(struct arena *arena, char *text, size_t length, struct trust_entry *entry)
{
	char *rest = text, *first = take_line(&rest, "berm trust 2"), *content;
	uint64_t seconds, path_length, text_length;

	content = first && !first[0] ? take_line(&rest, "sha256 ") : NULL;
	if (!content || !is_hash(content) || !take_number(&rest, "time ", INT64_MAX, &seconds) ||
	    !take_number(&rest, "path ", PATH_LENGTH_MAX, &path_length) || !take_number(&rest, "text ", TEXT_MAX, &text_length))
		return false;
	if ((size_t)(rest - text) + path_length + text_length != length || rest[0] != '/' || memchr(rest, '\0', path_length))
		return false;
	entry->path = arena_copy_n(arena, rest, path_length);
	entry->text = text_length > 0 ? rest + path_length : NULL;
	entry->length = text_length;
	entry->time = (int64_t)seconds;
	memcpy(entry->content, content, sizeof entry->content);
	return has_valid_text(entry);
}

static bool read_record(struct arena *arena, int directory, const char *name, struct trust_entry *entry)
{
	char expected[NAME_SIZE];
	struct private_file file;

	if (private_file_read(arena, directory, name, PRIVATE_FILE_OWN, RECORD_MAX, &file) < 0)
		return false;
	if (!parse_record(arena, file.bytes, file.length, entry))
		return false;
	record_name(entry->path, entry->content, expected);
	return strcmp(expected, name) == 0;
}

bool trust_is_recorded(struct arena *arena, const char *state_directory, const char *path, const char *content)
{
	char name[NAME_SIZE];
	struct trust_entry entry;
	struct error ignored;
	autoclose int directory = open_directory(arena, state_directory, directory_name, false, &ignored);

	if (directory < 0 || !is_hash(content))
		return false;
	record_name(path, content, name);
	return read_record(arena, directory, name, &entry) && strcmp(entry.path, path) == 0 &&
	       strcmp(entry.content, content) == 0;
}

/* Inside a sandbox the state directory is a different one, read-only or absent. */
static int explain_unwritable(int number, const char *state_directory, struct error *err)
{
	error_errno(err, number, "cannot record trust in %s", state_directory);
	if (number == EROFS || number == EACCES || number == EPERM)
		error_hint(err, "trust can be recorded only outside of sandboxes: run this in your own terminal");
	return -1;
}

/* Removes the records of this path beyond the newest ones. */
static void limit_contents(struct arena *arena, const char *state_directory, int directory, const char *path)
{
	struct trust_entries entries;
	struct error ignored = { 0 };
	size_t count = 0;

	if (trust_list(arena, state_directory, &entries, &ignored) < 0)
		return;
	for (size_t i = 0; i < entries.count; i++) {
		char name[NAME_SIZE];
		if (strcmp(entries.items[i].path, path) != 0 || ++count <= TRUST_CONTENTS_MAX)
			continue;
		record_name(path, entries.items[i].content, name);
		unlinkat(directory, name, 0);
	}
}

int trust_record(struct arena *arena, const char *state_directory, const char *path, struct trust_text text, struct error *err)
{
	autoclose int directory = open_directory(arena, state_directory, directory_name, true, err);
	const struct private_file_options options = { .mode = 0600, .is_synced = true };
	char content[SHA256_HEX + 1], name[NAME_SIZE];
	struct text record = { 0 };
	int status, number;

	if (directory < 0)
		return err->number ? explain_unwritable(err->number, state_directory, err) : -1;
	if (strlen(path) > PATH_LENGTH_MAX)
		return error_set(err, "%s: the path is too long", path);
	trust_hash(text.bytes, text.length, content);
	record_name(path, content, name);
	format_record(&record, path, text, content);
	status = private_file_write(directory, name, record.data, record.length, &options);
	number = errno;
	text_free(&record);
	if (status < 0)
		return explain_unwritable(number, state_directory, err);
	limit_contents(arena, state_directory, directory, path);
	return 0;
}

/* Opens the directory of the records as a stream. NULL, with err if it is not just absent. */
static DIR *open_stream(struct arena *arena, const char *state_directory, struct error *err)
{
	DIR *stream;
	int directory = open_directory(arena, state_directory, directory_name, false, err);

	if (directory < 0) {
		if (err->number == ENOENT)
			*err = (struct error){ 0 };
		return NULL;
	}
	stream = fdopendir(directory);
	if (!stream) {
		error_errno(err, errno, "cannot read %s", state_directory);
		close(directory);
	}
	return stream;
}

/* Removes by name, so that damaged records go too. */
int trust_drop(struct arena *arena, const char *state_directory, const char *path, const char *content, struct error *err)
{
	autoclosedir DIR *stream = open_stream(arena, state_directory, err);
	char hash[SHA256_HEX + 1];
	const struct dirent *found;
	const char *prefix;
	int count = 0;

	if (!stream)
		return error_is_set(err) ? -1 : 0;
	trust_hash(path, strlen(path), hash);
	prefix = arena_printf(arena, "%s-%s", hash, content ? content : "");
	while ((found = readdir(stream))) {
		if (!text_starts_with(found->d_name, prefix))
			continue;
		if (unlinkat(dirfd(stream), found->d_name, 0) == 0)
			count++;
		else if (errno != ENOENT) /* else another process removed it */
			return explain_unwritable(errno, state_directory, err);
	}
	if (count > 0 && fsync(dirfd(stream)) < 0)
		return explain_unwritable(errno, state_directory, err);
	return count;
}

static int compare_entries(const void *left, const void *right)
{
	const struct trust_entry *a = left, *b = right;
	int order = strcmp(a->path, b->path);
	if (order == 0)
		order = (a->time < b->time) - (a->time > b->time);
	return order ? order : strcmp(a->content, b->content);
}

int trust_list(struct arena *arena, const char *state_directory, struct trust_entries *entries, struct error *err)
{
	autoclosedir DIR *stream = open_stream(arena, state_directory, err);
	const struct dirent *found;

	*entries = (struct trust_entries){ 0 };
	if (!stream)
		return error_is_set(err) ? -1 : 0;
	while ((found = readdir(stream))) {
		struct trust_entry entry = { 0 };
		if (found->d_name[0] == '.')
			continue;
		if (read_record(arena, dirfd(stream), found->d_name, &entry))
			*arena_push(arena, entries) = entry;
		else
			entries->damaged++;
	}
	if (entries->count > 0)
		qsort(entries->items, entries->count, sizeof *entries->items, compare_entries);
	return 0;
}

const struct trust_entry *trust_newest(const struct trust_entries *entries, const char *path)
{
	for (size_t i = 0; i < entries->count; i++)
		if (strcmp(entries->items[i].path, path) == 0)
			return &entries->items[i];
	return NULL;
}

bool trust_was_shown(struct arena *arena, const char *state_directory, const char *path, const char *content)
{
	char name[SHA256_HEX + 1];
	struct private_file file;
	struct error ignored;
	autoclose int directory = open_directory(arena, state_directory, shown_name, false, &ignored);

	trust_hash(path, strlen(path), name);
	return directory >= 0 && private_file_read(arena, directory, name, PRIVATE_FILE_OWN, SHA256_HEX, &file) == 0 &&
	       strcmp(file.bytes, content) == 0;
}

void trust_note_shown(struct arena *arena, const char *state_directory, const char *path, const char *content)
{
	const struct private_file_options options = { .mode = 0600 };
	char name[SHA256_HEX + 1];
	struct error ignored;
	autoclose int directory = open_directory(arena, state_directory, shown_name, true, &ignored);

	trust_hash(path, strlen(path), name);
	if (directory >= 0)
		(void)private_file_write(directory, name, content, strlen(content), &options);
}

/* Seen from outside, every private home is .../berm/projects/KEY/CLASS/home/..., whatever the state
 * directory is. */
bool trust_is_in_sandbox(const char *path)
{
	static const char mark[] = "/berm/projects/";
	for (const char *at = strstr(path, mark); at; at = strstr(at + 1, mark)) {
		const char *rest = at + strlen(mark);
		for (int skipped = 0; skipped < 2 && rest; skipped++) {
			rest = strchr(rest, '/');
			rest = rest ? rest + 1 : NULL;
		}
		if (rest && (text_starts_with(rest, "home/") || text_starts_with(rest, "tmp/")))
			return true;
	}
	return false;
}

int trust_judge_place(const char *state_directory, const char *project, struct error *err)
{
	const char *problem = NULL;
	if (project && path_is_within(state_directory, project))
		problem = "is in the project";
	else if (trust_is_in_sandbox(state_directory))
		problem = "is in the private home of a sandbox";
	if (!problem)
		return 0;
	error_set(err, "the state directory %s %s: a command could have prepared it", state_directory, problem);
	if (inside_sandbox())
		return error_hint(err,
				  "this process is already in a sandbox of berm (tier landlock), which cannot hold the state "
				  "of a second one: run the command without berm, or start berm outside");
	return error_hint(err, "unset XDG_STATE_HOME, or name a directory that no sandbox can write");
}
