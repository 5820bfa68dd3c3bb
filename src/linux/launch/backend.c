/* SPDX-License-Identifier: Apache-2.0 */
/* The Linux backend.
 *
 * Theory of operation. Three processes: the launcher (this one; host namespaces), init (pid 1 of the new namespaces) and the command.
 * The launcher prepares everything that needs the host (state directories, the filter program, the command's environment), forks
 * init into the namespaces and then supervises. Init builds the view, locks itself in and starts the command behind the same wall,
 * so nothing that runs inside was ever outside it. Failures before execve come back over the channel and are told by the launcher;
 * nothing has run then. When the command ends, init ends, and the kernel ends whatever is left in the pid namespace.
 *
 * Where a limit needs a control group and only systemd can make one, init waits, with nothing done yet, until it is in it (scope.h).
 *
 * Where the policy names destinations there is a fourth, the proxy (egress.h), forked before init and outside like the launcher.
 *
 * Order: state → filter → command → signals → [proxy] → channel → namespaces → (init.c: tie, settle, view, confine, filter, start)
 *        ∥ the plan is completed: what is to be hidden, the run's own files, does it still hold → supervise → terminal restored.
 *
 * Completing the plan takes about as long as building the view, so both are done at the same time, on two processors if there are two. Init
 * waits for what was found before it puts masks in place, and for the launcher's word before it starts the command; a plan that turns out
 * not to hold, or to be refused, ends init.
 *
 * Where a stored plan of the usual kind is expected, init is forked even before that is looked for (early.h): signals → channel → namespaces, and
 * then the rest of the above. */
#include "common/backend.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/base/cleanup.h"
#include "linux/launch/landlock_tier.h"
#include "linux/channel.h"
#include "linux/launch/prefork.h"
#include "linux/launch/scan_results.h"
#include "linux/view/run_files.h"
#include "linux/confine/landlock.h"
#include "linux/launch/launch.h"
#include "linux/launch/metadata_broker.h"
#include "linux/probe/causes.h"
#include "linux/view/root_cache.h"
#include "linux/launch/terminal.h"
#include "linux/view/view.h"

static int make_filter(const struct plan *plan, bool has_listener, struct filter_program *program, struct error *err)
{
	bool is_alone = plan->context.tier == TIER_LANDLOCK;
	struct filter_options options = {
		.architecture = filter_native(),
		.has_nesting = plan->has_nesting && !is_alone, /* nothing else would stand in the way then */
		.has_fixed_cpus = plan->limits[LIMIT_CPUS].is_set,
		.is_alone = is_alone,
		.has_internet = plan->network.mode == NETWORK_ALL,
		.has_unix = plan->sockets.count > 0,
		.has_metadata_notify = is_alone && has_listener,
	};
	return filter_build(plan->arena, &options, program, err);
}

/* What backend_prepare makes. Stored bytes are not aligned, so it is only ever copied. */
struct prepared {
	char shape[VIEW_SHAPE_HEX];
	char filter[];
};

int backend_prepare(const struct plan *plan, const void **prepared, size_t *size, struct error *err)
{
	struct filter_program program;
	struct prepared *made;
	size_t filter_size;
	if (make_filter(plan, true, &program, err) < 0)
		return -1;
	filter_size = program.count * sizeof *program.instructions;
	made = arena_alloc(plan->arena, sizeof *made + filter_size);
	view_shape_name(plan, made->shape);
	memcpy(made->filter, program.instructions, filter_size);
	*prepared = made;
	*size = sizeof *made + filter_size;
	return 0;
}

/* Aligned again, because stored bytes are not; the kernel checks the program itself. */
static int take_prepared(struct launch *launch, const struct prepared *prepared, size_t size, struct error *err)
{
	struct filter_program *program = &launch->filter;
	size_t filter_size = size < sizeof *prepared ? 0 : size - sizeof *prepared;
	size_t count = filter_size / sizeof *program->instructions;
	if (count == 0 || count > BPF_MAXINSNS || filter_size % sizeof *program->instructions)
		return error_set(err, "the prepared system-call filter is damaged");
	program->instructions = arena_alloc(launch->plan->arena, filter_size);
	memcpy(program->instructions, prepared->filter, filter_size);
	program->count = (unsigned short)count;
	launch->has_terminal = view_has_terminal();
	if (launch->is_alone)
		return 0;
	return root_store_find(launch->plan, prepared->shape, launch->has_terminal, launch->state.lock, &launch->root, err);
}

/* The secret of this run, and the variables that tell it to programs inside. */
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

static int prepare(struct launch *launch, const struct run_request *request, struct error *err)
{
	const struct plan *plan = launch->plan;
	const void *prepared = request->prepared;
	size_t size = request->prepared_size;
	launch->uid = plan->context.uid;
	launch->gid = plan->context.gid;
	launch->is_alone = plan->context.tier == TIER_LANDLOCK;
	launch->is_complete = launch->is_alone || !request->complete;
	if (launch->is_alone && request->complete) {
		if (request->complete(request->self, launch->plan, err) < 0)
			return -1;
		plan_add_documents(launch->plan);
	}
	if (launch->is_complete && request->confirm && request->confirm(request->self, launch->plan, err) < 0)
		return -1;
	if (launch->is_alone && alone_judge(plan, err) < 0)
		return -1;
	if (state_prepare(plan, &launch->state, err) < 0)
		return -1;
	if (!prepared && backend_prepare(plan, &prepared, &size, err) < 0)
		return -1;
	if (take_prepared(launch, prepared, size, err) < 0)
		return -1;
	/* Without a listener changes of metadata go unjudged, which the guarantee `writes` has told already. */
	launch->has_listener = launch->is_alone && metadata_can_listen();
	if (launch->is_alone && !launch->has_listener && make_filter(plan, false, &launch->filter, err) < 0)
		return -1;
	command_prepare(plan, request->argv, &launch->command);
	launch->landlock_abi = landlock_abi();
	/* Alone there is no network at all where destinations are named: the guarantee has told so. */
	launch->has_egress = !launch->is_alone && egress_is_needed(plan);
	if (launch->has_egress && prepare_egress(launch, err) < 0)
		return -1;
	launch->namespaces.has_host_network = plan->network.mode == NETWORK_ALL;
	return 0;
}

/* Is this file of the host in the view? Then it was found inside too, and what is missing is what it needs to run. */
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

/* The words of a command that could not be executed; the number came from inside. */
static void explain_not_executed(const struct plan *plan, const char *name, struct run_result *result)
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
		error_hint(ended, "%s is visible inside, but PATH does not lead there; name it by its path", host);
	else if (host && is_shown(plan, host))
		error_hint(ended, "%s is there, but the interpreter that its first line names, or its loader, is not", host);
	else if (host)
		error_hint(ended,
			   "%s is on this machine, but the policy does not show it; add its directory to files.read, or use "
			   "--allow-read=DIR",
			   host);
}

/* Init, which has started nothing yet. */
static void end_unstarted(pid_t init)
{
	kill(init, SIGKILL);
	while (waitpid(init, NULL, 0) < 0 && errno == EINTR)
		;
}

int launch_connect(struct launch *launch, struct error *err)
{
	void *page = mmap(NULL, sizeof *launch->progress, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (page == MAP_FAILED)
		return error_errno(err, errno, "cannot share memory with the sandbox's init");
	launch->progress = page; /* for as long as this process lives */
	return channel_open(launch->ends, err);
}

/* The init that was begun before the plan was known, if it is one for this launch. NULL: there is none, or it was ended. */
static struct begun *adopt(struct launch *launch, struct begun *begun)
{
	const struct launch *early = begun ? &begun->launch : NULL;
	if (!begun || begun->init == 0)
		return NULL;
	launch->signals = early->signals;
	launch->has_own_group = early->has_own_group;
	launch->processors = early->processors;
	memcpy(launch->ends, early->ends, sizeof launch->ends);
	launch->progress = early->progress;
	launch->group = (struct cgroup){ .base = -1, .outer = -1, .inner = -1 };
	limits_choose(launch->plan, &launch->limits, NULL);
	if (!launch->is_complete && early_fits(launch->plan, &launch->limits) && early_hand_over(begun, launch) == 0)
		return begun;
	backend_abandon(begun);
	launch->processors = (struct processors){ 0 };
	return NULL;
}

/* Forks init, unless it is there already. -1: nothing of this launch is left. */
static pid_t fork_init(struct launch *launch, struct begun *begun, int *pidfd, struct run_result *result, struct error *err)
{
	pid_t pid;
	if (begun) {
		pid = begun->init;
		*pidfd = begun->pidfd;
		begun->init = 0;
		return pid;
	}
	if (launch_connect(launch, err) < 0)
		return -1;
	pid = launch->is_alone ? alone_fork(pidfd, err) : launch_fork(launch, pidfd, result, err);
	if (pid == 0)
		init_main(launch);
	if (pid > 0 && !launch->is_complete && processors_are_idle())
		processors_part(&launch->processors, pid);
	close(launch->ends[1]);
	if (launch->has_egress)
		egress_leave_inside(&launch->egress);
	if (pid < 0)
		close(launch->ends[0]);
	return pid;
}

/* What is in the project, for init and for the documents. */
static int search(struct launch *launch, const struct run_request *request, pid_t init, struct error *err)
{
	if (request->complete(request->self, launch->plan, err) < 0)
		return -1;
	processors_join(&launch->processors, init); /* before it looks at its processors itself, which a limit may be of */
	if (channel_has_failed(findings_send(launch->ends[0], launch->plan)))
		return error_errno(err, errno, "cannot tell init what was found in the project");
	plan_add_documents(launch->plan);
	return 0;
}

/* If init has come that far: as a rule it has. Else the supervisor does it, which keeps the time meanwhile. */
static int furnish_now(const struct launch *launch, bool *owes_own, struct error *err)
{
	struct pollfd channel = { .fd = launch->ends[0], .events = POLLIN };
	struct message message;
	int own[CHANNEL_DESCRIPTOR_MAX];
	size_t count = 0;

	*owes_own = true;
	if (poll(&channel, 1, 0) <= 0 || channel_receive_with(launch->ends[0], &message, own, &count) <= 0)
		return 0;
	*owes_own = false;
	if (message.type == MESSAGE_OWN)
		return furnish_fill(launch->ends[0], own, count, launch->plan, err);
	*err = message.error; /* what else init can have to say before that: why it failed */
	return -1;
}

/* Once init is there. -1: it may not go on, and has done nothing that stays. */
static int complete(struct launch *launch, const struct run_request *request, struct supervision *supervision,
		    struct run_result *result, struct error *err)
{
	const struct message go = { .type = MESSAGE_GO };
	supervision->progress = launch->progress;
	if (launch->limits.has_scope && launch_scope(launch, supervision->pid, result, err) < 0)
		return -1;
	if (!launch->is_complete && search(launch, request, supervision->pid, err) < 0)
		return -1;
	supervisor_look_at_terminal(supervision);
	if (!launch->is_alone && furnish_now(launch, &supervision->owes_own, err) < 0)
		return -1;
	if (launch->is_complete)
		return 0;
	if (request->confirm && request->confirm(request->self, launch->plan, err) < 0)
		return -1;
	supervisor_look_at_terminal(supervision);
	supervision->owes_go = supervision->owes_own;
	if (!supervision->owes_go && channel_has_failed(channel_send(launch->ends[0], &go)))
		return error_errno(err, errno, "cannot tell init to go on");
	return 0;
}

static int run_and_supervise(struct launch *launch, struct begun *begun, const struct run_request *request,
			     const struct terminal *terminal, int signals, struct run_result *result, struct error *err)
{
	autoclose int pidfd = -1;
	autoclose int channel = -1;
	struct supervision supervision = { .plan = launch->plan,
					   .signals = signals,
					   .terminal = terminal,
					   .is_alone = launch->is_alone,
					   .has_own_group = launch->has_own_group,
					   .is_hangup_ignored = launch->signals.is_hangup_ignored,
					   .watch = &launch->watch,
					   .group = &launch->group };
	struct cgroup_events ignored;
	int status;

	if (!begun && launch_limits(launch, result, err) < 0)
		return -1;
	watch_start(&launch->watch, launch->plan, &launch->limits);
	supervision.pid = fork_init(launch, begun, &pidfd, result, err);
	if (supervision.pid < 0) {
		watch_end(&launch->watch);
		cgroup_end(&launch->group, &ignored);
		return -1;
	}
	channel = launch->ends[0];
	if (complete(launch, request, &supervision, result, err) < 0) {
		end_unstarted(supervision.pid);
		watch_end(&launch->watch);
		cgroup_end(&launch->group, &ignored);
		return -1;
	}
	supervision.channel = channel;
	supervision.pidfd = pidfd;
	launch->watch.init = supervision.pid;
	if (request->meanwhile)
		request->meanwhile(request->self);
	status = supervisor_run(&supervision, result, err);
	watch_end(&launch->watch);
	return status;
}

void backend_explain(struct error *err)
{
	cause_explain(err);
}

/* Namespaces and mounts; the rest is needed in every tier. */
static bool is_refused_by_host(const struct error *err)
{
	return err->stage >= STAGE_NAMESPACES && err->stage <= STAGE_PROC;
}

/* The helpers outlive the sandbox by what they have to report. */
static int run_with_egress(struct launch *launch, const struct run_request *request, const struct terminal *terminal,
			   int signals, struct run_result *result, struct error *err)
{
	int status;

	if (egress_start(launch->plan, &launch->egress, err) < 0)
		return -1;
	status = run_and_supervise(launch, NULL, request, terminal, signals, result, err);
	result->refused = arena_alloc(launch->plan->arena, sizeof *result->refused);
	egress_finish(&launch->egress, result->refused, &result->note);
	return status;
}

int backend_run(struct plan *plan, const struct run_request *request, struct run_result *result, struct error *err)
{
	struct launch launch = { .plan = plan };
	struct begun *begun;
	struct terminal terminal;
	autoclose int signals = -1;
	int status;

	if (prepare(&launch, request, err) < 0) {
		backend_abandon(request->begun);
		return -1;
	}
	begun = adopt(&launch, request->begun);
	if (begun) {
		terminal = begun->terminal;
		signals = begun->signals;
	} else {
		terminal_save(&terminal);
		launch.has_own_group = terminal.is_job;
		signals = signals_take(&launch.signals, err);
	}
	if (signals < 0)
		return -1;
	status = launch.has_egress ? run_with_egress(&launch, request, &terminal, signals, result, err)
				   : run_and_supervise(&launch, begun, request, &terminal, signals, result, err);
	terminal_restore(&terminal);
	if (status == 0) {
		explain_not_executed(plan, request->argv[0], result);
	} else {
		signals_give_back(&launch.signals); /* a second attempt must find them as the caller left them */
		/* Where there is a second attempt, in a lower tier, the cause is asked for if that fails too. */
		result->is_refused_by_host =
			!launch.is_alone && is_refused_by_host(err) && launch.landlock_abi >= LANDLOCK_ABI_USEFUL;
		if (!result->is_refused_by_host)
			backend_explain(err);
	}
	return status;
}
