/* SPDX-License-Identifier: Apache-2.0 */
/* The level of each guarantee on macOS, from the documentation of Seatbelt. None of it was run on a
 * Mac, and every output that shows a level adds that label. backend_probe tries whether a sandbox
 * starts at all. */
#include "macos/launch/internal.h"

#include <errno.h>
#include <spawn.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "common/base/child.h"
#include "common/doctor/doctor.h"

static void set(struct guarantee_state *state, enum level level, const char *mechanism, const char *reason, const char *fix)
{
	*state = (struct guarantee_state){ .level = level, .mechanism = mechanism, .reason = reason, .fix = fix };
}

static void judge_network(const struct plan *plan, struct guarantee_state *state)
{
	if (plan->network.mode == NETWORK_ALLOW)
		set(state, LEVEL_ENFORCED,
		    "Seatbelt: only the port of berm's proxy, which checks each destination, and named local ports", NULL,
		    NULL);
	else if (profile_needs_proxy(plan))
		set(state, LEVEL_MISSING, NULL, "network.deny cannot be enforced with `network: all` yet",
		    "use `network: none` or a list of what is allowed");
	else if (plan->network.mode == NETWORK_NONE)
		set(state, LEVEL_ENFORCED, "Seatbelt: no network operation is granted, not even on the loopback", NULL, NULL);
	else
		set(state, LEVEL_ENFORCED, "the policy allows everything", NULL, NULL);
}

static void judge_limits(const struct plan *plan, struct guarantee_state *state)
{
	set(state, LEVEL_PARTIAL, "time by berm, open files by rlimit",
	    plan->limits[LIMIT_MEMORY].is_set || plan->limits[LIMIT_PROCESSES].is_set
		    ? "macOS limits neither the memory nor the number of processes of one command"
		    : "macOS has no limit on memory and processes for one command",
	    NULL);
}

void backend_expect(const struct plan *plan, struct guarantee_state states[GUARANTEE_COUNT])
{
	set(&states[GUARANTEE_WRITES], LEVEL_ENFORCED, "Seatbelt: file-write* only where granted", NULL, NULL);
	/* Patterns also cover names that are created later, but not a hard link with another
	 * name. */
	set(&states[GUARANTEE_SECRETS], LEVEL_LAUNCH, "Seatbelt: denied by path and pattern",
	    "a hard link that the host creates during the run is not covered", NULL);
	set(&states[GUARANTEE_PLANTING], LEVEL_LAUNCH, "Seatbelt: writes denied by path and pattern", NULL, NULL);
	judge_network(plan, &states[GUARANTEE_NETWORK]);
	set(&states[GUARANTEE_PROCESSES], LEVEL_PARTIAL,
	    "Seatbelt: signals and process-info only in the same sandbox; all processes with the run's profile are killed",
	    "names of other processes are visible, and a killed launcher leaves its processes running", NULL);
	set(&states[GUARANTEE_IPC], LEVEL_LAUNCH, "Seatbelt: Mach services and sockets only where granted",
	    "POSIX shared memory and semaphores of other programs can be opened by name", NULL);
	set(&states[GUARANTEE_ENVIRONMENT], LEVEL_ENFORCED, "a new environment", NULL, NULL);
	judge_limits(plan, &states[GUARANTEE_LIMITS]);
	set(&states[GUARANTEE_KERNEL], LEVEL_PARTIAL, "Seatbelt: dangerous operations denied",
	    "macOS has no filter for single system calls", NULL);
	set(&states[GUARANTEE_INTEGRITY], LEVEL_ENFORCED, "Seatbelt: policy and state directory are not writable", NULL, NULL);
	if (plan->required[GUARANTEE_AUDIT] >= LEVEL_ENFORCED)
		set(&states[GUARANTEE_AUDIT], LEVEL_ENFORCED,
		    "a record in the state directory; a run that cannot be recorded does not start, or ends with 123", NULL,
		    NULL);
	else
		set(&states[GUARANTEE_AUDIT], LEVEL_PARTIAL, "a record in the state directory",
		    "a full disk does not stop a run: events that cannot be written are counted",
		    "`require: {audit: enforced}`");
}

/* Starts a sandbox with a profile that allows everything. Returns NULL, or the reason of a
 * failure. */
static const char *try_sandbox(void)
{
	static char *const environment[] = { NULL };
	char program[] = SANDBOX_EXEC_PATH, flag[] = "-p", profile[] = "(version 1)(allow default)",
	     command[] = "/usr/bin/true";
	char *words[] = { program, flag, profile, command, NULL };
	pid_t pid;
	int status;
	if (sandbox_check(getpid(), NULL, 0) == 1)
		return "this process is in a sandbox already, and macOS does not nest them";
	if (posix_spawn(&pid, program, NULL, NULL, words, environment) != 0)
		return "/usr/bin/sandbox-exec cannot be started";
	if (child_wait(pid, &status) < 0)
		return "cannot wait for sandbox-exec";
	return WIFEXITED(status) && WEXITSTATUS(status) == 0 ? NULL : "sandbox-exec refuses to apply a profile";
}

static void lower_all(struct guarantee_state states[GUARANTEE_COUNT], const char *reason)
{
	for (size_t i = 0; i < GUARANTEE_COUNT; i++)
		if (i != GUARANTEE_ENVIRONMENT)
			set(&states[i], LEVEL_MISSING, NULL, reason, "start berm outside of other sandboxes");
}

/* macOS has one tier. */
enum tier backend_tier(const struct plan *plan, struct error *why)
{
	(void)plan;
	(void)why;
	return TIER_FULL;
}

/* Seatbelt decides by name, so that absent names need no guard. */
bool backend_can_guard(const struct plan *plan)
{
	(void)plan;
	return false;
}

/* A profile leaves no mark that identifies it. */
bool inside_is_marked(void)
{
	return false;
}

int backend_wall_judge(struct error *err)
{
	return error_set(err, "--commands is not possible on macOS");
}

int backend_session_judge(const struct plan *plan, bool keeps, struct error *err)
{
	(void)plan;
	(void)keeps;
	return error_set(err, "sessions are not possible on macOS");
}

enum run_outcome backend_join(const struct plan *plan, const struct run_request *request, const struct run_session *session,
			      struct run_result *result, struct error *err)
{
	(void)request;
	(void)session;
	(void)result;
	(void)backend_session_judge(plan, true, err);
	return RUN_ELSEWHERE;
}

int backend_session_ask(const struct run_session *session, bool is_stop, struct error *err)
{
	(void)session;
	(void)is_stop;
	return error_set(err, "sessions are not possible on macOS");
}

int backend_wall_read(struct arena *arena, struct wall *wall, struct error *err)
{
	(void)arena;
	(void)wall;
	(void)err;
	return 0;
}

int backend_wall_enter(struct arena *arena, const struct wall *wall, struct error *err)
{
	(void)arena;
	(void)wall;
	return backend_wall_judge(err);
}

void backend_explain(struct error *err)
{
	(void)err;
}

void backend_probe(const struct plan *plan, struct guarantee_state states[GUARANTEE_COUNT])
{
	const char *reason = try_sandbox();
	backend_expect(plan, states);
	if (reason)
		lower_all(states, reason);
}

static void add_fact(const struct plan *plan, struct machine *machine, const struct machine_fact *fact)
{
	*arena_push(plan->arena, machine) = *fact;
}

/* Without the log berm cannot report what the kernel refused. Returns NULL, or the reason. */
static const char *try_log(struct arena *arena)
{
	struct violations *violations = arena_alloc(arena, sizeof *violations);
	*violations = (struct violations){ .arena = arena, .tag = "berm-doctor" };
	return mac_log_read(arena, violations->tag, (int64_t)time(NULL), violations);
}

void backend_examine(const struct plan *plan, const char *state_directory, struct guarantee_state states[GUARANTEE_COUNT],
		     struct machine *machine)
{
	const char *reason = try_sandbox();
	struct utsname system;
	(void)state_directory;
	backend_expect(plan, states);
	if (reason)
		lower_all(states, reason);
	*machine = (struct machine){ .label = DOCTOR_LABEL_MACOS };
	if (uname(&system) == 0)
		add_fact(plan, machine,
			 &(struct machine_fact){ .name = "kernel",
						 .value = arena_printf(plan->arena, "%s %s", system.sysname, system.release) });
	add_fact(plan, machine,
		 &(struct machine_fact){
			 .name = "sandbox-exec", .is_trial = true, .number = reason ? EPERM : 0, .value = reason });
	reason = try_log(plan->arena);
	add_fact(plan, machine,
		 &(struct machine_fact){ .name = "log", .is_trial = true, .number = reason ? EPERM : 0, .value = reason });
}

int backend_install_profile(struct arena *arena, const char **done, struct error *err)
{
	(void)arena;
	(void)err;
	*done = "macOS has no AppArmor: nothing was changed";
	return 0;
}

int backend_remove_profile(struct arena *arena, const char **done, struct error *err)
{
	return backend_install_profile(arena, done, err);
}
