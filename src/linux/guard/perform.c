/* SPDX-License-Identifier: Apache-2.0 */
#include "linux/guard/perform.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "linux/syscalls.h"

enum { STACK_BYTES = 64 * 1024, NR_RESTRICT_SELF = 446 };

static int start_thread(struct performer *performer);

static int open_file(const struct act *act)
{
	struct open_how how = { .flags = act->flags, .mode = act->mode, .resolve = RESOLVE_NO_SYMLINKS };
	return (int)syscall(NR_OPENAT2, act->directory, act->name, &how, sizeof how);
}

static int act_out(const struct act *act)
{
	switch (act->kind) {
	case ACT_OPEN:
		return open_file(act);
	case ACT_NODE:
		return mknodat(act->directory, act->name, act->mode, act->device);
	case ACT_DIRECTORY:
		return mkdirat(act->directory, act->name, act->mode);
	case ACT_SYMLINK:
		return symlinkat(act->from_name, act->directory, act->name);
	case ACT_LINK:
		return linkat(act->from, act->from_name, act->directory, act->name, (int)act->flags);
	case ACT_RENAME:
		return (int)syscall(SYS_renameat2, act->from, act->from_name, act->directory, act->name, act->flags);
	case ACT_LAYER:
		return start_thread(act->layer);
	case ACT_END:
		return 0;
	}
	errno = ENOSYS;
	return -1;
}

static int result_of(const struct act *act)
{
	int result = act_out(act);
	return result < 0 ? -errno : result;
}

static void await(sem_t *semaphore)
{
	while (sem_wait(semaphore) < 0 && errno == EINTR)
		;
}

static void *serve(void *self)
{
	struct performer *performer = self;
	bool is_over = false;
	/* Its own umask. */
	if (unshare(CLONE_FS) < 0 || syscall(NR_RESTRICT_SELF, performer->ruleset, 0) < 0) {
		performer->result = -errno;
		sem_post(&performer->answered);
		return NULL;
	}
	performer->result = 0;
	sem_post(&performer->answered);
	while (!is_over) {
		await(&performer->asked);
		is_over = performer->act->kind == ACT_END;
		umask(performer->act->mask);
		performer->result = result_of(performer->act);
		sem_post(&performer->answered);
	}
	return NULL;
}

/* A new thread has the credentials, and so the Landlock rules, of the one that starts it. */
static int start_thread(struct performer *performer)
{
	pthread_attr_t attributes;
	pthread_t thread;
	int failed = pthread_attr_init(&attributes);
	if (!failed) {
		failed = pthread_attr_setstacksize(&attributes, STACK_BYTES);
		if (!failed)
			failed = pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
		if (!failed)
			failed = pthread_create(&thread, &attributes, serve, performer);
		pthread_attr_destroy(&attributes);
	}
	if (!failed) {
		await(&performer->answered);
		failed = -performer->result;
	}
	errno = failed;
	return failed ? -1 : 0;
}

int perform(struct performer *performer, struct act *act, mode_t mask)
{
	act->mask = mask;
	if (!performer)
		return result_of(act);
	performer->act = act;
	sem_post(&performer->asked);
	await(&performer->answered);
	return performer->result;
}

bool performer_start(struct performer *performer, struct performer *above, int ruleset)
{
	struct act act = { .kind = ACT_LAYER, .layer = performer };
	performer->ruleset = ruleset;
	if (sem_init(&performer->asked, 0, 0) == 0 && sem_init(&performer->answered, 0, 0) == 0 &&
	    perform(above, &act, 077) == 0)
		return true;
	close(ruleset);
	performer->ruleset = -1;
	return false;
}

void performer_end(struct performer *performer)
{
	struct act act = { .kind = ACT_END };
	perform(performer, &act, 077);
	close(performer->ruleset);
	performer->ruleset = -1;
}
