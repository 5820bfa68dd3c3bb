/* SPDX-License-Identifier: Apache-2.0 */
/* Renames and hard links. A rename is checked as if a directory were moved, whatever the source is:
 * it could be replaced by one after the look at it. A link is checked as a symlink for the same
 * reason. The rules need no lock against another run in the project: they depend on the path alone,
 * and no run moves a directory to or from a place. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "common/base/cleanup.h"
#include "common/base/text.h"
#include "linux/guard/deputy.h"
#include "linux/syscalls.h"

enum { EXCHANGE = 2, NO_REPLACE = 1, NAME_AND_SLASH = NAME_MAX + 2 };

struct move {
	struct dispatch_call *call;
	struct caller_name from, to;
	unsigned flags;
};

static bool exists(const struct caller_name *name, struct stat *info)
{
	return fstatat(name->directory, name->name, info, AT_SYMLINK_NOFOLLOW) == 0;
}

/* With the slash that followed the name: the kernel accepts it for directories only. */
static const char *spell(const struct caller_name *name, char text[NAME_AND_SLASH])
{
	snprintf(text, NAME_AND_SLASH, "%s%s", name->name, name->has_slash ? "/" : "");
	return text;
}

/* Judges the name that the thing gets. Returns 0 or an errno. */
static int judge_target(const struct move *move, const struct caller_name *target, const struct stat *thing)
{
	const struct deputy *deputy = move->call->self;
	struct guard_verdict verdict = guard_judge(&deputy->guard->rules, target->path, GUARD_DIRECTORY, true);
	struct stat info;
	if (verdict.error == EXDEV && !S_ISDIR(thing->st_mode))
		verdict.error = EACCES;
	/* An existing name is held as by a mount, and berm explains git's EBUSY. */
	if (verdict.error == EACCES && exists(target, &info))
		return move->flags & NO_REPLACE ? EEXIST : EBUSY;
	return verdict.error == EACCES ? deputy_refuse(deputy, target, &verdict) : verdict.error;
}

static int rename_judged(const struct move *move)
{
	const struct guard_rules *rules = &((const struct deputy *)move->call->self)->guard->rules;
	char from[NAME_AND_SLASH], to[NAME_AND_SLASH];
	struct act act = {
		.kind = ACT_RENAME, .from = move->from.directory, .directory = move->to.directory, .flags = move->flags
	};
	struct stat source, target = { 0 };
	int failed;
	if (!exists(&move->from, &source))
		return errno;
	/* As where a mount holds it. */
	if (guard_is_fixed(rules, move->from.path))
		return EBUSY;
	failed = judge_target(move, &move->to, &source);
	if (!failed && (move->flags & EXCHANGE)) {
		if (!exists(&move->to, &target))
			return errno;
		failed = guard_is_fixed(rules, move->to.path) ? EBUSY : judge_target(move, &move->from, &target);
	}
	if (failed)
		return failed;
	act.from_name = spell(&move->from, from);
	act.name = spell(&move->to, to);
	failed = -deputy_perform(move->call->self, &act);
	if (!S_ISREG(source.st_mode) || ((move->flags & EXCHANGE) && !S_ISREG(target.st_mode)))
		trees_note_change(&((struct deputy *)move->call->self)->guard->trees);
	return failed;
}

static bool is_free(const struct move *move)
{
	const struct guard_rules *rules = &((const struct deputy *)move->call->self)->guard->rules;
	return guard_is_free(rules, move->from.path) && guard_is_free(rules, move->to.path);
}

/* Reads the argument's path and finds its name. Returns as caller_find. */
static int find(struct dispatch_call *call, int base, int argument, struct caller_name *name)
{
	uninitialised char path[PATH_MAX];
	pid_t caller = deputy_caller(call);
	caller_name_begin(name);
	if (caller_read_string(caller, dispatch_argument(call, argument), path, sizeof path))
		return EXDEV;
	return caller_find(caller, base, path, 0, name);
}

static void handle_rename(struct move *move, int from, int from_path, int to, int to_path)
{
	struct dispatch_call *call = move->call;
	int failed = EXDEV;
	caller_name_begin(&move->from);
	caller_name_begin(&move->to);
	if (deputy_serves(call->self, call))
		failed = find(call, from, from_path, &move->from);
	if (!failed)
		failed = find(call, to, to_path, &move->to);
	if (!failed && !is_free(move))
		dispatch_answer(call, rename_judged(move));
	else
		deputy_leave(call, failed);
	caller_forget(&move->from);
	caller_forget(&move->to);
}

void deputy_rename(struct dispatch_call *call)
{
	uninitialised struct move move;
	move.call = call;
	move.flags = 0;
	handle_rename(&move, AT_FDCWD, 0, AT_FDCWD, 1);
}

void deputy_renameat(struct dispatch_call *call)
{
	uninitialised struct move move;
	move.call = call;
	move.flags = 0;
	handle_rename(&move, (int)dispatch_argument(call, 0), 1, (int)dispatch_argument(call, 2), 3);
}

void deputy_renameat2(struct dispatch_call *call)
{
	uninitialised struct move move;
	move.call = call;
	move.flags = (unsigned)dispatch_argument(call, 4);
	handle_rename(&move, (int)dispatch_argument(call, 0), 1, (int)dispatch_argument(call, 2), 3);
}

/* The file that a link is made to, as an fd; -1: by its name, which is not followed. */
struct source {
	int file;
	struct caller_name name;
};

static bool is_own_fd(const char *path, int *fd)
{
	static const char *const prefixes[] = { "/proc/self/fd/", "/dev/fd/" };
	uint64_t number;
	for (size_t i = 0; i < sizeof prefixes / sizeof prefixes[0]; i++) {
		if (!text_starts_with(path, prefixes[i]) || !text_parse_u64(path + strlen(prefixes[i]), INT_MAX, &number))
			continue;
		*fd = (int)number;
		return true;
	}
	return false;
}

/* The kernel refuses a magic link that is not the caller's own fd. Returns as caller_find. */
static int find_source(struct dispatch_call *call, int base, int argument, int flags, struct source *source)
{
	uninitialised char path[PATH_MAX];
	pid_t caller = deputy_caller(call);
	int fd, failed;
	source->file = -1;
	caller_name_begin(&source->name);
	if (caller_read_string(caller, dispatch_argument(call, argument), path, sizeof path))
		return EXDEV;
	if (path[0] == '\0' && (flags & AT_EMPTY_PATH))
		return base != AT_FDCWD && (source->file = caller_open(caller, base)) >= 0 ? 0 : EXDEV;
	if ((flags & AT_SYMLINK_FOLLOW) && is_own_fd(path, &fd))
		return (source->file = caller_open(caller, fd)) >= 0 ? 0 : EXDEV;
	failed = caller_find(caller, base, path, 0, &source->name);
	if (failed)
		return failed;
	if (flags & AT_SYMLINK_FOLLOW) {
		source->file = sys_openat2(source->name.directory, source->name.name, O_PATH, RESOLVE_NO_MAGICLINKS);
		if (source->file < 0)
			return EXDEV;
	}
	return source->name.has_slash ? EXDEV : 0;
}

/* A link of a symlink is one. */
static int make_link(struct deputy *deputy, const struct source *source, const struct caller_name *target)
{
	char path[64];
	struct stat info;
	int result;
	struct act act = { .kind = ACT_LINK,
			   .from = source->name.directory,
			   .from_name = source->name.name,
			   .directory = target->directory,
			   .name = target->name };
	snprintf(path, sizeof path, "/proc/self/fd/%d", source->file);
	if (source->file >= 0) {
		act.from = AT_FDCWD;
		act.from_name = path;
		act.flags = AT_SYMLINK_FOLLOW;
	}
	result = -deputy_perform(deputy, &act);
	if (fstatat(target->directory, target->name, &info, AT_SYMLINK_NOFOLLOW) < 0 || !S_ISREG(info.st_mode))
		trees_note_change(&deputy->guard->trees);
	return result;
}

static void handle_link(struct dispatch_call *call, struct caller_name *target, const struct source *source)
{
	const struct deputy *deputy = call->self;
	struct stat info;
	if (target->has_slash || guard_is_free(&deputy->guard->rules, target->path)) {
		dispatch_continue(call);
		return;
	}
	if (source->file < 0 && !exists(&source->name, &info)) {
		dispatch_answer(call, errno);
		return;
	}
	if (deputy_allows(call, target, GUARD_SYMLINK))
		dispatch_answer(call, make_link(call->self, source, target));
}

static void link_between(struct dispatch_call *call, int from, int from_path, int to, int to_path, int flags)
{
	uninitialised struct source source;
	uninitialised struct caller_name target;
	int failed = EXDEV;
	source.file = -1;
	caller_name_begin(&source.name);
	caller_name_begin(&target);
	if (!(flags & ~(AT_SYMLINK_FOLLOW | AT_EMPTY_PATH)) && deputy_serves(call->self, call))
		failed = find_source(call, from, from_path, flags, &source);
	if (!failed)
		failed = find(call, to, to_path, &target);
	if (!failed)
		handle_link(call, &target, &source);
	else
		deputy_leave(call, failed);
	if (source.file >= 0)
		close(source.file);
	caller_forget(&source.name);
	caller_forget(&target);
}

void deputy_link(struct dispatch_call *call)
{
	link_between(call, AT_FDCWD, 0, AT_FDCWD, 1, 0);
}

void deputy_linkat(struct dispatch_call *call)
{
	link_between(call, (int)dispatch_argument(call, 0), 1, (int)dispatch_argument(call, 2), 3,
		     (int)dispatch_argument(call, 4));
}
