/* SPDX-License-Identifier: Apache-2.0 */
/* Which settings of a git configuration run something or name a file, and which files those are. */
#include <greatest.h>

#include <string.h>
#include <unistd.h>

#include "common/base/text.h"
#include "common/git/settings.h"
#include "unit/support/scratch.h"

static struct arena *arena;
static const char *top;

static struct git_settings parse(const char *text)
{
	struct git_settings settings = { 0 };
	git_settings_parse(arena, "/r/.git/config", text, strlen(text), &settings);
	return settings;
}

TEST executing_settings(void)
{
	static const struct {
		const char *text;
		bool executes;
	} rows[] = {
		{ "[core]\nhooksPath = x\n", true },
		{ "[core]\nHOOKSPATH = x\n", true },
		{ "[core]\nfsmonitor = true\n", false },
		{ "[core]\nfsmonitor\n", false },
		{ "[core]\nfsmonitor = ./watch\n", true },
		{ "[core]\npager = less\n", true },
		{ "[core]\nbare = false\n", false },
		{ "[alias]\nst = status\n", false },
		{ "[alias]\nst = !touch x\n", true },
		{ "[filter \"x\"]\nclean = a\n", true },
		{ "[filter.x]\nsmudge = a\n", true },
		{ "[filter]\nsmudge = a\n", false },
		{ "[submodule \"s\"]\nupdate = checkout\n", false },
		{ "[submodule \"s\"]\nupdate = !x\n", true },
		{ "[credential]\nhelper = store\n", true },
		{ "[credential \"https://example.org\"]\nhelper = store\n", true },
		{ "[gpg \"ssh\"]\nprogram = x\n", true },
		{ "[remote \"o\"]\nurl = ../x\n", false },
		{ "[gc]\nrecentObjectsHook = x\n", true },
		{ "[core]\neditor = \\\nvi\n", true },
		{ "[lfs \"customtransfer.x\"]\npath = /x\n", true },
	};
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		struct git_settings settings = parse(rows[i].text);
		bool executes = false;
		for (size_t k = 0; k < settings.count; k++)
			executes |= git_setting_executes(&settings.items[k]);
		ASSERT_EQm(rows[i].text, rows[i].executes, executes);
	}
	PASS();
}

TEST paths_of_values(void)
{
	static const struct {
		const char *text, *paths;
	} rows[] = {
		{ "[core]\nhooksPath = tools/hooks\n", "/w/tools/hooks" },
		{ "[core]\nhooksPath = ~/hooks\n", "/home/ann/hooks" },
		{ "[core]\nhooksPath = /abs\n", "/abs" },
		{ "[core]\nhooksPath =\n", "" },
		{ "[core]\nattributesFile = :(optional)a\n", "/w/a" },
		{ "[include]\npath = ../extra\n", "/r/.git/../extra" },
		{ "[includeIf \"gitdir:/r/\"]\npath = extra\n", "/r/.git/extra" },
		{ "[core]\nfsmonitor = yes\n", "" },
		{ "[core]\nfsmonitor = .git/watch\n", "/w/.git/watch" },
		{ "[core]\neditor = vi\n", "" },
		{ "[core]\neditor = \"'./my editor' -w\"\n", "/w/my editor" },
		{ "[core]\neditor = A=1 ./e\n", "/w/e" },
		{ "[filter \"x\"]\nclean = python3 tools/clean.py %f\n", "/w/tools/clean.py" },
		{ "[filter \"x\"]\nclean = python3 clean.py src/data\n", "/w/clean.py" },
		{ "[filter \"x\"]\nclean = \"perl -I lib x.pl\"\n", "/w/lib /w/x.pl" },
		{ "[filter \"x\"]\nclean = \"sh -c 'cat | ./f'\"\n", "/w/f" },
		{ "[diff]\nexternal = env X=1 bash -e d.sh\n", "/w/bash /w/d.sh" },
		{ "[merge \"m\"]\ndriver = ./a %O; ./b\n", "/w/a" },
		{ "[merge \"m\"]\ndriver = \"./a %O && $HOME/b\"\n", "/w/a /home/ann/b" },
		{ "[gpg]\nprogram = gpg2\n", "" },
		{ "[gpg]\nprogram = ./gpg\n", "/w/gpg" },
		{ "[credential]\nhelper = !./h\n", "/w/h" },
		{ "[core]\nworktree = ../..\n", "" },
	};
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		struct git_settings settings = parse(rows[i].text);
		struct git_paths paths = { 0 };
		struct text found = { 0 };
		for (size_t k = 0; k < settings.count; k++)
			git_setting_paths(arena, &settings.items[k], "/w", "/home/ann", &paths);
		for (size_t k = 0; k < paths.count; k++)
			text_add(&found, "%s%s", k ? " " : "", paths.items[k]);
		ASSERT_STR_EQm(rows[i].text, rows[i].paths, found.data ? found.data : "");
		text_free(&found);
	}
	PASS();
}

TEST position_and_name(void)
{
	struct git_settings settings = parse("[core]\n\tbare = false\n[filter \"a b\"]\n\n\tclean = x\n");
	ASSERT_EQ(1, settings.count);
	ASSERT_EQ(5, settings.items[0].line);
	ASSERT_STR_EQ("filter.a b.clean", git_setting_name(arena, &settings.items[0]));
	PASS();
}

TEST text_with_nul(void)
{
	static const char text[] = "[core]\n\0pager = x\n";
	struct git_settings settings = { 0 };
	ASSERT(!git_settings_parse(arena, "c", text, sizeof text - 1, &settings));
	PASS();
}

static void write_file(const char *name, const char *text)
{
	scratch_write(scratch_path("%s", name), text, strlen(text), 0600);
}

static struct git_settings read_file(const char *name)
{
	struct git_settings settings = { 0 };
	git_settings_read(filesystem_host(), arena, "/nowhere", arena_printf(arena, "%s/%s", top, name), &settings);
	return settings;
}

TEST includes_are_read(void)
{
	struct git_settings settings;
	write_file("config", "[include]\npath = one\n[includeIf \"onbranch:x\"]\npath = absent\n[core]\npager = p\n");
	write_file("one", "[include]\npath = config\n[core]\nhooksPath = h\n[extensions]\nworktreeConfig = true\n");
	settings = read_file("config");
	ASSERT(settings.has_worktree_config);
	ASSERT(settings.count > 4);
	/* git ends at its tenth level; so does this. */
	ASSERT(settings.count < 64);
	ASSERT_EQ(NULL, settings.unread);
	PASS();
}

TEST a_symlinked_configuration_includes_beside_the_link(void)
{
	struct git_settings settings;
	write_file("plain", "[core]\npager = p\n");
	ASSERT_EQ(0, symlink("plain", scratch_path("link")));
	settings = read_file("link");
	ASSERT_EQ(1, settings.count);
	ASSERT(text_ends_with(settings.items[0].file, "/link"));
	PASS();
}

TEST too_many_files_are_reported(void)
{
	struct git_settings settings;
	struct text text = { 0 };
	for (int i = 0; i < 100; i++)
		text_add(&text, "[include]\npath = n%d\n", i);
	write_file("many", text.data);
	text_free(&text);
	settings = read_file("many");
	ASSERT(settings.unread);
	PASS();
}

GREATEST_MAIN_DEFS();

int main(int argc, char **argv)
{
	struct arena own = { 0 };
	arena = &own;
	top = scratch_directory();
	GREATEST_MAIN_BEGIN();
	RUN_TEST(executing_settings);
	RUN_TEST(paths_of_values);
	RUN_TEST(position_and_name);
	RUN_TEST(text_with_nul);
	RUN_TEST(includes_are_read);
	RUN_TEST(a_symlinked_configuration_includes_beside_the_link);
	RUN_TEST(too_many_files_are_reported);
	arena_free(arena);
	GREATEST_MAIN_END();
}
