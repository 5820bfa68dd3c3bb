/* SPDX-License-Identifier: Apache-2.0 */
/* Markers of runs: which are left when a process dies, and which belong to a run that lives. */
#include <greatest.h>

#include <string.h>
#include <unistd.h>

#include "common/state/unfinished.h"
#include "unit/support/scratch.h"

static struct arena arena;
static struct error err;
static const char *state;

static int take(struct unfinished *markers)
{
	return unfinished_take(&arena, state, "p-1", markers, &err);
}

TEST a_run_that_ends_leaves_nothing(void)
{
	struct unfinished markers;
	state = arena_copy(&arena, scratch_path("ends"));
	ASSERT_EQ(0, take(&markers));
	ASSERT_EQ(0, unfinished_set(&markers.own, "base", 4));
	ASSERT_EQ(0, unfinished_clear(&markers.own));
	unfinished_close(&markers);
	ASSERT_EQ(0, take(&markers));
	ASSERT_EQ(0, markers.left_count + markers.live);
	unfinished_close(&markers);
	PASS();
}

TEST one_that_dies_leaves_its_baseline(void)
{
	struct unfinished markers;
	state = arena_copy(&arena, scratch_path("dies"));
	ASSERT_EQ(0, take(&markers));
	ASSERT_EQ(0, unfinished_set(&markers.own, "longer than", 11));
	ASSERT_EQ(0, unfinished_set(&markers.own, "base", 4));
	unfinished_close(&markers);
	ASSERT_EQ(0, take(&markers));
	ASSERT_EQ(1, markers.left_count);
	ASSERT_EQ(4, markers.left[0].length);
	ASSERT_EQ(0, memcmp("base", markers.left[0].bytes, 4));
	ASSERT(markers.own.fd >= 0 && markers.own.fd != markers.left[0].fd);
	ASSERT_EQ(0, unfinished_clear(&markers.left[0]));
	unfinished_close(&markers);
	ASSERT_EQ(0, take(&markers));
	ASSERT_EQ(0, markers.left_count);
	unfinished_close(&markers);
	PASS();
}

TEST one_that_lives_is_not_left(void)
{
	struct unfinished first, second;
	state = arena_copy(&arena, scratch_path("lives"));
	ASSERT_EQ(0, take(&first));
	ASSERT_EQ(0, unfinished_set(&first.own, "base", 4));
	ASSERT_EQ(0, take(&second));
	ASSERT_EQ(0, second.left_count);
	ASSERT_EQ(1, second.live);
	ASSERT_EQ(0, unfinished_look(&arena, state, "p-1", &first, &err));
	ASSERT_EQ(1, first.live);
	unfinished_close(&second);
	ASSERT_EQ(0, unfinished_look(&arena, state, "p-1", &first, &err));
	ASSERT_EQ(0, first.live);
	unfinished_close(&first);
	PASS();
}

TEST a_damaged_one_counts(void)
{
	struct unfinished markers;
	state = arena_copy(&arena, scratch_path("damaged"));
	ASSERT_EQ(0, take(&markers));
	ASSERT_EQ(0, unfinished_set(&markers.own, "base", 4));
	ASSERT_EQ(1, pwrite(markers.own.fd, "X", 1, 33));
	unfinished_close(&markers);
	ASSERT_EQ(0, take(&markers));
	ASSERT_EQ(1, markers.left_count);
	ASSERT_EQ(NULL, markers.left[0].bytes);
	ASSERT_EQ(0, unfinished_clear(&markers.left[0]));
	unfinished_close(&markers);
	ASSERT_EQ(0, take(&markers));
	ASSERT_EQ(0, markers.left_count);
	unfinished_close(&markers);
	PASS();
}

GREATEST_MAIN_DEFS();

int main(int argc, char **argv)
{
	GREATEST_MAIN_BEGIN();
	RUN_TEST(a_run_that_ends_leaves_nothing);
	RUN_TEST(one_that_dies_leaves_its_baseline);
	RUN_TEST(one_that_lives_is_not_left);
	RUN_TEST(a_damaged_one_counts);
	arena_free(&arena);
	GREATEST_MAIN_END();
}
