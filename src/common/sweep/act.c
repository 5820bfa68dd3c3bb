/* SPDX-License-Identifier: Apache-2.0 */
/* Does what a verdict says. Reaches each file from the root by names alone, without following a
 * symlink: another run of the project may be moving directories. */
#include "common/sweep/internal.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

#include "common/base/cleanup.h"
#include "common/base/private_file.h"
#include "common/fs/path.h"
#include "common/state/state.h"

static struct sweep_item *add_item(struct look *look, enum sweep_verdict verdict, const char *path, const char *reason)
{
	struct sweep_item *item = arena_push(look->arena, look->report);
	*item = (struct sweep_item){ .verdict = verdict, .path = path, .reason = reason };
	return item;
}

void act_note(struct look *look, enum sweep_verdict verdict, const char *path, const char *reason)
{
	add_item(look, verdict, path, reason);
}

/* Another run that ends now may have been faster. */
static bool is_gone(int number)
{
	return number == ENOENT || number == ENOTDIR;
}

void act_move(struct look *look, const char *path, const char *reason)
{
	const struct plan *plan = look->plan;
	autoclose int parent = quarantine_open_parent(path);
	struct error err = { 0 };
	char id[QUARANTINE_ID + 1] = "";
	struct sweep_item *item;
	int status;

	if (parent < 0 && is_gone(errno))
		return;
	if (look->is_preview) {
		add_item(look, SWEEP_QUARANTINE, path, reason);
		return;
	}
	status = parent < 0 ? error_errno(&err, errno, "cannot open the directory of %s", path)
			    : quarantine_move(look->arena, plan->context.state_directory, plan->state.project_key, parent,
					      path_base_name(path), path, reason, id, &err);
	if (status < 0 && is_gone(err.number))
		return;
	item = add_item(look, SWEEP_QUARANTINE, path, reason);
	memcpy(item->id, id, sizeof id);
	item->failure = err;
}

int act_read(struct arena *arena, const char *path, char **text, size_t *length)
{
	autoclose int parent = -1;
	struct private_file file;
	struct stat info;

	/* Most are absent: one call instead of one per directory. */
	if (lstat(path, &info) < 0 && is_gone(errno))
		return 1;
	parent = quarantine_open_parent(path);
	if (parent < 0)
		return is_gone(errno) ? 1 : -1;
	if (private_file_read(arena, parent, path_base_name(path), 0, SWEEP_TEXT_MAX, &file) < 0)
		return is_gone(errno) ? 1 : -1;
	*text = file.bytes;
	*length = file.length;
	return 0;
}

/* True if the file still has the text that was judged; fills its mode. */
static bool is_unchanged(struct arena *arena, int parent, const char *name, const char *text, size_t length, mode_t *mode)
{
	struct private_file now;
	if (private_file_read(arena, parent, name, 0, SWEEP_TEXT_MAX, &now) < 0)
		return false;
	*mode = now.info.st_mode & 07777;
	return now.length == length && memcmp(now.bytes, text, length) == 0;
}

/* Writes also in a directory that the run made read-only. */
static int write_hostile(int parent, const char *name, const char *text, size_t length,
			 const struct private_file_options *options)
{
	int status = private_file_write(parent, name, text, length, options), number;
	struct stat info;
	if (status == 0 || errno != EACCES)
		return status;
	if (fstat(parent, &info) < 0 || fchmod(parent, (info.st_mode & 07777) | S_IRWXU) < 0) {
		errno = EACCES;
		return -1;
	}
	status = private_file_write(parent, name, text, length, options);
	number = errno;
	(void)fchmod(parent, info.st_mode & 07777);
	errno = number;
	return status;
}

void act_replace(struct look *look, enum sweep_verdict verdict, const char *path, const char *old, size_t old_length,
		 const char *text, size_t length, const char *reason)
{
	const struct plan *plan = look->plan;
	struct quarantine_original original = { .path = path, .bytes = old, .length = old_length };
	autoclose int parent = quarantine_open_parent(path);
	struct sweep_item *item = add_item(look, verdict, path, reason);
	struct private_file_options options = { .is_synced = true };
	struct sha256 sum;

	if (look->is_preview)
		return;
	if (parent < 0 || !is_unchanged(look->arena, parent, path_base_name(path), old, old_length, &original.mode)) {
		error_set(&item->failure, "%s changed while it was judged", path);
		return;
	}
	sha256_start(&sum);
	sha256_add(&sum, text, length);
	sha256_finish_hex(&sum, original.edited);
	options.mode = original.mode;
	/* Without room for the original nothing is edited: the file is moved aside as a whole. */
	if (!state_may_write(length) || quarantine_keep(look->arena, plan->context.state_directory, plan->state.project_key,
							&original, reason, item->id, &item->failure) < 0) {
		look->report->count--;
		act_move(look, path, reason);
		return;
	}
	if (write_hostile(parent, path_base_name(path), text, length, &options) < 0) {
		error_errno(&item->failure, errno, "cannot write %s", path);
		act_move(look, path, reason);
	}
}
