/* SPDX-License-Identifier: Apache-2.0 */
/* Cases on files by name: links, renames, metadata, masks that must hold however the name is
 * spelled. */
#include "harness.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/fs.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static char *project_path(struct trial *trial, const char *name)
{
	return path_of("%s/%s", trial->world.project, name);
}

static int count_of(const char *path, const char *needle)
{
	int count = 0;
	for (const char *place = file_text(path); (place = strstr(place, needle)); place++)
		count++;
	return count;
}

static void link_to_home(struct trial *trial)
{
	world_home_secret(&trial->world);
	make_link(trial->world.home_secret, project_path(trial, "link"));
	make_link(path_of("%s/.ssh", trial->world.home), project_path(trial, "keys"));
	make_link("../outside/secret", project_path(trial, "relative"));
}

static void symlink_to_secrets(struct trial *trial)
{
	CONTAIN(trial, "read", "link", "relative", "$HOMESECRET", "$SECRET", "../outside/secret", "src/../../outside/secret");
	CONTAIN(trial, "read-ways", "link");
	CONTAIN(trial, "list", "keys", "$HOME/.ssh", "$OUTSIDE");
	CONTAIN(trial, "write", "link", "relative");
	expect(trial, count_of(trial->world.home_secret, "PLANTED") == 1, "a file in the home was written through a link");
	expect(trial, count_of(trial->world.secret, "PLANTED") == 1, "a file outside was written through a link");
}

/* Exchanges a directory with a link to the outside, as fast as it can, until it is killed. */
static pid_t start_swapping(struct trial *trial, const char *a, const char *b)
{
	char *first = project_path(trial, a), *second = project_path(trial, b);
	pid_t pid = fork();
	if (pid == 0)
		for (;;)
			syscall(SYS_renameat2, AT_FDCWD, first, AT_FDCWD, second, RENAME_EXCHANGE);
	return pid;
}

static void swap_during_launch(struct trial *trial)
{
	const struct world *world = &trial->world;
	make_directory(project_path(trial, "config"), 0755);
	make_filef("inner\n", 0644, "%s/config/.env", world->project);
	make_filef(world->token, 0644, "%s/.env", world->outside);
	make_directory(path_of("%s/.git", world->outside), 0755);
	make_directory(path_of("%s/.git/hooks", world->outside), 0755);
	make_link(world->outside, project_path(trial, "other"));
	BARE(trial, "$ATTACK", "read", "other/.env", "other/secret");
	expect(trial, strstr(trial->outcome.out, "REACHED read:other/.env") != NULL, "control: the link leads nowhere");
	char *before = tree_listing(world->outside), *mounts = mounts_now(world);
	pid_t swapper = start_swapping(trial, "config", "other");
	int started = 0;
	for (int i = 0; i < 40; i++) {
		INSIDE(trial, "$ATTACK", "read", "config/secret", "other/secret", "$SECRET");
		started += trial->outcome.exit_code == 0;
		expect(trial, trial->outcome.exit_code == 0 || trial->outcome.exit_code == 125, "exit code %d: %.200s",
		       trial->outcome.exit_code, trial->outcome.err);
		expect(trial, !strstr(trial->outcome.out, "REACHED"), "read outside while names were swapped");
	}
	kill(swapper, SIGKILL);
	waitpid(swapper, NULL, 0);
	note("  started %d of 40 times\n", started);
	char *after = tree_listing(world->outside);
	expect(trial, strcmp(before, after) == 0, "something changed outside:\n%s\nwas:\n%s", after, before);
	expect(trial, strcmp(mounts, mounts_now(world)) == 0, "the host's mounts changed");
}

static void linked_parents(struct trial *trial)
{
	const struct world *world = &trial->world;
	static const char *const names[] = { ".vscode", ".idea", ".husky", ".claude", "config", ".github" };
	make_filef("{}\n", 0644, "%s/tasks.json", world->outside);
	make_filef(world->token, 0644, "%s/master.key", world->outside);
	make_filef(world->token, 0644, "%s/.env", world->outside);
	for (size_t i = 0; i < sizeof names / sizeof *names; i++)
		make_link(world->outside, project_path(trial, names[i]));
	remove_tree(project_path(trial, ".git/hooks"));
	make_link(world->outside, project_path(trial, ".git/hooks"));
	make_link("/etc", project_path(trial, ".cursor"));
	trial_option(trial, "--deny=config/master.key");
	char *before = tree_listing(world->outside);
	BARE(trial, "$ATTACK", "read", "config/master.key", ".vscode/.env");
	expect(trial, strstr(trial->outcome.out, "REACHED read:config/master.key") != NULL, "control: the links lead nowhere");
	INSIDE(trial, "$ATTACK", "read", "config/master.key", ".vscode/.env", ".vscode/tasks.json", ".git/hooks/secret");
	expect(trial, trial->outcome.exit_code == 0 || trial->outcome.exit_code == 125, "exit code %d: %.300s",
	       trial->outcome.exit_code, trial->outcome.err);
	expect(trial, !strstr(trial->outcome.out, "REACHED"), "read through a linked parent: %s", trial->outcome.out);
	INSIDE(trial, "$ATTACK", "create", ".vscode/new.json", ".git/hooks/post-commit", ".husky/pre-commit");
	char *after = tree_listing(world->outside);
	expect(trial, strcmp(before, after) == 0, "something changed outside:\n%s", after);
}

static void link_denied(struct trial *trial)
{
	if (link(project_path(trial, ".env"), project_path(trial, "notes.txt")))
		die("link");
}

static void known_hard_link(struct trial *trial)
{
	CONTAIN(trial, "read", "notes.txt");
	BERM(trial, "plan", "-v");
	expect(trial, strstr(trial->outcome.out, "notes.txt") != NULL, "plan does not report the other name");
}

static void deep_protected(struct trial *trial)
{
	make_directory(project_path(trial, "a"), 0755);
	make_directory(project_path(trial, "a/b"), 0755);
	make_repository(project_path(trial, "a/b/.git"));
	make_filef(trial->world.token, 0644, "%s/a/b/.env", trial->world.project);
	make_directory(project_path(trial, "new"), 0755);
	make_repository(project_path(trial, "new/.git"));
	make_directory(project_path(trial, "plain"), 0755);
}

static void hooks_unchanged(struct trial *trial)
{
	expect(trial, strcmp(file_text(project_path(trial, "a/b/.git/hooks/pre-commit")), "#!/bin/sh\n") == 0,
	       "a hook changed place");
	expect(trial, strcmp(file_text(project_path(trial, ".git/hooks/pre-commit")), "#!/bin/sh\n") == 0,
	       "a hook changed place");
}

static void rename_protected(struct trial *trial)
{
	CONTAIN(trial, "rename", ".git/hooks/pre-commit", "x1", ".git/hooks", "x2", ".git", "x3", "a/b/.git/config", "x4");
	CONTAIN(trial, "rename", "a/b/.git", "x5");
	CONTAIN(trial, "rename", "a/b", "x6");
	CONTAIN(trial, "rename", "a", "x7");
	CONTAIN(trial, "rename", ".env", "x8", "a/b/.env", "x9");
}

static void exchange_protected(struct trial *trial)
{
	CONTAIN(trial, "exchange", "a/b/.git", "new/.git");
	CONTAIN(trial, "exchange", "a/b", "plain");
	CONTAIN(trial, "exchange", "a", "plain");
	CONTAIN(trial, "exchange", ".git", "plain");
	CONTAIN(trial, "exchange", ".env", "README");
}

static char *readonly_listing;

static void fill_readonly(struct trial *trial)
{
	const struct world *world = &trial->world;
	if (!trial->berm_options[0])
		trial_option(trial, "--allow-read=$READONLY");
	remove_tree(world->readonly);
	make_directory(world->readonly, 0755);
	make_filef("readable\n", 0644, "%s/file", world->readonly);
	make_filef("readable\n", 0644, "%s/other", world->readonly);
	/* An old time, so that touching it shows. */
	readonly_listing = tree_listing(world->readonly);
}

static void readonly_unchanged(struct trial *trial)
{
	char *now = tree_listing(trial->world.readonly);
	expect(trial, strcmp(readonly_listing, now) == 0, "a read-only file changed:\n%s\nwas:\n%s", now, readonly_listing);
}

static void alter_readonly(struct trial *trial)
{
	CONTAIN(trial, "alter", "$READONLY/file");
	CONTAIN(trial, "create", "$READONLY/new");
	CONTAIN(trial, "mkdir", "$READONLY/newdir");
	CONTAIN(trial, "rename", "$READONLY/file", "$READONLY/moved");
	CONTAIN(trial, "link", "$READONLY/file", "$READONLY/again", "$READONLY/file", "hard");
	INSIDE(trial, "$ATTACK", "read", "$READONLY/file");
	expect(trial, strstr(trial->outcome.out, "REACHED") != NULL, "the file is not readable at all");
}

static void odd_names(struct trial *trial)
{
	/* The last ones sort before a slash: their order among paths is easy to get wrong. */
	static const char *const names[] = { "new\nline", "back\\slash", "sp ace", "\\040", "tab\t",
					     "\377\376",  "quote\"'",	 "-n",	   "*",	    "d",
					     "d.e",	  "d-e",	 "d!",	   "d e",   "d+" };
	for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
		make_directory(project_path(trial, names[i]), 0755);
		make_filef(trial->world.token, 0644, "%s/%s/.env", trial->world.project, names[i]);
		make_filef(trial->world.token, 0644, "%s/.env.%s", trial->world.project, names[i]);
	}
}

static void masks_on_odd_names(struct trial *trial)
{
	CONTAIN(trial, "read", "new\nline/.env", "back\\slash/.env", "sp ace/.env", "\\040/.env", "tab\t/.env", "\377\376/.env",
		"quote\"'/.env", "-n/.env", "*/.env");
	CONTAIN(trial, "read", "d/.env", "d.e/.env", "d-e/.env", "d!/.env", "d e/.env", "d+/.env");
	CONTAIN(trial, "read", ".env.new\nline", ".env.back\\slash", ".env.sp ace", ".env.\377\376", ".env.*", ".env.tab\t");
}

static void seal_directories(struct trial *trial)
{
	static const mode_t modes[] = { 0000, 0111, 0300, 0400 };
	for (size_t i = 0; i < sizeof modes / sizeof *modes; i++) {
		char *directory = path_of("%s/sealed%zu", trial->world.project, i);
		make_directory(directory, 0755);
		make_filef(trial->world.token, 0644, "%s/.env", directory);
		if (chmod(directory, modes[i]))
			die("chmod %s", directory);
	}
}

/* A chain of directories longer than any path: only a walk reaches its end. */
static void deep_chain(struct trial *trial)
{
	char name[201];
	memset(name, 'd', 200);
	name[200] = '\0';
	int fd = open(trial->world.project, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	for (int i = 0; i < 25; i++) {
		if (mkdirat(fd, name, 0755))
			die("mkdirat");
		int next = openat(fd, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		close(fd);
		fd = next;
	}
	int file = openat(fd, ".env", O_WRONLY | O_CREAT | O_CLOEXEC, 0644);
	if (file < 0 || write(file, trial->world.token, 8) != 8)
		die("deep secret");
	close(file);
	close(fd);
}

static void beyond_path_max(struct trial *trial)
{
	char name[201];
	memset(name, 'd', 200);
	name[200] = '\0';
	deep_chain(trial);
	BARE(trial, "$ATTACK", "read-deep", name, "25", ".env");
	expect(trial, strstr(trial->outcome.out, "REACHED") != NULL, "control: the end of the chain cannot be read");
	INSIDE(trial, "$ATTACK", "read-deep", name, "25", ".env");
	bool is_refused = trial->outcome.exit_code == 125;
	expect(trial, is_refused || strstr(trial->outcome.out, "END"), "neither refused nor finished (%d)",
	       trial->outcome.exit_code);
	expect(trial, !strstr(trial->outcome.out, "REACHED"), "a denied file below a path that is too long can be read");
}

/* The denied name is a link to a name that no pattern matches. */
static void linked_secret(struct trial *trial)
{
	make_file(project_path(trial, "settings-of-production"), trial->world.token, 0644);
	unlink(project_path(trial, ".env"));
	make_link("settings-of-production", project_path(trial, ".env"));
}

static void mounted_in_project(struct trial *trial)
{
	char *mount_point = project_path(trial, "volume");
	if (unshare(CLONE_NEWNS) || mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL))
		die("unshare");
	make_directory(mount_point, 0755);
	if (mount("tmpfs", mount_point, "tmpfs", 0, "mode=755"))
		die("mount");
	make_filef(trial->world.token, 0644, "%s/.env", mount_point);
	make_repository(path_of("%s/.git", mount_point));
	BARE(trial, "$ATTACK", "read", "volume/.env");
	expect(trial, strstr(trial->outcome.out, "REACHED") != NULL, "control: the file cannot be read");
	INSIDE(trial, "$ATTACK", "read", "volume/.env");
	expect(trial, !strstr(trial->outcome.out, "REACHED"), "a denied file on another mount in the project can be read");
	INSIDE(trial, "$ATTACK", "write", "volume/.git/config", "volume/.git/hooks/pre-commit");
	expect(trial, !strstr(trial->outcome.out, "REACHED"), "a protected file on another mount can be written: %s",
	       trial->outcome.out);
	umount2(mount_point, MNT_DETACH);
}

/* A command moved directories to where nothing is searched, or where an exception holds, and left
 * symlinks in their places; then the host wrote secrets through them. */
static void moved_directories(struct trial *trial)
{
	const char *project = trial->world.project, *token = trial->world.token;
	make_directory(path_of("%s/node_modules", project), 0755);
	make_directory(path_of("%s/node_modules/.c", project), 0755);
	make_directory(path_of("%s/node_modules/.p", project), 0755);
	make_directory(path_of("%s/testdata", project), 0755);
	make_directory(path_of("%s/testdata/c", project), 0755);
	make_link("node_modules/.c", path_of("%s/config", project));
	make_link("../.p", path_of("%s/node_modules/.c/prod", project));
	make_link("testdata/c", path_of("%s/deploy", project));
	make_file(path_of("%s/config/.env", project), token, 0600);
	make_file(path_of("%s/config/prod/server.key", project), token, 0600);
	make_file(path_of("%s/deploy/.env", project), token, 0600);
}

/* Without its link the next run would not find the secret. */
static void unlink_moved(struct trial *trial)
{
	static const char *const remove[] = { "/bin/sh", "-c", "rm -f config node_modules/.c/prod", NULL };
	static const char *const attack[] = { "$ATTACK", "read", "node_modules/.c/.env", "node_modules/.p/server.key", NULL };
	trial_renew(trial);
	run_bare(trial, remove);
	run_bare(trial, attack);
	expect(trial, strstr(trial->outcome.out, "REACHED"), "control: the secret cannot be read");
	trial_renew(trial);
	run_inside(trial, remove);
	run_inside(trial, attack);
	expect(trial, !strstr(trial->outcome.out, "REACHED"), "a run removed the link, and the next one reads the secret: %s",
	       trial->outcome.out);
	expect(trial, strstr(trial->outcome.out, "END") != NULL, "control: the attacker did not run inside");
}

/* The host would write a secret into the private home, which every run can read. Its path on the
 * host can be computed. */
static void secret_through_state(struct trial *trial)
{
	char *home;
	trial_renew(trial);
	forget_later(&trial->world, path_of("%s/berm-escape-x", trial->world.home)); /* without a sandbox it is there */
	INSIDE(trial, "/bin/sh", "-c", "echo known > \"$HOME/berm-escape-x\"");
	BARE(trial, "/usr/bin/find", is_self_test ? "$HOME/berm-escape-x" : "$STATE", "-name", "berm-escape-x");
	home = path_of("%.*s", (int)strcspn(trial->outcome.out, "\n"), trial->outcome.out);
	if (!expect(trial, home[0] == '/', "control: the private home is not in the state"))
		return;
	make_link(home, path_of("%s/.env.local", trial->world.project));
	make_file(path_of("%s/.env.local", trial->world.project), trial->world.token, 0600);
	expect(trial, file_contains(home, trial->world.token), "control: the secret is not in the private home");
	INSIDE(trial, "/bin/cat", "$HOME/berm-escape-x");
	expect(trial, !strstr(trial->outcome.out, trial->world.token), "the secret is read in the private home");
	expect(trial, trial->outcome.exit_code == 125, "the run is not refused");
}

const struct escape_case cases_files[] = {
	{ 33, "a symlink in the project to ~/.ssh, read and write", 0, link_to_home, { NULL }, NULL, symlink_to_secrets, 0 },
	{ 34, "symlink and directory swapped during launch", 0, NULL, { NULL }, NULL, swap_during_launch, 20 },
	{ 35, "parents of mount targets are symlinks", 0, NULL, { NULL }, NULL, linked_parents, 0 },
	{ 38, "a hard link to a denied file", 0, link_denied, { NULL }, NULL, known_hard_link, 0 },
	{ 39, "link(denied, new)", 0, NULL, { "link", ".env", "new" }, NULL, NULL, 0 },
	{ 40,
	  "rename a protected path, its parent, its grandparent",
	  0,
	  deep_protected,
	  { NULL },
	  hooks_unchanged,
	  rename_protected,
	  0 },
	{ 41, "RENAME_EXCHANGE of a parent", 0, deep_protected, { NULL }, hooks_unchanged, exchange_protected, 0 },
	{ 42,
	  "mv .git away, make a new one with a hook",
	  0,
	  deep_protected,
	  { "swap-directory", ".git", "hooks/x" },
	  hooks_unchanged,
	  NULL,
	  0 },
	{ 44,
	  "chmod, chown, utimes, setxattr outside the writable set",
	  0,
	  fill_readonly,
	  { "metadata", "$READONLY/file", "$READONLY" },
	  readonly_unchanged,
	  NULL,
	  0 },
	{ 45,
	  "truncate, O_TRUNC, fallocate on a read-only file",
	  0,
	  fill_readonly,
	  { NULL },
	  readonly_unchanged,
	  alter_readonly,
	  0 },
	{ 127, "denied files below odd names", 0, odd_names, { NULL }, NULL, masks_on_odd_names, 0 },
	{ 128,
	  "denied files in directories that berm cannot list",
	  NEED_USER,
	  seal_directories,
	  { "unseal", "sealed0", "sealed0/.env", "sealed1", "sealed1/.env", "sealed2", "sealed2/.env", "sealed3",
	    "sealed3/.env" },
	  NULL,
	  NULL,
	  0 },
	{ 129, "a denied file deeper than any path", 0, NULL, { NULL }, NULL, beyond_path_max, 0 },
	{ 130,
	  "a denied name that is a link to another name",
	  0,
	  linked_secret,
	  { "read", ".env", "src/../.env" },
	  NULL,
	  NULL,
	  0 },
	{ 131,
	  "denied and protected files on another mount in the project",
	  NEED_ROOT,
	  NULL,
	  { NULL },
	  NULL,
	  mounted_in_project,
	  0 },
	{ 187,
	  "a denied name in a directory that was moved behind a symlink",
	  0,
	  moved_directories,
	  { "read", "config/.env", "node_modules/.c/.env", "config/prod/server.key", "node_modules/.p/server.key",
	    "deploy/.env", "testdata/c/.env" },
	  NULL,
	  NULL,
	  0 },
	{ 188, "removing that symlink, for the next run", 0, moved_directories, { NULL }, NULL, unlink_moved, 0 },
	{ 189, "a denied name that leads into the private home", 0, NULL, { NULL }, NULL, secret_through_state, 0 },
	{ 0 },
};
