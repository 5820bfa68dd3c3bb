/* SPDX-License-Identifier: Apache-2.0 */
/* Cases on what the host would run later, and on berm's own files. */
#include "harness.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

static char *project_path(struct trial *trial, const char *name)
{
	return path_of("%s/%s", trial->world.project, name);
}

/* The content of each protected file, so that the host's view can be compared after the verdict. */
static char *before;

static void remember_git(struct trial *trial)
{
	before = tree_listing(project_path(trial, ".git"));
}

static void git_unchanged(struct trial *trial)
{
	char *after = tree_listing(project_path(trial, ".git"));
	expect(trial, strcmp(before, after) == 0, ".git changed on the host:\n%s\nwas:\n%s", after, before);
}

static void git_configuration(struct trial *trial)
{
	CONTAIN(trial, "alter", ".git/config");
	CONTAIN(trial, "alter", ".git/hooks/pre-commit");
	CONTAIN(trial, "lock-rename", ".git/config");
	CONTAIN(trial, "create", ".git/hooks/post-checkout", ".git/hooks/pre-push");
	CONTAIN(trial, "mkdir", ".git/hooks/pre-commit.d");
	CONTAIN(trial, "replace-by-link", ".git/config", "../src/main.c");
	CONTAIN(trial, "link-unnamed", ".git/hooks", ".git/hooks/post-merge");
	CONTAIN(trial, "metadata", ".git/config");
}

/* git itself, as a command would use it. */
static void git_command(struct trial *trial)
{
	if (access("/usr/bin/git", X_OK)) {
		skip(trial, "git is not installed");
		return;
	}
	trial_variable(trial, "GIT_CONFIG_GLOBAL=/dev/null");
	trial_renew(trial);
	BARE(trial, "/usr/bin/git", "config", "core.fsmonitor", "./evil");
	expect(trial, file_contains(project_path(trial, ".git/config"), "evil"), "control: git config does not write");
	trial_renew(trial);
	INSIDE(trial, "/usr/bin/git", "config", "core.fsmonitor", "./evil");
	expect(trial, trial->outcome.exit_code != 0, "git config succeeds inside");
	expect(trial, !file_contains(project_path(trial, ".git/config"), "evil"), "git config wrote the host's file");
	INSIDE(trial, "/bin/sh", "-c",
	       "git config -f .git/config alias.st '!evil'; echo '[core]' >> .git/config; cp src/main.c .git/hooks/pre-commit;"
	       " mv .git/hooks .git/h2; mkdir -p .git/hooks && echo evil > .git/hooks/pre-commit; rm -rf .git/hooks; sed -i "
	       "s/bare/evil/ "
	       ".git/config");
	git_unchanged(trial);
}

static void nest_repositories(struct trial *trial)
{
	static const char *const places[] = { "a", "a/b", "a/b/c", "a/b/c/d", "a/b/c/d/e", "vendor", "vendor/lib" };
	for (size_t i = 0; i < sizeof places / sizeof *places; i++)
		make_directory(project_path(trial, places[i]), 0755);
	make_repository(project_path(trial, "a/b/c/d/e/.git"));
	make_repository(project_path(trial, "vendor/lib/.git"));
}

static void nested_repositories(struct trial *trial)
{
	CONTAIN(trial, "alter", "a/b/c/d/e/.git/config");
	CONTAIN(trial, "alter", "vendor/lib/.git/hooks/pre-commit");
	CONTAIN(trial, "create", "a/b/c/d/e/.git/hooks/post-checkout", "vendor/lib/.git/hooks/post-checkout");
}

static void make_worktree(struct trial *trial)
{
	const struct world *world = &trial->world;
	char *main_git = path_of("%s/main/.git", world->base);
	remove_tree(path_of("%s/main", world->base));
	make_directory(path_of("%s/main", world->base), 0755);
	make_repository(main_git);
	make_directory(path_of("%s/worktrees", main_git), 0755);
	make_directory(path_of("%s/worktrees/project", main_git), 0755);
	make_filef("../..\n", 0644, "%s/worktrees/project/commondir", main_git);
	make_filef("ref: refs/heads/side\n", 0644, "%s/worktrees/project/HEAD", main_git);
	make_filef(path_of("%s/.git\n", world->project), 0644, "%s/worktrees/project/gitdir", main_git);
	remove_tree(project_path(trial, ".git"));
	make_file(project_path(trial, ".git"), path_of("gitdir: %s/worktrees/project\n", main_git), 0644);
}

static void linked_worktree(struct trial *trial)
{
	CONTAIN(trial, "alter", ".git");
	CONTAIN(trial, "alter", "$BASE/main/.git/config");
	CONTAIN(trial, "alter", "$BASE/main/.git/hooks/pre-commit");
	CONTAIN(trial, "create", "$BASE/main/.git/hooks/post-checkout");
	CONTAIN(trial, "rename", "$BASE/main/.git/hooks", "$BASE/main/.git/h2");
	expect(trial, strcmp(file_text(path_of("%s/main/.git/hooks/pre-commit", trial->world.base)), "#!/bin/sh\n") == 0,
	       "the hook of the real repository changed");
}

static void fill_git_corners(struct trial *trial)
{
	make_directory(project_path(trial, ".git/modules"), 0755);
	make_repository(project_path(trial, ".git/modules/sub"));
	make_file(project_path(trial, ".git/config.worktree"), "[core]\n", 0644);
	make_file(project_path(trial, ".git/commondir"), ".\n", 0644);
	remember_git(trial);
}

static void git_corners(struct trial *trial)
{
	CONTAIN(trial, "alter", ".git/modules/sub/config");
	CONTAIN(trial, "alter", ".git/modules/sub/hooks/pre-commit");
	CONTAIN(trial, "alter", ".git/config.worktree");
	CONTAIN(trial, "alter", ".git/commondir");
	CONTAIN(trial, "alter", ".git/info/attributes");
	git_unchanged(trial);
}

/* A pointer that leads out of everything must not make its target visible. */
static void pointer_outside(struct trial *trial)
{
	make_directory(path_of("%s/.git", trial->world.outside), 0755);
	make_filef(trial->world.token, 0644, "%s/.git/HEAD", trial->world.outside);
	make_directory(project_path(trial, "sub"), 0755);
	make_file(project_path(trial, "sub/.git"), "gitdir: ../../outside\n", 0644);
	remove_tree(project_path(trial, ".git"));
	make_file(project_path(trial, ".git"), path_of("gitdir: %s\n", trial->world.outside), 0644);
}

static void git_pointers(struct trial *trial)
{
	world_home_secret(&trial->world);
	CONTAIN(trial, "read", "$SECRET", "$OUTSIDE/.git/HEAD");
	CONTAIN(trial, "create", "$OUTSIDE/planted");
	expect(trial, access(path_of("%s/planted", trial->world.outside), F_OK) == 0, "control: nothing was written");
	unlink(path_of("%s/planted", trial->world.outside));
	INSIDE(trial, "$ATTACK", "create", "$OUTSIDE/planted");
	expect(trial, access(path_of("%s/planted", trial->world.outside), F_OK) != 0, "written where a git pointer leads");
	/* The home's keys, by a pointer that a command may have planted in an earlier run. */
	make_file(project_path(trial, ".git"), path_of("gitdir: %s/.ssh\n", trial->world.home), 0644);
	INSIDE(trial, "$ATTACK", "read", "$HOMESECRET");
	expect(trial, !strstr(trial->outcome.out, "REACHED"), "a git pointer makes ~/.ssh readable");
}

static void fill_editor_settings(struct trial *trial)
{
	static const char *const directories[] = { ".vscode", ".idea", ".husky", ".claude", ".cursor", ".devcontainer" };
	static const char *const files[] = { ".vscode/tasks.json", ".idea/workspace.xml",
					     ".husky/pre-commit",  ".claude/settings.json",
					     ".cursor/mcp.json",   ".devcontainer/devcontainer.json",
					     ".mcp.json",	   ".envrc" };
	for (size_t i = 0; i < sizeof directories / sizeof *directories; i++)
		make_directory(project_path(trial, directories[i]), 0755);
	for (size_t i = 0; i < sizeof files / sizeof *files; i++)
		make_file(project_path(trial, files[i]), "{}\n", 0644);
}

static void present_settings(struct trial *trial)
{
	static const char *const files[] = { ".vscode/tasks.json", ".idea/workspace.xml",
					     ".husky/pre-commit",  ".claude/settings.json",
					     ".cursor/mcp.json",   ".devcontainer/devcontainer.json",
					     ".mcp.json",	   ".envrc" };
	CONTAIN(trial, "churn", ".vscode/tasks.json", ".idea/workspace.xml", ".husky/pre-commit", ".claude/settings.json",
		".cursor/mcp.json", ".devcontainer/devcontainer.json", ".mcp.json", ".envrc");
	CONTAIN(trial, "create", ".vscode/launch.json", ".husky/post-merge", ".idea/runConfigurations.xml");
	CONTAIN(trial, "rename", ".vscode", "v", ".husky", "h", ".claude", "c", ".mcp.json", "m");
	for (size_t i = 0; i < sizeof files / sizeof *files; i++)
		expect(trial, strcmp(file_text(project_path(trial, files[i])), "{}\n") == 0, "%s changed", files[i]);
}

static void churn_existing(struct trial *trial)
{
	CONTAIN(trial, "churn", ".git/config", ".git/hooks/pre-commit");
	CONTAIN(trial, "churn", ".env");
	expect(trial, file_contains(project_path(trial, ".env"), trial->world.token), ".env changed");
	git_unchanged(trial);
}

/* Start-up files of the real home: names of the test's own beside them, so that a wall with a hole
 * harms nothing. */
static void home_files(struct trial *trial)
{
	static const char *const names[] = { ".bashrc.d/berm-escape",
					     ".profile.berm-escape",
					     ".config/autostart/berm-escape.desktop",
					     "bin/berm-escape",
					     ".local/bin/berm-escape",
					     ".ssh/berm-escape.pub",
					     ".config/systemd/user/berm-escape.service",
					     ".zshenv.berm-escape" };
	char *control = path_of("%s/.profile.berm-escape-control", trial->world.home), *startup[3];
	forget_later(&trial->world, control);
	BARE(trial, "$ATTACK", "plant", control);
	expect(trial, access(control, F_OK) == 0, "control: the home cannot be written");
	unlink(control);
	for (size_t i = 0; i < 3; i++)
		startup[i] = strdup(file_text(
			path_of("%s/%s", trial->world.home, (const char *[]){ ".bashrc", ".profile", ".zshenv" }[i])));
	for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
		char *path = path_of("%s/%s", trial->world.home, names[i]);
		if (access(path, F_OK) == 0)
			continue;
		forget_later(&trial->world, path);
		INSIDE(trial, "$ATTACK", "plant", path);
		expect(trial, access(path, F_OK) != 0, "%s is on the host", path);
		expect(trial, trial->outcome.exit_code == 0, "exit code %d: %.200s", trial->outcome.exit_code,
		       trial->outcome.err);
	}
	INSIDE(trial, "$ATTACK", "open-write", "/var/spool/cron", "/var/spool/cron/crontabs", "/etc/crontab", "/etc/cron.d/x",
	       "$HOME/.bashrc", "$HOME/.profile");
	expect(trial, !strstr(trial->outcome.out, "REACHED"), "a start-up file can be opened for writing:\n%s",
	       trial->outcome.out);
	for (size_t i = 0; i < 3; i++) {
		const char *name = (const char *[]){ ".bashrc", ".profile", ".zshenv" }[i];
		expect(trial, strcmp(startup[i], file_text(path_of("%s/%s", trial->world.home, name))) == 0, "~/%s changed",
		       name);
	}
}

static void fill_policies(struct trial *trial)
{
	make_directory(path_of("%s/berm", trial->world.config), 0700);
	make_filef("version: 1\n", 0600, "%s/berm/berm.yml", trial->world.config);
	make_file(project_path(trial, "berm.yml"), "version: 1\n", 0644);
}

static void own_files(struct trial *trial)
{
	fill_policies(trial);
	INSIDE(trial, "/bin/true");
	expect(trial, trial->outcome.exit_code == 0, "the first run ended with %d: %.300s", trial->outcome.exit_code,
	       trial->outcome.err);
	CONTAIN(trial, "alter", "berm.yml");
	CONTAIN(trial, "alter", "$CONFIG/berm/berm.yml");
	CONTAIN(trial, "create", "$STATE/planted");
	unlink(path_of("%s/planted", trial->world.state));
	CONTAIN(trial, "list", "$STATE", "$STATE/berm", "$CONFIG", "$CONFIG/berm");
	INSIDE(trial, "$ATTACK", "create", "$STATE/berm/planted", "$STATE/planted", "$CONFIG/planted", "$CONFIG/berm/planted");
	expect(trial,
	       access(path_of("%s/planted", trial->world.state), F_OK) &&
		       access(path_of("%s/berm/planted", trial->world.state), F_OK) &&
		       access(path_of("%s/planted", trial->world.config), F_OK),
	       "something was written to berm's own directories");
	expect(trial, strcmp(file_text(project_path(trial, "berm.yml")), "version: 1\n") == 0, "the project's policy changed");
}

/* A run without grants must not prepare one that has them. */
static void grant_classes(struct trial *trial)
{
	char *path = path_of("%s/agent.sock", trial->world.runtime),
	     *planted = path_of("%s/.berm-escape-%d", trial->world.home, getpid());
	forget_later(&trial->world, planted);
	make_file(path_of("%s/policy.yml", trial->world.base), path_of("version: 1\nsockets: [%s]\n", path), 0600);
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	snprintf(address.sun_path, sizeof address.sun_path, "%s", path);
	if (fd < 0 || bind(fd, (struct sockaddr *)&address, sizeof address) || listen(fd, 1))
		die("listen %s", path);
	INSIDE(trial, "$ATTACK", "plant", planted);
	expect(trial, strstr(trial->outcome.out, "REACHED") != NULL, "the private home cannot be written: %s%.200s",
	       trial->outcome.out, trial->outcome.err);
	INSIDE(trial, "$ATTACK", "read", planted);
	expect(trial, strstr(trial->outcome.out, "REACHED") != NULL, "control: the private home is not kept");
	trial_option(trial, "--policy=$BASE/policy.yml");
	INSIDE(trial, "$ATTACK", "read", planted);
	expect(trial, strstr(trial->outcome.out, "END") != NULL, "the run with a socket ended with %d: %.300s",
	       trial->outcome.exit_code, trial->outcome.err);
	expect(trial, !strstr(trial->outcome.out, "REACHED"), "a run with a socket sees what one without has planted");
}

/* berm's own program in the writable project: what a developer of berm, or a vendored copy, has. */
static void program_in_project(struct trial *trial)
{
	char *copy = project_path(trial, "berm");
	const char *saved = berm_path;
	copy_file(berm_path, copy, 0755);
	if (!is_self_test)
		berm_path = copy;
	trial_victim(trial);
	INSIDE(trial, "$ATTACK", "alter", "berm");
	bool is_held = trial->outcome.exit_code == 125 || !strstr(trial->outcome.out, "REACHED");
	BERM(trial, "plan");
	expect(trial, is_held, "a berm in the project can be replaced by the command that it runs");
	berm_path = saved;
}

const struct escape_case cases_planting[] = {
	{ 51, ".git/config and hooks", 0, remember_git, { NULL }, git_unchanged, git_configuration, 0 },
	{ 52, "nested repositories, at any depth", 0, nest_repositories, { NULL }, NULL, nested_repositories, 0 },
	{ 53, "commondir, config.worktree, attributes, modules", 0, fill_git_corners, { NULL }, NULL, git_corners, 0 },
	{ 56, "create, delete and recreate in one command", 0, remember_git, { NULL }, NULL, churn_existing, 0 },
	{ 57, "start-up files, autostart, cron, ~/bin", 0, NULL, { NULL }, NULL, home_files, 0 },
	{ 58, "berm's policy and state", 0, fill_policies, { NULL }, NULL, own_files, 0 },
	{ 113, "private state is kept apart by grants", 0, NULL, { NULL }, NULL, grant_classes, 0 },
	{ 132, "git itself tries to change its configuration", 0, remember_git, { NULL }, NULL, git_command, 0 },
	{ 133, "the real repository of a linked worktree", 0, make_worktree, { NULL }, NULL, linked_worktree, 0 },
	{ 134, "git pointers that lead outside", 0, pointer_outside, { NULL }, NULL, git_pointers, 0 },
	{ 135, "editor and agent settings that exist at launch", 0, fill_editor_settings, { NULL }, NULL, present_settings, 0 },
	{ 136, "berm's own program in the project", 0, NULL, { NULL }, NULL, program_in_project, 0 },
	{ 0 },
};
