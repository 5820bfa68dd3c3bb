/* SPDX-License-Identifier: Apache-2.0 */
/* The tier landlock: Landlock and seccomp are the only confinement.
 *
 * Init restricts itself with the plan's rules (the outer domain) and adopts orphans below it.
 * Between vfork and execve the command gets an inner domain that its signals cannot leave. It
 * therefore cannot signal init, while init can kill every process of that domain with one kill().
 *
 * Only the command has the filter. System calls that change metadata are not covered by Landlock;
 * the filter sends them to init, which checks and performs them.
 *
 * No signal ties init's lifetime to the launcher's. When the channel closes, init ends every
 * process inside and then exits. */
#include "linux/launch/launch.h"

#include <errno.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "linux/confine/credentials.h"
#include "linux/confine/landlock.h"
#include "linux/confine/listener.h"
#include "linux/limits/limits.h"
#include "linux/launch/reap.h"
#include "linux/syscalls.h"
#include "linux/view/view.h"

enum {
	LEFTOVERS_MS = 10000, /* timeout for ending processes that are left when init is gone */
	EXTRA_MAX = 16,
};

static int check(const struct plan *plan, struct error *err)
{
	if (plan_is_copy(plan)) {
		error_set(err, "a copy of the project needs mounts, which this host does not allow");
		return error_hint(err, "`berm doctor` shows how to allow them");
	}
	if (plan->home != HOME_EMPTY && plan->tmp != TMP_EMPTY)
		return 0;
	error_set(err, "`%s: empty` needs a mount of its own, which this host does not allow",
		  plan->home == HOME_EMPTY ? "home" : "tmp");
	return error_hint(err, "`private` keeps one per project; `berm state reset` empties it");
}

static pid_t fork_init(struct launch *launch, int *pidfd, struct run_result *result, struct error *err)
{
	pid_t pid;
	(void)launch;
	(void)result;
	/* If init is killed from outside, the launcher adopts its children. */
	if (reap_adopt() < 0)
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

/* Paths that are accessible besides the plan's grants. */
struct extra_paths {
	struct landlock_extra items[EXTRA_MAX];
	size_t count;
};

static void add(struct extra_paths *extra, const char *path, bool is_writable, bool is_device)
{
	if (path && extra->count < EXTRA_MAX)
		extra->items[extra->count++] =
			(struct landlock_extra){ .path = path, .is_writable = is_writable, .is_device = is_device };
}

static int restrict_files(const struct launch *launch, struct error *err)
{
	const struct plan *plan = launch->plan;
	const char *node;
	char terminal[VIEW_TERMINAL_MAX];
	struct extra_paths extra = { .count = 0 };

	for (size_t i = 0; (node = device_node_at(i)); i++)
		add(&extra, node, true, true);
	if (view_terminal_name(terminal))
		add(&extra, terminal, true, true);
	add(&extra, "/proc", false, false);
	add(&extra, launch->state.home.path, true, false);
	add(&extra, launch->state.tmp.path, true, false);
	add(&extra, plan->state.documents, false, false);
	return landlock_apply_tier(plan, extra.items, extra.count, launch->landlock_abi, err);
}

static int enter_directory(const struct plan *plan, struct error *err)
{
	const struct context *context = &plan->context;
	const char *directory = context->working_directory ? context->working_directory : context->project;
	return chdir(directory) < 0 ? error_errno(err, errno, "cannot enter %s", directory) : 0;
}

static int confine(struct launch *launch, struct error *err)
{
	pid_t launcher = getppid();
	if (reap_adopt() < 0)
		return error_errno(err, errno, "cannot become the parent of orphans");
	if (enter_directory(launch->plan, err) < 0)
		return -1;
	if (limits_apply(launch->plan, &launch->limits, err) < 0 || credentials_hide(err) < 0 || credentials_freeze(err) < 0)
		return -1;
	if (restrict_files(launch, err) < 0 || credentials_drop_all(err) < 0)
		return -1;
	if (launch->has_listener && socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, launch->listener_socket) < 0)
		return error_errno(err, errno, "cannot make a socket pair");
	launch->is_scoped = launch->landlock_abi >= LANDLOCK_ABI_SCOPES && reap_is_scoped(launcher);
	if (launch->landlock_abi >= LANDLOCK_ABI_SCOPES && !launch->is_scoped && getppid() == launcher)
		return error_set(err, "Landlock's signal scope does not work here, although the kernel reports support for it");
	return 0;
}

static int lock_command(const struct launch *launch, struct error *err)
{
	int listener;
	if (landlock_scope_signals(launch->landlock_abi, err) < 0)
		return -1;
	/* If init is killed from outside, at least the command itself is killed too. */
	if (credentials_follow_parent(err) < 0)
		return -1;
	if (!launch->has_listener)
		return filter_load(&launch->filter, false, err);
	listener = filter_load(&launch->filter, true, err);
	return listener < 0 ? -1 : launch_pass_listener(launch, listener, err);
}

static int receive_listener(struct launch *launch, struct init_state *state, struct error *err)
{
	return launch->has_listener ? launch_receive_listener(launch, &state->listener, err) : 0;
}

static bool can_do_without(struct launch *launch, const struct error *err)
{
	(void)launch;
	(void)err;
	return false;
}

/* Landlock blocks signals from inside to init. */
static bool is_from_outside(pid_t sender)
{
	(void)sender;
	return true;
}

/* Unknown: the network counters are those of the whole machine. */
static bool has_tried_network(const struct plan *plan)
{
	(void)plan;
	return false;
}

/* The network is the machine's. */
static bool has_own_network(const struct plan *plan)
{
	(void)plan;
	return false;
}

/* Only if Landlock limits the signal to the sandbox: otherwise it would reach the user's whole
 * session. */
static void signal_all(const struct launch *launch, int number)
{
	if (launch->is_scoped)
		kill(-1, number);
}

static void end_all(const struct launch *launch)
{
	if (launch->is_scoped)
		reap_scope();
	reap_children(LEFTOVERS_MS);
}

static void choose_filter(const struct plan *plan, bool has_listener, struct filter_options *options)
{
	/* has_nesting stays false: nothing else would confine the calls that it allows. */
	(void)plan;
	options->is_landlock_tier = true;
	options->has_metadata_notify = has_listener;
}

/* Builds another filter if there is no listener. Changes of metadata are then not checked, which
 * lowers the level of the guarantee `writes`. */
static int prepare(struct launch *launch, const char *root_layout, struct error *err)
{
	struct filter_options options = { 0 };
	(void)root_layout;
	launch->has_listener = listener_is_available();
	if (launch->has_listener)
		return 0;
	launch_filter_options(launch->plan, false, &options);
	return filter_build(launch->plan->arena, &options, &launch->filter, err);
}

/* The run files are in the state directory already. */
static int fill_run_files(const struct launch *launch, bool *is_pending, struct error *err)
{
	(void)launch;
	(void)err;
	*is_pending = false;
	return 0;
}

/* A closed channel asks init to end every process inside and then itself. */
static bool ask_to_end(int channel)
{
	return channel >= 0 && shutdown(channel, SHUT_WR) == 0;
}

/* If init was killed, the launcher has adopted its children. */
static bool end_leftovers(void)
{
	return reap_children(LEFTOVERS_MS);
}

/* Not tied by a signal: init must outlive the launcher long enough to end every process inside. */
static int tie(struct error *err)
{
	(void)err;
	return 0;
}

static int enter(struct launch *launch, struct init_state *state, struct error *err)
{
	(void)launch;
	(void)state;
	(void)err;
	return 0;
}

const struct launch_tier tier_landlock = {
	.scans_first = true,
	.choose_filter = choose_filter,
	.check = check,
	.prepare = prepare,
	.fork = fork_init,
	.fill_run_files = fill_run_files,
	.ask_to_end = ask_to_end,
	.end_leftovers = end_leftovers,
	.tie = tie,
	.enter = enter,
	.confine = confine,
	.lock_command = lock_command,
	.receive_listener = receive_listener,
	.can_do_without = can_do_without,
	.is_from_outside = is_from_outside,
	.has_tried_network = has_tried_network,
	.has_own_network = has_own_network,
	.signal_all = signal_all,
	.end_all = end_all,
};
