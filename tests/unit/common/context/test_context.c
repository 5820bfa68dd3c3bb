/* SPDX-License-Identifier: Apache-2.0 */
/* Directories that can be projects, the search for the nearest one, and described machines. */
#include <greatest.h>

#include <pwd.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/context/context.h"
#include "unit/support/scratch.h"

static struct arena arena;

static int parse(const char *text, struct context *context, struct error *err)
{
	return context_parse(&arena, "m.yml", text, strlen(text), context, err);
}

static const char usual[] = "user: ann\nuid: 1000\nhome: /home/ann\nproject: /home/ann/app\n";

TEST judges_projects(void)
{
	static const struct {
		const char *path;
		bool is_fit;
	} rows[] = {
		{ "/home/ann/app", true },
		{ "/home/ann/a/b/c", true },
		{ "/home/bob/app", true },
		{ "/srv/app", true },
		{ "/opt/app", true },
		{ "/tmp/app", true },
		{ "/var/lib/ci/workspace", true },
		{ "/usr/src/app", true },
		{ "/mnt/disk/app", true },
		{ "/run/media/ann/disk", true },
		{ "/workspace", true },
		{ "/private/tmp/app", true },
		{ "/Users/ann/app", true },
		{ "/", false },
		{ "/home", false },
		{ "/home/ann", false },
		{ "/usr", false },
		{ "/usr/src", false },
		{ "/usr/share/x", false },
		{ "/usr/local", false },
		{ "/etc", false },
		{ "/etc/nginx", false },
		{ "/bin", false },
		{ "/lib64", false },
		{ "/proc/1", false },
		{ "/dev/shm", false },
		{ "/sys", false },
		{ "/run/user/1000", false },
		{ "/tmp", false },
		{ "/var", false },
		{ "/var/tmp", false },
		{ "/opt", false },
		{ "/srv", false },
		{ "/root", false },
		{ "/boot", false },
		{ "/nix/store/x", false },
		{ "/System/Library", false },
		{ "/private/etc", false },
		{ "/private/tmp", false },
		{ "/Users", false },
		{ "/home/ann/.config/berm", false },
		{ "/home/ann/.config", false },
		{ "/home/ann/.local/state/berm/projects/x", false },
		{ "/home/ann/.local", false },
	};
	struct context context;
	struct error err = { 0 };
	ASSERT_EQ(0, parse(usual, &context, &err));
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		ASSERT_EQm(rows[i].path, rows[i].is_fit ? 0 : -1, context_judge_project(&context, rows[i].path, &err));
		if (!rows[i].is_fit)
			ASSERT(strstr(err.hint, "--project"));
	}
	PASS();
}

TEST finds_the_nearest_project(void)
{
	static const struct {
		const char *cwd, *files, *expected;
	} rows[] = {
		{ "/home/ann/app/src", "/home/ann/app/.git/", "/home/ann/app" },
		{ "/home/ann/app/src", "/home/ann/app/.git", "/home/ann/app" },
		{ "/home/ann/app/src", "/home/ann/app/berm.yml", "/home/ann/app" },
		{ "/home/ann/app/sub/x", "/home/ann/app/.git/, /home/ann/app/sub/berm.yml", "/home/ann/app/sub" },
		{ "/home/ann/app/src", "/home/ann/x", "/home/ann/app/src" },
		/* a repository of dot files does not make the home a project */
		{ "/home/ann/app/src", "/home/ann/.git/", "/home/ann/app/src" },
		/* a marker of another user in a shared parent */
		{ "/srv/team/app", "{path: /srv/team/.git, type: directory, uid: 666}", "/srv/team/app" },
		{ "/srv/team/app", "{path: /srv/team/.git, type: directory, uid: 1000}", "/srv/team" },
		/* in the working directory the owner of the marker does not matter */
		{ "/srv/team", "{path: /srv/team/.git, type: directory, uid: 666}", "/srv/team" },
		{ "/tmp/x/y", "{path: /tmp/.git, type: directory, uid: 1000}", "/tmp/x/y" },
	};
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		struct context context;
		struct error err = { 0 };
		const char *text =
			arena_printf(&arena, "%scwd: %s\nfiles: [%s/, %s]\n", usual, rows[i].cwd, rows[i].cwd, rows[i].files);
		ASSERT_EQm(text, 0, parse(text, &context, &err));
		ASSERT_STR_EQ(rows[i].expected, context_find_project(&arena, &context));
	}
	PASS();
}

/* Returns the enclosing projects as "PATH[+policy][!reason] ...". */
static const char *enclosing_of(const struct context *context)
{
	const char *text = "";
	for (size_t i = 0; i < context->enclosing.count; i++) {
		const struct enclosing_project *item = &context->enclosing.items[i];
		text = arena_printf(&arena, "%s%s%s%s%s%s", text, *text ? " " : "", item->path,
				    item->has_policy ? "+policy" : "", item->skipped ? "!" : "",
				    item->skipped ? item->skipped : "");
	}
	return text;
}

TEST finds_enclosing_projects(void)
{
	static const struct {
		const char *project, *files, *expected;
	} rows[] = {
		{ "/home/ann/app", "/home/ann/app/.git/", "" },
		{ "/home/ann/app/config", "/home/ann/app/.git/, /home/ann/app/config/.git/", "/home/ann/app" },
		{ "/home/ann/app/config", "/home/ann/app/.git", "/home/ann/app" },
		{ "/home/ann/app/config", "\"/home/ann/app/.git -> x\"", "/home/ann/app" },
		{ "/home/ann/app/config", "/home/ann/app/berm.yml", "/home/ann/app+policy" },
		{ "/home/ann/a/b/c/d", "/home/ann/a/b/.git, /home/ann/a/berm.yml", "/home/ann/a/b /home/ann/a+policy" },
		/* A directory that cannot be a project itself keeps narrowing. */
		{ "/home/ann/.config/nvim", "/home/ann/.config/.git", "/home/ann/.config" },
		{ "/home/ann/app", "/home/ann/.git, {path: /home/.git, uid: 1000}", "/home/ann!it is your home" },
		{ "/home/app", "{path: /home/berm.yml, uid: 1000}", "/home!it contains your home" },
		{ "/srv/team/app", "{path: /srv/team/.git, uid: 666}", "/srv/team!it belongs to another user" },
		{ "/srv/team/app", "{path: /srv/team/berm.yml, uid: 0}", "/srv/team!it belongs to another user" },
		{ "/srv/team/app", "{path: /srv/team/.git, uid: 1000}, {path: /srv/team/berm.yml, uid: 666}",
		  "/srv/team /srv/team!berm.yml there belongs to another user" },
		{ "/srv/team/app", "{path: /srv/team/.git, uid: 1000}, {path: /srv/team/berm.yml, uid: 0}",
		  "/srv/team+policy" },
		{ "/srv/team/app", "{path: /.git, uid: 1000}, {path: /srv/.git, uid: 1000}", "/srv" },
	};
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		struct context context;
		struct error err = { 0 };
		const char *text = arena_printf(&arena, "user: ann\nuid: 1000\nhome: /home/ann\nproject: %s\nfiles: [%s]\n",
						rows[i].project, rows[i].files);
		ASSERT_EQm(err.message, 0, parse(text, &context, &err));
		ASSERT_STR_EQm(text, rows[i].expected, enclosing_of(&context));
	}
	PASS();
}

/* Markers that a command creates below a project do not push that project over the limit. */
TEST the_outermost_projects_are_kept(void)
{
	const char *path = "/home/ann/app", *files = "/home/ann/app/.git";
	struct context context;
	struct error err = { 0 };
	size_t kept = 0;
	for (int i = 0; i < 40; i++) {
		path = arena_printf(&arena, "%s/d", path);
		files = arena_printf(&arena, "%s, %s/.git", files, path);
	}
	ASSERT_EQ(0,
		  parse(arena_printf(&arena, "user: ann\nuid: 1000\nhome: /home/ann\nproject: %s\nfiles: [%s]\n", path, files),
			&context, &err));
	ASSERT_EQ(40, context.enclosing.count);
	for (size_t i = 0; i < context.enclosing.count; i++)
		kept += !context.enclosing.items[i].skipped;
	ASSERT_EQ(ENCLOSING_MAX, kept);
	ASSERT_STR_EQ("/home/ann/app", context.enclosing.items[39].path);
	ASSERT_EQ(NULL, context.enclosing.items[39].skipped);
	ASSERT(strstr(context.enclosing.items[0].skipped, "more than 16"));
	ASSERT(context_is_enclosed(&context, "/home/ann/app/x"));
	ASSERT_FALSE(context_is_enclosed(&context, "/home/ann/apple"));
	PASS();
}

TEST reads_described_machines(void)
{
	struct context context;
	struct error err = { 0 };
	struct file_info info;
	char *text;
	size_t length;
	static const char machine[] =
		"os: macos\nuser: ann\nuid: 501\nhome: /Users/ann\nproject: /Users/ann/app\n"
		"environment: {LANG: C, EMPTY: \"\"}\n"
		"files:\n"
		"  - /usr/\n"
		"  - \"/etc -> private/etc\"\n"
		"  - {path: /Users/ann/app/.git, text: \"gitdir: x\", mode: \"0600\", links: 2, inode: 7, uid: 3}\n"
		"  - {path: /var/run/s, type: socket}\n";
	ASSERT_EQm(err.message, 0, parse(machine, &context, &err));
	ASSERT_EQ(OS_MACOS, context.os);
	ASSERT_EQ(501, context.uid);
	ASSERT_STR_EQ("LANG=C", context.environment[0]);
	ASSERT_STR_EQ("EMPTY=", context.environment[1]);
	ASSERT_EQ(NULL, context.environment[2]);
	ASSERT_STR_EQ("/Users/ann/.config/berm", context.config_directory);
	ASSERT(context.fs->is_case_insensitive);
	ASSERT_EQ(0, context.fs->inspect(context.fs, "/usr", &info));
	ASSERT_EQ(FILE_DIRECTORY, info.type);
	ASSERT_EQ(0, info.uid);
	ASSERT_EQ(0, context.fs->inspect(context.fs, "/Users/ann/app/.git", &info));
	ASSERT_EQ(FILE_REGULAR, info.type);
	ASSERT_EQ(0600, info.mode);
	ASSERT_EQ(2, info.links);
	ASSERT_EQ(7, info.inode);
	ASSERT_EQ(3, info.uid);
	ASSERT_EQ(0, context.fs->read_small(context.fs, &arena, "/Users/ann/app/.git", 100, &text, &length));
	ASSERT_STR_EQ("gitdir: x", text);
	ASSERT_EQ(-1, context.fs->read_small(context.fs, &arena, "/Users/ann/app/.git", 3, &text, &length));
	ASSERT_EQ(0, context.fs->inspect(context.fs, "/var/run/s", &info));
	ASSERT_EQ(FILE_SOCKET, info.type);
	ASSERT_EQ(0, context.fs->inspect(context.fs, "/nowhere", &info));
	ASSERT_EQ(FILE_ABSENT, info.type);
	PASS();
}

TEST refuses_wrong_descriptions(void)
{
	static const char *const texts[] = {
		"",
		"[a]",
		"user: ann",
		"user: ann\nhome: relative\nproject: /p",
		"user: ann\nhome: /h\nproject: /p/../q",
		"user: ann\nhome: /h\nproject: /p\nos: plan9",
		"user: ann\nhome: /h\nproject: /p\nuid: ten",
		"user: ann\nhome: /h\nproject: /p\nfiles: x",
		"user: ann\nhome: /h\nproject: /p\nfiles: [x]",
		"user: ann\nhome: /h\nproject: /p\nfiles: [[x]]",
		"user: ann\nhome: /h\nproject: /p\nfiles: [{text: x}]",
		"user: ann\nhome: /h\nproject: /p\nfiles: [{path: /x, mode: \"9\"}]",
		"user: ann\nhome: /h\nproject: /p\nfiles: [/x, /x]",
		"user: ann\nhome: /h\nproject: /p\nfiles: [/x, /x/y]",
		"user: ann\nhome: /h\nproject: /p\nfiles: [{path: /x, type: door}]",
		"user: ann\nhome: /h\nproject: /p\nenvironment: [A]",
		"user: ann\nhome: /h\nproject: /p\nunknown: 1",
	};
	for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
		struct context context;
		struct error err = { 0 };
		ASSERT_EQm(texts[i], -1, parse(texts[i], &context, &err));
		ASSERTm(texts[i], error_is_set(&err));
	}
	PASS();
}

/* The project is a directory below the scratch directory; HOME and other variables are wrong. */
static int detect_here(void *data)
{
	struct context_request request = { 0 };
	struct context context;
	struct error err = { 0 };
	const struct passwd *entry = getpwuid(getuid());
	(void)data;
	mkdir(scratch_path("work"), 0755);
	mkdir(scratch_path("work/.git"), 0755);
	mkdir(scratch_path("work/src"), 0755);
	EXPECT(chdir(scratch_path("work/src")) == 0);
	setenv("HOME", scratch_path("work"), 1);
	setenv("XDG_CONFIG_HOME", "relative", 1);
	unsetenv("XDG_STATE_HOME");
	EXPECT(context_detect(&arena, &request, &context, &err) == 0);
	EXPECT(strcmp(context.project, scratch_path("work")) == 0);
	EXPECT(strcmp(context.working_directory, scratch_path("work/src")) == 0);
	EXPECT(strcmp(context.user, entry->pw_name) == 0);
	EXPECT(strcmp(context.home, scratch_path("work")) != 0);
	EXPECT(strncmp(context.config_directory, context.home, strlen(context.home)) == 0);
	EXPECT(context.executable != NULL);
	/* A marker deeper than the workspace that the host names: the workspace is still a base. */
	mkdir(scratch_path("host"), 0755);
	mkdir(scratch_path("host/deep"), 0755);
	mkdir(scratch_path("host/deep/.git"), 0755);
	EXPECT(chdir(scratch_path("host/deep")) == 0);
	setenv("CLAUDE_PROJECT_DIR", scratch_path("host"), 1);
	EXPECT(context_detect(&arena, &request, &context, &err) == 0);
	EXPECT(!context_is_enclosed(&context, context.project));
	request.is_narrowing = true;
	EXPECT(context_detect(&arena, &request, &context, &err) == 0);
	EXPECT(strcmp(context.project, scratch_path("host/deep")) == 0);
	EXPECT(context.enclosing.count > 0 && strcmp(context.enclosing.items[0].path, scratch_path("host")) == 0);
	EXPECT(!context.enclosing.items[0].skipped);
	request.is_narrowing = false;
	EXPECT(chdir(scratch_path("work/src")) == 0);
	request.project = "..";
	EXPECT(context_detect(&arena, &request, &context, &err) == 0);
	EXPECT(strcmp(context.project, scratch_path("work")) == 0);
	request.project = "/usr";
	EXPECT(context_detect(&arena, &request, &context, &err) < 0);
	request.project = "absent";
	EXPECT(context_detect(&arena, &request, &context, &err) < 0);
	request.project = NULL;
	setenv("XDG_CONFIG_HOME", scratch_path("work/config"), 1);
	EXPECT(context_detect(&arena, &request, &context, &err) < 0 || strcmp(context.project, scratch_path("work")) != 0);
	EXPECT(chdir("/usr") == 0);
	EXPECT(context_detect(&arena, &request, &context, &err) < 0);
	return 0;
}

TEST detects_the_machine_and_ignores_home_variables(void)
{
	scratch_directory();
	ASSERT_EQ(0, scratch_child(detect_here, NULL));
	PASS();
}

GREATEST_MAIN_DEFS();

int main(int argc, char **argv)
{
	GREATEST_MAIN_BEGIN();
	RUN_TEST(judges_projects);
	RUN_TEST(finds_the_nearest_project);
	RUN_TEST(finds_enclosing_projects);
	RUN_TEST(the_outermost_projects_are_kept);
	RUN_TEST(reads_described_machines);
	RUN_TEST(refuses_wrong_descriptions);
	RUN_TEST(detects_the_machine_and_ignores_home_variables);
	arena_free(&arena);
	GREATEST_MAIN_END();
}
