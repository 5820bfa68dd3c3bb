/* SPDX-License-Identifier: Apache-2.0 */
/* Cases on files that the host replaces and names that appear while the command runs. A process of
 * the test is the host. Repair leaves a gap, so each case asserts that the loss is noticed,
 * reported and made good. Each has two controls: without berm, and with `files.guard: launch`,
 * where the same loss stays. */
#include "harness.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { WAIT_MS = 30000, STEP_MS = 20 };

static char *project_path(struct trial *trial, const char *name)
{
	return path_of("%s/%s", trial->world.project, name);
}

static bool await_file(const char *path)
{
	for (int i = 0; i < WAIT_MS / STEP_MS; i++) {
		if (access(path, F_OK) == 0)
			return true;
		usleep(STEP_MS * 1000);
	}
	return false;
}

static void rename_or_die(const char *from, const char *to)
{
	if (rename(from, to))
		die("rename %s", to);
}

/* Forks the host: it waits until the command has made `ready`, acts, and makes `go`. */
static pid_t start_host(struct trial *trial, void (*act)(struct trial *trial))
{
	pid_t pid = fork();
	if (pid)
		return pid;
	if (await_file(project_path(trial, "ready"))) {
		act(trial);
		make_file(project_path(trial, "go"), "", 0644);
	}
	_exit(0);
}

static void set_guard(struct trial *trial, const char *guard)
{
	make_directory(path_of("%s/berm", trial->world.config), 0700);
	if (*guard)
		make_filef(path_of("version: 1\nfiles: {guard: %s}\n", guard), 0600, "%s/berm/berm.yml", trial->world.config);
	else
		unlink(path_of("%s/berm/berm.yml", trial->world.config));
}

/* Runs a script with the host beside it, without berm or with this guard. */
static void run_beside(struct trial *trial, const char *guard, const char *script, void (*act)(struct trial *trial))
{
	char *whole = path_of("touch ready; until [ -e go ]; do sleep 0.02; done; %s", script);
	pid_t host;
	trial_renew(trial);
	if (guard)
		set_guard(trial, guard);
	host = start_host(trial, act);
	if (guard)
		INSIDE(trial, "/bin/sh", "-c", whole);
	else
		BARE(trial, "/bin/sh", "-c", whole);
	waitpid(host, NULL, 0);
}

/* Long enough for the watcher to look at every directory; then only a change makes a difference. */
#define SETTLE "sleep 0.8; "
/* Reads until that is refused, at most for this many tenths of a second, and then once more. */
#define READ_UNTIL_HIDDEN(tenths, file)                                                                                        \
	"i=0; while cat " file " >/dev/null 2>&1 && [ $i -lt " tenths " ]; do sleep 0.1; i=$((i + 1)); done; cat " file
#define WRITE_UNTIL_LOCKED(tenths, file)                                                                                       \
	"i=0; while ( : >>" file " ) 2>/dev/null && [ $i -lt " tenths " ]; do sleep 0.1; i=$((i + 1)); done; echo EVIL "       \
	">>" file

static bool printed_token(const struct trial *trial)
{
	return strstr(trial->outcome.out, trial->world.token) != NULL;
}

static bool reported(const struct trial *trial, const char *part)
{
	return strstr(trial->outcome.err, part) != NULL;
}

/* A loss of a mask: both controls read the secret in the end, the default does not, and it reports
 * the loss. */
static void expect_hidden_again(struct trial *trial, const char *what, const char *script, void (*act)(struct trial *trial))
{
	run_beside(trial, NULL, script, act);
	expect(trial, printed_token(trial), "control: %s: the secret cannot be read without berm", what);
	run_beside(trial, "launch", script, act);
	expect(trial, printed_token(trial), "control: %s: the mask is not lost", what);
	run_beside(trial, "", script, act);
	expect(trial, !printed_token(trial), "%s: the secret stays readable: %.300s", what, trial->outcome.err);
	expect(trial, reported(trial, ".env "), "%s: nothing is reported: %.300s", what, trial->outcome.err);
}

static void replace_by_rename(struct trial *trial)
{
	make_file(project_path(trial, "new"), trial->world.token, 0600);
	rename_or_die(project_path(trial, "new"), project_path(trial, ".env"));
}

static void replaced(struct trial *trial)
{
	expect_hidden_again(trial, "rename", SETTLE READ_UNTIL_HIDDEN("30", ".env"), replace_by_rename);
	expect(trial, reported(trial, "replaced on the host") && reported(trial, " ms"), "no time in the report: %.300s",
	       trial->outcome.err);
}

/* At once after the start, before the watcher is there. */
static void replaced_early(struct trial *trial)
{
	expect_hidden_again(trial, "early rename", READ_UNTIL_HIDDEN("30", ".env"), replace_by_rename);
}

static void remove_and_create(struct trial *trial)
{
	unlink(project_path(trial, ".env"));
	usleep(50000);
	make_file(project_path(trial, ".env"), trial->world.token, 0600);
}

static void use_sed(struct trial *trial)
{
	char *line = path_of("cd '%s' && sed -i 's/^/#/' .env", trial->world.project);
	if (system(line)) /* NOLINT(cert-env33-c): the test's own words */
		die("sed");
}

static void other_ways(struct trial *trial)
{
	expect_hidden_again(trial, "unlink and create", SETTLE READ_UNTIL_HIDDEN("30", ".env"), remove_and_create);
	expect_hidden_again(trial, "sed -i", SETTLE READ_UNTIL_HIDDEN("30", ".env"), use_sed);
}

static void fill_config(struct trial *trial)
{
	make_directory(project_path(trial, "config"), 0755);
	make_file(project_path(trial, "config/.env"), trial->world.token, 0600);
}

static void replace_directory(struct trial *trial)
{
	rename_or_die(project_path(trial, "config"), path_of("%s/config.%d", trial->world.outside, (int)getpid()));
	fill_config(trial);
}

static void replaced_directory(struct trial *trial)
{
	expect_hidden_again(trial, "directory", SETTLE READ_UNTIL_HIDDEN("30", "config/.env"), replace_directory);
}

static void move_in(struct trial *trial)
{
	usleep(1500000); /* until every directory is watched */
	make_file(path_of("%s/key", trial->world.outside), trial->world.token, 0600);
	rename_or_die(path_of("%s/key", trial->world.outside), project_path(trial, "src/server.pem"));
}

/* A name that comes from outside is hidden. One that the command makes is its own. */
static void new_names(struct trial *trial)
{
	const char *script = READ_UNTIL_HIDDEN("30", "src/server.pem");
	run_beside(trial, NULL, script, move_in);
	expect(trial, printed_token(trial), "control: the new file cannot be read without berm");
	run_beside(trial, "launch", script, move_in);
	expect(trial, printed_token(trial), "control: the new file is hidden at the level launch");
	run_beside(trial, "", script, move_in);
	expect(trial, !printed_token(trial), "the new file stays readable: %.300s", trial->outcome.err);
	expect(trial, reported(trial, "server.pem came from the host"), "nothing is reported: %.300s", trial->outcome.err);
	trial_renew(trial);
	INSIDE(trial, "/bin/sh", "-c", "echo MINE >src/own.pem; mv src/own.pem own.pem; " SETTLE "cat own.pem");
	expect(trial, strstr(trial->outcome.out, "MINE") != NULL, "a file that the command made is hidden from it: %.300s",
	       trial->outcome.err);
}

static void rewrite_config(struct trial *trial)
{
	char *config = project_path(trial, ".git/config");
	char *text = strdup(file_text(config));
	make_file(project_path(trial, ".git/config.lock"), text, 0644);
	rename_or_die(project_path(trial, ".git/config.lock"), config);
	free(text);
}

static void rewritten_config(struct trial *trial)
{
	const char *script = SETTLE WRITE_UNTIL_LOCKED("30", ".git/config");
	run_beside(trial, NULL, script, rewrite_config);
	expect(trial, file_contains(project_path(trial, ".git/config"), "EVIL"), "control: .git/config cannot be written");
	run_beside(trial, "launch", script, rewrite_config);
	expect(trial, file_contains(project_path(trial, ".git/config"), "EVIL"), "control: the lock is not lost");
	run_beside(trial, "", script, rewrite_config);
	expect(trial, !file_contains(project_path(trial, ".git/config"), "EVIL"), ".git/config stays writable: %.300s",
	       trial->outcome.err);
	expect(trial, reported(trial, ".git/config was replaced"), "nothing is reported: %.300s", trial->outcome.err);
}

static bool in_quarantine(struct trial *trial)
{
	return access(path_of("%s/berm/quarantine", trial->world.state), F_OK) == 0;
}

/* Waits until `file` is gone, at most three seconds. */
#define UNTIL_GONE(file) "i=0; while [ -e " file " ] && [ $i -lt 30 ]; do sleep 0.1; i=$((i + 1)); done; "

static void plants(struct trial *trial)
{
	static const char script[] = "mkdir .zed; echo EVIL >.zed/tasks.json; " UNTIL_GONE(".zed") "echo went on; exit 7";
	trial_renew(trial);
	BARE(trial, "/bin/sh", "-c", script);
	expect(trial, access(project_path(trial, ".zed/tasks.json"), F_OK) == 0, "control: .zed cannot be made");
	trial_renew(trial);
	set_guard(trial, "launch");
	INSIDE(trial, "/bin/sh", "-c", script);
	expect(trial, access(project_path(trial, ".zed/tasks.json"), F_OK) == 0,
	       "control: .zed is refused at the level launch");
	trial_renew(trial);
	set_guard(trial, "repair");
	INSIDE(trial, "/bin/sh", "-c", script);
	expect(trial, access(project_path(trial, ".zed"), F_OK) != 0, ".zed is still there");
	expect(trial, trial->outcome.exit_code == 7 && strstr(trial->outcome.out, "went on"), "the command was disturbed: %d",
	       trial->outcome.exit_code);
	expect(trial, in_quarantine(trial) && reported(trial, "quarantine"), "it is not reported: %.300s", trial->outcome.err);
}

static void plants_in_git(struct trial *trial)
{
	static const char *const names[] = { ".git/commondir", ".git/config.worktree" };
	for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
		char *script = path_of("echo ../evil >%s && sleep 5 && test -e %s && echo went on", names[i], names[i]);
		trial_renew(trial);
		set_guard(trial, "launch");
		INSIDE(trial, "/bin/sh", "-c", script);
		/* The sweep takes it after the run at this level too. */
		expect(trial, trial->outcome.exit_code == 0 && strstr(trial->outcome.out, "went on"),
		       "control: %s cannot be made, or ends the run", names[i]);
		trial_renew(trial);
		set_guard(trial, "repair");
		INSIDE(trial, "/bin/sh", "-c", script);
		expect(trial, trial->outcome.exit_code == 123 && !strstr(trial->outcome.out, "went on"),
		       "%s: not ended: %d, %.300s", names[i], trial->outcome.exit_code, trial->outcome.err);
		expect(trial, access(project_path(trial, names[i]), F_OK) != 0, "%s is still there", names[i]);
	}
}

static void plants_again(struct trial *trial)
{
	static const char script[] = "for n in 1 2 3; do mkdir .zed; " UNTIL_GONE(".zed") "done; sleep 3; echo went on";
	set_guard(trial, "launch");
	INSIDE(trial, "/bin/sh", "-c", script);
	expect(trial, trial->outcome.exit_code == 0, "control: the run ends at the level launch");
	trial_renew(trial);
	set_guard(trial, "repair");
	INSIDE(trial, "/bin/sh", "-c", script);
	expect(trial, trial->outcome.exit_code == 123 && !strstr(trial->outcome.out, "went on"), "not ended: %d, %.300s",
	       trial->outcome.exit_code, trial->outcome.err);
	expect(trial, access(project_path(trial, ".zed"), F_OK) != 0, ".zed is still there");
	plants_in_git(trial);
}

static void become_link(struct trial *trial)
{
	usleep(500000);
	make_file(project_path(trial, "src/plain"), trial->world.token, 0644);
	make_link("src/plain", project_path(trial, "new"));
	rename_or_die(project_path(trial, "new"), project_path(trial, ".env"));
}

/* No mask can be mounted on what the link leads to later: the run ends. */
static void link_instead(struct trial *trial)
{
	run_beside(trial, "launch", "sleep 0.5; cat .env; sleep 3; echo went on", become_link);
	expect(trial, printed_token(trial), "control: the link cannot be followed at the level launch");
	run_beside(trial, "", "sleep 3; echo went on", become_link);
	expect(trial, trial->outcome.exit_code == 123 && !strstr(trial->outcome.out, "went on"), "not ended: %d, %.300s",
	       trial->outcome.exit_code, trial->outcome.err);
}

/* Processes inside try to end the watcher and everything else that they can name. Without a wall
 * that would be the machine: the signals are sent only where berm's own directory is. */
static void watcher_is_out_of_reach(struct trial *trial)
{
	const char *script = "sleep 0.3; trap '' TERM HUP INT; [ -d /run/berm ] && { kill -TERM 0; kill -TERM -1; }; " SETTLE
		READ_UNTIL_HIDDEN("30", ".env");
	run_beside(trial, NULL, SETTLE "cat .env", replace_by_rename);
	expect(trial, printed_token(trial), "control: the secret cannot be read without berm");
	run_beside(trial, "", script, replace_by_rename);
	expect(trial, !printed_token(trial) && reported(trial, "replaced on the host"), "not hidden again: %.300s",
	       trial->outcome.err);
}

const struct escape_case cases_repair[] = {
	{ 280, "the host replaces a denied file by rename (105)", 0, NULL, { NULL }, NULL, replaced, 40 },
	{ 281, "the same before the watcher has started", 0, NULL, { NULL }, NULL, replaced_early, 40 },
	{ 282, "the host removes and creates it; sed -i", 0, NULL, { NULL }, NULL, other_ways, 60 },
	{ 283, "the host replaces the directory of a denied file", 0, fill_config, { NULL }, NULL, replaced_directory, 40 },
	{ 284, "the host brings a denied name (106)", 0, NULL, { NULL }, NULL, new_names, 60 },
	{ 285, "the host rewrites a protected file (109)", 0, NULL, { NULL }, NULL, rewritten_config, 40 },
	{ 286, "a protected name that appears is quarantined", 0, NULL, { NULL }, NULL, plants, 40 },
	{ 287, "one that comes back, or is in a git directory, ends the run", 0, NULL, { NULL }, NULL, plants_again, 40 },
	{ 288, "a denied file becomes a symlink", 0, NULL, { NULL }, NULL, link_instead, 40 },
	{ 289, "processes inside cannot end the watcher", NEED_WALL, NULL, { NULL }, NULL, watcher_is_out_of_reach, 40 },
	{ 0 },
};
