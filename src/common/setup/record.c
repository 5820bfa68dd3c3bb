/* SPDX-License-Identifier: Apache-2.0 */
/* What a settings file was before `berm setup --write`: the backup, kept in berm's private state, where nothing inside the sandbox can
 * write. One file for each host and settings file: a few lines, an empty one, the original bytes. Read strictly. */
#include "common/setup/settings_file.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/base/cleanup.h"
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

/* The value of a line that has to start with `label`. Moves on past the line. */
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
	memcpy(record->after, after, sizeof record->after);
	record->existed = strcmp(existed, "yes") == 0;
	record->made = made[0] == '/' ? made : NULL;
	record->original = text;
	return true;
}

static int read_record(struct arena *arena, int fd, struct jsonc_text *text)
{
	struct stat status;
	size_t size;
	char *data;

	if (fstat(fd, &status) < 0 || !S_ISREG(status.st_mode) || status.st_uid != geteuid() || (status.st_mode & 077) ||
	    status.st_size > RECORD_MAX)
		return -1;
	size = (size_t)status.st_size;
	data = arena_alloc(arena, size + 1);
	*text = (struct jsonc_text){ data, size };
	return text_read(fd, data, size) == (ssize_t)size ? 0 : -1;
}

int setup_record_read(struct arena *arena, int records, const char *host, const char *real, struct setup_record *record,
		      struct error *err)
{
	const char *name = record_name(arena, host, real);
	autoclose int fd = openat(records, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	struct jsonc_text text;

	*record = (struct setup_record){ 0 };
	if (fd < 0 && errno == ENOENT)
		return 0;
	if (fd < 0 || read_record(arena, fd, &text) < 0 || !parse_record(arena, text, real, record)) {
		error_set(err, "the record of %s as it was before cannot be read: %s", real, name);
		return error_hint(err, "it lies in the directory `setup` of berm's state; remove it to go on without");
	}
	return 1;
}

static int write_record(int fd, const struct text *text)
{
	return text_write(fd, text->data, text->length) < 0 ? -1 : fsync(fd);
}

int setup_record_write(struct arena *arena, int records, const char *host, const char *real, const struct setup_record *record,
		       struct error *err)
{
	const char *name = record_name(arena, host, real), *temporary = arena_printf(arena, ".%s.new", name);
	struct text text = { 0 };
	autoclose int fd = -1;
	int status = -1;

	text_add(&text, "berm setup 1\nfile %s\nexisted %s\nafter %s\nmade %s\n", real, record->existed ? "yes" : "no",
		 record->after, record->made ? record->made : "-");
	text_add(&text, "program %s\nshell %s\nshims %s\n\n", record->paths.program, record->paths.shell, record->paths.shims);
	text_add_n(&text, record->original.data, record->original.length);
	/* Under the lock, so that a left-over is nobody's work in progress. */
	unlinkat(records, temporary, 0);
	fd = openat(records, temporary, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (fd < 0 || write_record(fd, &text) < 0 || renameat(records, temporary, records, name) < 0)
		error_errno(err, errno, "cannot keep a copy of %s as it is now; nothing was written", real);
	else
		status = 0;
	text_free(&text);
	return status;
}

int setup_record_remove(struct arena *arena, int records, const char *host, const char *real, struct error *err)
{
	if (unlinkat(records, record_name(arena, host, real), 0) < 0 && errno != ENOENT)
		return error_errno(err, errno, "cannot remove the record of %s", real);
	return 0;
}
