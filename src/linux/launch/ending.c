/* SPDX-License-Identifier: Apache-2.0 */
/* Why a run ended: one ending by precedence, its exit status and its sentence. Waits for nothing
 * and ends nothing. */
#include "linux/launch/ending.h"

#include <signal.h>
#include <stdio.h>
#include <sys/wait.h>

#include "common/base/text.h"
#include "linux/channel.h"

/* For the record. */
static void note_limit(struct run_result *result, enum limit limit)
{
	result->has_limit = true;
	result->limit = limit;
}

void ending_time_over(const struct plan *plan, struct run_result *result)
{
	struct text text = { 0 };
	text_add_duration(&text, plan->limits[LIMIT_TIME].value);
	error_set(&result->ended, "time limit of %s reached", text.data);
	text_free(&text);
	limits_hint(plan, LIMIT_TIME, &result->ended);
	result->exit_code = EXIT_TIME;
	note_limit(result, LIMIT_TIME);
}

/* Example: "memory limit of 64M reached (70M in use)". */
static void report_limit_reached(const struct plan *plan, enum limit limit, uint64_t measured, struct run_result *result)
{
	struct text text = { 0 }, amount = { 0 };
	if (limit == LIMIT_PROCESSES) {
		text_add(&text, "%llu", (unsigned long long)plan->limits[limit].value);
		text_add(&amount, "%llu", (unsigned long long)measured);
	} else {
		text_add_size(&text, plan->limits[limit].value);
		text_add_size(&amount, measured & ~(uint64_t)0xfffff ? measured & ~(uint64_t)0xfffff : measured);
	}
	error_set(&result->ended, "%s limit of %s reached (%s %s)",
		  limit == LIMIT_MEMORY ? "memory"
		  : limit == LIMIT_DISK ? "disk"
					: "process",
		  text.data, amount.data, limit == LIMIT_DISK ? "added" : "in use");
	limits_hint(plan, limit, &result->ended);
	text_free(&text);
	text_free(&amount);
	result->exit_code = EXIT_ENDED;
	note_limit(result, limit);
}

/* Reports the kernel's count of the control group: the command itself only sees failing calls, or
 * nothing. */
static void note_refused_processes(const struct plan *plan, const struct cgroup_events *events, struct run_result *result)
{
	if (events->refused_processes == 0 || error_is_set(&result->note))
		return;
	error_set(&result->note, "process limit of %llu reached: %llu were not started",
		  (unsigned long long)plan->limits[LIMIT_PROCESSES].value, (unsigned long long)events->refused_processes);
	limits_hint(plan, LIMIT_PROCESSES, &result->note);
	note_limit(result, LIMIT_PROCESSES);
}

/* Why the run ended, in order of precedence. */
enum ending {
	ENDED_FAILED, /* before the command started; err is set */
	ENDED_TIME,
	ENDED_ITSELF,
	ENDED_BLIND, /* the limits could not be watched */
	ENDED_LIMIT,
	ENDED_REPAIR, /* a mask could not be restored, or something was planted */
	ENDED_UNSTARTED, /* init exited and started nothing */
	ENDED_UNWATCHED, /* poll failed */
	ENDED_HANGUP,
	ENDED_MEMORY_GUESSED, /* the control group is gone, and the reason with it */
	ENDED_KILLED, /* init was killed from outside */
};

static enum ending ending_of(const struct supervision *supervision, const struct ending_facts *facts,
			     const struct cgroup_events *events)
{
	const struct watch *watch = supervision->watch;
	if (facts->has_failed)
		return ENDED_FAILED;
	if (facts->is_time_over)
		return ENDED_TIME;
	if (facts->has_status)
		return ENDED_ITSELF;
	if (watch->is_blind)
		return ENDED_BLIND;
	if (watch->is_over || events->killed_for_memory > 0)
		return ENDED_LIMIT;
	if (facts->is_killed && error_is_set(&supervision->repair->ended))
		return ENDED_REPAIR;
	if (!supervision->progress->has_started)
		return ENDED_UNSTARTED;
	if (facts->is_unwatched)
		return ENDED_UNWATCHED;
	if (facts->is_killed)
		return ENDED_HANGUP;
	return events->is_lost && supervision->plan->limits[LIMIT_MEMORY].is_set ? ENDED_MEMORY_GUESSED : ENDED_KILLED;
}

static void end_with(struct run_result *result, const char *sentence)
{
	result->exit_code = EXIT_ENDED;
	error_set(&result->ended, "%s", sentence);
}

/* Recognised by SIGXFSZ, of the command itself or, by its exit status, of a child that a shell
 * waited for. */
void ending_note_file_size(const struct plan *plan, struct run_result *result)
{
	struct text size = { 0 };
	if (result->exit_code != EXIT_SIGNAL_BASE + SIGXFSZ || !plan->limits[LIMIT_FILE_SIZE].is_set)
		return;
	text_add_size(&size, plan->limits[LIMIT_FILE_SIZE].value);
	error_set(&result->note, "file size limit of %s reached", size.data);
	limits_hint(plan, LIMIT_FILE_SIZE, &result->note);
	note_limit(result, LIMIT_FILE_SIZE);
	text_free(&size);
}

void ending_note_refused(const struct message *message, struct run_result *result)
{
	struct run_refused_names *names = &result->refused_names;
	names->total = (unsigned)message->value;
	if (names->count == RUN_REFUSED_MAX)
		return;
	snprintf(names->items[names->count].path, RUN_REFUSED_BYTES, "%.*s", RUN_REFUSED_BYTES - 1, message->error.message);
	names->items[names->count].is_liftable = message->error.number == 1;
	snprintf(names->items[names->count++].obeyed_by, RUN_REFUSED_BYTES, "%.*s", RUN_REFUSED_BYTES - 1, message->error.hint);
}

int ending_report(const struct supervision *supervision, const struct ending_facts *facts, const struct cgroup_events *events,
		  struct run_result *result, struct error *err)
{
	const struct watch *watch = supervision->watch;
	const struct plan *plan = supervision->plan;
	enum ending ending = ending_of(supervision, facts, events);

	if (ending != ENDED_FAILED)
		note_refused_processes(plan, events, result);
	switch (ending) {
	case ENDED_FAILED:
		return -1;
	case ENDED_ITSELF:
		return 0;
	case ENDED_TIME:
		ending_time_over(plan, result);
		return 0;
	case ENDED_BLIND:
		end_with(result, "the sandbox's processes could not be watched, so its limits could not be enforced");
		return 0;
	case ENDED_LIMIT:
		report_limit_reached(plan, watch->is_over ? watch->reached : LIMIT_MEMORY,
				     watch->is_over ? watch->measured : events->memory_peak, result);
		return 0;
	case ENDED_REPAIR:
		result->exit_code = EXIT_ENDED;
		result->ended = supervision->repair->ended;
		return 0;
	case ENDED_UNSTARTED:
		if (WIFSIGNALED(facts->init_status))
			return error_set(err, "the sandbox was killed (signal %d) while it was being set up",
					 WTERMSIG(facts->init_status));
		return error_set(err, "the sandbox ended while it was being set up");
	case ENDED_UNWATCHED:
		end_with(result, "berm could not watch the sandbox any more, so it ended everything in it");
		return 0;
	case ENDED_HANGUP:
		result->exit_code = EXIT_SIGNAL_BASE + SIGHUP;
		return 0;
	case ENDED_MEMORY_GUESSED:
		end_with(result, "the sandbox was killed, most likely at its memory limit: systemd removed its scope "
				 "before that could be read");
		limits_hint(plan, LIMIT_MEMORY, &result->ended);
		return 0;
	case ENDED_KILLED:
		end_with(result, "the sandbox's init was killed; everything in it has ended");
		return 0;
	}
	return -1;
}
