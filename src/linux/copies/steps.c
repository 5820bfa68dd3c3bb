/* SPDX-License-Identifier: Apache-2.0 */
/* One operation of a journal, forwards and backwards. An exchange done twice would undo itself, so
 * that the inodes at the three places of a file decide what remains to be done: the project, the
 * source in the copy, and the store for undo. Before each step the project's file must be the one
 * of the journal. What an exchange or a removal yields is checked again: it may have been replaced
 * in between, and then goes back. */
#include "linux/copies/internal.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "common/base/cleanup.h"
#include "common/base/text.h"

/* One file at one place. */
struct spot {
	int directory; /* -1: it does not exist */
	const char *name;
	bool is_there;
	struct stat info;
};

struct step {
	const struct stage *stage;
	const struct journal_operation *operation;
	struct spot project, source, store;
	char source_name[STEP_NAME], store_name[STEP_NAME];
	struct error *err;
};

void step_name(char name[STEP_NAME], const char *prefix, size_t index)
{
	snprintf(name, STEP_NAME, "%s%zu", prefix, index);
}

int step_open_parent(struct arena *arena, int root, const char *path, const char **name)
{
	const char *slash = strrchr(path, '/');
	*name = slash ? slash + 1 : path;
	return copies_open_below(root, slash ? arena_copy_n(arena, path, (size_t)(slash - path)) : "", O_PATH | O_DIRECTORY);
}

static void look(struct spot *spot)
{
	spot->is_there = spot->directory >= 0 && spot->name &&
			 fstatat(spot->directory, spot->name, &spot->info, AT_SYMLINK_NOFOLLOW) == 0;
}

/* True if this file was there at the last look. */
static bool had(const struct spot *spot, uint64_t inode)
{
	return spot->is_there && inode != 0 && spot->info.st_ino == inode;
}

static bool has(struct spot *spot, uint64_t inode)
{
	look(spot);
	return had(spot, inode);
}

static int fail(const struct step *step, int number, const char *what)
{
	return error_errno(step->err, number, "%s %s", what, text_visible(step->stage->arena, step->operation->path));
}

static int changed(const struct step *step)
{
	error_set(step->err, "%s was changed while the copy was being applied",
		  text_visible(step->stage->arena, step->operation->path));
	step->err->number = ESTALE;
	return -1;
}

static void close_step(struct step *step)
{
	cleanup_close(&step->project.directory);
	if (step->stage->sources < 0)
		cleanup_close(&step->source.directory);
}

#define autostep __attribute__((cleanup(close_step)))

/* Opens the three places. The project's directory must be the one that was listed: behind another
 * one of the same name there may be anything. Backwards, a file may have replaced it again. */
static int open_step(struct step *step, size_t index, bool is_backward)
{
	const struct stage *stage = step->stage;
	const struct journal_operation *operation = step->operation;
	struct stat info;

	step->project.directory = step_open_parent(stage->arena, stage->project, operation->path, &step->project.name);
	if (step->project.directory < 0 && errno != ENOENT && !(is_backward && errno == ENOTDIR))
		return errno == ELOOP || errno == ENOTDIR || errno == EXDEV ? changed(step)
									    : fail(step, errno, "cannot open the directory of");
	if (step->project.directory >= 0 && operation->parent != 0 &&
	    (fstat(step->project.directory, &info) < 0 || info.st_ino != operation->parent))
		return changed(step);
	step_name(step->store_name, "", index);
	step->store = (struct spot){ .directory = stage->store, .name = step->store_name };
	step_name(step->source_name, "n", index);
	step->source = (struct spot){ .directory = stage->sources, .name = step->source_name };
	if (stage->sources < 0)
		step->source.directory = step_open_parent(stage->arena, stage->upper, operation->path, &step->source.name);
	return 0;
}

/* True if the project's file was, at the last look, the one that was listed, and was not written
 * since. */
static bool was_untouched(const struct step *step)
{
	const struct copy_identity *before = &step->operation->before;
	struct copy_identity now;
	if (!had(&step->project, before->inode))
		return false;
	now = compare_identity(&step->project.info);
	return S_ISDIR(step->project.info.st_mode) || compare_is_same(&now, before);
}

static int forward_add(struct step *step)
{
	const struct journal_operation *operation = step->operation;
	if (has(&step->project, operation->source))
		return 0;
	if (step->project.is_there || step->project.directory < 0 || !has(&step->source, operation->source))
		return changed(step);
	if (transfer_strip(step->source.directory, step->source.name) < 0)
		return fail(step, errno, "cannot prepare");
	if (transfer_rename(step->source.directory, step->source.name, step->project.directory, step->project.name,
			    operation->is_directory, operation->after_mode) < 0)
		return errno == EEXIST ? changed(step) : fail(step, errno, "cannot add");
	return 0;
}

static int keep(struct step *step, struct spot *from)
{
	bool is_directory = S_ISDIR(from->info.st_mode);
	if (transfer_rename(from->directory, from->name, step->store.directory, step->store.name, is_directory,
			    step->operation->before_mode) < 0)
		return fail(step, errno, "cannot keep the old version of");
	return 0;
}

static int forward_replace(struct step *step)
{
	const struct journal_operation *operation = step->operation;
	struct spot *source = &step->source, *project = &step->project;

	if (!has(project, operation->source)) {
		if (!was_untouched(step) || !has(source, operation->source))
			return changed(step);
		if (transfer_strip(source->directory, source->name) < 0)
			return fail(step, errno, "cannot prepare");
		if (transfer_exchange(source->directory, source->name, project->directory, project->name) < 0)
			return fail(step, errno, "cannot replace");
		if (!has(source, operation->before.inode)) {
			(void)transfer_exchange(source->directory, source->name, project->directory, project->name);
			return changed(step);
		}
		return keep(step, source);
	}
	return has(source, operation->before.inode) ? keep(step, source) : 0;
}

static int forward_delete(struct step *step)
{
	const struct journal_operation *operation = step->operation;
	if (has(&step->store, operation->before.inode))
		return 0;
	look(&step->project);
	if (!was_untouched(step))
		return changed(step);
	if (keep(step, &step->project) < 0)
		return -1;
	if (has(&step->store, operation->before.inode))
		return 0;
	(void)transfer_rename(step->store.directory, step->store.name, step->project.directory, step->project.name, false, 0);
	return changed(step);
}

static int forward_make(struct step *step)
{
	const struct journal_operation *operation = step->operation;
	look(&step->project);
	if (step->project.directory < 0 || (step->project.is_there && !step->stage->is_resumed) ||
	    (step->project.is_there && !S_ISDIR(step->project.info.st_mode)))
		return changed(step);
	if (!step->project.is_there && mkdirat(step->project.directory, step->project.name, 0700) < 0)
		return errno == EEXIST ? changed(step) : fail(step, errno, "cannot create");
	look(&step->project);
	/* Its entries come next, whatever its own mode is. */
	if (!step->project.is_there || transfer_set_mode(step->project.directory, step->project.name, step->project.info.st_ino,
							 operation->after_mode | 0700) < 0)
		return fail(step, errno, "cannot set the mode of");
	return 0;
}

static int set_mode(struct step *step, mode_t mode)
{
	if (!has(&step->project, step->operation->before.inode))
		return changed(step);
	if (transfer_set_mode(step->project.directory, step->project.name, step->operation->before.inode, mode) < 0)
		return fail(step, errno, "cannot set the mode of");
	return 0;
}

static int forward(struct step *step)
{
	switch (step->operation->kind) {
	case JOURNAL_ADD:
		return forward_add(step);
	case JOURNAL_REPLACE:
		return forward_replace(step);
	case JOURNAL_DELETE:
		return forward_delete(step);
	case JOURNAL_MAKE_DIRECTORY:
		return forward_make(step);
	case JOURNAL_SET_MODE:
		return set_mode(step, step->operation->after_mode);
	case JOURNAL_KINDS:
		break;
	}
	return error_set(step->err, "damaged journal");
}

int step_forward(const struct stage *stage, size_t index, struct copy_identity *left, struct error *err)
{
	autostep struct step step = { .stage = stage, .operation = &stage->journal->items[index], .err = err };

	step.project.directory = step.source.directory = -1;
	if (open_step(&step, index, false) < 0 || forward(&step) < 0)
		return -1;
	look(&step.project);
	*left = step.project.is_there ? compare_identity(&step.project.info) : (struct copy_identity){ 0 };
	return 0;
}

/* The copy's file goes to the store, from where it is given back to the copy. */
static int backward_add(struct step *step)
{
	if (!has(&step->project, step->operation->source))
		return 0;
	if (transfer_rename(step->project.directory, step->project.name, step->store.directory, step->store.name,
			    step->operation->is_directory, step->operation->after_mode) < 0)
		return fail(step, errno, "cannot take back");
	return 1;
}

static int backward_replace(struct step *step)
{
	const struct journal_operation *operation = step->operation;
	struct spot *from = has(&step->store, operation->before.inode) ? &step->store : &step->source;

	if (!has(&step->project, operation->source))
		return 0;
	if (!has(from, operation->before.inode))
		return error_set(step->err, "the old version of %s is gone", text_visible(step->stage->arena, operation->path));
	if (transfer_exchange(from->directory, from->name, step->project.directory, step->project.name) < 0)
		return fail(step, errno, "cannot restore");
	return 1;
}

static int backward_delete(struct step *step)
{
	const struct journal_operation *operation = step->operation;
	if (!has(&step->store, operation->before.inode))
		return 0;
	if (transfer_rename(step->store.directory, step->store.name, step->project.directory, step->project.name,
			    operation->is_directory, operation->before_mode) < 0)
		return fail(step, errno, "cannot restore");
	return 1;
}

/* A directory with other files in it stays. */
static int backward_make(struct step *step)
{
	if (unlinkat(step->project.directory, step->project.name, AT_REMOVEDIR) < 0 && errno != ENOENT && errno != ENOTEMPTY &&
	    errno != ENOTDIR)
		return fail(step, errno, "cannot remove");
	return 0;
}

static int backward_mode(struct step *step)
{
	const struct journal_operation *operation = step->operation;
	bool was_done = has(&step->project, operation->before.inode) &&
			(step->project.info.st_mode & 0777) != (operation->before_mode & 0777);
	return set_mode(step, operation->before_mode) < 0 ? -1 : was_done;
}

int step_backward(const struct stage *stage, size_t index, struct error *err)
{
	autostep struct step step = { .stage = stage, .operation = &stage->journal->items[index], .err = err };

	step.project.directory = step.source.directory = -1;
	if (open_step(&step, index, true) < 0)
		return -1;
	/* Without its directory the operation was not done. */
	if (step.project.directory < 0)
		return 0;
	switch (step.operation->kind) {
	case JOURNAL_ADD:
		return backward_add(&step);
	case JOURNAL_REPLACE:
		return backward_replace(&step);
	case JOURNAL_DELETE:
		return backward_delete(&step);
	case JOURNAL_MAKE_DIRECTORY:
		return backward_make(&step);
	case JOURNAL_SET_MODE:
		return backward_mode(&step);
	case JOURNAL_KINDS:
		break;
	}
	return error_set(err, "damaged journal");
}
