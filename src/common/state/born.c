/* SPDX-License-Identifier: Apache-2.0 */
/* Writes the records atomically and reads them strictly. A line that differs from the format makes
 * the whole file count as absent. */
#include "common/state/born.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <sys/file.h>

#include "common/base/cleanup.h"
#include "common/base/private_file.h"
#include "common/base/text.h"
#include "common/fs/path.h"
#include "common/state/state.h"

enum { LINE_MAX_BYTES = 64, FILE_MAX_BYTES = (BORN_MAX + 1) * LINE_MAX_BYTES, NS_PER_S = 1000000000 };

static const char directory_name[] = "born";
static const char first_line[] = "berm born 1\n";

/* Takes one number and the character after it. */
static bool take_number(char **rest, char end, uint64_t maximum, uint64_t *number)
{
	char *stop = strchr(*rest, end);
	if (!stop)
		return false;
	*stop = '\0';
	if (!text_parse_u64(*rest, maximum, number))
		return false;
	*rest = stop + 1;
	return true;
}

/* Changes the text. False, with no records, if it has another form. */
static bool parse(struct arena *arena, char *text, size_t length, struct born *born)
{
	uint64_t inode, seconds, nanoseconds;
	*born = (struct born){ 0 };
	if (strlen(text) != length || !text_starts_with(text, first_line))
		return false;
	for (text += strlen(first_line); *text;) {
		if (!take_number(&text, ' ', UINT64_MAX, &inode) || !take_number(&text, ' ', INT64_MAX, &seconds) ||
		    !take_number(&text, '\n', NS_PER_S - 1, &nanoseconds) || born->count == BORN_MAX) {
			*born = (struct born){ 0 };
			return false;
		}
		*(struct file_birth *)arena_push(arena, born) =
			(struct file_birth){ inode, (int64_t)seconds, (uint32_t)nanoseconds };
	}
	return true;
}

void born_load(const struct filesystem *fs, struct arena *arena, const char *state_directory, const char *project_key,
	       uid_t uid, struct born *born)
{
	struct file_info info;
	const char *path;
	size_t length;
	char *text;

	*born = (struct born){ 0 };
	if (!state_directory || !project_key)
		return;
	path = path_join(arena, path_join(arena, state_directory, directory_name), project_key);
	if (fs->inspect(fs, path, &info) < 0 || info.type != FILE_REGULAR || info.uid != uid || (info.mode & 077) != 0 ||
	    fs->read_small(fs, arena, path, FILE_MAX_BYTES, &text, &length) < 0)
		return;
	parse(arena, text, length, born);
}

bool born_contains(const struct born *born, const struct file_birth *birth)
{
	for (size_t i = 0; i < born->count; i++)
		if (born->items[i].inode == birth->inode && born->items[i].seconds == birth->seconds &&
		    born->items[i].nanoseconds == birth->nanoseconds)
			return true;
	return false;
}

static int write_all(int directory, const char *name, const struct born *born)
{
	const struct private_file_options options = { .mode = 0600 };
	size_t first = born->count > BORN_MAX ? born->count - BORN_MAX : 0;
	struct text out = { 0 };
	int status;
	text_add(&out, "%s", first_line);
	for (size_t i = first; i < born->count; i++)
		text_add(&out, "%" PRIu64 " %" PRId64 " %" PRIu32 "\n", born->items[i].inode, born->items[i].seconds,
			 born->items[i].nanoseconds);
	errno = EFBIG;
	status = state_may_write(out.length) ? private_file_write(directory, name, out.data, out.length, &options) : -1;
	text_free(&out);
	return status;
}

int born_add(struct arena *arena, const char *state_directory, const char *project_key, const struct file_birth *births,
	     size_t count, struct error *err)
{
	const char *path = path_join(arena, state_directory, directory_name);
	autoclose int state = state_open(arena, state_directory, true, err);
	autoclose int directory = state < 0 ? -1 : state_enter(state, directory_name, path, true, err);
	struct private_file file;
	struct born born = { 0 };
	bool has_new = false;

	if (directory < 0)
		return -1;
	/* Two runs that end at once must not lose each other's records. Closing unlocks. */
	if (flock(directory, LOCK_EX) < 0)
		return error_errno(err, errno, "cannot lock %s", path);
	if (private_file_read(arena, directory, project_key, PRIVATE_FILE_OWN, FILE_MAX_BYTES, &file) == 0)
		parse(arena, file.bytes, file.length, &born);
	for (size_t i = 0; i < count; i++) {
		if (born_contains(&born, &births[i]))
			continue;
		*(struct file_birth *)arena_push(arena, &born) = births[i];
		has_new = true;
	}
	if (has_new && write_all(directory, project_key, &born) < 0)
		return error_errno(err, errno, "cannot write %s/%s", path, project_key);
	return 0;
}
