/* SPDX-License-Identifier: Apache-2.0 */
#include "common/state/sessions.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/base/cleanup.h"
#include "common/base/private_file.h"
#include "common/base/text.h"
#include "common/fs/path.h"
#include "common/state/state.h"

enum { RECORD_MAX = 16384, TRIES = 16 };

static const char lock_end[] = ".lock", record_end[] = ".session", socket_end[] = ".sock";

/* The keys of a record, a line each: the field, and its room; 0: a number. */
static const struct {
	const char *key;
	size_t offset, room;
} fields[] = {
#define TEXT(member)                                                                                                           \
	{                                                                                                                      \
#member, offsetof(struct session_record, member), sizeof((struct session_record *)0)->member                   \
	}
#define NUMBER(member)                                                                                                         \
	{                                                                                                                      \
#member, offsetof(struct session_record, member), 0                                                            \
	}
	TEXT(name), TEXT(identity), TEXT(token), TEXT(proxy_secret), NUMBER(pid), NUMBER(started), NUMBER(idle_ms),
};
enum { FIELDS = sizeof fields / sizeof fields[0] };

bool session_name_is_valid(const char *name)
{
	size_t length = strlen(name);
	static const char allowed[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._-";
	return length > 0 && length <= SESSION_NAME_MAX && name[0] != '.' && strspn(name, allowed) == length;
}

void session_stem(const char *project_key, const char *name, char stem[SESSION_STEM_MAX])
{
	snprintf(stem, SESSION_STEM_MAX, "%.100s-%.*s", project_key, SESSION_NAME_MAX, name);
}

static void file_name(const char *stem, const char *end, char name[SESSION_STEM_MAX + 16])
{
	snprintf(name, SESSION_STEM_MAX + 16, "%s%s", stem, end);
}

void session_socket_name(const char *stem, char name[SESSION_STEM_MAX])
{
	snprintf(name, SESSION_STEM_MAX, "%.*s%s", SESSION_STEM_MAX - (int)sizeof socket_end, stem, socket_end);
}

int sessions_open(struct arena *arena, const char *state_directory, bool is_creating, struct error *err)
{
	autoclose int state = state_open(arena, state_directory, is_creating, err);
	return state < 0 ? -1 : state_enter(state, "sessions", path_join(arena, state_directory, "sessions"), is_creating, err);
}

/* The last holder may have removed the file between open and flock: then another one has, or will
 * have, a new file of that name. */
static bool is_current(int directory, const char *name, int fd)
{
	struct stat held, named;
	return fstat(fd, &held) == 0 && fstatat(directory, name, &named, AT_SYMLINK_NOFOLLOW) == 0 &&
	       held.st_dev == named.st_dev && held.st_ino == named.st_ino;
}

int sessions_take(int directory, const char *stem, struct error *err)
{
	char name[SESSION_STEM_MAX + 16];
	file_name(stem, lock_end, name);
	for (int i = 0; i < TRIES; i++) {
		autoclose int fd = openat(directory, name, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK, 0600);
		if (fd < 0)
			return error_errno(err, errno, "cannot open the lock of the session");
		if (flock(fd, LOCK_EX | LOCK_NB) < 0) {
			int number = errno == EWOULDBLOCK ? EBUSY : errno;
			error_errno(err, number, "cannot lock the session");
			return -1;
		}
		if (is_current(directory, name, fd))
			return steal_fd(&fd);
	}
	return error_errno(err, EBUSY, "cannot lock the session");
}

bool sessions_is_held(int directory, const char *stem)
{
	char name[SESSION_STEM_MAX + 16];
	file_name(stem, lock_end, name);
	autoclose int fd = openat(directory, name, O_RDWR | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK);
	/* The shared lock is held for a moment only; a holder that starts then tries again. */
	return fd >= 0 && flock(fd, LOCK_SH | LOCK_NB) < 0 && errno == EWOULDBLOCK;
}

int sessions_write(struct arena *arena, int directory, const char *stem, const struct session_record *record, struct error *err)
{
	const struct private_file_options options = { .mode = 0600 };
	char name[SESSION_STEM_MAX + 16];
	struct text out = { 0 };
	int status;

	(void)arena;
	file_name(stem, record_end, name);
	for (size_t i = 0; i < FIELDS; i++) {
		const char *field = (const char *)record + fields[i].offset;
		if (fields[i].room)
			text_add(&out, "%s %s\n", fields[i].key, field);
		else
			text_add(&out, "%s %lld\n", fields[i].key, (long long)*(const int64_t *)(const void *)field);
	}
	/* Last: the path may contain every character but NUL. */
	text_add(&out, "keeps %d\nproject %s", record->keeps, record->project);
	status = private_file_write(directory, name, out.data, out.length, &options);
	text_free(&out);
	return status < 0 ? error_errno(err, errno, "cannot write the record of the session") : 0;
}

/* Takes one line. False if it is not as sessions_write writes it. */
static bool take_line(char **rest, const char *key, char **value)
{
	char *line = strsep(rest, "\n");
	size_t length = strlen(key);
	if (!line || strncmp(line, key, length) != 0 || line[length] != ' ')
		return false;
	*value = line + length + 1;
	return true;
}

static bool parse(char *text, struct session_record *record)
{
	char *value;
	for (size_t i = 0; i < FIELDS; i++) {
		char *field = (char *)record + fields[i].offset;
		if (!take_line(&text, fields[i].key, &value))
			return false;
		if (!fields[i].room) {
			*(int64_t *)(void *)field = strtoll(value, NULL, 10);
			continue;
		}
		if (strlen(value) >= fields[i].room)
			return false;
		strcpy(field, value);
	}
	if (!take_line(&text, "keeps", &value))
		return false;
	record->keeps = value[0] == '1';
	if (!text || strncmp(text, "project /", 9) != 0)
		return false;
	record->project = text + 8;
	return session_name_is_valid(record->name) && strlen(record->token) == SHA256_HEX;
}

int sessions_read(struct arena *arena, int directory, const char *stem, struct session_record *record, struct error *err)
{
	char name[SESSION_STEM_MAX + 16];
	struct private_file file;
	file_name(stem, record_end, name);
	*record = (struct session_record){ 0 };
	if (private_file_read(arena, directory, name, PRIVATE_FILE_OWN, RECORD_MAX, &file) < 0)
		return error_errno(err, errno, "cannot read the record of the session");
	if (strlen(file.bytes) != file.length || !parse(file.bytes, record))
		return error_set(err, "the record of the session is damaged");
	return 0;
}

void sessions_remove(int directory, const char *stem)
{
	const char *const ends[] = { socket_end, record_end, lock_end }; /* the lock last */
	char name[SESSION_STEM_MAX + 16];
	for (size_t i = 0; i < sizeof ends / sizeof ends[0]; i++) {
		file_name(stem, ends[i], name);
		unlinkat(directory, name, 0);
	}
}

static int compare(const void *left, const void *right)
{
	return strcmp(*(const char *const *)left, *(const char *const *)right);
}

void sessions_list(struct arena *arena, int directory, struct session_stems *stems)
{
	int copy = openat(directory, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	autoclosedir DIR *list = copy < 0 ? NULL : fdopendir(copy);
	const struct dirent *entry;

	*stems = (struct session_stems){ 0 };
	while (list && (entry = readdir(list))) {
		size_t length = strlen(entry->d_name), end = strlen(record_end);
		if (length > end && length - end < SESSION_STEM_MAX && strcmp(entry->d_name + length - end, record_end) == 0)
			*arena_push(arena, stems) = arena_copy_n(arena, entry->d_name, length - end);
	}
	if (stems->count > 0)
		qsort(stems->items, stems->count, sizeof *stems->items, compare);
}
