/* SPDX-License-Identifier: Apache-2.0 */
/* The tier full: namespaces, a view made of mounts, and Landlock and seccomp on top. Init is pid 1
 * of its pid namespace, so its exit ends every process inside. */
#include "linux/launch/launch.h"

#include <errno.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "linux/channel.h"
#include "linux/confine/credentials.h"
#include "linux/confine/landlock.h"
#include "linux/launch/network_attempts.h"
#include "linux/stage.h"
#include "linux/launch/scan_results.h"
#include "linux/view/run_files.h"
#include "linux/view/view.h"

static void choose_filter(const struct plan *plan, bool has_listener, struct filter_options *options)
{
	options->has_nesting = plan_setting(plan, SETTING_NESTING);
	options->has_create_notify = has_listener && plan->guards_creation && guard_fits_plan(plan, landlock_abi());
}

/* Everything can be enforced in this tier. */
static int check(const struct plan *plan, struct error *err)
{
	(void)plan;
	(void)err;
	return 0;
}

/* Makes the proxy secret of this run and puts it into the proxy variables. */
static int prepare_egress(struct launch *launch, struct error *err)
{
	const struct plan *plan = launch->plan;
	uint16_t port = plan_proxy_port(plan);
	struct egress_port ports[EGRESS_PORT_MAX];

	if (egress_ports(plan, ports, err) < 0)
		return -1;
	if (proxy_make_secret(launch->egress.secret) < 0)
		return error_errno(err, errno, "cannot make a secret for the proxy");
	for (size_t i = 0; i < plan->environment.count; i++) {
		const struct plan_variable *variable = &plan->environment.items[i];
		if (!variable->rule)
			launch->command.environment[i] =
				arena_printf(plan->arena, "%s=%s", variable->name,
					     environment_fill_proxy(plan->arena, variable->value, port, launch->egress.secret));
	}
	return 0;
}

static int prepare(struct launch *launch, const char *root_layout, struct error *err)
{
	const struct plan *plan = launch->plan;
	if (root_cache_find(plan, root_layout, launch->has_terminal, launch->state.lock, &launch->root, err) < 0)
		return -1;
	launch->has_egress = egress_is_needed(plan);
	if (launch->has_egress && prepare_egress(launch, err) < 0)
		return -1;
	launch->namespaces.has_host_network = plan->network.mode == NETWORK_ALL;
	limits_inotify_read(&launch->inotify);
	launch->has_guard = launch->guarded.count > 0 && guard_fits_plan(plan, launch->landlock_abi);
	return 0;
}

/* Returns -1 with err if the policy requires the guard. */
static int give_up_guard(struct launch *launch, const char *reason, struct error *err)
{
	const struct plan *plan = launch->plan;
	launch->has_guard = false;
	if (plan->required[GUARANTEE_PLANTING] < LEVEL_STRICT || plan->accepted_weaker[GUARANTEE_PLANTING])
		return 0;
	return error_set(err, "`planting: strict` cannot be held: %s", reason);
}

/* Init has usually asked by now. Otherwise the supervisor fills them, because it also enforces the
 * time limit while it waits. */
static int fill_run_files(const struct launch *launch, bool *is_pending, struct error *err)
{
	struct pollfd channel = { .fd = launch->ends[0], .events = POLLIN };
	struct message message;
	int directory[CHANNEL_DESCRIPTOR_MAX];
	size_t count = 0;

	*is_pending = true;
	if (poll(&channel, 1, 0) <= 0 || channel_receive_with(launch->ends[0], &message, directory, &count) <= 0)
		return 0;
	*is_pending = false;
	if (message.type == MESSAGE_RUN_FILES)
		return run_files_fill(launch->ends[0], directory, count, launch->plan, &launch->documents, err);
	*err = message.error; /* the only other message at this point is MESSAGE_FAILED */
	return -1;
}

/* Init needs no request: killing it ends its pid namespace. */
static bool ask_to_end(int channel)
{
	(void)channel;
	return false;
}

/* The pid namespace ended with init. */
static bool end_leftovers(void)
{
	return true;
}

/* Sends the launcher the fds that the limits are watched with. */
static int send_watch_fds(struct launch *launch, bool has_proc, struct error *err)
{
	int descriptors[WATCH_DESCRIPTOR_MAX];
	size_t count = 0;
	struct message message = { .type = MESSAGE_WATCH };
	unsigned which = watch_open(launch->plan, &launch->limits, has_proc, descriptors);
	int sent;

	for (unsigned bits = which; bits; bits &= bits - 1)
		count++;
	message.value = (int)which;
	sent = channel_send_with(launch->ends[1], &message, descriptors, count);
	while (count > 0)
		close(descriptors[--count]);
	return sent < 0 ? error_set(err, "the launcher exited") : 0;
}

static int offer_run_files(void *self, int run_files, struct error *err)
{
	return run_files_offer(((struct launch *)self)->ends[1], run_files, err);
}

/* Drops the bounding set first, in time that is otherwise spent waiting for the results. */
static int await_scan_results(void *self, struct error *err)
{
	struct launch *launch = self;
	if (credentials_bound(err) < 0)
		return -1;
	return launch->is_scanned ? 0 : scan_results_receive(launch->ends[1], launch->plan->arena, launch->results, err);
}

static int await_run_files(void *self, size_t *masks, struct error *err)
{
	return run_files_await(((struct launch *)self)->ends[1], masks, err);
}

static int enter_view(struct launch *launch, struct init_state *state, struct error *err)
{
	struct view_result result = { 0 };
	struct message note = { .type = MESSAGE_NOTE };
	struct view_request request = {
		.state = &launch->state,
		.root = &launch->root,
		.has_terminal = launch->has_terminal,
		.copy = launch->copy,
		.self = launch,
		.offer = offer_run_files,
		.await = await_scan_results,
		.await_run_files = await_run_files,
	};
	if (view_enter(launch->plan, &request, &result, err) < 0)
		return -1;
	state->git_events = result.git_events;
	if (launch->limits.has_watch && send_watch_fds(launch, result.has_proc, err) < 0)
		return -1;
	if (result.has_proc)
		return 0;
	if (launch->has_guard && give_up_guard(launch, "/proc is empty in this container", err) < 0)
		return -1;
	error_set(&note.error, "/proc is empty: this host does not allow a fresh one (a container?)");
	return channel_send(launch->ends[1], &note) < 0 ? error_set(err, "the launcher exited") : 0;
}

static int enter(struct launch *launch, struct init_state *state, struct error *err)
{
	if (namespaces_settle(&launch->namespaces, launch->uid, launch->gid, err) < 0)
		return -1;
	if (limits_bound_namespaces(launch->plan, &launch->limits, &launch->inotify, err) < 0)
		return -1;
	if (launch->has_egress && egress_enter(launch->plan, &launch->egress, err) < 0)
		return -1;
	return enter_view(launch, state, err);
}

static int confine(struct launch *launch, struct error *err)
{
	const struct plan *plan = launch->plan;
	const struct landlock_extra extra[] = {
		{ .path = "/", .is_list_only = true },
		{ .path = "/dev", .is_writable = true, .is_device = true },
		{ .path = "/proc", .is_writable = true },
		{ .path = "/tmp", .is_writable = true },
		{ .path = PLAN_DOCUMENTS },
		/* Last, because `home: host` leaves it out. */
		{ .path = plan->context.home, .is_writable = true },
	};
	size_t count = sizeof extra / sizeof extra[0] - (plan->home == HOME_HOST);

	if (limits_apply(plan, &launch->limits, err) < 0 || credentials_hide(err) < 0 || credentials_freeze(err) < 0)
		return -1;
	if (launch->landlock_abi >= LANDLOCK_ABI_USEFUL && landlock_apply(plan, extra, count, launch->landlock_abi, err) < 0)
		return -1;
	if (credentials_drop_bounded(launch->has_guard, err) < 0 || credentials_follow_parent(err) < 0)
		return -1;
	launch->command_guard = &launch->guard;
	if (!launch->has_guard)
		return filter_load(&launch->filter, false, err);
	if (!launch->session) /* each of its commands has its own */
		guard_prepare(&launch->guard, plan);
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, launch->listener_socket) < 0)
		return error_errno(err, errno, "cannot make a socket pair");
	return 0;
}

/* Without the guard the command inherits everything from init. Landlock comes first: with the
 * filter the call would wait for init, which waits for execve. */
static int lock_command(const struct launch *launch, struct error *err)
{
	const struct guard_trees *trees = &launch->command_guard->trees;
	const char *own[GUARD_FREE_MAX];
	size_t count = guard_free_directories(launch->plan, own);
	int fds[GUARD_TREES_MAX], listener;
	if (!launch->has_guard)
		return 0;
	for (size_t i = 0; i < trees->count; i++)
		fds[i] = trees->items[i].fd;
	if (landlock_apply_no_creation(own, count, fds, trees->count, launch->session != NULL, launch->landlock_abi, err) < 0 ||
	    credentials_drop_rest(err) < 0)
		return -1;
	listener = filter_load_killable(&launch->guarded, err);
	return listener < 0 ? -1 : launch_pass_listener(launch, listener, err);
}

/* An outer sandbox has the only listener, or the kernel refuses it: the command is started again
 * without the guard, as on kernels that lack it, unless the policy requires it. */
static bool can_do_without(struct launch *launch, const struct error *err)
{
	struct error ignored;
	struct message note = { .type = MESSAGE_NOTE };
	if (!launch->has_guard || err->stage != STAGE_LISTENER || give_up_guard(launch, err->message, &ignored) < 0)
		return false;
	error_set(&note.error, "protected names that appear are quarantined, not refused: a sandbox around this one has the "
			       "only listener");
	channel_send(launch->ends[1], &note);
	close(launch->listener_socket[0]);
	close(launch->listener_socket[1]);
	return credentials_drop_rest(&ignored) == 0 && filter_load(&launch->filter, false, &ignored) == 0;
}

/* Init has its own filter, without notifications, which the deputy's thread inherits. */
static int receive_listener(struct launch *launch, struct init_state *state, struct error *err)
{
	int listener;
	(void)state;
	if (!launch->has_guard)
		return 0;
	if (launch_receive_listener(launch, &listener, err) < 0 || filter_load(&launch->guarding, false, err) < 0 ||
	    guard_start(&launch->guard, listener, err) < 0)
		return -1;
	launch->progress->is_guarded = true;
	return 0;
}

/* A sender inside has a pid in this namespace; one outside is 0. */
static bool is_from_outside(pid_t sender)
{
	return sender == 0;
}

/* The counters of the network namespace count only this run. */
static bool has_tried_network(const struct plan *plan)
{
	return !plan_has_open_network(plan) && network_attempts_seen();
}

static bool has_own_network(const struct plan *plan)
{
	return plan->network.mode != NETWORK_ALL;
}

static void signal_all(const struct launch *launch, int number)
{
	(void)launch;
	kill(-1, number);
}

/* Nothing to do: the kernel kills every process of the pid namespace when init exits. */
static void end_all(const struct launch *launch)
{
	(void)launch;
}

const struct launch_tier tier_full = {
	.can_fall_back = true,
	.choose_filter = choose_filter,
	.check = check,
	.prepare = prepare,
	.fork = launch_fork,
	.fill_run_files = fill_run_files,
	.ask_to_end = ask_to_end,
	.end_leftovers = end_leftovers,
	.tie = credentials_follow_parent,
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
