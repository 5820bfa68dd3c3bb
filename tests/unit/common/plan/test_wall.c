/* SPDX-License-Identifier: Apache-2.0 */
/* The document of the second wall says what was put into it, and anything else is refused. */
#include <string.h>

#include <greatest.h>

#include "common/plan/plan.h"
#include "common/plan/wall.h"

GREATEST_MAIN_DEFS();

static struct arena arena;

static int parse(const char *text)
{
	struct wall wall;
	struct error err = { 0 };
	return wall_parse(&arena, text, &wall, &err);
}

TEST what_is_written_is_read(void)
{
	struct wall wall = { 0 }, found;
	struct error err = { 0 };
	char name[] = "KEY", assignment[] = "HOME=/a b/c";

	*arena_push(&arena, &wall.paths) = (struct wall_path){ WALL_READ, "/usr" };
	*arena_push(&arena, &wall.paths) = (struct wall_path){ WALL_WRITE, "/home/ann/my app" };
	*arena_push(&arena, &wall.paths) = (struct wall_path){ WALL_WRITE, "/home/ann/two\nread /" };
	*arena_push(&arena, &wall.paths) = (struct wall_path){ WALL_SOCKET, "/run/s" };
	*arena_push(&arena, &wall.unset) = name;
	*arena_push(&arena, &wall.set) = assignment;
	ASSERT_EQ(0, wall_parse(&arena, wall_text(&arena, &wall), &found, &err));
	ASSERT_EQ(3, found.paths.count); /* not the one with a line break */
	ASSERT_EQ(WALL_WRITE, found.paths.items[1].right);
	ASSERT_STR_EQ("/home/ann/my app", found.paths.items[1].path);
	ASSERT_EQ(WALL_SOCKET, found.paths.items[2].right);
	ASSERT_STR_EQ("KEY", found.unset.items[0]);
	ASSERT_STR_EQ("HOME=/a b/c", found.set.items[0]);
	PASS();
}

TEST anything_else_is_refused(void)
{
	ASSERT_EQ(0, parse("berm wall 1\n"));
	ASSERT_EQ(0, parse("berm wall 1\nread /usr\n"));
	ASSERT_EQ(-1, parse(""));
	ASSERT_EQ(-1, parse("berm wall 2\nread /usr\n"));
	ASSERT_EQ(-1, parse("read /usr\n"));
	ASSERT_EQ(-1, parse("berm wall 1\nread usr\n"));
	ASSERT_EQ(-1, parse("berm wall 1\nexecute /usr\n"));
	ASSERT_EQ(-1, parse("berm wall 1\nread\n"));
	ASSERT_EQ(-1, parse("berm wall 1\n\nread /usr\n"));
	ASSERT_EQ(-1, parse("berm wall 1\nunset A=b\n"));
	ASSERT_EQ(-1, parse("berm wall 1\nset =b\n"));
	ASSERT_EQ(-1, parse("berm wall 1\nset b\n"));
	PASS();
}

TEST the_secret_stays_with_the_agent(void)
{
	ASSERT_STR_EQ("http://127.0.0.1:23129",
		      environment_open_proxy(&arena, "http://berm:{proxy-secret}@127.0.0.1:{proxy-port}", 23128));
	ASSERT_STR_EQ("", environment_open_proxy(&arena, "socks5h://berm:{proxy-secret}@127.0.0.1:{proxy-port}", 23128));
	ASSERT_STR_EQ("", environment_open_proxy(&arena, "-Dpassword={proxy-secret}", 23128));
	ASSERT_EQ(NULL, environment_open_proxy(&arena, "localhost,127.0.0.1", 23128));
	PASS();
}

int main(int argc, char **argv)
{
	GREATEST_MAIN_BEGIN();
	RUN_TEST(what_is_written_is_read);
	RUN_TEST(anything_else_is_refused);
	RUN_TEST(the_secret_stays_with_the_agent);
	arena_free(&arena);
	GREATEST_MAIN_END();
}
