/* SPDX-License-Identifier: Apache-2.0 */
/* The tier landlock, inside.
 *
 * Init restricts itself with the plan's rules (the outer domain) and adopts whatever is orphaned below it. The command gets a further
 * domain of its own, between vfork and execve, that signals do not leave: it cannot end init, but init can end everything in there, at
 * one stroke. The filter is the command's alone: init has to do for it, after judging them, the calls that change metadata, which
 * Landlock does not see. Init's life is not tied to the launcher's by a signal: when the channel breaks it ends all and then itself. */
#include "linux/launch/landlock_tier.h"

#include <errno.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "linux/confine/credentials.h"
#include "linux/confine/landlock.h"
#include "linux/limits/limits.h"
#include "linux/fd_passing.h"
#include "linux/launch/reap.h"
#include "linux/syscalls.h"

enum { PATIENCE_MS = 10000, PLACES_MAX = 16, TERMINAL_MAX = 64 };

int alone_judge(const struct plan *plan, struct error *err)
{
	if (plan->home != HOME_EMPTY && plan->tmp != TMP_EMPTY)
		return 0;
	error_set(err, "`%s: empty` needs a mount of its own, which this host does not allow",
		  plan->home == HOME_EMPTY ? "home" : "tmp");
	return error_hint(err, "`private` keeps one per project; `berm state reset` empties it");
}

pid_t alone_fork(int *pidfd, struct error *err)
{
	pid_t pid;
	/* If init is killed from outside, what it leaves behind comes to the launcher. */
	if (sweep_adopt() < 0)
		return error_errno(err, errno, "cannot become the parent of orphans");
	pid = fork();
	if (pid < 0)
		return error_errno(err, errno, "cannot start the sandbox's init");
	if (pid == 0)
		return 0;
	*pidfd = (int)syscall(NR_PIDFD_OPEN, pid, 0);
	if (*pidfd < 0) {
		error_errno(err, errno, "cannot watch the sandbox's init");
		kill(pid, SIGKILL);
		return -1;
	}
	return pid;
}

/* What is reachable besides the plan's grants. */
struct places {
	struct landlock_extra items[PLACES_MAX];
	size_t count;
};

static void add(struct places *places, const char *path, bool is_writable, bool is_device)
{
	if (path && places->count < PLACES_MAX)
		places->items[places->count++] =
			(struct landlock_extra){ .path = path, .is_writable = is_writable, .is_device = is_device };
}

/* The terminal that berm was started on, by the name under which programs open it again. */
static const char *own_terminal(char name[TERMINAL_MAX])
{
	for (int fd = 0; fd <= 2; fd++)
		if (isatty(fd) && ttyname_r(fd, name, TERMINAL_MAX) == 0 && strncmp(name, "/dev/", 5) == 0)
			return name;
	return NULL;
}

static int restrict_files(const struct launch *launch, struct error *err)
{
	static const char *const nodes[] = { "/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom", "/dev/tty" };
	const struct plan *plan = launch->plan;
	char terminal[TERMINAL_MAX] = "";
	struct places places = { .count = 0 };

	for (size_t i = 0; i < sizeof nodes / sizeof nodes[0]; i++)
		add(&places, nodes[i], true, true);
	add(&places, own_terminal(terminal), true, true);
	add(&places, "/proc", false, false);
	add(&places, launch->state.home.path, true, false);
	add(&places, launch->state.tmp.path, true, false);
	add(&places, plan->state.documents, false, false);
	return landlock_apply_alone(plan, places.items, places.count, launch->landlock_abi, err);
}

static int enter_directory(const struct plan *plan, struct error *err)
{
	const struct context *context = &plan->context;
	const char *directory = context->working_directory ? context->working_directory : context->project;
	return chdir(directory) < 0 ? error_errno(err, errno, "cannot enter %s", directory) : 0;
}

int alone_enter(struct launch *launch, struct error *err)
{
	pid_t launcher = getppid();
	if (sweep_adopt() < 0)
		return error_errno(err, errno, "cannot become the parent of orphans");
	if (enter_directory(launch->plan, err) < 0)
		return -1;
	if (limits_apply(launch->plan, &launch->limits, err) < 0 || credentials_hide(err) < 0 || credentials_freeze(err) < 0)
		return -1;
	if (restrict_files(launch, err) < 0 || credentials_drop_all(err) < 0)
		return -1;
	if (launch->has_listener && socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, launch->hand_over) < 0)
		return error_errno(err, errno, "cannot make a socket pair");
	launch->is_scoped = launch->landlock_abi >= LANDLOCK_ABI_SCOPES && sweep_is_scoped(launcher);
	if (launch->landlock_abi >= LANDLOCK_ABI_SCOPES && !launch->is_scoped && getppid() == launcher)
		return error_set(err, "Landlock's signal scope does not hold here, although the kernel says that it has one");
	return 0;
}

static int hand_over(int way, int listener, struct error *err)
{
	char byte = 0;
	return rights_send(way, &byte, 1, &listener, 1) == 0 ? 0 : error_errno(err, errno, "cannot hand the listener over");
}

int alone_lock_command(const struct launch *launch, struct error *err)
{
	int listener;
	if (landlock_scope_signals(launch->landlock_abi, err) < 0)
		return -1;
	/* Should init be killed from outside, at least the command itself goes with it. */
	if (credentials_follow_parent(err) < 0)
		return -1;
	if (!launch->has_listener)
		return filter_load(&launch->filter, false, err);
	listener = filter_load(&launch->filter, true, err);
	return listener < 0 ? -1 : hand_over(launch->hand_over[1], listener, err);
}

int alone_take_listener(const struct launch *launch, struct error *err)
{
	int listener = -1;
	struct rights rights = { .descriptors = &listener, .room = 1 };
	char byte;

	/* Sent before execve, which vfork has waited for: it is there or never comes. */
	if (rights_receive(launch->hand_over[0], MSG_DONTWAIT, &byte, 1, &rights) != 1 || rights.count != 1)
		return error_set(err, "the command's filter came without its listener");
	close(launch->hand_over[0]);
	close(launch->hand_over[1]);
	return listener;
}

void alone_end_all(const struct launch *launch)
{
	if (launch->is_scoped)
		sweep_scope();
	sweep_children(PATIENCE_MS);
}
