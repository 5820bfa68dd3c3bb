/* SPDX-License-Identifier: Apache-2.0 */
/* All cases, one after the other: a process, a world and a time limit for each; a line while it
 * runs, a table at the end. */
#include "harness.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "netspace.h"

static const struct theme {
	const struct escape_case *rows;
	enum part part;
} themes[] = {
	{ cases_terminal, PART_HOST },	{ cases_proc, PART_HOST },     { cases_descriptors, PART_HOST },
	{ cases_sockets, PART_HOST },	{ cases_files, PART_HOST },    { cases_planting, PART_HOST },
	{ cases_kernel, PART_HOST },	{ cases_network, PART_HOST },  { cases_lifetime, PART_HOST },
	{ cases_launch, PART_HOST },	{ cases_honesty, PART_HOST },  { cases_harm, PART_HOST },
	{ cases_many, PART_PROJECT },	{ cases_settings, PART_HOST }, { cases_rules, PART_PROJECT },
	{ cases_git, PART_PROJECT },	{ cases_sweep, PART_PROJECT }, { cases_guard, PART_PROJECT },
	{ cases_repair, PART_PROJECT },
};

enum { MAX_CASES = 256 };

struct entry {
	const struct escape_case *row; /* or */
	const struct open_case *open;
	enum part part;
	struct result *result;
};

static struct entry entries[MAX_CASES];
static size_t entry_count;
static bool is_verbose;

void note(const char *format, ...)
{
	va_list arguments;
	if (!is_verbose)
		return;
	va_start(arguments, format);
	vfprintf(stderr, format, arguments);
	va_end(arguments);
}

static int entry_number(const struct entry *entry)
{
	return entry->row ? entry->row->number : entry->open->number;
}

static int compare_entries(const void *a, const void *b)
{
	return entry_number(a) - entry_number(b);
}

static void collect_entries(void)
{
	for (size_t theme = 0; theme < sizeof themes / sizeof *themes; theme++)
		for (const struct escape_case *row = themes[theme].rows; row->number; row++)
			entries[entry_count++] = (struct entry){ .row = row, .part = themes[theme].part };
	for (const struct open_case *row = cases_open; row->number; row++)
		entries[entry_count++].open = row;
	if (entry_count > MAX_CASES)
		abort();
	qsort(entries, entry_count, sizeof *entries, compare_entries);
}

static void open_terminal(struct trial *trial)
{
	trial->terminal = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
	if (trial->terminal < 0 || grantpt(trial->terminal) || unlockpt(trial->terminal))
		die("posix_openpt");
	trial->terminal_state =
		mmap(NULL, sizeof *trial->terminal_state, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (trial->terminal_state == MAP_FAILED)
		die("mmap");
}

static void case_body(struct trial *trial)
{
	const struct escape_case *row = trial->self;
	if (row->needs & NEED_NETWORK)
		netspace_enter();
	world_make(&trial->world, NULL, &trial->result->created);
	if (row->needs & NEED_TERMINAL)
		open_terminal(trial);
	if (row->run)
		row->run(trial);
	else
		contain(trial, row->attack);
	if (trial->victim > 0)
		kill(trial->victim, SIGKILL);
	if (trial->server > 0)
		kill(trial->server, SIGKILL);
	world_remove(&trial->world);
	trial->result->is_finished = true;
}

/* The process of a case leads a session, so that one signal ends all that it started outside a
 * sandbox. */
static void case_process(const struct escape_case *row, struct result *result)
{
	struct trial trial = { .self = row, .result = result, .terminal = -1 };
	setsid();
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	signal(SIGPIPE, SIG_IGN);
	if (chdir("/"))
		die("chdir /");
	case_body(&trial);
	fflush(NULL);
	_exit(0);
}

static bool fits(const struct escape_case *row, struct result *result)
{
	const char *reason = NULL;
	bool is_root = geteuid() == 0;
	if ((row->needs & NEED_ROOT) && !is_root)
		reason = "as root only";
	if ((row->needs & NEED_USER) && is_root)
		reason = "as a user only";
	if ((row->needs & NEED_WALL) && is_self_test)
		reason = "not without a wall";
	if (reason)
		snprintf(result->skip_reason, sizeof result->skip_reason, "%s", reason);
	return reason == NULL;
}

static void judge(struct result *result, bool must_run)
{
	if (result->failures[0])
		result->status = STATUS_FAILED;
	else if (result->skip_reason[0])
		result->status = STATUS_SKIPPED;
	else if (result->reached == 0 && result->unsupported > 0 && result->refused == 0)
		result->status = STATUS_MODEL;
	else if (result->reached == 0 && result->refused > 0) {
		result->status = must_run ? STATUS_FAILED : STATUS_SKIPPED;
		snprintf(result->skip_reason, sizeof result->skip_reason, "no control succeeds here");
	} else
		result->status = STATUS_PASSED;
}

static void run_case(struct entry *entry, bool must_run)
{
	struct result *result = entry->result;
	const struct escape_case *row = entry->row;
	if (!fits(row, result)) {
		result->status = STATUS_SKIPPED;
		return;
	}
	fflush(NULL);
	pid_t pid = fork();
	if (pid < 0)
		die("fork");
	if (pid == 0)
		case_process(row, result);
	int code = wait_exit(pid, (row->seconds ? row->seconds : CASE_SECONDS) * 1000 * PATIENCE);
	kill(-pid, SIGKILL);
	world_remove_created(&result->created);
	if (!result->is_finished) {
		size_t used = strlen(result->failures);
		snprintf(result->failures + used, sizeof result->failures - used,
			 code == -1 ? "ran into its time limit\n" : "the case itself died (%d)\n", code);
	}
	judge(result, must_run);
}

static const char *status_text(const struct result *result)
{
	static const char *const names[] = { "passed", "FAILED", "-", "-" };
	return result->is_noticed ? "noticed" : names[result->status];
}

static const char *label_text(const struct result *result)
{
	return result->status == STATUS_MODEL	  ? "model-checked"
	       : result->status == STATUS_SKIPPED ? result->skip_reason
						  : "run here";
}

static void print_failures(const struct result *result)
{
	char copy[sizeof result->failures], *rest = NULL;
	memcpy(copy, result->failures, sizeof copy);
	for (char *line = strtok_r(copy, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest))
		printf("      %s\n", line);
}

static void print_controls(const struct result *result)
{
	char text[64];
	if (result->reached + result->unsupported + result->refused == 0)
		snprintf(text, sizeof text, "%d checks", result->checks);
	else
		snprintf(text, sizeof text, "%d/%d stopped%s", result->stopped, result->reached,
			 result->unsupported ? "*" : "");
	printf(" %-16s", text);
}

static void print_entry(const struct entry *entry)
{
	if (entry->open) {
		printf("%4d %-62.62s %-16s %-7s %s: %s\n", entry->open->number, entry->open->title, "", "-", entry->open->label,
		       entry->open->reason);
		return;
	}
	printf("%4d %-62.62s", entry->row->number, entry->row->title);
	print_controls(entry->result);
	printf(" %-7s %s\n", status_text(entry->result), label_text(entry->result));
}

static int print_table(int seconds)
{
	int counts[4] = { 0 }, open_count = 0;
	printf("\n%4s %-62s %-16s %-7s %s\n", "case", "title", "control", "verdict", "label");
	for (size_t i = 0; i < entry_count; i++) {
		if (entries[i].row && !entries[i].result)
			continue;
		print_entry(&entries[i]);
		if (entries[i].open)
			open_count++;
		else
			counts[entries[i].result->status]++;
	}
	printf("\n* some of its calls are unknown to this kernel and only checked on the model (tests/unit)\n");
	printf("as %s: %d passed, %d failed, %d model-checked, %d not run as this user, %d not yet; %d s\n",
	       geteuid() == 0 ? "root" : "a user", counts[STATUS_PASSED], counts[STATUS_FAILED], counts[STATUS_MODEL],
	       counts[STATUS_SKIPPED], open_count, seconds);
	for (size_t i = 0; i < entry_count; i++)
		if (entries[i].row && entries[i].result && entries[i].result->status == STATUS_FAILED) {
			printf("FAILED %d %s\n", entries[i].row->number, entries[i].row->title);
			print_failures(entries[i].result);
		}
	return counts[STATUS_FAILED];
}

void suite_list(void)
{
	collect_entries();
	for (size_t i = 0; i < entry_count; i++)
		printf("%4d %s%s%s\n", entry_number(&entries[i]),
		       entries[i].row ? entries[i].row->title : entries[i].open->title, entries[i].open ? ": " : "",
		       entries[i].open ? entries[i].open->reason : "");
}

/* Without a wall every case that was run must notice; one that does not proves nothing. */
static int judge_self_test(void)
{
	int vacuous = 0, noticed = 0;
	for (size_t i = 0; i < entry_count; i++) {
		const struct result *result = entries[i].result;
		if (!entries[i].row || !result || result->status == STATUS_SKIPPED || result->status == STATUS_MODEL)
			continue;
		noticed += result->is_noticed;
		if (result->is_noticed || (entries[i].row->needs & ABOUT_LAUNCHER))
			continue;
		printf("VACUOUS %d %s\n", entries[i].row->number, entries[i].row->title);
		print_failures(result);
		vacuous++;
	}
	printf("self-test: %d cases notice that there is no wall, %d do not\n", noticed, vacuous);
	return vacuous;
}

int suite_run(const struct suite_options *options)
{
	time_t start = time(NULL);
	is_verbose = options->is_verbose;
	collect_entries();
	for (size_t i = 0; i < entry_count; i++) {
		struct entry *entry = &entries[i];
		if (options->only && entry_number(entry) != options->only)
			continue;
		if (!entry->row || (options->part && entry->part != options->part))
			continue;
		entry->result = mmap(NULL, sizeof *entry->result, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
		if (entry->result == MAP_FAILED)
			die("mmap");
		run_case(entry, options->must_run);
		print_entry(entry);
		fflush(stdout);
	}
	if (is_self_test)
		return judge_self_test() ? 1 : 0;
	int failed = print_table((int)(time(NULL) - start));
	return failed ? 1 : 0;
}
