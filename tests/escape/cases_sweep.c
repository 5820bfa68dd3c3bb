/* SPDX-License-Identifier: Apache-2.0 */
/* Cases on absent files: plants that the host's own git, or an agent,
 * would obey after it. The control is the host's git: it runs the planted program. */
#include "harness.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static const char git[] = "/usr/bin/git";

static char *project_path(struct trial *trial, const char *name)
{
	return path_of("%s/%s", trial->world.project, name);
}

static bool has_run(struct trial *trial)
{
	return access(path_of("%s/ran", trial->world.base), F_OK) == 0;
}

/* A real repository with three commits, and a program that leaves a trace outside of the
 * project. */
static bool renew(struct trial *trial)
{
	trial_renew(trial);
	unlink(path_of("%s/ran", trial->world.base));
	remove_tree(project_path(trial, ".git"));
	make_file(project_path(trial, "evil"), path_of("#!/bin/sh\n: >%s/ran\nexit 1\n", trial->world.base), 0755);
	BARE(trial, "/bin/sh", "-c",
	     "git init -q . && git config user.name a && git config user.email a@example.org && for i in 1 2 3; do echo $i "
	     ">f$i; "
	     "git add f$i; git commit -qm $i || exit 1; done");
	return trial->outcome.exit_code == 0;
}

/* Commands of the host before, of the attacker, and of the host afterwards. */
struct plant {
	const char *before, *plant, *use;
};

static void expect_swept(struct trial *trial, const struct plant *plant)
{
	if (access(git, X_OK)) {
		skip(trial, "git is not installed");
		return;
	}
	trial_variable(trial, "GIT_CONFIG_GLOBAL=/dev/null");
	trial_variable(trial, "GIT_CONFIG_NOSYSTEM=1");
	trial_variable(trial, "GIT_EDITOR=true");
	for (int is_inside = 0; is_inside < 2; is_inside++) {
		if (!expect(trial, renew(trial), "control: no repository: %.200s", trial->outcome.err))
			return;
		if (plant->before)
			BARE(trial, "/bin/sh", "-c", plant->before);
		if (is_inside)
			INSIDE(trial, "/bin/sh", "-c", plant->plant);
		else
			BARE(trial, "/bin/sh", "-c", plant->plant);
		unlink(path_of("%s/ran", trial->world.base));
		BARE(trial, "/bin/sh", "-c", plant->use);
		expect(trial, has_run(trial) != is_inside,
		       is_inside ? "the host's git ran it" : "control: the host's git does not run it: %.300s",
		       trial->outcome.err);
		if (is_inside) {
			BARE(trial, git, "fsck");
			expect(trial, trial->outcome.exit_code == 0, "the repository is damaged: %.200s", trial->outcome.err);
		}
	}
}

#define SWEPT(name, ...)                                                                                                       \
	static void name(struct trial *trial)                                                                                  \
	{                                                                                                                      \
		expect_swept(trial, &(const struct plant){ __VA_ARGS__ });                                                     \
	}

SWEPT(common_directory, NULL,
      "mkdir -p .c/objects .c/refs; printf '[core]\\n\\tfsmonitor = ./evil\\n' >.c/config; echo ../.c >.git/commondir",
      "git status")
SWEPT(worktree_configuration, "git config extensions.worktreeConfig true; rm -f .git/config.worktree",
      "printf '[core]\\n\\tfsmonitor = ./evil\\n' >.git/config.worktree", "git status")
SWEPT(absent_hooks, "rm -rf .git/hooks", "mkdir -p .git/hooks; cp evil .git/hooks/pre-commit; chmod +x .git/hooks/pre-commit",
      "git commit --allow-empty -m x")
SWEPT(linked_hooks, "rm -rf .git/hooks", "mkdir h; cp evil h/pre-commit; ln -s ../h .git/hooks",
      "git commit --allow-empty -m x")
SWEPT(attributes, "git config filter.f.clean ./evil; rm -rf .git/info; mkdir .git/info",
      "echo '* filter=f' >.git/info/attributes; echo new >f1", "git add f1")
SWEPT(born_settings, NULL, "git init -q n; git -C n config core.fsmonitor ../evil; cp evil n/../e2", "cd n; git status")
SWEPT(born_hook, NULL, "git init -q n; cp evil n/.git/hooks/pre-commit; chmod +x n/.git/hooks/pre-commit",
      "cd n; git -c user.name=a -c user.email=a@b commit --allow-empty -m x")
SWEPT(disguised, "mkdir tool",
      "cd tool; mkdir objects refs; echo 'ref: refs/heads/m' >HEAD; printf '[core]\\n\\tbare = true\\n\\tsshCommand = "
      "../evil\\n' >config",
      "cd tool; git ls-remote ssh://example.org/x")
SWEPT(planted_pointer, NULL,
      "mkdir -p s .g/objects .g/refs; echo 'ref: refs/heads/m' >.g/HEAD; printf '[core]\\n\\tfsmonitor = ../evil\\n' "
      ">.g/config; "
      "echo 'gitdir: ../.g' >s/.git",
      "cd s; git status")
SWEPT(todo_lines, NULL,
      "GIT_SEQUENCE_EDITOR='sed -i s/^pick/edit/' git rebase -q -i HEAD~1; echo 'exec ./evil' "
      ">>.git/rebase-merge/git-rebase-todo",
      "git rebase --continue")

/* A rebase that stops after its first step, with another one to do. */
#define STOPPED                                                                                                                \
	"GIT_SEQUENCE_EDITOR='sed -i 1s/^pick/edit/' git rebase -q -i HEAD~2; git commit -q --amend --allow-empty -m w; "
/* A series of patches that stops at a conflict, and a cherry-pick of two commits that does. */
#define CONFLICT                                                                                                               \
	"git format-patch -q -2 -o pt; m=$(git symbolic-ref --short HEAD); git checkout -q -b o HEAD~2; echo c >f2; git add "  \
	"f2; "                                                                                                                 \
	"git commit -qm c; "
#define AM CONFLICT "git am -q pt/*.patch; "
#define PICK CONFLICT "git cherry-pick $m~1 $m; "
SWEPT(rebase_strategy, NULL, STOPPED "mkdir git-merge-x; cp evil git-merge-x/y; echo x/y >.git/rebase-merge/strategy",
      "git rebase --continue")
SWEPT(rebase_options, NULL,
      STOPPED "echo resolve >.git/rebase-merge/strategy; echo \" '--index-output=../ran'\" >.git/rebase-merge/strategy_opts",
      "git rebase --continue")
SWEPT(pick_strategy, NULL,
      PICK "mkdir git-merge-x; cp evil git-merge-x/y; printf '[options]\\n\\tstrategy = x/y\\n' >.git/sequencer/opts",
      "echo 2 >f2; git add f2; git cherry-pick --continue")
SWEPT(apply_options, NULL, AM "echo \" '--build-fake-ancestor=../ran'\" >.git/rebase-apply/apply-opt",
      "echo 2 >f2; git add f2; git am --continue")
/* The message comes from the command, the file that it is written to as well. */
SWEPT(message_link, NULL, "ln -sf ../../ran .git/COMMIT_EDITMSG; echo text >.git/SQUASH_MSG; echo z >f1", "git commit -qa")
SWEPT(reflog_link, NULL, "ln -sf ../../../ran .git/logs/HEAD; echo z >f1", "git commit -qam x")
SWEPT(moved_reflog, "mkdir x; ln -s ../../../ran x/HEAD", "mv .git/logs y; mv x .git/logs; echo z >f1", "git commit -qam x")
SWEPT(packed_link, NULL, "ln -sf ../../ran .git/packed-refs; git branch 'a;b'", "git pack-refs --all")
/* More links than a list holds. */
SWEPT(many_links, NULL,
      "mkdir l; python3 -c 'import os\nfor i in range(65600): os.symlink(\"x\", \"l/%d\" % i)'; "
      "ln -sf ../../ran .git/COMMIT_EDITMSG; echo text >.git/SQUASH_MSG; echo z >f1",
      "git commit -qa")
/* More names than a list holds, in front of a nested repository: with BERM_LONG=1, because making
 * 65,000 files takes a minute. */
static void crowded(struct trial *trial)
{
	const char *plant =
		path_of("python3 -c 'import os\nfor i in range(%d):\n d = \"h/%%d/\" %% i; os.makedirs(d)\n for n in "
			"(\"HEAD\", \"commondir\", \".git\"): os.symlink(\"x\", d + n)'; cd x/y/z; "
			"ln -sf ../../../../../ran .git/COMMIT_EDITMSG; echo text >.git/SQUASH_MSG; echo z >f1",
			getenv("BERM_LONG") ? 21900 : 20);
	expect_swept(trial, &(const struct plant){ "mkdir -p x/y/z; mv .git f1 x/y/z", plant,
						   "rm -rf h; cd x/y/z; git commit -qa; mv .git ../../.." });
}

SWEPT(worktree_outside, NULL,
      "git init -q n; cd n; echo x >ran; git add ran; git -c user.name=a -c user.email=a@b commit -qm x; git config "
      "core.worktree "
      "../../..",
      "cd n; git reset --hard")
SWEPT(old_remote, "git init -q --bare ../other", "mkdir -p .git/remotes; echo \"URL: $PWD/../other\" >.git/remotes/origin",
      "git push origin HEAD && : >../ran; rm -rf ../other")
/* git status runs in each submodule, also where names are not searched. */
#define UNSEARCHED                                                                                                             \
	"git init -q node_modules/e; cd node_modules/e; git -c user.name=a -c user.email=a@b commit -q --allow-empty -m x; "   \
	"git config core.fsmonitor ../../evil; cd ../..; git add -f node_modules/e"
SWEPT(unsearched_submodule, "mkdir node_modules", UNSEARCHED, "git status")
SWEPT(unsearched_version_4, "mkdir node_modules; git update-index --index-version 4", UNSEARCHED, "git status")
SWEPT(unsearched_split, "mkdir node_modules", UNSEARCHED "; git update-index --split-index", "git status")

/* The edited file is in a directory without permission to write. */
SWEPT(read_only_born, NULL,
      "git init -q n; git -C n config core.fsmonitor ../evil; chmod 0444 n/.git/config; chmod 0555 n/.git n",
      "cd n; git status; chmod 0755 . .git")
/* Absent files that settings name: of the repository, and of the user. */
SWEPT(absent_program, "git config core.editor ./tools/ed", "mkdir tools; cp evil tools/ed",
      "unset GIT_EDITOR; git commit --allow-empty")
SWEPT(absent_filter, "git config filter.f.clean tools/clean; echo '*.c filter=f' >.gitattributes",
      "mkdir tools; cp evil tools/clean; echo x >a.c", "git add a.c")
SWEPT(absent_include, "git config include.path ../settings", "printf '[core]\\n\\tfsmonitor = ./evil\\n' >settings",
      "git status")
SWEPT(absent_hooks_path, "git config core.hooksPath tools/hooks", "mkdir -p tools/hooks; cp evil tools/hooks/pre-commit",
      "git commit --allow-empty -m x")
/* Directories that cannot be listed: git and others still read a file whose name they know. */
SWEPT(closed_directory, NULL, "mkdir d; git init -q d/n; git -C d/n config core.fsmonitor ../../evil; chmod 0311 d",
      "cd d/n; git status; chmod 0755 ..")
SWEPT(closed_chain, NULL,
      "mkdir -p d/e/f; git init -q d/e/f/n; git -C d/e/f/n config core.fsmonitor ../../../../evil; chmod 0111 d/e/f d/e d",
      "cd d/e/f/n; git status; chmod 0755 ../../.. ../.. ..")
SWEPT(closed_root, NULL,
      "git init -q n; git -C n config core.fsmonitor ../evil; rm -rf .git/info; mkdir .git/info; chmod 0311 .",
      "cd n; git status; chmod 0755 ..")
/* A path that is too long for any call. */
SWEPT(too_deep, NULL,
      "git init -q n; git -C n config core.fsmonitor ../evil; "
      "perl -e 'mkdir \"L\"; chdir \"L\"; for (1..30) { mkdir \"a\" x 200; chdir \"a\" x 200 }'",
      "cd n; git status; cd ..; rm -rf L")

/* Absent settings that agents and editors read; each turned an agent's sandbox off. */
static void absent_settings(struct trial *trial)
{
	static const char *const names[] = { ".codex/config.toml",
					     "opencode.json",
					     ".gemini/settings.json",
					     ".claude/settings.local.json",
					     ".vscode/tasks.json",
					     ".mcp.json",
					     ".envrc",
					     ".cursor/mcp.json",
					     "berm.yml" };
	for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
		trial_renew(trial);
		remove_tree(project_path(trial, ".vscode"));
		BARE(trial, "$ATTACK", "plant", names[i]);
		expect(trial, access(project_path(trial, names[i]), F_OK) == 0, "control: %s cannot be made", names[i]);
		trial_renew(trial);
		remove_tree(project_path(trial, ".vscode"));
		unlink(project_path(trial, names[i]));
		INSIDE(trial, "$ATTACK", "plant", names[i]);
		expect(trial, access(project_path(trial, names[i]), F_OK) != 0, "%s is there for the host", names[i]);
	}
}

/* berm is killed while the command runs: the next launch sweeps against the baseline of that
 * run. */
static void killed_run(struct trial *trial)
{
	/* The guard would refuse the name. */
	make_file(path_of("%s/repair.yml", trial->world.base), "version: 1\nfiles: {guard: repair}\n", 0600);
	trial_option(trial, "--policy=$BASE/repair.yml");
	const struct timespec moment = { .tv_nsec = 20000000 };
	pid_t pid;

	trial_renew(trial);
	pid = START(trial, "/bin/sh", "-c", "echo x >.git/commondir; echo '{}' >.mcp.json; : >planted; sleep 60");
	for (int i = 0; i < 1000 && access(project_path(trial, "planted"), F_OK) != 0; i++)
		nanosleep(&moment, NULL);
	kill(pid, SIGKILL);
	wait_exit(pid, 5000);
	expect(trial, access(project_path(trial, ".mcp.json"), F_OK) == 0, "control: the command planted nothing");
	INSIDE(trial, "/bin/true");
	expect(trial, access(project_path(trial, ".mcp.json"), F_OK) != 0, "the plant of a killed run is there");
	expect(trial, access(project_path(trial, ".git/commondir"), F_OK) != 0, "its plant in .git is there");
}

static void hooks(struct trial *trial)
{
	absent_hooks(trial);
	linked_hooks(trial);
}

static void repositories(struct trial *trial)
{
	disguised(trial);
	planted_pointer(trial);
}

static void strategies(struct trial *trial)
{
	rebase_strategy(trial);
	rebase_options(trial);
	pick_strategy(trial);
}

static void links_in_git(struct trial *trial)
{
	message_link(trial);
	reflog_link(trial);
	moved_reflog(trial);
	packed_link(trial);
}

static void absent_named(struct trial *trial)
{
	absent_program(trial);
	absent_filter(trial);
	absent_include(trial);
	absent_hooks_path(trial);
}

static void closed_directories(struct trial *trial)
{
	closed_directory(trial);
	closed_chain(trial);
	closed_root(trial);
	read_only_born(trial);
}

static void unsearched_submodules(struct trial *trial)
{
	unsearched_submodule(trial);
	unsearched_version_4(trial);
	unsearched_split(trial);
}

const struct escape_case cases_sweep[] = {
	{ 240, "absent settings of agents and editors", 0, NULL, { NULL }, NULL, absent_settings, 40 },
	{ 241, "a commondir in .git", 0, NULL, { NULL }, NULL, common_directory, 20 },
	{ 242, "an absent configuration of one worktree", 0, NULL, { NULL }, NULL, worktree_configuration, 20 },
	{ 243, "hooks where there were none, and a link to some", 0, NULL, { NULL }, NULL, hooks, 30 },
	{ 244, "attributes that choose a filter", 0, NULL, { NULL }, NULL, attributes, 20 },
	{ 245, "a repository born inside: settings", 0, NULL, { NULL }, NULL, born_settings, 20 },
	{ 246, "a repository born inside: a hook", 0, NULL, { NULL }, NULL, born_hook, 20 },
	{ 247, "a repository that is not called .git", 0, NULL, { NULL }, NULL, repositories, 30 },
	{ 248, "an exec line in the steps of a rebase", 0, NULL, { NULL }, NULL, todo_lines, 20 },
	{ 249, "berm is killed before its sweep", 0, NULL, { NULL }, NULL, killed_run, 30 },
	{ 330, "a merge strategy that is a program of the project", 0, NULL, { NULL }, NULL, strategies, 60 },
	{ 331, "options of git apply in a stopped git am", 0, NULL, { NULL }, NULL, apply_options, 30 },
	{ 332, "links in .git through which git writes", 0, NULL, { NULL }, NULL, links_in_git, 60 },
	{ 333, "the same among more links than a list holds", 0, NULL, { NULL }, NULL, many_links, 60 },
	{ 334, "a repository born inside: a working tree elsewhere", 0, NULL, { NULL }, NULL, worktree_outside, 30 },
	{ 335, "a remote in git's oldest form", 0, NULL, { NULL }, NULL, old_remote, 30 },
	{ 336, "a submodule where names are not searched", 0, NULL, { NULL }, NULL, unsearched_submodules, 60 },
	{ 337, "the same in a nested repository, among more names", 0, NULL, { NULL }, NULL, crowded, 300 },
	{ 338, "a plant in directories that cannot be listed or written", 0, NULL, { NULL }, NULL, closed_directories, 60 },
	{ 339, "a plant beside a path that is too long", 0, NULL, { NULL }, NULL, too_deep, 30 },
	{ 340, "absent files that settings of git name", 0, NULL, { NULL }, NULL, absent_named, 60 },
	{ 0 },
};
