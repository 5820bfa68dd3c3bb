/* SPDX-License-Identifier: Apache-2.0 */
/* How long commands take from start to end. All contenders take turns, so that what else the
 * machine does falls on each alike:
 *
 *   bench_launch [--runs=N] [--warm-up=N] [--parallel=N] [--pause=MS] [--cpu] [--section=NAME]
 *                @NAME WORD... @NAME WORD...
 *
 * Each contender is started with vfork and execve and waited for; with --parallel a sample is N of
 * them started together. With --cpu a sample is the CPU time of the contender and of the processes
 * that it waited for, which other programs on the machine disturb less than the clock. `%n` in a
 * word becomes a number that never repeats. One line per
 * contender: section, name, samples, then least, median, 99th percentile and mean in microseconds,
 * and how many did not exit with 0. Prints nothing else on standard output; the commands' output
 * goes to /dev/null. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { CONTENDERS_MAX = 16, PARALLEL_MAX = 64, WORD_BYTES = 4096 };

extern char **environ;

struct contender {
	const char *name;
	char **words; /* ends with NULL */
	int64_t *samples; /* nanoseconds */
	unsigned failures;
	bool is_numbered;
};

struct settings {
	const char *section;
	unsigned runs, warm_up, parallel;
	unsigned pause; /* milliseconds before each sample */
	bool is_cpu; /* samples are CPU time */
	unsigned long next_number;
};

static void give_up(const char *what)
{
	perror(what);
	exit(2);
}

static int64_t now_ns(void)
{
	struct timespec time;
	clock_gettime(CLOCK_MONOTONIC, &time);
	return (int64_t)time.tv_sec * 1000000000 + time.tv_nsec;
}

static int64_t cpu_ns(const struct rusage *usage)
{
	const struct timeval *user = &usage->ru_utime, *system = &usage->ru_stime;
	return ((int64_t)user->tv_sec + system->tv_sec) * 1000000000 + ((int64_t)user->tv_usec + system->tv_usec) * 1000;
}

/* Made before the clock starts. */
static char **numbered(struct settings *settings, char **words)
{
	static char *copies[256];
	static char texts[256][WORD_BYTES];
	size_t i = 0;
	for (; words[i] && i < 255; i++) {
		const char *mark = strstr(words[i], "%n");
		copies[i] = words[i];
		if (!mark)
			continue;
		snprintf(texts[i], WORD_BYTES, "%.*s%ld_%lu%s", (int)(mark - words[i]), words[i], (long)getpid(),
			 settings->next_number, mark + 2);
		copies[i] = texts[i];
	}
	settings->next_number++;
	copies[i] = NULL;
	return copies;
}

static pid_t start(char **words)
{
	pid_t pid = vfork();
	if (pid < 0)
		give_up("vfork");
	if (pid == 0) {
		execve(words[0], words, environ);
		_exit(127);
	}
	return pid;
}

static void run_once(struct settings *settings, struct contender *contender, int64_t *sample)
{
	pid_t pids[PARALLEL_MAX];
	char **words = contender->is_numbered ? numbered(settings, contender->words) : contender->words;
	struct timespec pause = { settings->pause / 1000, (long)(settings->pause % 1000) * 1000000 };
	bool has_failed = false;
	int64_t begin, used = 0;
	if (settings->pause)
		nanosleep(&pause, NULL);
	begin = now_ns();
	for (unsigned i = 0; i < settings->parallel; i++)
		pids[i] = start(words);
	for (unsigned i = 0; i < settings->parallel; i++) {
		struct rusage usage;
		int status;
		if (wait4(pids[i], &status, 0, &usage) != pids[i])
			give_up("wait4");
		has_failed |= status != 0;
		used += cpu_ns(&usage);
	}
	if (!sample)
		return;
	*sample = settings->is_cpu ? used : now_ns() - begin;
	contender->failures += has_failed;
}

static int compare(const void *left, const void *right)
{
	int64_t a = *(const int64_t *)left, b = *(const int64_t *)right;
	return (a > b) - (a < b);
}

static double microseconds(int64_t nanoseconds)
{
	return (double)nanoseconds / 1000;
}

static void report(const struct settings *settings, const struct contender *contender)
{
	unsigned count = settings->runs;
	int64_t *samples = contender->samples, sum = 0;
	qsort(samples, count, sizeof *samples, compare);
	for (unsigned i = 0; i < count; i++)
		sum += samples[i];
	printf("%s\t%s\t%u\t%.1f\t%.1f\t%.1f\t%.1f\t%u\n", settings->section, contender->name, count, microseconds(samples[0]),
	       microseconds(samples[count / 2]), microseconds(samples[(count * 99 + 99) / 100 - 1]), microseconds(sum / count),
	       contender->failures);
}

static bool take_number(const char *word, const char *option, unsigned *value)
{
	size_t length = strlen(option);
	if (strncmp(word, option, length) != 0)
		return false;
	*value = (unsigned)strtoul(word + length, NULL, 10);
	return true;
}

static int take_settings(int argc, char **argv, struct settings *settings)
{
	int at = 1;
	for (; at < argc && argv[at][0] == '-'; at++) {
		if (strncmp(argv[at], "--section=", 10) == 0)
			settings->section = argv[at] + 10;
		else if (strcmp(argv[at], "--cpu") == 0)
			settings->is_cpu = true;
		else if (!take_number(argv[at], "--runs=", &settings->runs) &&
			 !take_number(argv[at], "--warm-up=", &settings->warm_up) &&
			 !take_number(argv[at], "--parallel=", &settings->parallel) &&
			 !take_number(argv[at], "--pause=", &settings->pause)) {
			fprintf(stderr, "%s: unknown\n", argv[at]);
			exit(2);
		}
	}
	if (settings->runs == 0 || settings->parallel == 0 || settings->parallel > PARALLEL_MAX) {
		fprintf(stderr, "--runs and --parallel have to be more than 0, --parallel at most %d\n", PARALLEL_MAX);
		exit(2);
	}
	return at;
}

static unsigned take_contenders(int at, int argc, char **argv, const struct settings *settings, struct contender *contenders)
{
	unsigned count = 0;
	for (; at < argc; at++) {
		if (argv[at][0] == '@' && count < CONTENDERS_MAX) {
			struct contender *contender = &contenders[count++];
			contender->name = argv[at] + 1;
			contender->words = &argv[at + 1];
			contender->samples = calloc(settings->runs, sizeof *contender->samples);
			if (!contender->samples)
				give_up("calloc");
			argv[at] = NULL; /* ends the words before it */
		} else if (count > 0 && strstr(argv[at], "%n")) {
			contenders[count - 1].is_numbered = true;
		}
	}
	for (unsigned i = 0; i < count; i++)
		if (!contenders[i].words[0]) {
			fprintf(stderr, "@%s: no command\n", contenders[i].name);
			exit(2);
		}
	return count;
}

int main(int argc, char **argv)
{
	static struct contender contenders[CONTENDERS_MAX];
	struct settings settings = { .section = "launch", .runs = 200, .warm_up = 10, .parallel = 1 };
	int at = take_settings(argc, argv, &settings);
	unsigned count = take_contenders(at, argc, argv, &settings, contenders);
	int results = fcntl(1, F_DUPFD_CLOEXEC, 3), nothing = open("/dev/null", O_RDWR | O_CLOEXEC);

	if (count == 0 || results < 0 || nothing < 0) {
		fprintf(stderr, "usage: bench_launch [options] @NAME WORD... @NAME WORD...\n");
		return 2;
	}
	dup2(nothing, 0);
	dup2(nothing, 1);
	for (unsigned i = 0; i < settings.warm_up; i++)
		for (unsigned k = 0; k < count; k++)
			run_once(&settings, &contenders[k], NULL);
	/* Each round begins with another one: nobody always follows the same neighbour's
	 * leftovers. */
	for (unsigned i = 0; i < settings.runs; i++)
		for (unsigned k = 0; k < count; k++) {
			struct contender *contender = &contenders[(i + k) % count];
			run_once(&settings, contender, &contender->samples[i]);
		}
	dup2(results, 1);
	for (unsigned k = 0; k < count; k++)
		report(&settings, &contenders[k]);
	return 0;
}
