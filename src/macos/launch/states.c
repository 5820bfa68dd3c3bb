/* SPDX-License-Identifier: Apache-2.0 */
/* Which guarantees a Seatbelt profile can hold, and at what level. The table says what the mechanisms are documented to give; none of it
 * was run on a Mac, and every place that shows it says so. backend_probe tries whether a sandbox starts at all. */
#include "macos/launch/internal.h"

#include <errno.h>
#include <spawn.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/doctor/doctor.h"

static void set(struct guarantee_state *state, enum level level, const char *mechanism, const char *reason, const char *fix)
{
	*state = (struct guarantee_state){ .level = level, .mechanism = mechanism, .reason = reason, .fix = fix };
}

static void judge_network(const struct plan *plan, struct guarantee_state *state)
{
	if (plan->network.mode == NETWORK_ALLOW)
		set(state, LEVEL_ENFORCED, "Seatbelt: only the port of berm's proxy, which judges each destination", NULL,
		    NULL);
	else if (profile_needs_proxy(plan))
		set(state, LEVEL_MISSING, NULL, "network.deny cannot be enforced with `network: all` yet",
		    "use `network: none` or a list of what is allowed");
	else if (plan->network.mode == NETWORK_NONE)
		set(state, LEVEL_ENFORCED, "Seatbelt: no network operation is granted, loopback neither", NULL, NULL);
	else
		set(state, LEVEL_ENFORCED, "the policy allows everything", NULL, NULL);
	if (plan->network.local.count > 0 || plan->network.publish.count > 0)
		set(state, LEVEL_MISSING, NULL, "network.local and network.publish are not built for macOS", "leave them out");
}

static void judge_limits(const struct plan *plan, struct guarantee_state *state)
{
	set(state, LEVEL_PARTIAL, "time by berm, open files by rlimit",
	    plan->limits[LIMIT_MEMORY].is_set || plan->limits[LIMIT_PROCESSES].is_set
		    ? "macOS bounds neither the memory nor the number of processes of one command"
		    : "macOS has no limit on memory and processes for one command",
	    NULL);
}

void backend_expect(const struct plan *plan, struct guarantee_state states[GUARANTEE_COUNT])
{
	set(&states[GUARANTEE_WRITES], LEVEL_ENFORCED, "Seatbelt: file-write* only where granted", NULL, NULL);
	/* Patterns hold for names that come to be later, too; a hard link that is made by the host meanwhile is another name. */
	set(&states[GUARANTEE_SECRETS], LEVEL_LAUNCH, "Seatbelt: denied by path and pattern",
	    "a name that the host links to it during the run is not known", NULL);
	set(&states[GUARANTEE_PLANTING], LEVEL_LAUNCH, "Seatbelt: writes denied by path and pattern", NULL, NULL);
	judge_network(plan, &states[GUARANTEE_NETWORK]);
	set(&states[GUARANTEE_PROCESSES], LEVEL_PARTIAL,
	    "Seatbelt: signals and process-info only in the same sandbox; process group and descendants are ended",
	    "a process that starts its own session and loses its parent is not found afterwards", NULL);
	set(&states[GUARANTEE_IPC], LEVEL_ENFORCED, "Seatbelt: Mach services, sockets and shared memory only where granted",
	    NULL, NULL);
	set(&states[GUARANTEE_ENVIRONMENT], LEVEL_ENFORCED, "a new environment", NULL, NULL);
	judge_limits(plan, &states[GUARANTEE_LIMITS]);
	set(&states[GUARANTEE_KERNEL], LEVEL_PARTIAL, "Seatbelt: dangerous operations denied",
	    "macOS has no filter for single system calls", NULL);
	set(&states[GUARANTEE_INTEGRITY], LEVEL_ENFORCED, "Seatbelt: policy and state directory are not writable", NULL, NULL);
}

/* 0 if a sandbox with a profile that allows everything starts; else why not, as words. */
static const char *try_sandbox(void)
{
	static char *const environment[] = { NULL };
	char program[] = LAUNCH_SANDBOX_EXEC, flag[] = "-p", profile[] = "(version 1)(allow default)",
	     command[] = "/usr/bin/true";
	char *words[] = { program, flag, profile, command, NULL };
	pid_t pid;
	int status;
	if (sandbox_check(getpid(), NULL, 0) == 1)
		return "this process is in a sandbox already, and macOS does not nest them";
	if (posix_spawn(&pid, program, NULL, NULL, words, environment) != 0)
		return "/usr/bin/sandbox-exec cannot be started";
	while (waitpid(pid, &status, 0) < 0)
		if (errno != EINTR)
			return "sandbox-exec was lost";
	return WIFEXITED(status) && WEXITSTATUS(status) == 0 ? NULL : "sandbox-exec refuses to apply a profile";
}

static void lower_all(struct guarantee_state states[GUARANTEE_COUNT], const char *reason)
{
	for (size_t i = 0; i < GUARANTEE_COUNT; i++)
		if (i != GUARANTEE_ENVIRONMENT)
			set(&states[i], LEVEL_MISSING, NULL, reason, "start berm outside of other sandboxes");
}

/* Seatbelt is there or it is not: there is one tier. */
enum tier backend_tier(const struct plan *plan, struct error *why)
{
	(void)plan;
	(void)why;
	return TIER_FULL;
}

/* A profile leaves no mark that says whose it is. */
bool backend_is_inside(void)
{
	return false;
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
}

int backend_install_profile(struct arena *arena, const char **done, struct error *err)
{
	(void)arena;
	(void)err;
	*done = "there is no AppArmor on macOS: nothing was changed";
	return 0;
}
