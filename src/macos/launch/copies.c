/* SPDX-License-Identifier: Apache-2.0 */
/* Copies need an overlay file system, which macOS lacks: every function refuses. */
#include "common/copies/copies.h"

#include <errno.h>

static int refuse(struct error *err)
{
	error_set(err, "copies need Linux");
	err->number = ENOTSUP;
	return -1;
}

int copy_open(struct arena *arena, const char *state_directory, const char *project, const char *project_key, const char *name,
	      bool may_create, struct copy *copy, struct error *err)
{
	(void)arena, (void)state_directory, (void)project, (void)project_key, (void)name, (void)may_create;
	*copy = (struct copy){ .fd = -1, .state = -1 };
	return refuse(err);
}

int copy_prepare(const struct copy *copy, int *upper, int *work, struct error *err)
{
	(void)copy;
	*upper = *work = -1;
	return refuse(err);
}

int copy_await_clock(const struct copy *copy, struct error *err)
{
	(void)copy;
	return refuse(err);
}

int copy_prepare_full(struct arena *arena, struct copy *copy, struct copy_full *options, int *tree, struct error *err)
{
	(void)arena, (void)copy, (void)options;
	*tree = -1;
	return refuse(err);
}

void copy_foresee(struct arena *arena, const char *state_directory, const char *project, struct copy_outlook *outlook)
{
	(void)arena, (void)state_directory, (void)project;
	*outlook = (struct copy_outlook){ .reason = "copies need Linux", .is_too_large = true };
}

const char *copy_layer(const struct copy *copy)
{
	(void)copy;
	return "upper";
}

const char *copy_start(const struct copy *copy)
{
	(void)copy;
	return "base";
}

int copy_finish(const struct copy *copy, struct error *err)
{
	(void)copy;
	return refuse(err);
}

void copy_close(struct copy *copy)
{
	copy->fd = copy->state = -1;
}

int copy_look(struct arena *arena, const struct copy *copy, copy_look_function look, void *self, char **bytes, size_t *length,
	      struct error *err)
{
	(void)arena, (void)copy, (void)look, (void)self;
	*bytes = NULL;
	*length = 0;
	return refuse(err);
}

int copy_list_changes(struct arena *arena, const struct copy *copy, const struct copy_judge *judge,
		      struct copy_changes *changes, struct error *err)
{
	(void)arena, (void)copy, (void)judge;
	*changes = (struct copy_changes){ 0 };
	return refuse(err);
}

int copy_read(struct arena *arena, const struct copy *copy, const struct copy_change *change, enum copy_which which,
	      size_t maximum, char **bytes, size_t *length)
{
	(void)arena, (void)copy, (void)change, (void)which, (void)maximum, (void)bytes, (void)length;
	errno = ENOTSUP;
	return -1;
}

int copy_apply(struct arena *arena, const struct copy *copy, struct copy_changes *changes,
	       const struct copy_apply_options *options, struct copy_report *report, struct error *err)
{
	(void)arena, (void)copy, (void)changes, (void)options;
	*report = (struct copy_report){ 0 };
	return refuse(err);
}

int copy_resume(struct arena *arena, const struct copy *copy, struct copy_report *report, struct error *err)
{
	(void)arena, (void)copy;
	*report = (struct copy_report){ 0 };
	return refuse(err);
}

int copy_discard(struct copy *copy, struct error *err)
{
	(void)copy;
	return refuse(err);
}

int copies_list(struct arena *arena, const char *state_directory, const char *project_key, bool has_sizes,
		struct copy_entries *entries, struct error *err)
{
	(void)arena, (void)state_directory, (void)project_key, (void)has_sizes;
	*entries = (struct copy_entries){ 0 };
	return refuse(err);
}

int undo_list(struct arena *arena, const char *state_directory, const char *project_key, struct undo_entries *entries,
	      struct error *err)
{
	(void)arena, (void)state_directory, (void)project_key;
	*entries = (struct undo_entries){ 0 };
	return refuse(err);
}

int undo_apply(struct arena *arena, const char *state_directory, const char *project, const char *project_key, uint64_t number,
	       struct undo_report *report, struct error *err)
{
	(void)arena, (void)state_directory, (void)project, (void)project_key, (void)number;
	*report = (struct undo_report){ 0 };
	return refuse(err);
}
