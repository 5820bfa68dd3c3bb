/* SPDX-License-Identifier: Apache-2.0 */
/* Records of trust. Written whole or not at all; read strictly: a record that is not exactly as written here, that somebody else
 * owns or could write, or that lies under the name of another path, does not exist for the one who asks. Never reads a policy. */
#include "common/state/trust.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "common/base/cleanup.h"
#include "common/fs/filesystem.h"
#include "common/state/state.h"
#include "common/context/programs.h"
#include "common/base/text.h"

/* A path of at most 4096 bytes, and what stands before it. */
enum { RECORD_MAX = 4096 + 256, TEMPORARY_TRIES = 8 };

static const char directory_name[] = "trust";

void trust_hash(const char *text, size_t length, char content[SHA256_HEX + 1])
{
	struct sha256 hash;
	sha256_start(&hash);
	sha256_add(&hash, text, length);
	sha256_finish_hex(&hash, content);
}

static void record_name(const char *path, char name[SHA256_HEX + 1])
{
	trust_hash(path, strlen(path), name);
}

static int open_directory(struct arena *arena, const char *state_directory, bool is_creating, struct error *err)
{
	autoclose int state = state_open(arena, state_directory, is_creating, err);
	if (state < 0)
		return -1;
	return state_enter(state, directory_name, path_join(arena, state_directory, directory_name), is_creating, err);
}

/* The path comes last and ends the record, because it may hold any byte but NUL. */
static const char *format_record(struct arena *arena, const char *path, const char *content, int64_t when)
{
	return arena_printf(arena, "berm trust 1\nsha256 %s\ntime %" PRId64 "\npath %s\n", content, when, path);
}

/* The value of one line that has to start with `label`; NULL if it does not. Moves on past the line. */
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

static bool parse_record(struct arena *arena, char *text, size_t length, struct trust_entry *entry)
{
	char *rest = text, *content, *when;
	uint64_t seconds;

	if (memchr(text, '\0', length) || !take_line(&rest, "berm trust 1"))
		return false;
	content = take_line(&rest, "sha256 ");
	when = content ? take_line(&rest, "time ") : NULL;
	if (!when || !is_hash(content) || !text_parse_u64(when, INT64_MAX, &seconds) || !text_starts_with(rest, "path /"))
		return false;
	rest += strlen("path ");
	length = strlen(rest);
	if (rest[length - 1] != '\n')
		return false;
	entry->path = arena_copy_n(arena, rest, length - 1);
	entry->time = (int64_t)seconds;
	memcpy(entry->content, content, sizeof entry->content);
	return true;
}

static bool read_record(struct arena *arena, int directory, const char *name, struct trust_entry *entry)
{
	autoclose int fd = openat(directory, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC | O_NOCTTY);
	char text[RECORD_MAX + 1], expected[SHA256_HEX + 1];
	struct stat info;
	ssize_t length;

	if (fd < 0 || fstat(fd, &info) < 0)
		return false;
	if (!S_ISREG(info.st_mode) || info.st_uid != geteuid() || (info.st_mode & 077) || info.st_nlink != 1)
		return false;
	length = text_read(fd, text, RECORD_MAX);
	if (length < 0 || length == RECORD_MAX) /* longer than any record */
		return false;
	text[length] = '\0';
	if (!parse_record(arena, text, (size_t)length, entry))
		return false;
	record_name(entry->path, expected);
	return strcmp(expected, name) == 0;
}

bool trust_is_recorded(struct arena *arena, const char *state_directory, const char *path, const char *content)
{
	char name[SHA256_HEX + 1];
	struct trust_entry entry;
	struct error ignored;
	autoclose int directory = open_directory(arena, state_directory, false, &ignored);

	if (directory < 0)
		return false;
	record_name(path, name);
	return read_record(arena, directory, name, &entry) && strcmp(entry.path, path) == 0 &&
	       strcmp(entry.content, content) == 0;
}

/* A name that is not taken: one left over from a crash is passed by, and nothing that exists is opened. */
static int open_temporary(int directory, char *name, size_t size)
{
	int fd = -1;
	for (int i = 0; i < TEMPORARY_TRIES && fd < 0; i++) {
		snprintf(name, size, ".new-%ld-%d", (long)getpid(), i);
		fd = openat(directory, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
		if (fd < 0 && errno != EEXIST)
			break;
	}
	return fd;
}

static bool write_synced(int fd, const char *text)
{
	return text_write(fd, text, strlen(text)) == 0 && fsync(fd) == 0;
}

/* Inside a sandbox the state directory is another, read-only one or none at all. */
static int explain_unwritable(int number, const char *state_directory, struct error *err)
{
	error_errno(err, number, "cannot record trust in %s", state_directory);
	if (number == EROFS || number == EACCES || number == EPERM)
		error_hint(err, "trust is given outside of sandboxes only: run this in your own terminal");
	return -1;
}

int trust_record(struct arena *arena, const char *state_directory, const char *path, const char *content, struct error *err)
{
	autoclose int directory = open_directory(arena, state_directory, true, err);
	const char *text = format_record(arena, path, content, (int64_t)time(NULL));
	char name[SHA256_HEX + 1], temporary[64];
	autoclose int fd = -1;

	if (directory < 0)
		return err->number ? explain_unwritable(err->number, state_directory, err) : -1;
	if (strlen(text) >= RECORD_MAX)
		return error_set(err, "%s: the path is too long", path);
	fd = open_temporary(directory, temporary, sizeof temporary);
	if (fd < 0)
		return explain_unwritable(errno, state_directory, err);
	record_name(path, name);
	if (!write_synced(fd, text) || renameat(directory, temporary, directory, name) < 0 || fsync(directory) < 0) {
		int number = errno;
		unlinkat(directory, temporary, 0);
		return explain_unwritable(number, state_directory, err);
	}
	return 0;
}

int trust_revoke(struct arena *arena, const char *state_directory, const char *path, struct error *err)
{
	autoclose int directory = open_directory(arena, state_directory, false, err);
	char name[SHA256_HEX + 1];

	if (directory < 0)
		return err->number == ENOENT ? 1 : -1;
	record_name(path, name);
	if (unlinkat(directory, name, 0) < 0)
		return errno == ENOENT ? 1 : explain_unwritable(errno, state_directory, err);
	if (fsync(directory) < 0)
		return explain_unwritable(errno, state_directory, err);
	return 0;
}

static int compare_entries(const void *left, const void *right)
{
	return strcmp(((const struct trust_entry *)left)->path, ((const struct trust_entry *)right)->path);
}

int trust_list(struct arena *arena, const char *state_directory, struct trust_entries *entries, struct error *err)
{
	autoclosedir DIR *stream = NULL;
	const struct dirent *found;
	int directory = open_directory(arena, state_directory, false, err);

	*entries = (struct trust_entries){ 0 };
	if (directory < 0)
		return err->number == ENOENT ? 0 : -1;
	stream = fdopendir(directory);
	if (!stream) {
		close(directory);
		return error_errno(err, errno, "cannot read %s", state_directory);
	}
	while ((found = readdir(stream))) {
		struct trust_entry entry = { 0 };
		if (found->d_name[0] == '.')
			continue;
		if (read_record(arena, directory, found->d_name, &entry))
			*arena_push(arena, entries) = entry;
		else
			entries->damaged++;
	}
	if (entries->count > 0)
		qsort(entries->items, entries->count, sizeof *entries->items, compare_entries);
	return 0;
}

/* .../berm/projects/KEY/CLASS/home/... is how every private home is reached from outside, whatever the state directory is. */
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
	const char *what = NULL;
	if (project && path_is_within(state_directory, project))
		what = "lies in the project";
	else if (trust_is_in_sandbox(state_directory))
		what = "lies in the private home of a sandbox";
	if (!what)
		return 0;
	error_set(err, "the state directory %s %s: a command could have prepared it", state_directory, what);
	if (program_is_inside())
		return error_hint(err, "this is inside a sandbox of berm's already (tier landlock), in which a second one has "
				       "no place of its own: run the command as it is, or start berm outside");
	return error_hint(err, "unset XDG_STATE_HOME, or name a directory that no sandbox can write");
}
