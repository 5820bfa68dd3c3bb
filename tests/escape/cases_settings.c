/* SPDX-License-Identifier: Apache-2.0 */
/* Cases on keys beside programs, settings directories that are locked as a whole, and files that
 * berm writes for its host. */
#include "harness.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* berm-sh writes a file on the host for Claude Code. A string that only resembles the host's must
 * not choose another file. */
static void report_file(struct trial *trial)
{
	static const char *const strings[] = {
		"eval true && pwd -P >| $OUTSIDE/claude-1-cwd", /* a directory that the host does not name */
		"true && pwd -P >| $RUNTIME/claude-2-cwd", /* the named one, another command than eval */
		"source /dev/null; eval true && pwd -P >| $RUNTIME/claude-3-cwd",
		"eval true && pwd -P >| '$RUNTIME/a;b/claude-4-cwd'", /* a character with a meaning to a shell */
	};
	static const char *const files[] = { "$OUTSIDE/claude-1-cwd", "$RUNTIME/claude-2-cwd", "$RUNTIME/claude-3-cwd",
					     "$RUNTIME/a;b/claude-4-cwd" };
	char *program = path_of("%s/berm-sh", trial->world.base), *good = path_of("%s/claude-9-cwd", trial->world.runtime);
	make_directory(path_of("%s/a;b", trial->world.runtime), 0700);
	make_link(berm_path, program);
	trial_variable(trial, "CLAUDE_CODE_TMPDIR=$RUNTIME");
	for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
		char *file = trial_expand(trial, files[i]);
		BARE(trial, "/bin/bash", "-c", strings[i]);
		expect(trial, access(file, F_OK) == 0, "control: %s was not written", file);
		unlink(file);
		BARE(trial, program, strings[i]);
		expect(trial, access(file, F_OK) != 0, "berm-sh wrote %s", file);
		unlink(file);
	}
	BARE(trial, program, "eval true && pwd -P >| $RUNTIME/claude-9-cwd");
	expect(trial, is_self_test || file_contains(good, trial->world.project), "the file in the full form is not written");
}

/* A name that only looks like a category of the locale. */
static void locale_variables(struct trial *trial)
{
	trial_variable(trial, "LC_TOKEN=$TOKEN");
	trial_variable(trial, "LC_TIME=C.UTF-8");
	BARE(trial, "/usr/bin/env");
	expect(trial, strstr(trial->outcome.out, trial->world.token) != NULL, "control: LC_TOKEN is not in the environment");
	INSIDE(trial, "/usr/bin/env");
	expect(trial, !strstr(trial->outcome.out, trial->world.token), "LC_TOKEN is passed");
	expect(trial, strstr(trial->outcome.out, "LC_TIME=C.UTF-8") != NULL, "LC_TIME is not passed");
}

/* The content of a snapshot, under another name than the hidden file's. A listing shows these: the
 * unit test has one that does not. */
static void fill_snapshots(struct trial *trial)
{
	static const char *const directories[] = { ".zfs",	    ".zfs/snapshot",	      ".zfs/snapshot/daily",
						   "src/.snapshot", "src/.snapshot/hourly.0", "src/.snap" };
	for (size_t i = 0; i < sizeof directories / sizeof *directories; i++)
		make_directory(path_of("%s/%s", trial->world.project, directories[i]), 0755);
	make_filef(trial->world.token, 0644, "%s/.zfs/snapshot/daily/settings", trial->world.project);
	make_filef(trial->world.token, 0644, "%s/src/.snapshot/hourly.0/settings", trial->world.project);
	make_filef(trial->world.token, 0644, "%s/src/.snap/settings", trial->world.project);
}

static void snapshots(struct trial *trial)
{
	CONTAIN(trial, "read", ".zfs/snapshot/daily/settings", "src/.snapshot/hourly.0/settings", "src/.snap/settings");
	CONTAIN(trial, "list", ".zfs/snapshot", "src/.snapshot", "src/.snap");
	CONTAIN(trial, "rename", ".zfs", "z", "src/.snapshot", "s");
}

/* Settings of a service that was installed by hand. */
static void settings_in_opt(struct trial *trial)
{
	char *directory = path_of("/opt/berm-escape-%d", (int)getpid()), *path = path_of("%s/.env", directory);
	if (!make_elsewhere(&trial->world, directory, true, NULL) ||
	    !make_elsewhere(&trial->world, path, false, trial->world.token)) {
		skip(trial, "%s exists", path);
		return;
	}
	if (chmod(directory, 0755) || chmod(path, 0644)) /* else it is hidden because only root may read it */
		die("chmod %s", path);
	CONTAIN(trial, "read", path);
	trial_option(trial, "--allow-read=/opt");
	CONTAIN(trial, "read", path);
}

static char *project_path(struct trial *trial, const char *name)
{
	return path_of("%s/%s", trial->world.project, name);
}

/* Settings directories as an agent and its user leave them: they exist, the decisive file does
 * not. */
static const char *const settings_directories[] = {
	".claude", ".codex",   ".gemini", ".qwen",     ".cursor", ".agents", ".roo",	      ".continue", ".trae",
	".junie",  ".amazonq", ".kiro",	  ".opencode", ".helix",  ".zed",    ".devcontainer", ".lefthook",
};

static void fill_settings(struct trial *trial)
{
	for (size_t i = 0; i < sizeof settings_directories / sizeof *settings_directories; i++) {
		make_directory(project_path(trial, settings_directories[i]), 0755);
		make_filef("{}\n", 0644, "%s/%s/present", trial->world.project, settings_directories[i]);
	}
	make_directory(project_path(trial, ".claude/worktrees"), 0755);
	make_directory(project_path(trial, ".claude/worktrees/w"), 0755);
	make_directory(project_path(trial, ".claude/worktrees/w/.vscode"), 0755);
	make_file(project_path(trial, ".claude/worktrees/w/.env"), trial->world.token, 0644);
	make_file(project_path(trial, ".claude/worktrees/w/a.c"), "int a;\n", 0644);
}

static void settings_unchanged(struct trial *trial)
{
	expect(trial, access(project_path(trial, ".claude/settings.local.json"), F_OK) != 0,
	       ".claude/settings.local.json is on the host");
	for (size_t i = 0; i < sizeof settings_directories / sizeof *settings_directories; i++)
		expect(trial,
		       strcmp(file_text(path_of("%s/%s/present", trial->world.project, settings_directories[i])), "{}\n") == 0,
		       "%s changed", settings_directories[i]);
}

/* One echo into an absent file of an existing directory turned the sandbox off for the rest of a
 * session. */
static void absent_settings(struct trial *trial)
{
	CONTAIN(trial, "create", ".claude/settings.local.json", ".claude/new", ".codex/config.toml", ".gemini/settings.json",
		".qwen/settings.json", ".cursor/mcp.json", ".agents/skill", ".roo/mcp.json", ".continue/config.yaml",
		".trae/mcp.json", ".junie/mcp.json");
	CONTAIN(trial, "create", ".amazonq/mcp.json", ".kiro/hook", ".opencode/opencode.json", ".helix/languages.toml",
		".zed/tasks.json", ".devcontainer/devcontainer.json", ".lefthook/x.sh");
	CONTAIN(trial, "mkdir", ".claude/hooks", ".claude/commands", ".codex/rules");
	CONTAIN(trial, "swap-directory", ".claude", "settings.local.json");
	CONTAIN(trial, "rename", ".claude", "c", ".claude/present", ".claude/settings.json", ".claude/worktrees",
		".claude/hooks");
	CONTAIN(trial, "link-unnamed", ".claude", ".claude/settings.local.json");
	CONTAIN(trial, "metadata", ".claude", ".claude/present");
}

/* A writable directory gives access neither to protected or hidden files in it, nor to the
 * directory around it. */
static void opened_directory(struct trial *trial)
{
	CONTAIN(trial, "read", ".claude/worktrees/w/.env");
	CONTAIN(trial, "create", ".claude/worktrees/w/.vscode/tasks.json", ".claude/worktrees/../settings.local.json");
	CONTAIN(trial, "rename", ".claude/worktrees", ".claude/hooks", ".claude/worktrees/w", ".claude/w",
		".claude/worktrees/w/.vscode", ".claude/worktrees/v");
	CONTAIN(trial, "exchange", ".claude/worktrees", "src");
	CONTAIN(trial, "link", ".claude/present", ".claude/worktrees/p");
	INSIDE(trial, "/bin/sh", "-c",
	       "echo 'int b;' >.claude/worktrees/w/b.c && mv .claude/worktrees/w/a.c .claude/worktrees/w/c.c"
	       " && mkdir .claude/worktrees/n && rmdir .claude/worktrees/n && echo WRITABLE");
	expect(trial, strstr(trial->outcome.out, "WRITABLE") != NULL, "the worktree is not writable: %.300s",
	       trial->outcome.err);
	expect(trial, access(project_path(trial, ".claude/worktrees/w/b.c"), F_OK) == 0, "nothing arrived on the host");
}

static void fill_kin(struct trial *trial)
{
	static const char *const directories[] = { ".hg", ".jj", ".jj/repo", ".jj/repo/store", "fish" };
	static const char *const files[] = { ".hg/hgrc",
					     ".hg/hgrc-not-shared",
					     ".hg/requires",
					     ".jj/repo/config.toml",
					     ".jj/repo/store/git_target",
					     "fish/config.fish",
					     "lefthook-local.yml",
					     "mise.local.toml",
					     ".dir-locals-2.el",
					     ".roomodes",
					     "opencode.json",
					     ".gitconfig",
					     ".ripgreprc",
					     ".bashrc",
					     ".zshenv",
					     ".profile",
					     ".Rprofile",
					     "src/.envrc" };
	for (size_t i = 0; i < sizeof directories / sizeof *directories; i++)
		make_directory(project_path(trial, directories[i]), 0755);
	for (size_t i = 0; i < sizeof files / sizeof *files; i++)
		make_file(project_path(trial, files[i]), "{}\n", 0644);
}

static void kin(struct trial *trial)
{
	CONTAIN(trial, "churn", ".hg/hgrc", ".hg/hgrc-not-shared", ".hg/requires", ".jj/repo/config.toml",
		".jj/repo/store/git_target", "fish/config.fish");
	CONTAIN(trial, "churn", "lefthook-local.yml", "mise.local.toml", ".dir-locals-2.el", ".roomodes", "opencode.json",
		".gitconfig", ".ripgreprc", ".bashrc", ".zshenv", ".profile");
	CONTAIN(trial, "churn", ".Rprofile", "src/.envrc");
	CONTAIN(trial, "rename", ".hg", "h", ".jj", "j", ".jj/repo", ".jj/r", "fish", "f");
	/* Never these directories as a whole. */
	INSIDE(trial, "/bin/sh", "-c", "echo x >.hg/dirstate && echo x >.jj/repo/op && echo x >.gitmodules && echo WRITABLE");
	expect(trial, strstr(trial->outcome.out, "WRITABLE") != NULL, "the repository is not writable: %.300s",
	       trial->outcome.err);
}

const struct escape_case cases_settings[] = {
	{ 195, "berm-sh's report file for its host", ABOUT_LAUNCHER, NULL, { NULL }, NULL, report_file, 0 },
	{ 196, "LC_TOKEN in the environment", 0, NULL, { NULL }, NULL, locale_variables, 0 },
	{ 197, "older versions of files in a snapshot", 0, fill_snapshots, { NULL }, NULL, snapshots, 0 },
	{ 198, "/opt/*/.env", NEED_ROOT, NULL, { NULL }, NULL, settings_in_opt, 0 },
	{ 199, "absent names in settings directories", 0, fill_settings, { NULL }, settings_unchanged, absent_settings, 0 },
	{ 200, "a writable directory in a locked one", 0, fill_settings, { NULL }, settings_unchanged, opened_directory, 0 },
	{ 201, "kin: hg, jj, hook managers, shells, editors", 0, fill_kin, { NULL }, NULL, kin, 0 },
	{ 0 },
};
