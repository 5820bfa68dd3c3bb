/* SPDX-License-Identifier: Apache-2.0 */
/* Scan results of any size arrive in init unchanged; damaged or incomplete ones are refused. */
#include <greatest.h>

#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "common/base/text.h"
#include "common/cache/plan_codec.h"
#include "linux/channel.h"
#include "linux/launch/scan_results.h"

static struct arena arena;

static struct plan_matches matches(const char *prefix, size_t count)
{
	struct plan_matches list = { .items = arena_alloc(&arena, (count + 1) * sizeof *list.items), .count = count };
	for (size_t i = 0; i < count; i++)
		list.items[i] = (struct plan_match){ .path = arena_printf(&arena, "/%s/%zu/a name\n\xff", prefix, i),
						     .type = (enum file_type)(i % (FILE_UNKNOWN + 1)) };
	return list;
}

static void fill(struct scan_results *results, size_t count)
{
	*results = (struct scan_results){ .masked = matches("masked", count),
					  .locked = matches("locked", count / 2),
					  .opened = matches("opened", count / 5),
					  .pinned = matches("pinned", count / 3) };
}

static bool is_same_list(const struct plan_matches *a, const struct plan_matches *b)
{
	if (a->count != b->count)
		return false;
	for (size_t i = 0; i < a->count; i++)
		if (a->items[i].type != b->items[i].type || strcmp(a->items[i].path, b->items[i].path) != 0)
			return false;
	return true;
}

static bool is_same(const struct scan_results *a, const struct scan_results *b)
{
	return is_same_list(&a->masked, &b->masked) && is_same_list(&a->locked, &b->locked) &&
	       is_same_list(&a->opened, &b->opened) && is_same_list(&a->pinned, &b->pinned);
}

struct sending {
	int channel, result;
	const struct scan_results *results;
};

static void *send_all(void *self)
{
	struct sending *sending = self;
	sending->result = scan_results_send(sending->channel, sending->results);
	return NULL;
}

/* The largest count exceeds the socket's buffer, so that the sender has to wait. */
TEST arrive_unchanged(size_t count)
{
	struct scan_results sent, got = { 0 };
	struct error err;
	struct sending sending = { .results = &sent };
	pthread_t thread;
	int ends[2];

	fill(&sent, count);
	ASSERT_EQ(0, channel_open(ends, &err));
	sending.channel = ends[0];
	ASSERT_EQ(0, pthread_create(&thread, NULL, send_all, &sending));
	ASSERT_EQm(err.message, 0, scan_results_receive(ends[1], &arena, &got, &err));
	ASSERT_EQ(0, pthread_join(thread, NULL));
	ASSERT_EQ(0, sending.result);
	ASSERT(is_same(&sent, &got));
	close(ends[0]);
	close(ends[1]);
	PASS();
}

TEST are_refused_when_damaged(void)
{
	enum { COUNT = 0, PATH = 8 }; /* offsets of the first list's length and of its first path */
	struct scan_results sent, got = { 0 };
	struct text bytes = { 0 };
	char *copy;
	size_t type;

	fill(&sent, 3);
	type = PATH + strlen(sent.masked.items[0].path) + 1;
	scan_results_encode(&sent, &bytes);
	ASSERT(scan_results_decode(&arena, bytes.data, bytes.length, &got));
	for (size_t length = 0; length < bytes.length; length++) {
		got = (struct scan_results){ 0 };
		copy = arena_copy_n(&arena, bytes.data, length);
		ASSERT_FALSE(scan_results_decode(&arena, copy, length, &got));
		ASSERT_EQ(0, got.masked.count + got.pinned.count);
	}
	copy = arena_alloc(&arena, bytes.length + 1);
	memcpy(copy, bytes.data, bytes.length);
	ASSERT(scan_results_decode(&arena, copy, bytes.length, &got));
	ASSERT_FALSE(scan_results_decode(&arena, copy, bytes.length + 1, &got));
	memset(copy + COUNT, 0xff, 4); /* more matches than there are bytes */
	ASSERT_FALSE(scan_results_decode(&arena, copy, bytes.length, &got));
	memcpy(copy, bytes.data, bytes.length);
	ASSERT_EQ(sent.masked.items[0].type, (enum file_type)copy[type]);
	copy[type] = FILE_UNKNOWN + 1;
	ASSERT_FALSE(scan_results_decode(&arena, copy, bytes.length, &got));
	copy[type] = FILE_REGULAR;
	ASSERT(scan_results_decode(&arena, copy, bytes.length, &got));
	copy[PATH] = 'x'; /* not absolute */
	ASSERT_FALSE(scan_results_decode(&arena, copy, bytes.length, &got));
	text_free(&bytes);
	PASS();
}

TEST fail_when_the_other_end_is_closed(void)
{
	struct scan_results results;
	struct error err;
	int ends[2];
	fill(&results, 1);
	ASSERT_EQ(0, channel_open(ends, &err));
	close(ends[0]);
	ASSERT_EQ(-1, scan_results_receive(ends[1], &arena, &results, &err));
	ASSERT_EQ(-1, scan_results_send(ends[1], &results));
	close(ends[1]);
	PASS();
}

GREATEST_MAIN_DEFS();

int main(int argc, char **argv)
{
	GREATEST_MAIN_BEGIN();
	RUN_TEST1(arrive_unchanged, 0);
	RUN_TEST1(arrive_unchanged, 7);
	RUN_TEST1(arrive_unchanged, 20000);
	RUN_TEST(are_refused_when_damaged);
	RUN_TEST(fail_when_the_other_end_is_closed);
	arena_free(&arena);
	GREATEST_MAIN_END();
}
