/* SPDX-License-Identifier: Apache-2.0 */
/* Every system call of a launch made to fail, one after the other, in the launcher, in init and in
 * the command's process before its execve. Each time either nothing ran and berm reports that
 * (125), or the command ran in the complete sandbox. Of a call that is made often only a few are
 * tried, SAMPLES where CI is set; each gets one error, in turn. BERM_LONG=1: every call,
 * all errors.
 *
 * BERM_STORED=1 (stored.sh): the plan comes from the cache. Then only what differs from a launch
 * with a new plan: the calls of the launcher, and every message between launcher and init; of one
 * kind the first FEW_SAMPLES. */
#include "harness.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "tracer.h"

const char *berm_path, *attack_path;
bool is_self_test;
static bool is_stored;

static const int errors[] = { EPERM, ENOSYS, ENOMEM, EINTR };
enum { ERROR_COUNT = sizeof errors / sizeof *errors, RUN_MS = 5000 * PATIENCE, SAMPLES = 4, FEW_SAMPLES = 2 };

struct bench {
	struct world world;
	char *argv[10], *environment[8];
	char *marker;
	int out; /* a memory file: what the run printed */
	char text[1 << 14];
};

/* The call that failed, and what there was by then. */
struct hit {
	struct traced_call call;
	bool is_startup; /* main had not begun */
	bool is_born; /* init had made the command's process: the launcher's set-up is over */
};

struct tally {
	int refused, held, silent, failed;
};

static void prepare(struct bench *bench, struct world_created *created)
{
	struct world *world = &bench->world;
	world_make(world, NULL, created);
	bench->marker = path_of("%s/ran", world->project);
	bench->out = memfd_create("output", MFD_CLOEXEC);
	char *const argv[] = { path_of("%s", berm_path),
			       "run",
			       "--",
			       world->attack,
			       "marker-read",
			       "ran",
			       ".env",
			       world->secret,
			       ".git/config",
			       NULL };
	memcpy(bench->argv, argv, sizeof argv);
	bench->environment[0] = "PATH=/usr/bin:/bin";
	bench->environment[1] = path_of("HOME=%s", world->home);
	/* Plans are stored only where no variable has moved them. */
	bench->environment[2] = path_of(is_stored ? "XDG_STATE_HOME=%s/.local/state" : "XDG_STATE_HOME=%s",
					is_stored ? world->home : world->state);
	bench->environment[3] = path_of("XDG_CONFIG_HOME=%s", world->config);
}

static int run(struct bench *bench, const struct fault *fault, struct trace *trace)
{
	unlink(bench->marker);
	if (ftruncate(bench->out, 0) || lseek(bench->out, 0, SEEK_SET))
		die("output");
	int code = trace_run(bench->argv, bench->environment, bench->world.project, bench->out, fault, RUN_MS, trace);
	ssize_t length = pread(bench->out, bench->text, sizeof bench->text - 1, 0);
	bench->text[length > 0 ? length : 0] = '\0';
	return code;
}

/* Memory that is refused to the C library itself, or a program that cannot even be loaded, ends
 * without words: nothing ran, which is what counts, but it is not a refusal in words. */
static bool may_be_silent(const struct hit *hit)
{
	const struct traced_call *call = &hit->call;
	/* The launcher while it supervises: its failure ends the run, in whatever words. */
	if (call->process == 0 && hit->is_born)
		return true;
	return call->process == 0 &&
	       (hit->is_startup || call->number == SYS_mmap || call->number == SYS_brk || call->number == SYS_mprotect ||
		call->number == SYS_munmap || call->number == SYS_write || call->number == SYS_writev ||
		call->number == SYS_futex || call->number == SYS_exit_group);
}

static const char *judge(struct bench *bench, const struct hit *hit, int code, struct tally *tally)
{
	const struct traced_call *call = &hit->call;
	bool has_run = access(bench->marker, F_OK) == 0;
	if (has_run && strstr(bench->text, "REACHED read"))
		return "ran without its wall";
	if (has_run && code == 125)
		return "ran, and exit code 125 says that it did not";
	if (code == -1)
		return "hangs";
	if (has_run) {
		tally->held++;
		return NULL;
	}
	/* The command's own execve failed: 126, as in a shell. */
	bool is_exec = call->number == SYS_execve || call->number == SYS_execveat;
	if ((code == 125 || (code == 126 && is_exec)) && bench->text[0]) {
		tally->refused++;
		return NULL;
	}
	/* Executed, and ended by berm before it did anything: 123, because it cannot be said that
	 * nothing ran. The launcher knows only that init was about to execute it. */
	bool is_watching =
		call->process == 0 && (call->number == SYS_poll || call->number == SYS_recvfrom || call->number == SYS_recvmsg);
	if (code == 123 && ((call->process == 1 && hit->is_born) || is_watching) && strstr(bench->text, "berm:")) {
		tally->refused++;
		return NULL;
	}
	if (code == 0)
		return "nothing ran, and the exit code is 0";
	if (!may_be_silent(hit))
		return code == 125 ? "refused without a word" : "nothing ran, but not refused with 125";
	tally->silent++;
	return NULL;
}

/* How many calls the loader and the C library make before main. */
static int startup_calls(struct bench *bench, struct trace *trace)
{
	char *saved[10];
	struct fault none = { .process = -1 };
	memcpy(saved, bench->argv, sizeof saved);
	bench->argv[1] = "version";
	bench->argv[2] = NULL;
	run(bench, &none, trace);
	memcpy(bench->argv, saved, sizeof saved);
	return (int)trace->count;
}

static void try_call(struct bench *bench, const struct traced_call *call, int startup, int error_number, struct tally *tally)
{
	struct fault fault = { call->process, call->index, error_number };
	struct trace trace = { .calls = NULL };
	int code = run(bench, &fault, &trace);
	/* Threads make the count vary a little: what counts is the call that really failed. */
	struct hit hit = { { call->process, call->index, trace.failed_number }, call->index < startup, trace.is_born };
	const char *problem = judge(bench, &hit, code, tally);
	if (!problem)
		return;
	tally->failed++;
	printf("FAILED process %d, call %d (number %ld) -> %s: %s (exit code %d)\n      %.300s\n", call->process, call->index,
	       trace.failed_number, strerrorname_np(error_number), problem, code, bench->text);
	fflush(stdout);
}

static const char *required(const char *variable)
{
	const char *value = getenv(variable);
	if (!value || access(value, X_OK)) {
		fprintf(stderr, "faults: %s must name a program\n", variable);
		exit(2);
	}
	return value;
}

/* The control: without a fault the command runs, and bare it reaches everything. */
static bool check_control(struct bench *bench, struct trace *trace)
{
	struct fault none = { .process = -1 };
	int code = run(bench, &none, trace);
	bool has_run = access(bench->marker, F_OK) == 0;
	if (code != 0 || !has_run || strstr(bench->text, "REACHED read") || !trace->has_executed) {
		printf("FAILED control: exit code %d, ran %d, %s\n", code, has_run, bench->text);
		return false;
	}
	return true;
}

static bool is_message(const struct traced_call *call)
{
	return call->number == SYS_sendmsg || call->number == SYS_recvmsg || call->number == SYS_recvfrom ||
	       call->number == SYS_sendto;
}

/* True once `berm plan --why-rebuilt` reports that a run uses the cached plan. */
static bool is_cached(struct bench *bench)
{
	char *const question[] = { bench->argv[0], "plan", "--why-rebuilt", NULL };
	char *saved[10];
	struct trace trace = { .calls = NULL };
	memcpy(saved, bench->argv, sizeof saved);
	memcpy(bench->argv, question, sizeof question);
	int code = run(bench, &(struct fault){ .process = -1 }, &trace);
	memcpy(bench->argv, saved, sizeof saved);
	return code == 0;
}

/* A plan is cached once nothing that it was made from has just changed. */
static bool await_cached(struct bench *bench, struct trace *trace)
{
	for (int tries = 0; tries < 100; tries++) {
		if (!check_control(bench, trace))
			return false;
		if (is_cached(bench))
			return check_control(bench, trace);
		usleep(50000);
	}
	printf("FAILED control: no plan is cached\n");
	return false;
}

/* How often this call was made by this process before, and in all. */
static void count_same(const struct trace *trace, size_t at, int *before, int *total)
{
	*before = *total = 0;
	for (size_t i = 0; i < trace->count; i++)
		if (trace->calls[i].process == trace->calls[at].process && trace->calls[i].number == trace->calls[at].number) {
			*before += i < at;
			++*total;
		}
}

/* A loop makes the same call a thousand times: some of them, evenly spread, stand for all unless
 * there is time. */
static bool is_chosen(const struct trace *trace, size_t at)
{
	int before, total, samples = getenv("CI") ? SAMPLES : FEW_SAMPLES;
	count_same(trace, at, &before, &total);
	return total <= samples || before * samples / total != (before - 1) * samples / total || before == 0;
}

static bool is_chosen_if_cached(const struct trace *trace, size_t at)
{
	const struct traced_call *call = &trace->calls[at];
	int before, total;
	count_same(trace, at, &before, &total);
	return (call->process == 0 || is_message(call)) && (before < FEW_SAMPLES || is_message(call) || getenv("BERM_LONG"));
}

static void try_all(struct bench *bench, const struct trace *trace, int startup, struct tally *tally)
{
	bool is_long = getenv("BERM_LONG") != NULL;
	int turn = 0;
	for (size_t i = 0; i < trace->count; i++) {
		if (is_stored ? !is_chosen_if_cached(trace, i) : !is_long && !is_chosen(trace, i))
			continue;
		for (int k = 0; k < ERROR_COUNT; k++)
			if (is_long || k == turn % ERROR_COUNT)
				try_call(bench, &trace->calls[i], startup, errors[k], tally);
		turn++;
	}
}

int main(void)
{
	static struct world_created created;
	static struct bench bench;
	struct tally tally = { 0 };
	setvbuf(stdout, NULL, _IOLBF, 0);
	struct trace trace = { .calls = calloc(TRACE_CALLS_MAX, sizeof *trace.calls) };
	time_t start = time(NULL);
	is_stored = getenv("BERM_STORED") != NULL;
	berm_path = required("BERM");
	attack_path = required("BERM_ATTACK");
	if (prctl(PR_SET_DUMPABLE, 1, 0, 0, 0) || prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) || !trace.calls)
		die("prctl");
	own_mounts();
	prepare(&bench, &created);
	run(&bench, &(struct fault){ .process = -1 }, &trace); /* makes the state directories */
	int startup = startup_calls(&bench, &trace);
	bool is_sound = is_stored ? await_cached(&bench, &trace) : check_control(&bench, &trace);
	char *before = tree_listing(path_of("%s/.git", bench.world.project)), *mounts = mounts_now(&bench.world);
	if (is_sound)
		try_all(&bench, &trace, startup, &tally);
	char *after = tree_listing(path_of("%s/.git", bench.world.project));
	if (strcmp(before, after) != 0 || strcmp(mounts, mounts_now(&bench.world)) != 0) {
		printf("FAILED the project's .git or the host's mounts changed\n");
		tally.failed++;
	}
	world_remove_created(&created);
	printf("%zu calls of a launch: %d refused with 125, %d survived behind the whole wall, %d ended without words before "
	       "anything ran, "
	       "%d failed; %d s\n",
	       trace.count, tally.refused, tally.held, tally.silent, tally.failed, (int)(time(NULL) - start));
	return tally.failed || !is_sound ? 1 : 0;
}
