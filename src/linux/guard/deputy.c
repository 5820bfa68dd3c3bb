/* SPDX-License-Identifier: Apache-2.0 */
/* The deputy's thread, its table of calls, and those that make a directory, a node or a symlink. */
#include "linux/guard/deputy.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "common/base/cleanup.h"
#include "linux/confine/filter.h"
#include "linux/confine/landlock.h"

enum { STACK_BYTES = 512 * 1024, KERNEL_MAJOR = 6, KERNEL_MINOR = 6, NR_LANDLOCK_RESTRICT_SELF = 446, NR_GUARD_OPENAT2 = 437 };

/* Flags that no kernel knows, with a ruleset that cannot be one. */
static const uint32_t MARK_FLAGS = 0xb3240000;

bool guard_is_around(void)
{
	return syscall(NR_LANDLOCK_RESTRICT_SELF, -1, (unsigned long)MARK_FLAGS) < 0 && errno == FILTER_MARK_ERRNO;
}

static bool fits_kernel(void)
{
	struct utsname name;
	char *rest;
	unsigned long major, minor;
	/* The kernel switches directly between a caller and the deputy since 6.6: before, a
	 * creation takes four times as long. */
	if (uname(&name) < 0)
		return false;
	major = strtoul(name.release, &rest, 10);
	minor = *rest == '.' ? strtoul(rest + 1, NULL, 10) : 0;
	return major > KERNEL_MAJOR || (major == KERNEL_MAJOR && minor >= KERNEL_MINOR);
}

bool guard_fits_plan(const struct plan *plan, int landlock_abi)
{
	return landlock_abi >= LANDLOCK_ABI_USEFUL && plan->context.tier != TIER_LANDLOCK &&
	       !plan_setting(plan, SETTING_NESTING) && fits_kernel();
}

void deputy_note(const struct deputy *deputy, const char *path, const struct rule *rule)
{
	struct guard *guard = deputy->guard;
	struct guard_refused *refused = &guard->refused;
	size_t i = 0;
	pthread_mutex_lock(&guard->lock);
	refused->total++;
	while (i < refused->count && strcmp(refused->items[i].path, path) != 0)
		i++;
	if (i == refused->count && i < GUARD_REFUSED_MAX && rule && strlen(path) < GUARD_SHOWN_BYTES) {
		strcpy(refused->items[i].path, path);
		refused->items[i].rule = rule;
		refused->count++;
	}
	pthread_mutex_unlock(&guard->lock);
}

void guard_take_refused(struct guard *guard, struct guard_refused *refused)
{
	pthread_mutex_lock(&guard->lock);
	*refused = guard->refused;
	pthread_mutex_unlock(&guard->lock);
}

bool deputy_serves(struct deputy *deputy, const struct dispatch_call *call)
{
	deputy->performer = NULL;
	/* Without a turn no process has restricted itself before it made this call. */
	return !deputy->has_turn || lineage_find(&deputy->shared->lineage, deputy_caller(call), &deputy->performer);
}

void deputy_take_umask(struct deputy *deputy, const struct dispatch_call *call)
{
	caller_umask_take(&deputy->shared->umasks, deputy_caller(call), &deputy->mask);
}

int deputy_perform(struct deputy *deputy, struct act *act)
{
	return perform(deputy->performer, act, deputy->mask);
}

void deputy_leave(struct dispatch_call *call, int failed)
{
	if (caller_is_sure(failed))
		dispatch_answer(call, failed);
	else
		dispatch_continue(call);
}

bool deputy_find(struct dispatch_call *call, int base, int argument, struct caller_name *name)
{
	struct deputy *deputy = call->self;
	pid_t caller = deputy_caller(call);
	uninitialised char path[PATH_MAX];
	int failed = EXDEV;
	caller_name_begin(name);
	if (deputy_serves(deputy, call) &&
	    caller_read_string(caller, dispatch_argument(call, argument), path, sizeof path) == 0 && !caller_is_device(path))
		failed = caller_find(caller, base, path, 0, name);
	if (!failed && !guard_is_free(&deputy->guard->rules, name->path))
		return true;
	deputy_leave(call, failed);
	caller_forget(name);
	return false;
}

int deputy_refuse(const struct deputy *deputy, const struct caller_name *name, const struct guard_verdict *verdict)
{
	struct statvfs info;
	/* As the kernel answers in a directory that a mount holds. */
	if (fstatvfs(name->directory, &info) == 0 && (info.f_flag & ST_RDONLY))
		return EROFS;
	deputy_note(deputy, name->path, verdict->rule);
	return verdict->error;
}

bool deputy_allows(struct dispatch_call *call, const struct caller_name *name, enum guard_thing thing)
{
	const struct deputy *deputy = call->self;
	struct guard_verdict verdict = guard_judge(&deputy->guard->rules, name->path, thing, false);
	struct stat info;
	if (!verdict.error)
		return true;
	if (fstatat(name->directory, name->name, &info, AT_SYMLINK_NOFOLLOW) == 0) {
		dispatch_answer(call, EEXIST);
		return false;
	}
	dispatch_answer(call, deputy_refuse(deputy, name, &verdict));
	return false;
}

static void make_directory(struct dispatch_call *call, int base, int argument)
{
	struct deputy *deputy = call->self;
	uninitialised struct caller_name name;
	if (!deputy_find(call, base, argument, &name))
		return;
	if (deputy_allows(call, &name, GUARD_DIRECTORY)) {
		struct act act = { .kind = ACT_DIRECTORY,
				   .directory = name.directory,
				   .name = name.name,
				   .mode = (mode_t)dispatch_argument(call, argument + 1) };
		int result;
		deputy_take_umask(deputy, call);
		result = deputy_perform(deputy, &act);
		trees_note_directory(&deputy->guard->trees, name.path);
		dispatch_answer(call, -result);
	}
	caller_forget(&name);
}

/* The filter refuses device nodes. */
static void make_node(struct dispatch_call *call, int base, int argument)
{
	struct deputy *deputy = call->self;
	uninitialised struct caller_name name;
	if (!deputy_find(call, base, argument, &name))
		return;
	if (name.has_slash) {
		dispatch_continue(call);
	} else if (deputy_allows(call, &name, GUARD_FILE)) {
		struct act act = { .kind = ACT_NODE,
				   .directory = name.directory,
				   .name = name.name,
				   .mode = (mode_t)dispatch_argument(call, argument + 1),
				   .device = (dev_t)dispatch_argument(call, argument + 2) };
		deputy_take_umask(deputy, call);
		dispatch_answer(call, -deputy_perform(deputy, &act));
	}
	caller_forget(&name);
}

static void make_symlink(struct dispatch_call *call, int base, int argument)
{
	uninitialised struct caller_name name;
	uninitialised char target[PATH_MAX];
	struct act act = { .kind = ACT_SYMLINK, .from_name = target };
	if (!deputy_find(call, base, argument, &name))
		return;
	if (name.has_slash || caller_read_string(deputy_caller(call), dispatch_argument(call, 0), target, sizeof target))
		dispatch_continue(call);
	else if (deputy_allows(call, &name, GUARD_SYMLINK)) {
		struct deputy *deputy = call->self;
		int result;
		act.directory = name.directory;
		act.name = name.name;
		result = deputy_perform(deputy, &act);
		trees_note_change(&deputy->guard->trees);
		dispatch_answer(call, -result);
	}
	caller_forget(&name);
}

static int base_of(const struct dispatch_call *call, int argument)
{
	return (int)dispatch_argument(call, argument);
}

static void handle_mkdirat(struct dispatch_call *call)
{
	make_directory(call, base_of(call, 0), 1);
}

static void handle_mknodat(struct dispatch_call *call)
{
	make_node(call, base_of(call, 0), 1);
}

static void handle_symlinkat(struct dispatch_call *call)
{
	make_symlink(call, base_of(call, 1), 2);
}

#ifdef __x86_64__ /* older calls, which no newer architecture has */
static void handle_mkdir(struct dispatch_call *call)
{
	make_directory(call, AT_FDCWD, 0);
}

static void handle_mknod(struct dispatch_call *call)
{
	make_node(call, AT_FDCWD, 0);
}

static void handle_symlink(struct dispatch_call *call)
{
	make_symlink(call, AT_FDCWD, 1);
}
#endif

static void handle_umask(struct dispatch_call *call)
{
	struct deputy *deputy = call->self;
	caller_umask_note(&deputy->shared->umasks, dispatch_argument(call, 0));
	dispatch_continue(call);
}

static void handle_restrict(struct dispatch_call *call)
{
	struct deputy *deputy = call->self;
	int ruleset = (int)dispatch_argument(call, 0);
	if (ruleset == -1 && (uint32_t)dispatch_argument(call, 1) == MARK_FLAGS)
		dispatch_answer(call, FILTER_MARK_ERRNO);
	lineage_restrict(&deputy->shared->lineage, deputy_caller(call), ruleset);
	dispatch_continue(call);
}

/* The most frequent first. */
static const struct dispatch_row rows[] = {
	{ SYS_openat, deputy_openat },
	{ SYS_mkdirat, handle_mkdirat },
	{ SYS_renameat2, deputy_renameat2 },
	{ SYS_renameat, deputy_renameat },
	{ SYS_linkat, deputy_linkat },
	{ SYS_symlinkat, handle_symlinkat },
	{ NR_GUARD_OPENAT2, deputy_openat2 },
	{ SYS_umask, handle_umask },
	{ SYS_mknodat, handle_mknodat },
	{ NR_LANDLOCK_RESTRICT_SELF, handle_restrict },
#ifdef __x86_64__
	{ SYS_open, deputy_open },
	{ SYS_mkdir, handle_mkdir },
	{ SYS_rename, deputy_rename },
	{ SYS_link, deputy_link },
	{ SYS_symlink, handle_symlink },
	{ SYS_creat, deputy_creat },
	{ SYS_mknod, handle_mknod },
#endif
};

/* Returns 0 or an errno. */
static int start_thread(void *(*run)(void *self), void *self)
{
	pthread_attr_t attributes;
	pthread_t thread;
	int failed = pthread_attr_init(&attributes);
	if (failed)
		return failed;
	failed = pthread_attr_setstacksize(&attributes, STACK_BYTES);
	if (!failed)
		failed = pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
	if (!failed)
		failed = pthread_create(&thread, &attributes, run, self);
	pthread_attr_destroy(&attributes);
	return failed;
}

/* As soon as a process restricts itself, one call is handled at a time. */
static void handle_in_turn(struct dispatch_call *call, void (*handle)(struct dispatch_call *call))
{
	struct deputy *deputy = call->self;
	struct deputies *shared = deputy->shared;
	deputy->has_turn = shared->lineage.is_marked || call->notification.data.nr == NR_LANDLOCK_RESTRICT_SELF;
	if (deputy->has_turn)
		pthread_mutex_lock(&shared->turn);
	handle(call);
	if (deputy->has_turn)
		pthread_mutex_unlock(&shared->turn);
}

/* The threads of one guard. */
struct service {
	struct deputies shared;
	struct deputy deputies[2];
};

/* Called by the last thread. After a run init exits. */
static void end_service(struct service *service, struct guard *guard)
{
	close(guard->listener);
	if (!guard->ended)
		return;
	lineage_end(&service->shared.lineage);
	pthread_mutex_destroy(&service->shared.turn);
	caller_umasks_end(&service->shared.umasks);
	free(service);
	guard->ended(guard);
}

static void serve(struct service *service, struct deputy *deputy)
{
	const struct dispatch_table table = { rows, sizeof rows / sizeof rows[0], deputy, handle_in_turn };
	struct guard *guard = deputy->guard;
	deputy->mask = deputy->shared->umasks.initial;
	/* Before 6.11 the kernel does not end the wait for a notification when no process is left
	 * that could send one. A run ends then; a session goes on. */
	while ((!guard->ended || dispatch_await(guard->listener)) && dispatch_serve(&table, guard->listener))
		;
	if (atomic_fetch_sub(&service->shared.count, 1) == 1)
		end_service(service, guard);
}

/* Without its own umask a thread would change that of init. */
static void own_umask(const struct guard *guard)
{
	if (unshare(CLONE_FS) < 0)
		_exit(1);
	umask(guard->umask);
}

static void *serve_second(void *self)
{
	struct service *service = self;
	own_umask(service->deputies[1].guard);
	serve(service, &service->deputies[1]);
	return NULL;
}

static void *serve_first(void *self)
{
	struct guard *guard = self;
	struct service *service = calloc(1, sizeof *service);
	if (!service)
		_exit(1);
	service->deputies[0] = service->deputies[1] = (struct deputy){ .guard = guard, .shared = &service->shared };
	own_umask(guard);
	pthread_mutex_init(&service->shared.turn, NULL);
	lineage_begin(&service->shared.lineage);
	caller_umasks_begin(&service->shared.umasks, guard->umask);
	/* One thread is enough, but slower. A session has one for each command: a second one could
	 * wait for a notification for ever (see serve). */
	service->shared.count = guard->ended ? 1 : 2;
	if (!guard->ended && start_thread(serve_second, service) != 0)
		service->shared.count = 1;
	serve(service, &service->deputies[0]);
	return NULL;
}

void guard_prepare(struct guard *guard, const struct plan *plan)
{
	guard->umask = umask(077);
	umask(guard->umask);
	guard_rules_build(&guard->rules, plan);
	guard_trees_find(&guard->trees, &guard->rules);
}

int guard_start(struct guard *guard, int listener, struct error *err)
{
	int failed;
	guard->listener = listener;
	pthread_mutex_init(&guard->lock, NULL);
	guard_trees_close(&guard->trees);
	if (dispatch_wake_synchronously(listener) < 0)
		return error_errno(err, errno, "cannot set up the listener of the guard");
	caller_begin();
	failed = start_thread(serve_first, guard);
	return failed ? error_errno(err, failed, "cannot start the guard's thread") : 0;
}
