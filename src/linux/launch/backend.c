/* SPDX-License-Identifier: Apache-2.0 */
/* The Linux backend.
 *
 * Theory of operation. There are three processes: the launcher (this one, in the host's
 * namespaces), init (pid 1 of the new namespaces) and the command. The launcher prepares everything
 * that needs the host: state directories, filter program, the command's environment. It forks init
 * into the namespaces and then supervises it. Init builds the view, confines itself and starts the
 * command, which inherits the confinement; so nothing that runs inside was ever outside. Init
 * reports failures before execve over the channel and the launcher prints them; nothing has run
 * then. When the command exits, init exits, and the kernel kills every process that is left in the
 * pid namespace.
 *
 * If a limit needs a control group that only systemd can make, init first waits until it is in it
 * (limits/systemd_scope.h). If the policy names destinations there is a fourth process, the proxy
 * (egress/egress.h). It is forked before init and runs outside.
 *
 * The scan takes about as long as building the view, so both are done at the same time, on two CPUs
 * if there are two. Init waits for the scan results before it mounts masks, and for MESSAGE_GO
 * before it starts the command. If the plan is outdated or refused, the launcher kills init.
 *
 * Order of the launcher: state, filter, command, signals, [proxy], channel, fork; scan, run files,
 * confirm, while init sets up (init.c has its stages); supervise; restore the terminal. */
#include "common/backend.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "common/base/child.h"
#include "common/base/cleanup.h"
#include "linux/channel.h"
#include "linux/launch/scan_results.h"
#include "linux/confine/landlock.h"
#include "linux/launch/launch.h"
#include "linux/probe/causes.h"
#include "linux/launch/terminal.h"
#include "linux/view/view.h"

static const struct launch_tier *tier_of(const struct plan *plan)
{
	return plan->context.tier == TIER_LANDLOCK ? &tier_landlock : &tier_full;
}

void launch_filter_options(const struct plan *plan, bool has_listener, struct filter_options *options)
{
	*options = (struct filter_options){
		.architecture = filter_native(),
		.has_fixed_cpus = plan->limits[LIMIT_CPUS].is_set,
		.has_internet = plan->network.mode == NETWORK_ALL,
		.has_unix = plan->sockets.count > 0,
	};
	tier_of(plan)->choose_filter(plan, has_listener, options);
}

enum { FILTERS = 3 };
/* The bytes that backend_prepare makes. In the cache they are not aligned, so they are only
 * copied. */
struct prepared {
	char root_layout[VIEW_SHAPE_HEX];
	uint16_t count[FILTERS]; /* of instructions, in the order of copy_filters; 0 without the guard */
	char filters[];
} __attribute__((packed));

int backend_prepare(const struct plan *plan, const void **prepared, size_t *size, struct error *err)
{
	struct filter_options options;
	struct filter_program programs[FILTERS] = { { 0 } };
	struct prepared *made;
	char *at;
	launch_filter_options(plan, true, &options);
	options.is_guarding = options.has_create_notify;
	if (options.is_guarding && filter_build(plan->arena, &options, &programs[1], err) < 0)
		return -1;
	options.has_create_notify = false;
	if (options.is_guarding && filter_build(plan->arena, &options, &programs[2], err) < 0)
		return -1;
	options.is_guarding = false;
	if (filter_build(plan->arena, &options, &programs[0], err) < 0)
		return -1;
	*size = sizeof *made;
	for (size_t i = 0; i < FILTERS; i++)
		*size += programs[i].count * sizeof *programs[i].instructions;
	made = arena_alloc(plan->arena, *size);
	root_layout_name(plan, made->root_layout);
	at = made->filters;
	for (size_t i = 0; i < FILTERS; i++) {
		size_t bytes = programs[i].count * sizeof *programs[i].instructions;
		made->count[i] = programs[i].count;
		if (bytes > 0)
			memcpy(at, programs[i].instructions, bytes);
		at += bytes;
	}
	*prepared = made;
	return 0;
}

static void copy_filter(struct arena *arena, const char *bytes, unsigned short count, struct filter_program *program)
{
	size_t size = count * sizeof *program->instructions;
	program->instructions = arena_alloc(arena, size + 1);
	memcpy(program->instructions, bytes, size);
	program->count = count;
}

/* Copies the filter programs to aligned memory; the kernel checks the programs themselves. */
static int copy_filters(struct launch *launch, const struct prepared *prepared, size_t size, struct error *err)
{
	struct filter_program *const programs[FILTERS] = { &launch->filter, &launch->guarded, &launch->guarding };
	const size_t each = sizeof *launch->filter.instructions;
	const char *at = prepared->filters;
	size_t total = 0;
	for (size_t i = 0; size >= sizeof *prepared && i < FILTERS; i++)
		total += prepared->count[i];
	if (size < sizeof *prepared || prepared->count[0] == 0 || size - sizeof *prepared != total * each)
		return error_set(err, "the prepared system-call filter is damaged");
	for (size_t i = 0; i < FILTERS; i++) {
		copy_filter(launch->plan->arena, at, prepared->count[i], programs[i]);
		at += prepared->count[i] * each;
	}
	return 0;
}

/* Scans the project and makes the documents that depend on the results. */
static int scan(struct launch *launch, const struct run_request *request, struct error *err)
{
	if (request->scan && request->scan(request->self, request->results, err) < 0)
		return -1;
	if (launch->copy && request->results)
		launch_keep_visible(launch, request->results);
	plan_run_documents(launch->plan, &launch->documents);
	return 0;
}

/* Asks the caller, after the scan, whether the plan may be run. */
static int confirm(const struct run_request *request, struct error *err)
{
	return request->confirm ? request->confirm(request->self, err) : 0;
}

/* Prepares the launch, up to the fork. */
static int prepare(struct launch *launch, const struct run_request *request, struct error *err)
{
	const struct plan *plan = launch->plan;
	const struct prepared *prepared = request->prepared;
	size_t size = request->prepared_size;
	const void *made;

	launch->is_scanned = launch->tier->scans_first || !request->scan;
	if (launch->is_scanned && (scan(launch, request, err) < 0 || confirm(request, err) < 0))
		return -1;
	if (launch->tier->check(plan, err) < 0 || state_prepare(plan, &launch->documents, &launch->state, err) < 0)
		return -1;
	if (!prepared) {
		if (backend_prepare(plan, &made, &size, err) < 0)
			return -1;
		prepared = made;
	}
	if (copy_filters(launch, prepared, size, err) < 0)
		return -1;
	command_prepare(plan, request->argv, &launch->command);
	return launch->tier->prepare(launch, prepared->root_layout, err);
}

/* True if this host file is visible inside. Then it was found there too, and its interpreter or
 * loader is missing. */
static bool is_shown(const struct plan *plan, const char *path)
{
	const char *directory = plan->context.working_directory ? plan->context.working_directory : plan->context.project;
	struct error ignored;
	const char *canonical;
	if (path_resolve(plan->context.fs, plan->arena, path_absolute(plan->arena, directory, path), &canonical, NULL, NULL,
			 &ignored) < 0)
		return false;
	return plan_check_path(plan, ACCESS_EXECUTE, canonical, false).is_allowed;
}

/* Names the directories that the policy would have to show: of the program, and of the file that it
 * is a symlink to. */
static void hint_hidden(const struct plan *plan, const char *host, struct error *ended)
{
	const char *directory, *canonical, *target;
	struct error ignored;

	host = path_absolute(plan->arena,
			     plan->context.working_directory ? plan->context.working_directory : plan->context.project, host);
	directory = path_parent(plan->arena, host);
	if (path_resolve(plan->context.fs, plan->arena, host, &canonical, NULL, NULL, &ignored) < 0)
		canonical = host;
	target = path_parent(plan->arena, canonical);
	if (strcmp(target, directory) == 0)
		error_hint(ended, "%s is on this machine, but the policy does not show it; files.read or --allow-read=%s would",
			   host, directory);
	else
		error_hint(ended,
			   "%s is a link to %s, and the policy does not show both; files.read or --allow-read=%s,%s would",
			   host, canonical, directory, target);
}

/* Fills result->ended for a command that could not be executed. Init has reported the errno. */
void launch_explain_not_executed(const struct plan *plan, const char *name, struct run_result *result)
{
	struct error *ended = &result->ended;
	int number = ended->number;
	const char *host;
	if (number == 0)
		return;
	host = command_on_host(plan, name);
	if (result->exit_code != EXIT_NOT_FOUND) {
		error_errno(ended, number, "cannot execute %s", name);
		return;
	}
	error_set(ended, "%s: command not found", name);
	if (host && is_shown(plan, host) && !strchr(name, '/'))
		error_hint(ended, "%s is visible inside, but its directory is not in PATH; use the full path", host);
	else if (host && is_shown(plan, host))
		error_hint(ended, "%s exists, but the interpreter in its first line, or its loader, is missing inside", host);
	else if (host)
		hint_hidden(plan, host, ended);
}

/* Creates the channel and the shared page, before the fork. */
static int connect_init(struct launch *launch, struct error *err)
{
	void *page = mmap(NULL, sizeof *launch->progress, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (page == MAP_FAILED)
		return error_errno(err, errno, "cannot share memory with the sandbox's init");
	launch->progress = page; /* mapped until this process exits */
	return channel_open(launch->ends, err);
}

/* Forks init. -1 with err: nothing of this launch is left. */
static pid_t fork_init(struct launch *launch, int *pidfd, struct run_result *result, struct error *err)
{
	pid_t pid;
	if (connect_init(launch, err) < 0)
		return -1;
	pid = launch->tier->fork(launch, pidfd, result, err);
	if (pid == 0)
		init_main(launch);
	if (pid > 0 && !launch->is_scanned && cpu_placement_is_idle())
		cpu_placement_separate(&launch->placement, pid);
	close(launch->ends[1]);
	if (launch->has_egress)
		egress_leave_inside(&launch->egress);
	if (pid < 0)
		close(launch->ends[0]);
	return pid;
}

/* Scans while init builds the view, and sends init the results. */
static int scan_for_init(struct launch *launch, const struct run_request *request, pid_t init, struct error *err)
{
	if (scan(launch, request, err) < 0)
		return -1;
	/* Before the results are sent: init reads its CPU set afterwards, and a limit may depend on
	 * it. */
	cpu_placement_restore(&launch->placement, init);
	if (channel_has_failed(scan_results_send(launch->ends[0], request->results)))
		return error_errno(err, errno, "cannot send the scan results to init");
	return 0;
}

/* Once nothing can refuse the run any more: another attempt may take other ports. */
static void report_published(const struct launch *launch, const struct run_request *request)
{
	bool is_last = false;
	for (size_t i = 0; !is_last; i++) {
		const char *sentence = egress_notice(launch->plan, &launch->egress, i, &is_last);
		if (sentence)
			request->notice(request->self, sentence);
	}
}

/* Completes the launch after init is forked. -1 with err: init must not go on; it has changed
 * nothing permanent. */
static int complete(struct launch *launch, const struct run_request *request, struct supervision *supervision,
		    struct run_result *result, struct error *err)
{
	const struct message go = { .type = MESSAGE_GO };
	if (launch->limits.has_scope && launch_scope(launch, supervision->pid, result, err) < 0)
		return -1;
	if (!launch->is_scanned && scan_for_init(launch, request, supervision->pid, err) < 0)
		return -1;
	supervisor_check_terminal(supervision);
	/* The host's changes do not show in a full copy. */
	if (!launch->copy || !launch->copy->is_full)
		repair_prepare(&launch->repair, launch->plan, supervision->pid, supervision->pidfd);
	if (launch->tier->fill_run_files(launch, &supervision->run_files_pending, err) < 0)
		return -1;
	if (launch->is_scanned) {
		arena_command_started(); /* init waits for nothing */
		return 0;
	}
	if (confirm(request, err) < 0)
		return -1;
	supervisor_check_terminal(supervision);
	arena_command_started();
	supervision->go_pending = supervision->run_files_pending;
	if (!supervision->go_pending && channel_has_failed(channel_send(launch->ends[0], &go)))
		return error_errno(err, errno, "cannot send init the permission to start the command");
	return 0;
}

static int run_and_supervise(struct launch *launch, const struct run_request *request, const struct terminal *terminal,
			     int signals, struct run_result *result, struct error *err)
{
	autoclose int pidfd = -1;
	autoclose int channel = -1;
	struct supervision supervision = { .plan = launch->plan,
					   .signals = signals,
					   .terminal = terminal,
					   .tier = launch->tier,
					   .documents = &launch->documents,
					   .has_own_group = launch->has_own_group,
					   .is_hangup_ignored = launch->signals.is_hangup_ignored,
					   .watch = &launch->watch,
					   .repair = &launch->repair,
					   .group = &launch->group,
					   .session = launch->session,
					   .proxy_secret = launch->has_egress ? launch->egress.secret : NULL };
	struct cgroup_events ignored;
	int status;

	if (launch_limits(launch, result, err) < 0)
		return -1;
	repair_begin(&launch->repair);
	launch->repair.is_session = launch->session != NULL;
	watch_start(&launch->watch, launch->plan, &launch->limits, launch->copy ? launch->copy->upper_path : NULL);
	supervision.pid = fork_init(launch, &pidfd, result, err);
	if (supervision.pid < 0) {
		watch_end(&launch->watch);
		cgroup_end(&launch->group, &ignored);
		return -1;
	}
	channel = launch->ends[0];
	supervision.pidfd = pidfd;
	supervision.progress = launch->progress;
	if (complete(launch, request, &supervision, result, err) < 0) {
		child_end(supervision.pid);
		repair_finish(&launch->repair, result);
		watch_end(&launch->watch);
		cgroup_end(&launch->group, &ignored);
		return -1;
	}
	supervision.channel = channel;
	launch->watch.init = supervision.pid;
	supervision.request = request;
	if (launch->has_egress && request->notice)
		report_published(launch, request);
	if (request->meanwhile)
		request->meanwhile(request->self);
	status = supervisor_run(&supervision, result, err);
	result->was_guarded = launch->progress->is_guarded;
	if (status == 0 && plan_has_mounts(launch->plan))
		view_list_beside(launch->plan, &launch->state.home, &launch->since, &result->beside);
	repair_finish(&launch->repair, result);
	watch_end(&launch->watch);
	return status;
}

void backend_explain(struct error *err)
{
	cause_explain(err);
}

/* True for namespaces and mounts, which only the full tier needs. */
static bool is_refused_by_host(const struct error *err)
{
	return err->stage >= STAGE_NAMESPACES && err->stage <= STAGE_ENTER;
}

/* The proxy processes exit after the sandbox: they report the refused connections then. */
static int run_with_egress(struct launch *launch, const struct run_request *request, const struct terminal *terminal,
			   int signals, struct run_result *result, struct error *err)
{
	int status;

	if (egress_start(launch->plan, &launch->egress, err) < 0)
		return -1;
	status = run_and_supervise(launch, request, terminal, signals, result, err);
	result->refused = arena_alloc(launch->plan->arena, sizeof *result->refused);
	egress_finish(&launch->egress, result->refused, &result->note);
	return status;
}

/* EAGAIN: a path changed between the scan and the mounts. */
static enum run_outcome outcome_of(const struct launch *launch, const struct error *err)
{
	if (err->stage == STAGE_OVERLAY)
		return RUN_NO_OVERLAY;
	if (err->number == EAGAIN && !is_refused_by_host(err))
		return RUN_MOVED;
	return launch->tier->can_fall_back && is_refused_by_host(err) && launch->landlock_abi >= LANDLOCK_ABI_USEFUL
		       ? RUN_HOST_REFUSED
		       : RUN_REFUSED;
}

/* Runs a prepared launch, from blocking the signals to restoring the terminal. */
static int run(struct launch *launch, const struct run_request *request, struct run_result *result, struct error *err)
{
	struct terminal terminal;
	autoclose int signals = -1;
	int status;

	terminal_save(&terminal);
	launch->has_own_group = terminal.is_job;
	signals = signals_take(&launch->signals, err);
	if (signals < 0)
		return -1;
	status = launch->has_egress ? run_with_egress(launch, request, &terminal, signals, result, err)
				    : run_and_supervise(launch, request, &terminal, signals, result, err);
	terminal_restore(&terminal);
	if (status < 0)
		/* Another attempt needs the caller's signals. */
		signals_give_back(&launch->signals);
	return status;
}

enum run_outcome backend_run(const struct plan *plan, const struct run_request *request, struct run_result *result,
			     struct error *err)
{
	struct launch launch = { .plan = plan,
				 .tier = tier_of(plan),
				 .uid = plan->context.uid,
				 .gid = plan->context.gid,
				 .results = request->results,
				 .copy = request->copy,
				 .session = request->session,
				 .has_terminal = view_has_terminal(),
				 .landlock_abi = landlock_abi() };
	enum run_outcome outcome;

	clock_gettime(CLOCK_REALTIME_COARSE, &launch.since);
	/* Without its directories the command would change the project. */
	if (plan_is_copy(plan) != (request->copy != NULL)) {
		error_set(err, "a copy of the project was asked for, and there is none");
		return RUN_REFUSED;
	}
	if (prepare(&launch, request, err) == 0 && run(&launch, request, result, err) == 0) {
		launch_explain_not_executed(plan, request->argv[0], result);
		return RUN_DONE;
	}
	outcome = outcome_of(&launch, err);
	/* If a lower tier can be tried, the cause is searched only if that fails too. */
	if (outcome != RUN_HOST_REFUSED)
		backend_explain(err);
	return outcome;
}
