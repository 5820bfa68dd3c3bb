/* SPDX-License-Identifier: Apache-2.0 */
/* The records of `berm setup --write`: the original bytes of each settings file, in berm's private
 * state, where commands in the sandbox cannot write. One file per host and settings file: header
 * lines, an empty line, the original bytes. Parsed strictly. */
#include "common/setup/settings_file.h"

#include <errno.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include "common/base/cleanup.h"
#include "common/base/file_time.h"
#include "common/base/private_file.h"
#include "common/state/state.h"
#include "common/base/text.h"

enum { RECORD_MAX = JSONC_SIZE_MAX + 16384 };

static const char directory_name[] = "setup";

void setup_hash(struct jsonc_text text, char hex[SHA256_HEX + 1])
{
	struct sha256 hash;
	sha256_start(&hash);
	sha256_add(&hash, text.data, text.length);
	sha256_finish_hex(&hash, hex);
}

int setup_records_open(struct arena *arena, const struct context *context, struct error *err)
{
	const char *shown = path_join(arena, context->state_directory, directory_name);
	autoclose int state = state_open(arena, context->state_directory, true, err);
	autoclose int records = state < 0 ? -1 : state_enter(state, directory_name, shown, true, err);

	if (records < 0)
		return -1;
	while (flock(records, LOCK_EX) < 0)
		if (errno != EINTR)
			return error_errno(err, errno, "cannot lock %s", shown);
	return steal_fd(&records);
}

static const char *record_name(struct arena *arena, const char *host, const char *real)
{
	char hex[SHA256_HEX + 1];
	setup_hash((struct jsonc_text){ real, strlen(real) }, hex);
	return arena_printf(arena, "%s-%s", host, hex);
}

/* Returns the rest of a line that starts with `label`, else NULL. Moves past the line. */
static const char *take_line(struct arena *arena, struct jsonc_text *rest, const char *label)
{
	size_t length = strlen(label);
	const char *end = memchr(rest->data, '\n', rest->length), *value;
	if (!end || (size_t)(end - rest->data) < length || memcmp(rest->data, label, length) != 0)
		return NULL;
	value = arena_copy_n(arena, rest->data + length, (size_t)(end - rest->data) - length);
	rest->length -= (size_t)(end + 1 - rest->data);
	rest->data = end + 1;
	return value;
}

static bool parse_record(struct arena *arena, struct jsonc_text text, const char *real, struct setup_record *record)
{
	struct install_paths *paths = &record->paths;
	const char *file, *existed, *after, *made;

	if (!take_line(arena, &text, "berm setup 1"))
		return false;
	file = take_line(arena, &text, "file ");
	existed = file ? take_line(arena, &text, "existed ") : NULL;
	after = existed ? take_line(arena, &text, "after ") : NULL;
	made = after ? take_line(arena, &text, "made ") : NULL;
	paths->program = made ? take_line(arena, &text, "program ") : NULL;
	paths->shell = paths->program ? take_line(arena, &text, "shell ") : NULL;
	paths->shims = paths->shell ? take_line(arena, &text, "shims ") : NULL;
	if (!paths->shims || strcmp(file, real) != 0 || strlen(after) != SHA256_HEX || !take_line(arena, &text, ""))
		return false;
	paths->plugins = path_join(arena, path_parent(arena, paths->shims), "plugins");
	memcpy(record->after, after, sizeof record->after);
	record->existed = strcmp(existed, "yes") == 0;
	record->made = made[0] == '/' ? made : NULL;
	record->original = text;
	return true;
}

int setup_record_read(struct arena *arena, int records, const char *host, const char *real, struct setup_record *record,
		      struct error *err)
{
	const char *name = record_name(arena, host, real);
	struct private_file file;
	int status = private_file_read(arena, records, name, PRIVATE_FILE_OWN, RECORD_MAX, &file);

	*record = (struct setup_record){ 0 };
	if (status < 0 && errno == ENOENT)
		return 0;
	if (status < 0 || !parse_record(arena, (struct jsonc_text){ file.bytes, file.length }, real, record)) {
		error_set(err, "cannot read the record of the original %s: %s", real, name);
		return error_hint(err, "it is in the directory `setup` of berm's state; remove it to continue without it");
	}
	return 1;
}

int64_t setup_record_time(struct arena *arena, const struct context *context, const char *host, const char *real)
{
	const char *name = path_join(arena, directory_name, record_name(arena, host, real));
	struct stat info;

	if (stat(path_join(arena, context->state_directory, name), &info) < 0)
		return -1;
	return (int64_t)info.st_mtim.tv_sec * 1000 + info.st_mtim.tv_nsec / 1000000;
}

int setup_record_write(struct arena *arena, int records, const char *host, const char *real, const struct setup_record *record,
		       struct error *err)
{
	const struct private_file_options options = { .mode = 0600, .is_synced = true };
	struct text text = { 0 };
	int status;

	text_add(&text, "berm setup 1\nfile %s\nexisted %s\nafter %s\nmade %s\n", real, record->existed ? "yes" : "no",
		 record->after, record->made ? record->made : "-");
	text_add(&text, "program %s\nshell %s\nshims %s\n\n", record->paths.program, record->paths.shell, record->paths.shims);
	text_add_n(&text, record->original.data, record->original.length);
	status = private_file_write(records, record_name(arena, host, real), text.data, text.length, &options);
	if (status < 0)
		error_errno(err, errno, "cannot record the original %s; nothing was written", real);
	text_free(&text);
	return status;
}

int setup_record_remove(struct arena *arena, int records, const char *host, const char *real, struct error *err)
{
	if (unlinkat(records, record_name(arena, host, real), 0) < 0 && errno != ENOENT)
		return error_errno(err, errno, "cannot remove the record of %s", real);
	return 0;
}
