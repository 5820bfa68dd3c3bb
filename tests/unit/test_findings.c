/* SPDX-License-Identifier: Apache-2.0 */
/* What the scan found arrives in init as it was, however much it is, and nothing that is not whole does. */
#include <greatest.h>

#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "common/base/text.h"
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

static void fill(struct plan *plan, size_t count)
{
	*plan = (struct plan){ .arena = &arena };
	plan->masked = matches("masked", count);
	plan->locked = matches("locked", count / 2);
	plan->pinned = matches("pinned", count / 3);
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

static bool is_same(const struct plan *a, const struct plan *b)
{
	return is_same_list(&a->masked, &b->masked) && is_same_list(&a->locked, &b->locked) &&
	       is_same_list(&a->pinned, &b->pinned);
}

struct sending {
	int channel, result;
	const struct plan *plan;
};

static void *send_all(void *self)
{
	struct sending *sending = self;
	sending->result = findings_send(sending->channel, sending->plan);
	return NULL;
}

/* Far more than a socket holds, so that the sender has to wait. */
TEST arrive_as_they_were(size_t count)
{
	struct plan sent, got = { .arena = &arena };
	struct error err;
	struct sending sending = { .plan = &sent };
	pthread_t thread;
	int ends[2];

	fill(&sent, count);
	ASSERT_EQ(0, channel_open(ends, &err));
	sending.channel = ends[0];
	ASSERT_EQ(0, pthread_create(&thread, NULL, send_all, &sending));
	ASSERT_EQm(err.message, 0, findings_receive(ends[1], &got, &err));
	ASSERT_EQ(0, pthread_join(thread, NULL));
	ASSERT_EQ(0, sending.result);
	ASSERT(is_same(&sent, &got));
	close(ends[0]);
	close(ends[1]);
	PASS();
}

TEST are_refused_when_damaged(void)
{
	struct plan sent, got = { .arena = &arena };
	struct text bytes = { 0 };
	char *copy;

	fill(&sent, 3);
	findings_encode(&sent, &bytes);
	ASSERT(findings_decode(bytes.data, bytes.length, &got));
	for (size_t length = 0; length < bytes.length; length++) {
		got = (struct plan){ .arena = &arena };
		copy = arena_copy_n(&arena, bytes.data, length);
		ASSERT_FALSE(findings_decode(copy, length, &got));
		ASSERT_EQ(0, got.masked.count + got.pinned.count);
	}
	copy = arena_alloc(&arena, bytes.length + 1);
	memcpy(copy, bytes.data, bytes.length);
	ASSERT_FALSE(findings_decode(copy, bytes.length + 1, &got));
	memset(copy, 0xff, 4); /* more matches than there are bytes */
	ASSERT_FALSE(findings_decode(copy, bytes.length, &got));
	memcpy(copy, bytes.data, bytes.length);
	copy[4] = FILE_UNKNOWN + 1;
	ASSERT_FALSE(findings_decode(copy, bytes.length, &got));
	copy[4] = FILE_REGULAR;
	copy[5] = 'x'; /* not from the root */
	ASSERT_FALSE(findings_decode(copy, bytes.length, &got));
	text_free(&bytes);
	PASS();
}

TEST fail_when_the_other_end_is_gone(void)
{
	struct plan plan;
	struct error err;
	int ends[2];
	fill(&plan, 1);
	ASSERT_EQ(0, channel_open(ends, &err));
	close(ends[0]);
	ASSERT_EQ(-1, findings_receive(ends[1], &plan, &err));
	ASSERT_EQ(-1, findings_send(ends[1], &plan));
	close(ends[1]);
	PASS();
}

GREATEST_MAIN_DEFS();

int main(int argc, char **argv)
{
	GREATEST_MAIN_BEGIN();
	RUN_TEST1(arrive_as_they_were, 0);
	RUN_TEST1(arrive_as_they_were, 7);
	RUN_TEST1(arrive_as_they_were, 20000);
	RUN_TEST(are_refused_when_damaged);
	RUN_TEST(fail_when_the_other_end_is_gone);
	arena_free(&arena);
	GREATEST_MAIN_END();
}
