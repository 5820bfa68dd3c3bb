/* SPDX-License-Identifier: Apache-2.0 */
/* The block that `berm hooks install` adds to a configuration file, and its removal, compared
 * byte by byte. */
#include <string.h>

#include "greatest.h"

#include "common/githooks/hooks.h"

static const char include[] = "/home/ann/.local/share/berm/git-hooks.gitconfig";

TEST comes_and_goes(void)
{
	static const char *const texts[] = {
		"",
		"\n",
		"[core]\n\tbare = false\n",
		"[core]\n\tbare = false",
		"# only a comment",
		"[core]\r\n\thooksPath = .husky/_\r\n",
		"[include]\n\tpath = other\n[user]\n\tname = \"Ann \\\"x\\\"\"\n\n\n",
	};
	for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
		struct arena arena = { 0 };
		bool is_made = true;
		const char *with = hooks_add(&arena, texts[i], include), *again = hooks_add(&arena, with, include);
		ASSERT(strstr(with, include));
		ASSERT_EQ(0, strncmp(with, texts[i], strlen(texts[i])));
		ASSERT_STR_EQ(with, again);
		ASSERT_STR_EQ(texts[i], hooks_remove(&arena, with, &is_made));
		ASSERT(!is_made);
		arena_free(&arena);
	}
	PASS();
}

TEST a_file_that_was_made(void)
{
	struct arena arena = { 0 };
	bool is_made = false;
	const char *with = hooks_add(&arena, NULL, include);
	ASSERT_STR_EQ(with, hooks_add(&arena, with, include));
	ASSERT_STR_EQ("", hooks_remove(&arena, with, &is_made));
	ASSERT(is_made);
	arena_free(&arena);
	PASS();
}

/* Later changes by other programs stay, before, in and after the block. The block moves
 * to the end. */
TEST others_write_too(void)
{
	struct arena arena = { 0 };
	bool is_made;
	const char *with = hooks_add(&arena, "[a]\n\tx = 1\n", include);
	const char *changed = arena_printf(&arena, "[b]\n\ty = 2\n%s[c]\n\tz = 3\n", with);
	ASSERT_STR_EQ("[b]\n\ty = 2\n[a]\n\tx = 1\n[c]\n\tz = 3\n", hooks_remove(&arena, changed, &is_made));
	changed = hooks_add(&arena, changed, include);
	ASSERT(strstr(changed, "berm hooks: begin") > strstr(changed, "[c]"));
	ASSERT_STR_EQ("[b]\n\ty = 2\n[a]\n\tx = 1\n[c]\n\tz = 3\n", hooks_remove(&arena, changed, &is_made));
	/* git adds a further include.path to the existing section. */
	changed = arena_printf(&arena, "%.*s\tpath = other\n# berm hooks: end\n",
			       (int)(strstr(with, "# berm hooks: end") - with), with);
	ASSERT_STR_EQ("[a]\n\tx = 1\n[include]\n\tpath = other\n", hooks_remove(&arena, changed, &is_made));
	arena_free(&arena);
	PASS();
}

TEST nothing_to_take_out(void)
{
	struct arena arena = { 0 };
	bool is_made;
	ASSERT_EQ(NULL, hooks_remove(&arena, "[core]\n", &is_made));
	ASSERT_EQ(NULL, hooks_remove(&arena, "# berm hooks: begin; `berm hooks uninstall` takes these lines out\n[core]\n",
				     &is_made));
	arena_free(&arena);
	PASS();
}

TEST odd_paths_are_quoted(void)
{
	struct arena arena = { 0 };
	ASSERT(strstr(hooks_script(&arena, "/o'dd/berm"), "exec '/o'\\''dd/berm' hook-run"));
	ASSERT(strstr(hooks_include_text(&arena, "/o\"d\\d"), "hooksPath = \"/o\\\"d\\\\d\"\n"));
	arena_free(&arena);
	PASS();
}

GREATEST_MAIN_DEFS();

int main(int argc, char **argv)
{
	GREATEST_MAIN_BEGIN();
	RUN_TEST(comes_and_goes);
	RUN_TEST(a_file_that_was_made);
	RUN_TEST(others_write_too);
	RUN_TEST(nothing_to_take_out);
	RUN_TEST(odd_paths_are_quoted);
	GREATEST_MAIN_END();
}
