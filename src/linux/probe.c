/* SPDX-License-Identifier: Apache-2.0 */
/* Which guarantees hold here, and at what level. The table says what the mechanisms give when they work; backend_probe tries them in
 * a throwaway child first. Changes nothing on the machine. */
#include "common/backend.h"

#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/cleanup.h"
#include "linux/channel.h"
#include "linux/landlock.h"
#include "linux/namespaces.h"
#include "linux/view.h"

enum { ABI_WITH_SCOPES = 6 };

static void set(struct guarantee_state *state, enum level level, const char *mechanism, const char *reason, const char *fix)
{
	*state = (struct guarantee_state){ .level = level, .mechanism = mechanism, .reason = reason, .fix = fix };
}

static void judge_network(const struct plan *plan, struct guarantee_state *state)
{
	switch (plan->network.mode) {
	case NETWORK_NONE:
		set(state, LEVEL_ENFORCED, "network namespace with nothing but its own loopback", NULL, NULL);
		break;
	case NETWORK_ALL:
		set(state, LEVEL_ENFORCED, "the policy allows everything: the host's network is shared", NULL, NULL);
		break;
	case NETWORK_ALLOW:
		set(state, LEVEL_MISSING, NULL, "this version has no allowlist on Linux yet",
		    "use `network: none` or `network: all`");
		break;
	}
	if (plan->network.deny.count > 0 && plan->network.mode == NETWORK_ALL)
		set(state, LEVEL_MISSING, NULL, "network.deny cannot be enforced with `network: all` yet",
		    "use `network: none`");
	if (plan->network.local.count > 0 || plan->network.publish.count > 0)
		set(state, LEVEL_MISSING, NULL, "network.local and network.publish are not built yet", "leave them out");
}

static void judge_ipc(const struct plan *plan, int abi, struct guarantee_state *state)
{
	set(state, LEVEL_ENFORCED, "ipc namespace; host sockets are not in the view or hidden; keyring calls refused", NULL,
	    NULL);
	if (plan->network.mode == NETWORK_ALL && abi < ABI_WITH_SCOPES)
		set(state, LEVEL_PARTIAL, "ipc namespace; host sockets are not in the view",
		    "with `network: all` abstract sockets of the host are reachable", "Linux 6.12 or newer with Landlock");
}

static void judge_writes(int abi, struct guarantee_state *state)
{
	set(state, LEVEL_ENFORCED, "mount namespace, Landlock", NULL, NULL);
	if (abi < LANDLOCK_ABI_USEFUL)
		set(state, LEVEL_PARTIAL, "mount namespace",
		    "a file that the caller passes as stdin, stdout or stderr can be opened again with more rights",
		    "Linux 5.19 or newer, with landlock in the kernel's lsm= list");
}

static void judge_processes(int abi, struct guarantee_state *state)
{
	set(state, LEVEL_ENFORCED, "pid namespace, Landlock signal scope", NULL, NULL);
	if (abi < ABI_WITH_SCOPES)
		set(state, LEVEL_PARTIAL, "pid namespace", "the command can signal the process group that berm was started in",
		    "Linux 6.12 or newer with Landlock");
}

void backend_expect(const struct plan *plan, struct guarantee_state states[GUARANTEE_COUNT])
{
	int abi = landlock_abi();
	judge_writes(abi, &states[GUARANTEE_WRITES]);
	set(&states[GUARANTEE_SECRETS], LEVEL_LAUNCH, "absent from the view, or masked", "masks cover what exists at launch",
	    NULL);
	set(&states[GUARANTEE_PLANTING], LEVEL_LAUNCH, "read-only mounts, pinned ancestors",
	    "names that do not exist at launch can be created", NULL);
	judge_network(plan, &states[GUARANTEE_NETWORK]);
	judge_processes(abi, &states[GUARANTEE_PROCESSES]);
	judge_ipc(plan, abi, &states[GUARANTEE_IPC]);
	set(&states[GUARANTEE_ENVIRONMENT], LEVEL_ENFORCED, "built from the policy", NULL, NULL);
	set(&states[GUARANTEE_LIMITS], LEVEL_PARTIAL, "rlimits, timer", "memory is limited per process, not in total", NULL);
	set(&states[GUARANTEE_KERNEL], LEVEL_ENFORCED, "seccomp allow-list, no capabilities", NULL, NULL);
	set(&states[GUARANTEE_INTEGRITY], LEVEL_ENFORCED, "policy protected, state outside the view", NULL, NULL);
}

_Noreturn static void try_chain(const struct namespaces_options *options, uid_t uid, gid_t gid, int channel)
{
	struct view_result view = { 0 };
	struct message message = { .type = MESSAGE_EXITED };
	if (namespaces_settle(options, uid, gid, &message.error) < 0 || view_probe(&view, &message.error) < 0)
		message.type = MESSAGE_FAILED;
	message.value = view.has_proc;
	channel_send(channel, &message);
	_exit(0);
}

/* The whole chain, not one step: some hosts let a namespace be made and then refuse what it is for. */
static int try_out(const struct plan *plan, bool *has_proc, struct error *err)
{
	struct namespaces_options options = { .has_host_network = plan->network.mode == NETWORK_ALL };
	struct message message = { 0 };
	int ends[2];
	autoclose int outer = -1, pidfd = -1;
	pid_t pid;
	int status, got;

	if (channel_open(ends, err) < 0)
		return -1;
	outer = ends[0];
	pid = namespaces_fork(&options, &pidfd, err);
	if (pid == 0)
		try_chain(&options, plan->context.uid, plan->context.gid, ends[1]);
	close(ends[1]);
	if (pid < 0)
		return -1;
	got = channel_receive(outer, &message);
	while (waitpid(pid, &status, 0) < 0)
		;
	if (got != 1)
		return error_set(err, "the trial sandbox died");
	if (message.type == MESSAGE_FAILED) {
		*err = message.error;
		return -1;
	}
	*has_proc = message.value != 0;
	return 0;
}

void backend_probe(const struct plan *plan, struct guarantee_state states[GUARANTEE_COUNT])
{
	struct error err = { 0 };
	bool has_proc = false;

	backend_expect(plan, states);
	if (try_out(plan, &has_proc, &err) < 0) {
		const char *reason = arena_copy(plan->arena, err.message);
		const char *fix = err.hint[0] ? arena_copy(plan->arena, err.hint) : NULL;
		for (size_t i = 0; i < GUARANTEE_COUNT; i++)
			set(&states[i], LEVEL_MISSING, NULL, reason, fix);
		return;
	}
	if (!has_proc)
		states[GUARANTEE_PROCESSES].reason = "/proc is empty: this host does not allow a fresh one";
}
