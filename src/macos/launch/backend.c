/* SPDX-License-Identifier: Apache-2.0 */
/* The macOS backend. Compiled and checked on a model of Seatbelt, never run on a Mac.
 *
 * Theory of operation. The plan becomes a profile (profile.c), which goes into a file of mode 0600 in the state directory;
 * /usr/bin/sandbox-exec applies it and starts a shell of one line, which writes a byte of proof and becomes the command. The file is
 * removed as soon as the proof is there, or the run is over. Without proof nothing ran inside a sandbox, and the run is reported as
 * refused. The launcher keeps the time limit, forwards signals, reads the kernel's reports, and afterwards ends what is left of the
 * command's process group and descendants. Nothing that the system cannot hold is claimed: backend_states.c has the table.
 *
 * Where the policy names destinations, the proxy (backend_proxy.c) is started before, and the profile leads to it alone.
 *
 * Order: not nested → state → [proxy] → profile → file → signals → log → start → watch → sweep → terminal restored → file removed. */
#include "macos/launch/internal.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/base/cleanup.h"
#include "common/state/remove_tree.h"
#include "common/base/text.h"

/* A new plan is made for each run here: nothing is kept with it. */
int backend_prepare(const struct plan *plan, const void **prepared, size_t *size, struct error *err)
{
	(void)plan;
	(void)err;
	*prepared = NULL;
	*size = 0;
	return 0;
}

/* Fifteen random bytes: other runs cannot guess it, so they cannot put reports under it. */
static const char *make_tag(struct arena *arena)
{
	static const char digits[] = "0123456789abcdef";
	unsigned char bytes[15];
	char tag[2 * sizeof bytes + 1];
	arc4random_buf(bytes, sizeof bytes);
	for (size_t i = 0; i < sizeof bytes; i++) {
		tag[2 * i] = digits[bytes[i] >> 4];
		tag[2 * i + 1] = digits[bytes[i] & 15];
	}
	tag[2 * sizeof bytes] = '\0';
	return arena_printf(arena, "berm-%s", tag);
}

/* In the state directory, which no sandbox can write: whoever can change this file before sandbox-exec reads it writes the policy. */
static int write_profile(const struct plan *plan, const struct profile *profile, const char *tag, const char **path,
			 struct error *err)
{
	autoclose int directory = state_open(plan->arena, plan->context.state_directory, true, err);
	const char *name = arena_printf(plan->arena, "%s.sb", tag);
	autoclose int fd = -1;
	if (directory < 0)
		return -1;
	fd = openat(directory, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (fd < 0)
		return error_errno(err, errno, "cannot write the profile into %s", plan->context.state_directory);
	*path = path_join(plan->arena, plan->context.state_directory, name);
	if (text_write(fd, profile->text, profile->length) < 0) {
		error_errno(err, errno, "cannot write %s", *path);
		unlink(*path);
		return -1;
	}
	return 0;
}

static int refuse_nesting(struct error *err)
{
	if (sandbox_check(getpid(), NULL, 0) != 1)
		return 0;
	error_set(err, "this process is in a sandbox already, and macOS does not nest them");
	return error_hint(err, "start berm outside of it; what the outer sandbox holds, berm cannot see");
}

/* An empty home or tmp is a new directory in the state directory, removed afterwards with everything in it. */
struct fresh {
	int runs; /* <state>/runs */
	const char *name, *home, *tmp; /* NULL: kept per project */
};

static int make_fresh(const struct plan *plan, const char *tag, struct fresh *fresh, struct error *err)
{
	const char *directory = path_join(plan->arena, path_join(plan->arena, plan->context.state_directory, "runs"), tag);
	autoclose int top = -1, own = -1;

	*fresh = (struct fresh){ .runs = -1 };
	if (plan->home != HOME_EMPTY && plan->tmp != TMP_EMPTY)
		return 0;
	top = state_open(plan->arena, plan->context.state_directory, true, err);
	fresh->runs = top < 0 ? -1 : state_enter(top, "runs", directory, true, err);
	own = fresh->runs < 0 ? -1 : state_enter(fresh->runs, tag, directory, true, err);
	if (own < 0)
		return -1;
	fresh->name = tag;
	if (mkdirat(own, "home", 0700) < 0 || mkdirat(own, "tmp", 0700) < 0)
		return error_errno(err, errno, "cannot make %s", directory);
	if (plan->home == HOME_EMPTY)
		fresh->home = path_join(plan->arena, directory, "home");
	if (plan->tmp == TMP_EMPTY)
		fresh->tmp = path_join(plan->arena, directory, "tmp");
	return 0;
}

static void remove_fresh(const struct fresh *fresh, struct run_result *result)
{
	struct error left = { 0 };
	if (fresh->runs < 0)
		return;
	if (fresh->name && state_remove(fresh->runs, fresh->name, fresh->name, &left) < 0 && !error_is_set(&result->note))
		result->note = left;
	close(fresh->runs);
}

/* Appends to <state>/violations.jsonl; a report that cannot be written is no reason to fail a run that is over. */
static void keep_report(const struct plan *plan, const struct violations *violations)
{
	struct text lines = { 0 };
	struct error ignored;
	autoclose int directory = -1, fd = -1;
	if (violations->total == 0)
		return;
	directory = state_open(plan->arena, plan->context.state_directory, true, &ignored);
	if (directory >= 0)
		fd = openat(directory, "violations.jsonl", O_WRONLY | O_APPEND | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);
	violations_json(violations, &lines);
	if (fd >= 0)
		(void)text_write(fd, lines.data, lines.length);
	text_free(&lines);
}

static void report(const struct plan *plan, const struct violations *violations, struct run_result *result)
{
	struct text summary = { 0 }, details = { 0 };
	violations_summary(violations, &summary);
	if (summary.length > 0 && !error_is_set(&result->note)) {
		error_set(&result->note, "%s", summary.data);
		error_hint(&result->note, "`berm check` says which rule; all of them: %s/violations.jsonl",
			   plan->context.state_directory);
	}
	text_free(&summary);
	violations_details(violations, &details);
	if (details.length > 0)
		result->details = arena_copy(plan->arena, details.data);
	text_free(&details);
	keep_report(plan, violations);
}

static int supervise(struct mac_launch *launch, const char *tag, int queue, struct run_result *result, struct error *err)
{
	const struct plan *plan = launch->plan;
	struct violations *violations = arena_alloc(plan->arena, sizeof *violations);
	struct mac_log log;
	struct mac_watch watch = { .launch = launch, .queue = queue, .log = &log, .violations = violations, .proof = -1 };
	autoclose int proof = -1;
	int status;

	violations->arena = plan->arena;
	violations->tag = tag;
	mac_log_start(&log, plan->arena, tag);
	watch.child = mac_launch_start(launch, &proof, err);
	watch.proof = proof;
	status = watch.child < 0 ? -1 : mac_watch_run(&watch, result, err);
	mac_log_read(&log, violations, true);
	if (status == 0)
		report(plan, violations, result);
	return status;
}

static int launch_and_supervise(struct mac_launch *launch, const char *tag, struct run_result *result, struct error *err)
{
	autoclose int queue = mac_signals_take(&launch->signals, err);
	int status;
	if (queue < 0)
		return -1;
	status = supervise(launch, tag, queue, result, err);
	mac_terminal_take_back(launch->terminal, true);
	mac_signals_give_back(&launch->signals);
	return status;
}

static int prepare(struct mac_launch *launch, const struct fresh *fresh, const struct mac_proxy *proxy, const char *tag,
		   const char **path, struct error *err)
{
	const struct plan *plan = launch->plan;
	struct profile_run run = {
		.tag = tag,
		.terminals = launch->terminal->names,
		.terminal_count = launch->terminal->name_count,
		.helper = LAUNCH_SHELL,
		.home = fresh->home,
		.tmp = fresh->tmp,
		.proxy_port = proxy->port,
	};
	const struct launch_places places = { fresh->home, fresh->tmp, proxy->port, proxy->pid ? proxy->secret : NULL };
	struct profile profile;

	launch->proof = launch_proof_number(launch->request->pass_fds, launch->request->pass_fd_count);
	if (launch->proof < 0)
		return error_set(err, "--pass-fd leaves no number between %d and %d for berm", LAUNCH_PROOF_MIN,
				 LAUNCH_PROOF_MAX);
	if (profile_write(plan->arena, plan, &run, &profile, err) < 0 || write_profile(plan, &profile, tag, path, err) < 0)
		return -1;
	launch->words = launch_words(plan->arena, &profile, *path, launch->proof, launch->request->argv);
	launch->environment = launch_environment(plan->arena, plan, &places);
	launch->directory = plan->context.working_directory ? plan->context.working_directory : plan->context.project;
	/* In a pipeline the others of the group would lose the terminal; the descendants are found by their parents then. */
	launch->has_own_group = launch->terminal->fd < 0 || launch->terminal->is_whole;
	return 0;
}

static void finish_proxy(const struct plan *plan, struct mac_proxy *proxy, struct run_result *result)
{
	if (proxy->pid == 0)
		return;
	result->refused = arena_alloc(plan->arena, sizeof *result->refused);
	mac_proxy_finish(proxy, result->refused, &result->note);
}

/* The profile is the sandbox, and it is made of the plan. */
bool backend_can_begin(const struct plan *plan)
{
	(void)plan;
	return false;
}

struct begun *backend_begin(struct arena *arena)
{
	(void)arena;
	return NULL;
}

void backend_abandon(struct begun *begun)
{
	(void)begun;
}

int backend_run(struct plan *plan, const struct run_request *request, struct run_result *result, struct error *err)
{
	struct mac_terminal terminal;
	struct mac_launch launch = { .plan = plan, .request = request, .terminal = &terminal };
	const char *tag = make_tag(plan->arena), *path = NULL;
	struct state state;
	struct fresh fresh;
	struct mac_proxy proxy = { .control = -1 };
	int status;

	/* The profile is made from all that was found: nothing can be done meanwhile. */
	if (request->complete) {
		if (request->complete(request->self, plan, err) < 0)
			return -1;
		plan_add_documents(plan);
	}
	if (request->confirm && request->confirm(request->self, plan, err) < 0)
		return -1;
	if (refuse_nesting(err) < 0 || state_prepare(plan, &state, err) < 0)
		return -1;
	mac_terminal_open(plan->arena, &terminal);
	status = make_fresh(plan, tag, &fresh, err);
	if (status == 0 && profile_needs_proxy(plan))
		status = mac_proxy_start(plan, &proxy, err);
	if (status == 0)
		status = prepare(&launch, &fresh, &proxy, tag, &path, err);
	if (status == 0)
		status = launch_and_supervise(&launch, tag, result, err);
	if (path)
		unlink(path);
	finish_proxy(plan, &proxy, result);
	remove_fresh(&fresh, result);
	if (state.lock >= 0)
		close(state.lock);
	return status;
}
