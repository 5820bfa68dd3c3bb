/* SPDX-License-Identifier: Apache-2.0 */
/* The macOS backend. Compiled and checked on a model of Seatbelt, never run on a Mac.
 *
 * Theory of operation. The plan becomes a profile (profile.h), which is written to a file of mode
 * 0600 in the state directory. /usr/bin/sandbox-exec applies it and starts a one-line shell script,
 * which writes one byte as proof and executes the command. The file is removed when the run is
 * over. Without the byte no command ran in a sandbox, and the run is reported as refused. The
 * launcher enforces the time limit and forwards signals. When the command has ended, it kills every
 * process of the run (mark.c), and after a failure it reads the kernel's reports. states.c has the
 * levels of the guarantees.
 *
 * If the policy names destinations, the proxy (proxy.c) is started first, and the profile allows
 * connections to the proxy only.
 *
 * Order: not nested → state → mark → [proxy] → profile → file → signals → start → watch → kill the
 * rest → reap → restore terminal → [log] → remove files. */
#include "macos/launch/internal.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "common/base/cleanup.h"
#include "common/state/remove_tree.h"
#include "common/base/text.h"

/* Nothing to cache: every run makes a new plan. */
int backend_prepare(const struct plan *plan, const void **prepared, size_t *size, struct error *err)
{
	(void)plan;
	(void)err;
	*prepared = NULL;
	*size = 0;
	return 0;
}

/* Returns a tag of fifteen random bytes. Other runs cannot guess it, so they cannot fake
 * reports. */
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

/* Writes the profile to the state directory, which no sandbox can write: a process that could
 * change the file before sandbox-exec reads it would control the policy. */
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
	return error_hint(err, "start berm outside of it; berm cannot inspect the outer sandbox");
}

/* `home: empty` and `tmp: empty` are new directories in the state directory, removed after the
 * run. */
struct run_directories {
	int runs, short_tmp; /* <state>/runs and <state>/t */
	const char *name, *home; /* NULL: the directories of the project */
	const char *tmp, *tmp_name;
};

enum { SHORT_NAME = 13 }; /* of the tag, for paths of sockets */

static int make_run_home(const struct plan *plan, int top, const char *tag, struct run_directories *directories,
			 struct error *err)
{
	const char *directory = path_join(plan->arena, path_join(plan->arena, plan->context.state_directory, "runs"), tag);
	autoclose int own = -1;

	if (plan->home != HOME_EMPTY)
		return 0;
	directories->runs = state_enter(top, "runs", directory, true, err);
	own = directories->runs < 0 ? -1 : state_enter(directories->runs, tag, directory, true, err);
	if (own < 0)
		return -1;
	directories->name = tag;
	directories->home = path_join(plan->arena, directory, "home");
	return mkdirat(own, "home", 0700) < 0 ? error_errno(err, errno, "cannot create %s", directories->home) : 0;
}

static int make_run_tmp(const struct plan *plan, int top, const char *tag, struct run_directories *directories,
			struct error *err)
{
	const char *parent = path_join(plan->arena, plan->context.state_directory, PLAN_SHORT_TMP);

	if (plan->tmp != TMP_EMPTY)
		return 0;
	directories->short_tmp = state_enter(top, PLAN_SHORT_TMP, parent, true, err);
	if (directories->short_tmp < 0)
		return -1;
	directories->tmp_name = arena_copy_n(plan->arena, tag, SHORT_NAME);
	directories->tmp = path_join(plan->arena, parent, directories->tmp_name);
	if (mkdirat(directories->short_tmp, directories->tmp_name, 0700) == 0)
		return 0;
	error_errno(err, errno, "cannot create %s", directories->tmp);
	directories->tmp_name = NULL; /* another run's */
	return -1;
}

static int make_run_directories(const struct plan *plan, const char *tag, struct run_directories *directories,
				struct error *err)
{
	autoclose int top = -1;

	*directories = (struct run_directories){ .runs = -1, .short_tmp = -1 };
	if (plan->home != HOME_EMPTY && plan->tmp != TMP_EMPTY)
		return 0;
	top = state_open(plan->arena, plan->context.state_directory, true, err);
	if (top < 0 || make_run_home(plan, top, tag, directories, err) < 0)
		return -1;
	return make_run_tmp(plan, top, tag, directories, err);
}

static void remove_run_directory(int parent, const char *name, struct run_result *result)
{
	struct error left = { 0 };
	if (parent < 0)
		return;
	if (name && state_remove(parent, name, name, &left) < 0 && !error_is_set(&result->note))
		result->note = left;
	close(parent);
}

/* Appends to <state>/violations.jsonl. Errors are ignored: the run is over. */
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
		error_hint(&result->note, "`berm check` names the rule; all violations are in %s/violations.jsonl",
			   plan->context.state_directory);
	}
	text_free(&summary);
	violations_details(violations, &details);
	if (details.length > 0)
		result->details = arena_copy(plan->arena, details.data);
	text_free(&details);
	keep_report(plan, violations);
}

/* Explains a failure by what the kernel refused. A command that succeeded is not delayed. */
static void explain_failure(const struct plan *plan, const char *tag, int64_t start, struct run_result *result)
{
	struct violations *violations;
	const char *problem;
	if (result->exit_code == 0)
		return;
	violations = arena_alloc(plan->arena, sizeof *violations);
	*violations = (struct violations){ .arena = plan->arena, .tag = tag };
	problem = mac_log_read(plan->arena, tag, start, violations);
	report(plan, violations, result);
	if (problem && !result->details)
		result->details = arena_printf(plan->arena, "  what the kernel refused is not known: %s\n", problem);
}

static int supervise(struct mac_launch *launch, int queue, struct run_result *result, struct error *err)
{
	struct mac_watch watch = { .launch = launch, .queue = queue, .proof = -1 };
	autoclose int proof = -1;

	watch.child = mac_launch_start(launch, &proof, err);
	watch.proof = proof;
	return watch.child < 0 ? -1 : mac_watch_run(&watch, result, err);
}

static int launch_and_supervise(struct mac_launch *launch, const char *tag, struct run_result *result, struct error *err)
{
	autoclose int queue = mac_signals_watch(&launch->signals, err);
	int64_t start = (int64_t)time(NULL) - 1;
	int status;
	if (queue < 0)
		return -1;
	status = supervise(launch, queue, result, err);
	mac_terminal_restore(launch->terminal, true);
	mac_signals_restore(&launch->signals);
	if (status == 0)
		explain_failure(launch->plan, tag, start, result);
	return status;
}

static int prepare(struct mac_launch *launch, const struct run_directories *directories,
		   const struct mac_user_directories *user, const struct mac_proxy *proxy, const char *tag, const char **path,
		   struct error *err)
{
	const struct plan *plan = launch->plan;
	struct profile_run run = {
		.tag = tag,
		.terminals = launch->terminal->names,
		.terminal_count = launch->terminal->name_count,
		.helper = SANDBOX_EXEC_SHELL,
		.home = directories->home,
		.tmp = directories->tmp,
		.proxy_port = proxy->port,
		.user_temporary = user->temporary,
		.user_cache = user->cache,
		.mark = launch->mark.unreadable,
	};
	const struct sandbox_exec_run values = { directories->home, directories->tmp, proxy->port,
						 proxy->pid ? proxy->secret : NULL, user->suffix };
	struct profile profile;

	launch->proof = sandbox_exec_proof_fd(launch->request->pass_fds, launch->request->pass_fd_count);
	if (launch->proof < 0)
		return error_set(err, "--pass-fd leaves no free file descriptor between %d and %d, and berm needs one",
				 SANDBOX_EXEC_PROOF_MIN, SANDBOX_EXEC_PROOF_MAX);
	if (profile_write(plan->arena, plan, &run, &profile, err) < 0 || write_profile(plan, &profile, tag, path, err) < 0)
		return -1;
	launch->arguments = sandbox_exec_arguments(plan->arena, &profile, *path, launch->proof, launch->request->argv);
	launch->environment = sandbox_exec_environment(plan->arena, plan, &values);
	launch->directory = plan->context.working_directory ? plan->context.working_directory : plan->context.project;
	/* In a pipeline the other processes of the group would lose the terminal. The processes of
	 * the run are then found by the mark only. */
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

/* The profile is made from the scan results: nothing can be done meanwhile. */
static int scan_and_confirm(const struct plan *plan, const struct run_request *request, struct plan_documents *documents,
			    struct error *err)
{
	if (request->scan && request->scan(request->self, request->results, err) < 0)
		return -1;
	plan_run_documents(plan, documents);
	return request->confirm ? request->confirm(request->self, err) : 0;
}

/* Everything that a run creates. */
struct made {
	struct run_directories directories;
	struct mac_user_directories user;
	struct mac_proxy proxy;
	const char *profile; /* NULL: not written */
};

static int make(struct mac_launch *launch, const char *tag, struct made *made, struct error *err)
{
	const struct plan *plan = launch->plan;
	if (mac_mark_make(plan, tag, &launch->mark, err) < 0 || make_run_directories(plan, tag, &made->directories, err) < 0 ||
	    mac_user_directories_make(plan, tag, &made->user, err) < 0)
		return -1;
	if (profile_needs_proxy(plan) && mac_proxy_start(plan, &made->proxy, err) < 0)
		return -1;
	return prepare(launch, &made->directories, &made->user, &made->proxy, tag, &made->profile, err);
}

static void unmake(struct mac_launch *launch, struct made *made, struct run_result *result)
{
	if (made->profile)
		unlink(made->profile);
	finish_proxy(launch->plan, &made->proxy, result);
	mac_mark_remove(&launch->mark);
	mac_user_directories_remove(&made->user);
	remove_run_directory(made->directories.runs, made->directories.name, result);
	remove_run_directory(made->directories.short_tmp, made->directories.tmp_name, result);
}

static int run(const struct plan *plan, const struct run_request *request, struct run_result *result, struct error *err)
{
	struct mac_terminal terminal;
	struct mac_launch launch = { .plan = plan, .request = request, .terminal = &terminal, .mark.directory = -1 };
	const char *tag = make_tag(plan->arena);
	struct made made = { .directories = { .runs = -1, .short_tmp = -1 }, .proxy.control = -1 };
	struct plan_documents documents;
	struct state state;
	int status;

	if (scan_and_confirm(plan, request, &documents, err) < 0)
		return -1;
	if (refuse_nesting(err) < 0 || state_prepare(plan, &documents, &state, err) < 0)
		return -1;
	mac_terminal_open(plan->arena, &terminal);
	status = make(&launch, tag, &made, err);
	if (status == 0)
		status = launch_and_supervise(&launch, tag, result, err);
	unmake(&launch, &made, result);
	if (state.lock >= 0)
		close(state.lock);
	return status;
}

enum run_outcome backend_run(const struct plan *plan, const struct run_request *request, struct run_result *result,
			     struct error *err)
{
	return run(plan, request, result, err) == 0 ? RUN_DONE : RUN_REFUSED;
}
