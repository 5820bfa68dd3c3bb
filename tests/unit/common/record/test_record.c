/* SPDX-License-Identifier: Apache-2.0 */
/* Writing, reading and verifying records in a scratch directory: names, the chain, what was changed
 * afterwards, rates and sizes, removal of old ones. */
#include <greatest.h>

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/record/describe.h"
#include "common/record/internal.h"
#include "unit/support/scratch.h"

static char state[4096];
static struct arena arena;

static const char *at_state(const char *rest)
{
	return arena_printf(&arena, "%s/%s", state, rest);
}

static struct record_options options(uint64_t keep_ms)
{
	return (struct record_options){ .state_directory = state, .keep_ms = keep_ms };
}

/* Writes a run with so many events between its start and its end. */
static bool write_run(struct record *record, size_t events)
{
	struct record_options own = options((uint64_t)1 << 40);
	struct error err = { 0 };
	if (record_begin(record, &arena, &own, &err) < 0)
		return false;
	json_string(record_event(record, RECORD_RUN_START), "cwd", "/x");
	record_write(record);
	for (size_t i = 0; i < events; i++) {
		json_string(record_event(record, RECORD_NET), "decision", "refused");
		record_write(record);
	}
	record_add_counts(record, record_event(record, RECORD_RUN_END));
	record_write(record);
	return record_end(record);
}

static size_t problems(void)
{
	struct record_verification result;
	struct error err = { 0 };
	if (record_verify(&arena, state, NULL, &result, &err) < 0)
		return SIZE_MAX;
	return result.count;
}

TEST ids_carry_their_time(void)
{
	char id[RECORD_ID + 1], other[RECORD_ID + 1], month[RECORD_MONTH + 1];
	uint64_t ms = 0;
	/* 2026-11-18T15:04:05.678Z */
	struct timespec now = { .tv_sec = 1795014245, .tv_nsec = 678000000 };
	char time[RECORD_TIME + 1];

	ASSERT_EQ(0, record_new_id(now, id));
	ASSERT_EQ(0, record_new_id(now, other));
	ASSERT(strcmp(id, other) != 0);
	ASSERT_EQ('7', id[14]);
	ASSERT(strchr("89ab", id[19]));
	ASSERT(record_is_id(id, RECORD_ID, &ms));
	ASSERT_EQ(UINT64_C(1795014245678), ms);
	record_month(ms, month);
	ASSERT_STR_EQ("2026-11", month);
	record_time(now, time);
	ASSERT_STR_EQ("2026-11-18T15:04:05.678000Z", time);
	ASSERT_EQ(INT64_C(1795014245678), record_time_ms(time));
	ASSERT_FALSE(record_is_id("../../../../../../../../../../etc/pas", RECORD_ID, NULL));
	ASSERT_FALSE(record_is_id(id, RECORD_ID - 1, NULL));
	PASS();
}

/* Dates by the system's own function. */
TEST dates_agree_with_the_system(void)
{
	for (int64_t day = 0; day < 60000; day += 13) {
		struct timespec time = { .tv_sec = (time_t)(day * 86400 + day % 86400) };
		char own[RECORD_TIME + 1], system[32];
		struct tm parts;
		ASSERT(gmtime_r(&time.tv_sec, &parts));
		strftime(system, sizeof system, "%Y-%m-%dT%H:%M:%S.000000Z", &parts);
		record_time(time, own);
		ASSERT_STR_EQ(system, own);
		ASSERT_EQ((int64_t)time.tv_sec * 1000, record_time_ms(own));
	}
	PASS();
}

TEST a_chain_is_valid(void)
{
	struct record_verification result;
	struct error err = { 0 };
	struct record record;
	struct stat info;

	ASSERT_EQ(0, problems()); /* there is no log yet */
	for (size_t i = 0; i < 5; i++)
		ASSERT(write_run(&record, i));
	ASSERT_EQ(0, record_verify(&arena, state, NULL, &result, &err));
	ASSERT_EQ(0, result.count);
	ASSERT_EQ(5, result.runs);
	ASSERT_EQ(5 * 2 + 10, result.lines);
	ASSERT_EQ(0, result.running + result.unfinished);
	ASSERT_EQ(0, stat(at_state("log"), &info));
	ASSERT_EQ(0700, info.st_mode & 07777);
	ASSERT_EQ(0, stat(at_state("log/HEAD"), &info));
	ASSERT_EQ(0600, info.st_mode & 07777);
	PASS();
}

static const char *file_of(const char *id)
{
	char month[RECORD_MONTH + 1];
	uint64_t ms = 0;
	record_is_id(id, RECORD_ID, &ms);
	record_month(ms, month);
	return at_state(arena_printf(&arena, "log/%s/%s.ndjson", month, id));
}

/* A run that has not ended is locked, and neither finished nor damaged. */
TEST unfinished_runs_are_no_damage(void)
{
	struct record_options own = options((uint64_t)1 << 40);
	struct record_verification result;
	struct error err = { 0 };
	struct record record;
	int fd;

	ASSERT_EQ(0, record_begin(&record, &arena, &own, &err));
	json_string(record_event(&record, RECORD_RUN_START), "cwd", "/x");
	record_write(&record);
	ASSERT_EQ(0, record_verify(&arena, state, NULL, &result, &err));
	ASSERT_EQ(1, result.running);
	ASSERT_EQ(0, result.count);
	/* As if it had been killed in the middle of a line. */
	record_park(&record);
	fd = open(file_of(record.id), O_WRONLY | O_APPEND);
	ASSERT(fd >= 0);
	ASSERT_EQ(8, write(fd, "{\"v\":1,\"", 8));
	close(fd);
	ASSERT_EQ(0, record_verify(&arena, state, NULL, &result, &err));
	ASSERT_EQ(0, result.running);
	ASSERT_EQ(1, result.unfinished);
	ASSERT_EQ(0, result.count);
	ASSERT_EQ(0, unlink(file_of(record.id)));
	text_free(&record.line);
	PASS();
}

/* Nothing of a parked record is open; afterwards it continues the same file. */
TEST parked_records_continue(void)
{
	struct record_options own = options((uint64_t)1 << 40);
	struct error err = { 0 };
	struct record record;

	ASSERT_EQ(0, record_begin(&record, &arena, &own, &err));
	json_string(record_event(&record, RECORD_RUN_START), "cwd", "/x");
	record_write(&record);
	record_park(&record);
	ASSERT_EQ(-1, record.file);
	record_resume(&record);
	ASSERT(record.file >= 0);
	record_add_counts(&record, record_event(&record, RECORD_RUN_END));
	record_write(&record);
	ASSERT(record_end(&record));
	ASSERT_EQ(0, problems());

	/* A file of the same name that is another one is not written to. */
	ASSERT_EQ(0, record_begin(&record, &arena, &own, &err));
	json_string(record_event(&record, RECORD_RUN_START), "cwd", "/x");
	record_write(&record);
	record_park(&record);
	ASSERT_EQ(0, rename(file_of(record.id), at_state("aside")));
	close(open(file_of(record.id), O_WRONLY | O_CREAT | O_EXCL, 0600));
	record_resume(&record);
	ASSERT_EQ(-1, record.file);
	record_add_counts(&record, record_event(&record, RECORD_RUN_END));
	record_write(&record);
	ASSERT_FALSE(record_end(&record));
	ASSERT_EQ(1, record.lost);
	ASSERT_EQ(0, unlink(file_of(record.id)));
	PASS();
}

/* More events than the rate allows are counted, and the chain stays valid. */
TEST fast_events_are_folded(void)
{
	struct record_names names;
	struct record_run run;
	struct error err = { 0 };
	struct record record;
	uint64_t folded = 0, written = 0;
	const size_t events = 2 * RECORD_RATE;
	size_t at = 0;

	ASSERT(write_run(&record, events));
	ASSERT_EQ(events, record.counts[RECORD_NET]);
	ASSERT_EQ(0, record_runs(&arena, state, &names, &err));
	/* Two runs of one millisecond have no order. */
	while (at < names.count && strcmp(names.items[at].id, record.id) != 0)
		at++;
	ASSERT(at < names.count);
	ASSERT_EQ(0, record_read(&arena, state, &names.items[at], &run, &err));
	for (size_t i = 0; i < run.lines.count; i++) {
		const struct record_line *line = &run.lines.items[i];
		ASSERT(line->is_valid);
		written += strcmp(line->event, "net") == 0;
		if (strcmp(line->event, "log.folded") == 0)
			folded += record_number(&line->value, "count", 0);
	}
	ASSERT_EQ(events, folded + written);
	ASSERT_EQ(0, problems());
	PASS();
}

/* The size is limited; the end is written whatever came before. */
TEST large_records_are_cut(void)
{
	struct record_options own = options((uint64_t)1 << 40);
	struct error err = { 0 };
	struct record record;
	struct stat info;
	char *text = arena_alloc(&arena, (1 << 20) + 1);

	memset(text, 'x', 1 << 20);
	ASSERT_EQ(0, record_begin(&record, &arena, &own, &err));
	json_string(record_event(&record, RECORD_RUN_START), "cwd", "/x");
	record_write(&record);
	for (size_t i = 0; i < 70; i++) {
		json_string(record_event(&record, RECORD_NET), "reason", text);
		record_write(&record);
	}
	ASSERT(record.cut > 0);
	record_add_counts(&record, record_event(&record, RECORD_RUN_END));
	record_write(&record);
	ASSERT(record_end(&record));
	ASSERT_EQ(0, stat(file_of(record.id), &info));
	ASSERT((uint64_t)info.st_size <= RECORD_SIZE_MAX);
	ASSERT_EQ(0, problems());
	PASS();
}

/* Old runs go; the chain of the others stays valid, and their removal is noted. */
TEST old_runs_are_removed(void)
{
	struct record_options own = options(1);
	struct record_verification result;
	struct record_names names;
	struct error err = { 0 };
	struct record record;
	struct timespec pause = { .tv_nsec = 5000000 };
	size_t before;

	ASSERT_EQ(0, record_runs(&arena, state, &names, &err));
	before = names.count;
	ASSERT(before > 0);
	nanosleep(&pause, NULL);
	ASSERT_EQ(0, unlink(at_state("log/pruned"))); /* the last removal was today */
	ASSERT_EQ(0, record_begin(&record, &arena, &own, &err));
	json_string(record_event(&record, RECORD_RUN_START), "cwd", "/x");
	record_write(&record);
	record_add_counts(&record, record_event(&record, RECORD_RUN_END));
	record_write(&record);
	nanosleep(&(struct timespec){ .tv_sec = 1, .tv_nsec = 100000000 }, NULL); /* ages have seconds */
	ASSERT(record_end(&record));
	ASSERT_EQ(0, record_runs(&arena, state, &names, &err));
	ASSERT_EQ(1, names.count); /* its own file was locked */
	ASSERT_EQ(0, record_verify(&arena, state, NULL, &result, &err));
	for (size_t i = 0; i < result.count; i++)
		fprintf(stderr, "%s: %s\n", result.items[i].run ? result.items[i].run : "ledger", result.items[i].text);
	ASSERT_EQ(0, result.count);
	ASSERT(result.pruned > 0);
	ASSERT(write_run(&record, 1));
	ASSERT_EQ(0, problems());
	PASS();
}

/* A ledger that a crash has cut is continued. */
TEST a_cut_ledger_is_continued(void)
{
	int fd = open(at_state("log/HEAD"), O_WRONLY | O_APPEND);
	struct record record;

	ASSERT(fd >= 0);
	ASSERT_EQ(7, write(fd, "{\"v\":1,", 7));
	close(fd);
	ASSERT_EQ(0, problems());
	ASSERT(write_run(&record, 1));
	ASSERT_EQ(0, problems());
	PASS();
}

GREATEST_MAIN_DEFS();

int main(int argc, char **argv)
{
	GREATEST_MAIN_BEGIN();
	snprintf(state, sizeof state, "%s/state", scratch_directory());
	RUN_TEST(ids_carry_their_time);
	RUN_TEST(dates_agree_with_the_system);
	RUN_TEST(a_chain_is_valid);
	RUN_TEST(unfinished_runs_are_no_damage);
	RUN_TEST(parked_records_continue);
	RUN_TEST(fast_events_are_folded);
	RUN_TEST(old_runs_are_removed);
	RUN_TEST(a_cut_ledger_is_continued);
	RUN_TEST(large_records_are_cut);
	arena_free(&arena);
	GREATEST_MAIN_END();
}
