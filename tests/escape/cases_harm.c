/* SPDX-License-Identifier: Apache-2.0 */
/* Cases on what a command leaves behind for others, and on hosts that refuse a part of the wall. */
#include "harness.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/syscall.h>
#include <unistd.h>

/* As podman, CRI-O and Kubernetes do for a container without capabilities. */
static void refuse_chroot(struct trial *trial)
{
	(void)trial;
	refuse_call(SYS_chroot, EPERM);
}

static void refuse_chroot_and_setns(struct trial *trial)
{
	refuse_chroot(trial);
	refuse_call(SYS_setns, EPERM);
}

static bool is_in_lower_tier(struct trial *trial)
{
	INSIDE(trial, "$ATTACK", "exit", "3");
	expect(trial, trial->outcome.exit_code == 3, "the command does not run (%d): %.300s", trial->outcome.exit_code,
	       trial->outcome.err);
	return strstr(trial->outcome.err, "tier landlock") != NULL;
}

/* Every path that could lead to the host's tree if the root was entered wrongly. */
static void without_chroot(struct trial *trial)
{
	trial->before_exec = refuse_chroot;
	BARE(trial, "/bin/sh", "-c", "exec /usr/sbin/chroot / /bin/true");
	expect(trial, trial->outcome.exit_code != 0, "control: chroot works on this host");
	expect(trial, !is_in_lower_tier(trial), "the full tier is not reached without chroot");
	CONTAIN(trial, "read", ".env", "$SECRET", "/..$SECRET", "/../..$SECRET", "../outside/secret", "/proc/self/root$SECRET",
		"/proc/self/cwd/../outside/secret", "/proc/1/root$SECRET", "/proc/1/cwd$SECRET",
		"/proc/self/task/../root$SECRET");
	CONTAIN(trial, "list", "$OUTSIDE", "/..$OUTSIDE", "/proc/1/root");
	CONTAIN(trial, "alter", ".git/config");
	CONTAIN(trial, "proc-descriptors", "$SECRET");
	CONTAIN(trial, "descriptors");
	CONTAIN(trial, "roots");
}

static void without_chroot_and_setns(struct trial *trial)
{
	/* The tier landlock refuses a project with a secret: see the tier's own tests. */
	remove_tree(path_of("%s/.env", trial->world.project));
	remove_tree(path_of("%s/.git", trial->world.project));
	trial->before_exec = refuse_chroot_and_setns;
	expect(trial, is_in_lower_tier(trial), "neither the full tier nor the tier landlock");
	BARE(trial, "$ATTACK", "read", "$SECRET");
	expect(trial, strstr(trial->outcome.out, "REACHED") != NULL, "control: the secret cannot be read");
	INSIDE(trial, "$ATTACK", "read", "$SECRET", "../outside/secret", "/proc/self/root$SECRET");
	expect(trial, strstr(trial->outcome.out, "END") && !strstr(trial->outcome.out, "REACHED"), "not held: %d %.300s",
	       trial->outcome.exit_code, trial->outcome.out);
}

/* berm writes to the terminal, too. */
static void speak_to_terminal(struct trial *trial)
{
	(void)trial;
	dup2(STDIN_FILENO, STDERR_FILENO);
}

static bool is_usable(const struct terminal_state *state)
{
	return !state->is_stopped && state->size.ws_row == 24 && state->size.ws_col == 80;
}

static void terminal_left_stopped(struct trial *trial)
{
	struct terminal_state *state = trial->terminal_state;
	BARE(trial, "$ATTACK", "stop-terminal");
	expect(trial, state->is_stopped && state->size.ws_row == 1, "control: the terminal is not stopped");
	INSIDE(trial, "$ATTACK", "stop-terminal");
	expect(trial, trial->outcome.exit_code == 0, "the command ended with %d", trial->outcome.exit_code);
	expect(trial, is_usable(state), "the terminal is left stopped (%d) or with %d rows", state->is_stopped,
	       state->size.ws_row);
	/* And with something to write: that the time is over. */
	trial->before_exec = speak_to_terminal;
	make_filef("version: 1\nlimits: {time: 300ms}\n", 0644, "%s/berm.yml", trial->world.project);
	INSIDE(trial, "/bin/sh", "-c", "\"$1\" stop-terminal; sleep 5", "sh", "$ATTACK");
	expect(trial, trial->outcome.exit_code == 124, "berm does not get to its end (%d)", trial->outcome.exit_code);
	expect(trial, is_usable(state), "after a message the terminal is left stopped (%d) or with %d rows", state->is_stopped,
	       state->size.ws_row);
}

/* A new user namespace is the host here, so that the control takes nothing from this
 * machine. */
static void small_host(struct trial *trial)
{
	(void)trial;
	if (!enter_user_namespace())
		_exit(99);
	static const struct {
		const char *path, *text;
	} files[] = { { "/proc/sys/user/max_inotify_instances", "12" }, { "/proc/sys/user/max_inotify_watches", "40" } };
	for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
		int fd = open(files[i].path, O_WRONLY | O_CLOEXEC);
		if (fd < 0 || write(fd, files[i].text, strlen(files[i].text)) < 0)
			_exit(99);
		close(fd);
	}
}

/* One process takes all it gets, and then another one of the host wants one. */
static void hog(struct trial *trial, const char *what, bool is_inside)
{
	static const char script[] = "what=$1 attack=$2; shift 2; \"$@\" \"$attack\" hog-inotify ready \"$what\" & i=0; "
				     "until [ -e ready ] || [ $i = 100 ]; do sleep 0.1; i=$((i + 1)); done; "
				     "\"$attack\" watch-one; rm ready; wait";
	trial_renew(trial);
	if (is_inside)
		BARE(trial, "/bin/sh", "-c", script, "sh", what, "$ATTACK", berm_path, "run", "--");
	else
		BARE(trial, "/bin/sh", "-c", script, "sh", what, "$ATTACK");
}

static void inotify_taken(struct trial *trial)
{
	static const char *const kinds[] = { "instances", "watches" };
	trial->before_exec = small_host;
	for (size_t i = 0; i < 2; i++) {
		hog(trial, kinds[i], false);
		if (trial->outcome.exit_code == 99) {
			skip(trial, "no user namespace with own limits");
			return;
		}
		expect(trial, strstr(trial->outcome.out, "DENIED inotify") != NULL, "control: %s are left: %.200s", kinds[i],
		       trial->outcome.out);
		hog(trial, kinds[i], true);
		expect(trial, strstr(trial->outcome.out, "REACHED inotify") != NULL,
		       "no %s are left for the host: %.200s %.300s", kinds[i], trial->outcome.out, trial->outcome.err);
	}
}

/* The rest of the line after `mark` in berm's message, or NULL. */
static char *named_command(struct trial *trial, const char *mark)
{
	char *start = strstr(trial->outcome.err, mark);
	if (!start)
		return NULL;
	start += strlen(mark);
	return path_of("%.*s", (int)strcspn(start, "\n"), start);
}

static bool is_running_again(struct trial *trial)
{
	INSIDE(trial, "$ATTACK", "exit", "3");
	return trial->outcome.exit_code == 3;
}

/* Berm refuses and names a command, after which it does not. */
static void mend(struct trial *trial, const char *what, const char *mark)
{
	expect(trial, !is_running_again(trial), "control: %s refuses nothing", what);
	char *command = named_command(trial, mark);
	expect(trial, command != NULL, "%s: no command is named: %.300s", what, trial->outcome.err);
	BARE(trial, "/usr/bin/env", "HOME=$BASE", "/bin/sh", "-c", command ? command : "false");
	expect(trial, is_running_again(trial), "%s: not mended by `%s`: %.300s", what, command ? command : "",
	       trial->outcome.err);
}

/* Files that a command can leave so that no later one runs. */
static void later_launches(struct trial *trial)
{
	/* With a dot: another way to a grant is a mount point, which is not renamed. */
	char *tools = path_of("%s/.berm-escape-tools", trial->world.home), *name = path_of("%0200d", 0);
	INSIDE(trial, "$ATTACK", "dig", name, "25");
	expect(trial, access(path_of("%s/%s", trial->world.project, name), F_OK) == 0,
	       "control: there are no deep directories");
	expect(trial, is_running_again(trial), "deep directories: %.300s", trial->outcome.err);
	BARE(trial, "/bin/rm", "-r", name);
	INSIDE(trial, "$ATTACK", "dig", "ddddddddddddddddddd", "220");
	expect(trial, is_running_again(trial), "very deep directories: %.300s", trial->outcome.err);
	BARE(trial, "/bin/rm", "-r", "ddddddddddddddddddd");

	make_elsewhere(&trial->world, tools, true, NULL);
	make_elsewhere(&trial->world, path_of("%s/bin", tools), true, NULL);
	make_elsewhere(&trial->world, path_of("%s/file", tools), false, "x");
	trial_option(trial, path_of("--allow-read=%s/bin", tools));
	trial_option(trial, path_of("--allow-read=%s/file", tools));
	static const char *const obstacles[] = { "ln -s /", "ln -s /nonexistent", "echo x >", "mkfifo" };
	for (size_t i = 0; i < sizeof obstacles / sizeof *obstacles; i++) {
		INSIDE(trial, "/bin/sh", "-c",
		       path_of("cd ~ && mv .berm-escape-tools old%zu && %s .berm-escape-tools", i, obstacles[i]));
		expect(trial, trial->outcome.exit_code == 0, "control: `%s` is not left (%d): %.200s", obstacles[i],
		       trial->outcome.exit_code, trial->outcome.err);
		expect(trial, is_running_again(trial), "`%s` in the private home: %.300s", obstacles[i], trial->outcome.err);
	}

	INSIDE(trial, "/bin/sh", "-c",
	       "cd ~ && mv .berm-escape-tools old && mkdir -p .berm-escape-tools/file/x && echo x >.berm-escape-tools/bin");
	expect(trial, is_running_again(trial), "types swapped in the private home: %.300s", trial->outcome.err);

	/* Above the level `launch` the sweep takes these after the run. */
	trial_renew(trial);
	INSIDE(trial, "/bin/sh", "-c", "mkfifo berm.yml");
	expect(trial, is_running_again(trial), "a FIFO as berm.yml is left: %.300s", trial->outcome.err);
	make_directory(path_of("%s/berm", trial->world.config), 0700);
	make_filef("version: 1\nfiles: {guard: launch}\n", 0600, "%s/berm/berm.yml", trial->world.config);
	INSIDE(trial, "/bin/sh", "-c", "mkfifo berm.yml");
	mend(trial, "a FIFO as berm.yml", "if it does not belong there: ");
	INSIDE(trial, "/bin/sh", "-c", "mkdir berm.yml && touch berm.yml/x");
	mend(trial, "a directory as berm.yml", "if it does not belong there: ");
	INSIDE(trial, "/bin/sh", "-c", "ln -s /dev/zero berm.yml");
	mend(trial, "a link as berm.yml", "if it does not belong there: ");
	if (geteuid() != 0) {
		INSIDE(trial, "/bin/sh", "-c", "chmod 000 .");
		expect(trial, is_running_again(trial), "a closed project is left: %.300s", trial->outcome.err);
		/* As a run leaves it that was killed. */
		BARE(trial, "/bin/chmod", "000", ".");
		trial->directory = trial->world.base;
		trial_option(trial, "--project=$PROJECT");
		mend(trial, "a closed project", "if it is yours: ");
		trial->directory = NULL;
	}
	static const char *const directories[] = { ".", "it's; touch pwned; `touch pwned` \\" };
	for (size_t i = 0; i < 2; i++) {
		trial_renew(trial);
		INSIDE(trial, "$ATTACK", "fill", directories[i], "65600");
		mend(trial, "65,600 denied names", "to move them aside: ");
	}
	expect(trial, access(path_of("%s/pwned", trial->world.project), F_OK) != 0, "a name became a command");
}

/* Enough for a notification in between, and for pins by a copy. */
enum { MANY_FILES = 2100, MANY_DIRECTORIES = 100 };

static void make_many(struct trial *trial)
{
	make_directory(path_of("%s/one", trial->world.project), 0755);
	for (int i = 0; i < MANY_FILES; i++)
		make_filef(trial->world.token, 0644, "%s/one/.env.%d", trial->world.project, i);
	for (int i = 0; i < MANY_DIRECTORIES; i++) {
		make_directory(path_of("%s/many%d", trial->world.project, i), 0755);
		make_filef(trial->world.token, 0644, "%s/many%d/.env", trial->world.project, i);
	}
}

static void many_names(struct trial *trial)
{
	CONTAIN(trial, "read", "one/.env.0", "one/.env.1023", "one/.env.1024", "one/.env.1025", "one/.env.2047",
		"one/.env.2099", "many0/.env", "many50/.env", "many99/.env");
	CONTAIN(trial, "rename", "many7", "other7", "many99", "other99", "one", "two");
	CONTAIN(trial, "link", "many3/.env", "linked3", "one/.env.5", "linked5");
	CONTAIN(trial, "alter", "many9/.env", "one/.env.2098");
	trial_renew(trial);
	INSIDE(trial, "/bin/sh", "-c",
	       "for d in many* one; do echo x >$d/new && mkdir $d/sub || exit 1; done; cat */.env* 2>/dev/null | wc -c");
	expect(trial, trial->outcome.exit_code == 0, "pinned directories are not writable: %.200s", trial->outcome.err);
	expect(trial, strcmp(trial->outcome.out, "0\n") == 0, "hidden files have content: %.100s", trial->outcome.out);
	expect(trial, access(path_of("%s/many42/new", trial->world.project), F_OK) == 0, "what was written is not on the host");
	/* No further path to the project. */
	INSIDE(trial, "/bin/sh", "-c", "grep -c \" $1 \" /proc/self/mountinfo", "sh", "$PROJECT");
	expect(trial, strcmp(trial->outcome.out, "1\n") == 0, "the project is mounted %.20s times", trial->outcome.out);
}

/* A mount below a pinned directory stays visible, and denied files on it hidden. */
static void many_names_and_a_mount(struct trial *trial)
{
	char *volume = path_of("%s/many5/volume", trial->world.project);
	make_many(trial);
	if (unshare(CLONE_NEWNS) || mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL))
		die("unshare");
	make_directory(volume, 0755);
	if (mount("tmpfs", volume, "tmpfs", 0, "mode=755"))
		die("mount");
	make_filef(trial->world.token, 0644, "%s/.env", volume);
	make_filef("plain", 0644, "%s/plain", volume);
	BARE(trial, "$ATTACK", "read", "many5/volume/.env", "many6/.env");
	expect(trial, strstr(trial->outcome.out, "REACHED") != NULL, "control: the files cannot be read");
	INSIDE(trial, "$ATTACK", "read", "many5/volume/.env", "many6/.env");
	expect(trial, strstr(trial->outcome.out, "END") && !strstr(trial->outcome.out, "REACHED"),
	       "a denied file can be read: %s", trial->outcome.out);
	INSIDE(trial, "/bin/cat", "many5/volume/plain");
	expect(trial, strcmp(trial->outcome.out, "plain") == 0, "a mount below a pinned directory is not visible");
	umount2(volume, MNT_DETACH);
}

const struct escape_case cases_harm[] = {
	{ 205, "a host that refuses chroot: the whole wall by setns", 0, NULL, { NULL }, NULL, without_chroot, 20 },
	{ 206, "a host that refuses chroot and setns: the lower tier", 0, NULL, { NULL }, NULL, without_chroot_and_setns, 0 },
	{ 207, "terminal output stopped, window of one cell", NEED_TERMINAL, NULL, { NULL }, NULL, terminal_left_stopped, 0 },
	{ 208, "all inotify instances and watches of the user", 0, NULL, { NULL }, NULL, inotify_taken, 20 },
	{ 209, "the limit on core files set to 0 or raised", 0, NULL, { "core-limit" }, NULL, NULL, 0 },
	{ 0 },
};

const struct escape_case cases_many[] = {
	{ 210, "what a command leaves to refuse later launches", NEED_WALL, NULL, { NULL }, NULL, later_launches, 60 },
	{ 211, "thousands of denied names, a hundred pins", 0, make_many, { NULL }, NULL, many_names, 30 },
	{ 212, "a hundred pins and a mount below one", NEED_ROOT, NULL, { NULL }, NULL, many_names_and_a_mount, 20 },
	{ 0 },
};
