/* SPDX-License-Identifier: Apache-2.0 */
/* The record is written before the content arrives: an entry without content means that nothing was
 * taken. Between file systems the content is copied completely before the original is removed. */
#include "common/state/quarantine.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "common/base/cleanup.h"
#include "common/base/json_write.h"
#include "common/base/private_file.h"
#include "common/base/text.h"
#include "common/fs/path.h"
#include "common/state/copy_tree.h"
#include "common/state/quarantine_internal.h"
#include "common/state/remove_tree.h"
#include "common/state/state.h"

enum { ID_TRIES = 100, RECORD_BYTES = 1 << 16 };

const char quarantine_content[] = "content";
const char quarantine_record[] = "record";
const char quarantine_path[] = "path"; /* the bytes of the path, which a record cannot always hold */
static const char part[] = "content.part";
static const char beside_prefix[] = "berm-quarantine-";

int quarantine_open_all(struct arena *arena, const char *state_directory, bool is_creating, struct error *err)
{
	autoclose int top = state_open(arena, state_directory, is_creating, err);
	const char *shown = path_join(arena, state_directory, "quarantine");
	return top < 0 ? -1 : state_enter(top, "quarantine", shown, is_creating, err);
}

const char *quarantine_beside_name(struct arena *arena, const char *id)
{
	return arena_printf(arena, "%s%s", beside_prefix, id);
}

static const char *type_of(mode_t mode)
{
	return S_ISREG(mode) ? "file" : S_ISDIR(mode) ? "directory" : S_ISLNK(mode) ? "symlink" : "other";
}

/* A new entry while it is being filled. */
struct filling {
	struct arena *arena;
	struct quarantine_entry entry;
	char *id;
	int all, own; /* fds */
};

static void filling_close(struct filling *at)
{
	cleanup_close(&at->own);
	cleanup_close(&at->all);
}
#define autofilling __attribute__((cleanup(filling_close)))

static int write_record(const struct filling *at, struct error *err)
{
	const struct quarantine_entry *entry = &at->entry;
	const struct private_file_options options = { .mode = 0600 };
	struct text out = { 0 };
	struct json json = { .out = &out };
	int status;

	json_object(&json, NULL);
	json_string(&json, "path", entry->path);
	json_string(&json, "project", entry->project_key);
	json_string(&json, "reason", entry->reason);
	json_string(&json, "type", entry->type);
	json_number(&json, "mode", entry->mode);
	json_number(&json, "time", (uint64_t)entry->time);
	json_number(&json, "run", (uint64_t)entry->run);
	json_string(&json, "edited", entry->edited);
	json_boolean(&json, "beside", entry->is_beside);
	json_object_end(&json);
	status = private_file_write(at->own, quarantine_record, out.data, out.length, &options);
	text_free(&out);
	if (status == 0)
		status = private_file_write(at->own, quarantine_path, entry->path, strlen(entry->path), &options);
	return status < 0 ? error_errno(err, errno, "cannot write a record of the quarantine") : 0;
}

static int choose_id(char id[QUARANTINE_ID + 1])
{
	unsigned char bytes[QUARANTINE_ID / 2];
	if (getentropy(bytes, sizeof bytes) < 0)
		return -1;
	text_hex(bytes, sizeof bytes, id);
	return 0;
}

/* Makes the directory of a new entry under an unused id. */
static int make_own(struct filling *at, struct error *err)
{
	for (int i = 0; i < ID_TRIES && choose_id(at->id) == 0; i++) {
		if (mkdirat(at->all, at->id, 0700) == 0) {
			at->own = openat(at->all, at->id, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
			if (at->own >= 0 && fchmod(at->own, 0700) == 0)
				return 0;
			break;
		}
		if (errno != EEXIST)
			break;
	}
	return error_errno(err, errno, "cannot make an entry of the quarantine");
}

static int fill_start(struct filling *at, const char *state_directory, struct error *err)
{
	at->entry.time = (int64_t)time(NULL);
	at->entry.run = (int64_t)getpid();
	at->entry.id = at->id;
	if (!state_may_write(RECORD_BYTES))
		return error_errno(err, EFBIG, "cannot write a record of the quarantine");
	at->all = quarantine_open_all(at->arena, state_directory, true, err);
	if (at->all < 0 || make_own(at, err) < 0)
		return -1;
	return write_record(at, err);
}

static void fill_abandon(const struct filling *at)
{
	struct error ignored = { 0 };
	if (at->own >= 0)
		(void)state_remove(at->all, at->id, at->id, &ignored);
}

/* Opens up a directory that a command has closed: its owner can neither move nor read it. */
static void open_up(int directory, const char *name)
{
	struct stat info;
#ifdef __linux__
	autoclose int fd = openat(directory, name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
	char link[32];
	if (fd < 0 || fstat(fd, &info) < 0 || !S_ISDIR(info.st_mode))
		return;
	snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
	if (fchmodat(AT_FDCWD, link, (info.st_mode & 07777) | 0700, 0) < 0)
		return; /* the move fails then */
#else
	if (fstatat(directory, name, &info, AT_SYMLINK_NOFOLLOW) < 0 || !S_ISDIR(info.st_mode) ||
	    fchmodat(directory, name, (info.st_mode & 07777) | 0700, AT_SYMLINK_NOFOLLOW) < 0)
		return;
#endif
}

/* Renames, also a directory without permissions and out of a directory without them. */
static int rename_hostile(int source, const char *from, int target, const char *to)
{
	struct stat info;
	int status = rename_exclusively(source, from, target, to), number;

	if (status == 0 || errno != EACCES)
		return status;
	open_up(source, from);
	if (fstat(source, &info) < 0 || fchmod(source, (info.st_mode & 07777) | 0700) < 0) {
		errno = EACCES;
		return -1;
	}
	status = rename_exclusively(source, from, target, to);
	number = errno;
	(void)fchmod(source, info.st_mode & 07777);
	errno = number;
	return status;
}

/* Nothing may execute the content. The mode is in the record. Another link of the file keeps it. */
static void neutralise(int own)
{
	struct stat info;
	if (fstatat(own, quarantine_content, &info, AT_SYMLINK_NOFOLLOW) < 0)
		return;
	if (!S_ISDIR(info.st_mode) && (!S_ISREG(info.st_mode) || info.st_nlink > 1))
		return;
	if (fchmodat(own, quarantine_content, S_ISDIR(info.st_mode) ? 0700 : 0600, 0) < 0)
		return; /* no other user reaches it, and its name is neutral */
}

static int remove_original(int directory, const char *name, const struct stat *info, struct error *err)
{
	struct stat now;
	if (fstatat(directory, name, &now, AT_SYMLINK_NOFOLLOW) < 0 || now.st_ino != info->st_ino || now.st_dev != info->st_dev)
		return error_errno(err, EAGAIN, "%s changed while it was copied", name);
	if (S_ISDIR(info->st_mode))
		return state_remove(directory, name, name, err);
	return unlinkat(directory, name, 0) < 0 ? error_errno(err, errno, "cannot remove %s", name) : 0;
}

/* To another file system. */
static int copy_content(const struct filling *at, int directory, const char *name, const struct stat *info, struct error *err)
{
	if (!state_may_write((size_t)info->st_size))
		return error_errno(err, EFBIG, "cannot copy %s", name);
	if (S_ISDIR(info->st_mode))
		open_up(directory, name);
	if (copy_tree(directory, name, at->own, part) < 0 || rename_exclusively(at->own, part, at->own, quarantine_content) < 0)
		return error_errno(err, errno, "cannot copy %s", name);
	return remove_original(directory, name, info, err);
}

/* The content cannot be taken away: it stays in its directory under a name that no program
 * obeys. */
static int move_beside(struct filling *at, int directory, const char *name, struct error *err)
{
	struct error ignored = { 0 };
	if (at->own < 0 && choose_id(at->id) < 0)
		return error_errno(err, errno, "cannot move %s", at->entry.path);
	if (rename_hostile(directory, name, directory, quarantine_beside_name(at->arena, at->id)) < 0)
		return error_errno(err, errno, "cannot move %s", at->entry.path);
	at->entry.is_beside = true;
	if (at->own >= 0)
		(void)state_remove(at->own, part, part, &ignored);
	if (at->own >= 0 && write_record(at, &ignored) == 0)
		return 0;
	error_set(err, "%s was renamed to %s in its directory: the state directory has no room for it", at->entry.path,
		  quarantine_beside_name(at->arena, at->id));
	at->id[0] = '\0';
	return 0;
}

int quarantine_move(struct arena *arena, const char *state_directory, const char *project_key, int directory, const char *name,
		    const char *path, const char *reason, char id[QUARANTINE_ID + 1], struct error *err)
{
	autofilling struct filling at = { .arena = arena, .id = id, .all = -1, .own = -1 };
	struct error first = { 0 };
	struct stat info;

	if (fstatat(directory, name, &info, AT_SYMLINK_NOFOLLOW) < 0)
		return error_errno(err, errno, "cannot inspect %s", path);
	at.entry = (struct quarantine_entry){ .path = path,
					      .project_key = project_key,
					      .reason = reason,
					      .type = type_of(info.st_mode),
					      .mode = info.st_mode & 07777 };
	id[0] = '\0';
	if (fill_start(&at, state_directory, &first) < 0)
		return move_beside(&at, directory, name, err);
	if (rename_hostile(directory, name, at.own, quarantine_content) == 0) {
		neutralise(at.own);
		return 0;
	}
	if (errno == ENOENT) {
		fill_abandon(&at);
		return error_errno(err, ENOENT, "cannot move %s", path);
	}
	if (errno == EXDEV && copy_content(&at, directory, name, &info, &first) == 0) {
		neutralise(at.own);
		return 0;
	}
	return move_beside(&at, directory, name, err);
}

int quarantine_keep(struct arena *arena, const char *state_directory, const char *project_key,
		    const struct quarantine_original *original, const char *reason, char id[QUARANTINE_ID + 1],
		    struct error *err)
{
	autofilling struct filling at = { .arena = arena, .id = id, .all = -1, .own = -1 };
	const struct private_file_options options = { .mode = 0600, .is_synced = true };

	at.entry = (struct quarantine_entry){ .path = original->path,
					      .project_key = project_key,
					      .reason = reason,
					      .type = "file",
					      .mode = original->mode & 07777,
					      .edited = original->edited };
	if (!state_may_write(original->length))
		return error_errno(err, EFBIG, "cannot keep the original of %s", original->path);
	if (fill_start(&at, state_directory, err) < 0)
		return -1;
	if (private_file_write(at.own, quarantine_content, original->bytes, original->length, &options) < 0) {
		error_errno(err, errno, "cannot keep the original of %s", original->path);
		fill_abandon(&at);
		return -1;
	}
	return 0;
}
