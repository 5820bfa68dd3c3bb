/* SPDX-License-Identifier: Apache-2.0 */
/* Cases on the launch itself: where it may run, what it trusts on disk, and that it fails closed
 * when it is starved. */
#include "harness.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

static char *marker_of(struct trial *trial)
{
	return path_of("%s/ran", trial->world.project);
}

/* Either nothing ran and berm reports that, or the command ran in the complete sandbox. */
static void expect_closed(struct trial *trial, const char *situation)
{
	char *marker = marker_of(trial);
	unlink(marker);
	INSIDE(trial, "/bin/sh", "-c", "echo ran > ran; exec ./attack read .env deep/er/.env \"$1\"", "sh", "$SECRET");
	bool has_run = access(marker, F_OK) == 0;
	if (trial->outcome.exit_code == 125) {
		expect(trial, !has_run, "%s: refused, but the command ran", situation);
		expect(trial, trial->outcome.err[0] != '\0', "%s: refused without a word", situation);
	} else {
		expect(trial, !strstr(trial->outcome.out, "REACHED"), "%s: ran without its wall: %s", situation,
		       trial->outcome.out);
		expect(trial, !has_run || trial->outcome.exit_code == 0 || !strstr(trial->outcome.out, trial->world.token),
		       "%s: exit code %d", situation, trial->outcome.exit_code);
		expect(trial, has_run || trial->outcome.exit_code != 0, "%s: exit code 0, but the command did not run",
		       situation);
	}
	note("  %s: exit %d, ran %d\n", situation, trial->outcome.exit_code, has_run);
}

static void plant_deep(struct trial *trial)
{
	make_directory(path_of("%s/deep", trial->world.project), 0755);
	make_directory(path_of("%s/deep/er", trial->world.project), 0755);
	make_filef(trial->world.token, 0644, "%s/deep/er/.env", trial->world.project);
	BARE(trial, "$ATTACK", "read", ".env", "deep/er/.env", "$SECRET");
	expect(trial, !strstr(trial->outcome.out, "DENIED"), "control: the secrets cannot be read");
}

static char *first_directory_below(const char *path)
{
	static char found[512];
	char *command = path_of("find '%s' -mindepth 1 -maxdepth 6 -type d -name home | head -1", path);
	FILE *pipe = popen(command, "re");
	if (!pipe || !fgets(found, sizeof found, pipe))
		found[0] = '\0';
	found[strcspn(found, "\n")] = '\0';
	if (pipe)
		pclose(pipe);
	return found;
}

/* Each component of berm's own state in turn is a link to the outside. */
static void state_is_link(struct trial *trial)
{
	const struct world *world = &trial->world;
	INSIDE(trial, "/bin/true");
	expect(trial, trial->outcome.exit_code == 0, "control: the first run ended with %d", trial->outcome.exit_code);
	char *home = strdup(first_directory_below(world->state));
	if (!expect(trial, home[0] != '\0', "no private home below %s", world->state))
		return;
	char *path = strdup(home);
	while (strlen(path) > strlen(world->state)) {
		char *aside = path_of("%s/aside", world->base);
		rename(path, aside);
		make_link(world->outside, path);
		char *before = tree_listing(world->outside);
		INSIDE(trial, "$ATTACK", "read", "$SECRET", "$HOME/secret");
		expect(trial, !strstr(trial->outcome.out, "REACHED"), "%s as a link gives the outside", path);
		expect(trial, trial->outcome.exit_code == 125, "%s as a link is not refused (%d)", path,
		       trial->outcome.exit_code);
		INSIDE(trial, "$ATTACK", "create", "$HOME/planted");
		char *after = tree_listing(world->outside);
		expect(trial, strcmp(before, after) == 0, "%s as a link: something changed outside:\n%s", path, after);
		unlink(path);
		rename(aside, path);
		*strrchr(path, '/') = '\0';
	}
}

/* Made by another user, at a path that can be guessed. */
static void foreign_state(struct trial *trial)
{
	char *state = path_of("%s/guessed", trial->world.base);
	make_directory(state, 0777);
	trial_variable(trial, path_of("XDG_STATE_HOME=%s", state));
	INSIDE(trial, "/bin/true");
	bool is_control = trial->outcome.exit_code == 0;
	/* The directory itself may be shared; what berm makes in it must be its own. */
	remove_tree(state);
	make_directory(state, 0777);
	make_directory(path_of("%s/berm", state), 0777);
	if (chown(path_of("%s/berm", state), 65534, 65534))
		die("chown");
	INSIDE(trial, "$ATTACK", "marker", "ran");
	expect(trial, trial->outcome.exit_code == 125, "a state directory of another user is used (%d)",
	       trial->outcome.exit_code);
	expect(trial, access(marker_of(trial), F_OK) != 0, "the command ran");
	note("  world-writable parent: %s\n", is_control ? "accepted" : "refused");
}

static void open_state(struct trial *trial)
{
	char *state = path_of("%s/open", trial->world.base);
	struct stat info;
	trial_variable(trial, path_of("XDG_STATE_HOME=%s", state));
	make_directory(state, 0700);
	umask(0);
	INSIDE(trial, "/bin/true");
	umask(022);
	expect(trial, trial->outcome.exit_code == 0, "the run ended with %d: %.200s", trial->outcome.exit_code,
	       trial->outcome.err);
	expect(trial, stat(path_of("%s/berm", state), &info) == 0 && (info.st_mode & 077) == 0,
	       "with umask 0 the state has mode %o", info.st_mode);
	chmod(path_of("%s/berm", state), 0777);
	INSIDE(trial, "/bin/true");
	expect(trial,
	       trial->outcome.exit_code == 125 || (stat(path_of("%s/berm", state), &info) == 0 && (info.st_mode & 022) == 0),
	       "a state directory that others may write is used");
}

static void unfit_projects(struct trial *trial)
{
	const char *places[] = { trial->world.home,
				 "/",
				 "/home",
				 "/usr",
				 "/etc",
				 "/var",
				 "/usr/local",
				 "/usr/lib",
				 path_of("%s/..", trial->world.home),
				 "/proc/self",
				 "/dev" };
	INSIDE(trial, "$ATTACK", "marker", "ran");
	expect(trial, trial->outcome.exit_code == 0, "control: the scratch project is refused");
	for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
		trial->directory = places[i];
		INSIDE(trial, "/bin/echo", "ran");
		expect(trial, trial->outcome.exit_code == 125 && !strstr(trial->outcome.out, "ran"), "cd %s: not refused (%d)",
		       places[i], trial->outcome.exit_code);
		trial->directory = trial->world.project;
		BERM(trial, "run", path_of("--project=%s", places[i]), "--", "/bin/echo", "ran");
		expect(trial, trial->outcome.exit_code == 125 && !strstr(trial->outcome.out, "ran"),
		       "--project=%s: not refused (%d)", places[i], trial->outcome.exit_code);
		trial->directory = NULL;
	}
	/* By a link, by dots, from below. */
	make_link(trial->world.home, path_of("%s/home-link", trial->world.base));
	BERM(trial, "run", "--project=$BASE/home-link", "--", "/bin/echo", "ran");
	expect(trial, trial->outcome.exit_code == 125, "a link to the home is taken as project");
	BERM(trial, "run", "--project=$HOME/.", "--", "/bin/echo", "ran");
	expect(trial, trial->outcome.exit_code == 125, "the home with a dot is taken as project");
}

static void root_reach(struct trial *trial)
{
	CONTAIN(trial, "read", "/etc/shadow", "/etc/gshadow", "/etc/shadow-", "/etc/sudoers", "/etc/ssh/ssh_host_rsa_key",
		"/etc/ssl/private/ssl-cert-snakeoil.key");
	CONTAIN(trial, "open-write", "/proc/sys/kernel/core_pattern", "/etc/passwd", "/etc/shadow", "/etc/ld.so.cache");
	CONTAIN(trial, "private", "/etc", "/var/lib", "/root");
	CONTAIN(trial, "read", "/proc/kcore", "/proc/kmsg", "/proc/kpageflags", "/proc/kpagecount", "/proc/kpagecgroup",
		"/proc/vmallocinfo", "/proc/slabinfo", "/proc/timer_list", "/proc/pagetypeinfo");
	/* Software trees hold files that only root may read, too. */
	char *file = path_of("/opt/berm-escape-%d.conf", getpid());
	if (make_elsewhere(&trial->world, file, false, trial->world.token))
		CONTAIN(trial, "read", file);
}

static rlim_t starved_value;
static int starved_resource;

static void starve(struct trial *trial)
{
	struct rlimit limit = { starved_value, starved_value };
	(void)trial;
	setrlimit(starved_resource, &limit);
}

static void starved(struct trial *trial)
{
	static const rlim_t files[] = { 3, 4, 5, 6, 7, 8, 9, 10, 12, 14, 16, 20, 24, 32 };
	plant_deep(trial);
	expect_closed(trial, "plain");
	expect(trial, trial->outcome.exit_code == 0, "control: the plain run ended with %d: %.200s", trial->outcome.exit_code,
	       trial->outcome.err);
	trial->before_exec = starve;
	starved_resource = RLIMIT_NOFILE;
	for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
		starved_value = files[i];
		expect_closed(trial, path_of("%ju open files", (uintmax_t)files[i]));
	}
	starved_resource = RLIMIT_FSIZE;
	starved_value = 0;
	expect_closed(trial, "no file size");
	starved_resource = RLIMIT_AS;
	for (starved_value = 4 << 20; starved_value <= 64 << 20; starved_value *= 2)
		expect_closed(trial, path_of("%ju MiB of addresses", (uintmax_t)starved_value >> 20));
	starved_resource = RLIMIT_STACK;
	starved_value = 64 << 10;
	expect_closed(trial, "a stack of 64 KiB");
	if (geteuid() != 0) {
		starved_resource = RLIMIT_NPROC;
		for (starved_value = 0; starved_value < 6; starved_value++)
			expect_closed(trial, path_of("%ju processes", (uintmax_t)starved_value));
	}
}

static long refused_calls[2];
static int refused_errno;

/* As a container's filter would: these calls fail, everything else works. */
static void refuse_calls(struct trial *trial)
{
	(void)trial;
	for (size_t i = 0; i < 2; i++)
		if (refused_calls[i] >= 0)
			refuse_call(refused_calls[i], refused_errno);
}

static void without(struct trial *trial, const char *name, long first, long second, int number)
{
	refused_calls[0] = first;
	refused_calls[1] = second;
	refused_errno = number;
	expect_closed(trial, path_of("%s fails with %s", name, strerrorname_np(number)));
}

static void no_user_namespaces(struct trial *trial)
{
	uid_t uid = getuid();
	gid_t gid = getgid();
	(void)trial;
	if (unshare(CLONE_NEWUSER))
		_exit(99);
	const struct {
		const char *path, *text;
	} files[] = { { "/proc/self/setgroups", "deny" },
		      { "/proc/self/uid_map", path_of("%u %u 1", uid, uid) },
		      { "/proc/self/gid_map", path_of("%u %u 1", gid, gid) },
		      { "/proc/sys/user/max_user_namespaces", "0" } };
	for (size_t i = 0; i < 4; i++) {
		int fd = open(files[i].path, O_WRONLY | O_CLOEXEC);
		if (fd < 0 || write(fd, files[i].text, strlen(files[i].text)) < 0)
			_exit(99);
		close(fd);
	}
}

static void mechanism_absent(struct trial *trial)
{
	plant_deep(trial);
	trial->before_exec = no_user_namespaces;
	expect_closed(trial, "user.max_user_namespaces=0");
	expect(trial, trial->outcome.exit_code == 125, "without user namespaces the run is not refused (%d)",
	       trial->outcome.exit_code);
	expect(trial, strstr(trial->outcome.err, "namespace") != NULL, "the refusal does not say what is missing: %.300s",
	       trial->outcome.err);
	trial->before_exec = refuse_calls;
	static const int numbers[] = { EPERM, ENOSYS, ENOMEM };
	for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
		without(trial, "mount", SYS_mount, -1, numbers[i]);
		without(trial, "clone3 and unshare", SYS_clone3, SYS_unshare, numbers[i]);
		without(trial, "mount_setattr", SYS_mount_setattr, -1, numbers[i]);
		without(trial, "open_tree and move_mount", SYS_open_tree, SYS_move_mount, numbers[i]);
		without(trial, "pivot_root and chroot", SYS_pivot_root, SYS_chroot, numbers[i]);
		without(trial, "umount2", SYS_umount2, -1, numbers[i]);
		without(trial, "seccomp and prctl", SYS_seccomp, SYS_prctl, numbers[i]);
		without(trial, "seccomp", SYS_seccomp, -1, numbers[i]);
		without(trial, "prctl", SYS_prctl, -1, numbers[i]);
		without(trial, "capset", SYS_capset, -1, numbers[i]);
		without(trial, "landlock_create_ruleset", SYS_landlock_create_ruleset, -1, numbers[i]);
		without(trial, "landlock_add_rule", SYS_landlock_add_rule, -1, numbers[i]);
		without(trial, "landlock_restrict_self", SYS_landlock_restrict_self, -1, numbers[i]);
		without(trial, "close_range", SYS_close_range, -1, numbers[i]);
		without(trial, "getdents64", SYS_getdents64, -1, numbers[i]);
		without(trial, "fchdir and chdir", SYS_fchdir, SYS_chdir, numbers[i]);
		without(trial, "setgroups", SYS_setgroups, -1, numbers[i]);
		without(trial, "prlimit64", SYS_prlimit64, -1, numbers[i]);
		without(trial, "openat2", SYS_openat2, -1, numbers[i]);
		without(trial, "statx and newfstatat", SYS_statx, SYS_newfstatat, numbers[i]);
		without(trial, "pidfd_open", SYS_pidfd_open, -1, numbers[i]);
		without(trial, "fchmod", SYS_fchmod, SYS_fchmodat, numbers[i]);
		without(trial, "mkdirat", SYS_mkdirat, SYS_mknodat, numbers[i]);
		without(trial, "symlinkat", SYS_symlinkat, -1, numbers[i]);
		without(trial, "sethostname", SYS_sethostname, -1, numbers[i]);
		without(trial, "setsid and setpgid", SYS_setsid, SYS_setpgid, numbers[i]);
		without(trial, "eventfd and signalfd", SYS_signalfd4, SYS_eventfd2, numbers[i]);
	}
}

/* State or policy inside the writable set could be changed by the command. */
static void own_directories_in_project(struct trial *trial)
{
	char *inside = path_of("%s/xdg", trial->world.project);
	make_directory(inside, 0700);
	make_directory(path_of("%s/berm", inside), 0700);
	trial->variables[0] = path_of("XDG_STATE_HOME=%s", inside);
	INSIDE(trial, "$ATTACK", "create", "$PROJECT/xdg/planted", "$PROJECT/xdg/berm/planted");
	expect(trial, trial->outcome.exit_code == 125 || !strstr(trial->outcome.out, "REACHED create:xdg/berm"),
	       "state inside the project is used and writable");
	bool is_state_refused = trial->outcome.exit_code == 125;
	make_filef("version: 1\nfiles:\n  read: [/var/tmp]\n", 0600, "%s/berm/berm.yml", inside);
	trial->variables[0] = path_of("XDG_CONFIG_HOME=%s", inside);
	INSIDE(trial, "$ATTACK", "read", "$SECRET");
	expect(trial, !strstr(trial->outcome.out, "REACHED"), "a user policy inside the writable set is honoured");
	expect(trial, is_state_refused, "a state directory inside the project is not refused");
	/* HOME decides nothing: the password database does. */
	trial->variables[0] = path_of("HOME=%s", trial->world.project);
	world_home_secret(&trial->world);
	INSIDE(trial, "$ATTACK", "read", "$HOMESECRET", ".env");
	expect(trial, !strstr(trial->outcome.out, "REACHED"), "with another HOME the real home is readable");
}

/* The same secrets with the project where projects really are. */
static void project_elsewhere(struct trial *trial, const char *parent)
{
	struct world saved = trial->world;
	struct world world = { 0 };
	world_make(&world, parent, trial->world.created);
	trial->world = world;
	world_home_secret(&trial->world);
	CONTAIN(trial, "read", ".env", "$SECRET", "$HOMESECRET", "../outside/secret");
	CONTAIN(trial, "alter", ".git/config");
	CONTAIN(trial, "list", "$OUTSIDE");
	INSIDE(trial, "$ATTACK", "create", "mine", "$BASE/stray", "src/mine.c");
	expect(trial, access(path_of("%s/mine", world.project), F_OK) == 0, "the project is not writable in %s", parent);
	expect(trial, access(path_of("%s/stray", world.base), F_OK) != 0, "the project's parent is writable in %s", parent);
	world_remove(&world);
	trial->world = saved;
}

static void usual_places(struct trial *trial)
{
	project_elsewhere(trial, trial->world.home);
	project_elsewhere(trial, "/tmp");
}

static void by_symlink(struct trial *trial)
{
	char *link = path_of("%s/link", trial->world.base);
	make_link(trial->world.project, link);
	trial->directory = link;
	trial_variable(trial, path_of("PWD=%s", link));
	CONTAIN(trial, "read", ".env", "$BASE/link/.env", "$SECRET", "../outside/secret");
	CONTAIN(trial, "alter", ".git/config");
}

/* Special files that a command may have left: the next launch must neither hang nor read without
 * end. */
static void special_files(struct trial *trial)
{
	static const struct {
		const char *name, *kind;
	} places[] = { { ".git", "fifo" },     { "berm.yml", "fifo" }, { ".env", "fifo" },	  { ".git", "huge" },
		       { "berm.yml", "huge" }, { "berm.yml", "zero" }, { ".git/config", "fifo" }, { ".env", "loop" } };
	for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
		world_renew_project(&trial->world);
		char *path = path_of("%s/%s", trial->world.project, places[i].name);
		remove_tree(path);
		if (strcmp(places[i].kind, "fifo") == 0 && mkfifo(path, 0644))
			die("mkfifo");
		if (strcmp(places[i].kind, "huge") == 0) {
			make_file(path, "", 0644);
			if (truncate(path, 1L << 33))
				die("truncate");
		}
		if (strcmp(places[i].kind, "zero") == 0)
			make_link("/dev/zero", path);
		if (strcmp(places[i].kind, "loop") == 0)
			make_link(".env", path);
		INSIDE(trial, "$ATTACK", "exit", "3");
		expect(trial, trial->outcome.exit_code == 3 || trial->outcome.exit_code == 125, "%s as %s: exit code %d",
		       places[i].name, places[i].kind, trial->outcome.exit_code);
	}
}

/* The private home is the command's; the host removes it. */
static void hostile_home(struct trial *trial)
{
	const struct world *world = &trial->world;
	char *before = tree_listing(world->outside);
	INSIDE(trial, "/bin/sh", "-c",
	       "cd ~ && ln -s \"$1\" link && mkdir -p a/b && ln -s \"$1\" a/b/c && chmod 000 a/b && ln -s / root && mkfifo "
	       "pipe &&"
	       " mkdir deep && cd deep && exec \"$2\" dig $(printf '%0200d' 0) 22",
	       "sh", "$OUTSIDE", "$ATTACK");
	expect(trial, trial->outcome.exit_code == 0, "the home cannot be prepared (%d): %.200s", trial->outcome.exit_code,
	       trial->outcome.err);
	INSIDE(trial, "$ATTACK", "exit", "3");
	expect(trial, trial->outcome.exit_code == 3 || trial->outcome.exit_code == 125, "the next run: exit code %d",
	       trial->outcome.exit_code);
	BERM(trial, "state", "reset", "--yes");
	char *after = tree_listing(world->outside);
	expect(trial, strcmp(before, after) == 0, "state reset changed something outside:\n%s", after);
	expect(trial, first_directory_below(world->state)[0] == '\0' || trial->outcome.exit_code != 0,
	       "state reset says that all is done and left %s", first_directory_below(world->state));
}

static void kernel_trees(struct trial *trial)
{
	static const char *const paths[] = { "/",    "/proc",		"/proc/sys",   "/sys",	  "/dev",
					     "/run", "/proc/self/root", "/dev/shm/..", "/var/run" };
	char *link = path_of("%s/everything", trial->world.base);
	make_link("/", link);
	BERM(trial, "run", "--allow-read=$READONLY", "--", "/bin/echo", "ran");
	expect(trial, trial->outcome.exit_code == 0, "control: an ordinary grant is refused");
	for (size_t i = 0; i < sizeof paths / sizeof *paths; i++)
		for (int write = 0; write < 2; write++) {
			BERM(trial, "run", path_of("--allow-%s=%s", write ? "write" : "read", paths[i]), "--", "/bin/echo",
			     "ran");
			expect(trial, trial->outcome.exit_code == 125, "%s can be granted", paths[i]);
		}
	BERM(trial, "run", "--allow-read=$BASE/everything", "--", "/bin/echo", "ran");
	expect(trial, trial->outcome.exit_code == 125, "a link to / can be granted");
	BERM(trial, "run", "--allow-write=$BASE", "--", "/bin/echo", "ran");
	expect(trial, trial->outcome.exit_code == 125, "what holds berm's own state can be made writable");
	BERM(trial, "run", "--allow-read=$STATE", "--", "$ATTACK", "list", "$STATE/berm/projects");
	expect(trial, !strstr(trial->outcome.out, "REACHED"), "berm's own state can be made readable");
}

/* A project below something that is denied grants nothing of it. */
static void project_in_denied_place(struct trial *trial)
{
	world_home_secret(&trial->world);
	char *keys = path_of("%s/.ssh", trial->world.home), *name = strrchr(trial->world.home_secret, '/') + 1;
	trial->directory = keys;
	BARE(trial, "/bin/cat", name);
	expect(trial, strstr(trial->outcome.out, trial->world.token) != NULL, "control: the key cannot be read");
	INSIDE(trial, "/bin/cat", name);
	expect(trial, !strstr(trial->outcome.out, trial->world.token), "cd ~/.ssh makes the keys readable");
	trial->directory = NULL;
	BERM(trial, "run", path_of("--project=%s", keys), "--", "/bin/cat", trial->world.home_secret);
	expect(trial, !strstr(trial->outcome.out, trial->world.token), "--project=~/.ssh makes the keys readable");
	BERM(trial, "run", path_of("--allow-read=%s", trial->world.home_secret), "--", "/bin/cat", trial->world.home_secret);
	expect(trial, !strstr(trial->outcome.out, trial->world.token), "--allow-read lifts a denial");
	BERM(trial, "run", path_of("--allow-read=%s", trial->world.home), "--", "/bin/cat", trial->world.home_secret);
	expect(trial, !strstr(trial->outcome.out, trial->world.token), "--allow-read=~ makes the keys readable");
}

/* Until the user trusts exactly that content, a project's policy only takes away. */
static void widening_policy(struct trial *trial)
{
	char *policy = path_of("version: 1\nfiles:\n  read: [%s]\n  write: [%s]\n  except: [.env]\nnetwork: all\nhome: host\n"
			       "environment:\n  pass: [MY_TOKEN]\nnesting: true\n",
			       trial->world.outside, trial->world.readonly);
	trial_variable(trial, "MY_TOKEN=x");
	world_home_secret(&trial->world);
	make_file(path_of("%s/user.yml", trial->world.base), policy, 0600);
	/* In the user's own policy the same text has its effect. */
	BERM(trial, "run", "--policy=$BASE/user.yml", "--", "$ATTACK", "read", "$SECRET");
	expect(trial, strstr(trial->outcome.out, "REACHED") != NULL, "control: the policy grants nothing: %.200s",
	       trial->outcome.err);
	make_file(path_of("%s/berm.yml", trial->world.project), policy, 0644);
	INSIDE(trial, "$ATTACK", "read", "$SECRET", ".env", "$HOMESECRET");
	expect(trial, strstr(trial->outcome.out, "END") || trial->outcome.exit_code == 125, "neither run nor refused (%d)",
	       trial->outcome.exit_code);
	expect(trial, !strstr(trial->outcome.out, "REACHED"), "an untrusted policy widens:\n%s", trial->outcome.out);
	INSIDE(trial, "$ATTACK", "environment", "MY_TOKEN");
	expect(trial, !strstr(trial->outcome.out, "REACHED"), "an untrusted policy passes a variable");
	INSIDE(trial, "$ATTACK", "namespaces");
	expect(trial, !strstr(trial->outcome.out, "REACHED"), "an untrusted policy allows nesting");
	INSIDE(trial, "$ATTACK", "create", "$READONLY/planted");
	expect(trial, access(path_of("%s/planted", trial->world.readonly), F_OK) != 0,
	       "an untrusted policy makes something writable");
}

static bool is_hidden(struct trial *trial, const char *path)
{
	BARE(trial, "$ATTACK", "read", path);
	expect(trial, strstr(trial->outcome.out, "REACHED") != NULL, "control: %s cannot be read", path);
	INSIDE(trial, "$ATTACK", "read", path);
	return strstr(trial->outcome.out, "END") && !strstr(trial->outcome.out, "REACHED");
}

/* Changes since the last run count, however little time has passed and whatever the times of the
 * files are. */
static void stored_plan(struct trial *trial)
{
	const struct world *world = &trial->world;
	char *directory = path_of("%s/src/deep", world->project);
	struct timespec old[2] = { { 1000000000, 0 }, { 1000000000, 0 } };
	make_directory(directory, 0755);
	for (int round = 0; round < 15; round++) {
		INSIDE(trial, "$ATTACK", "exit", "0");
		expect(trial, trial->outcome.exit_code == 0, "round %d: exit code %d", round, trial->outcome.exit_code);
		/* At once, and with forged times. */
		char *name = path_of("src/deep/.env.%d", round);
		make_filef(world->token, 0644, "%s/%s", world->project, name);
		utimensat(AT_FDCWD, directory, old, 0);
		utimensat(AT_FDCWD, path_of("%s/src", world->project), old, 0);
		expect(trial, is_hidden(trial, name), "round %d: a new denied file is readable", round);
	}
	make_directory(path_of("%s/fresh", world->project), 0755);
	make_repository(path_of("%s/fresh/.git", world->project));
	INSIDE(trial, "$ATTACK", "write", "fresh/.git/config", "fresh/.git/hooks/pre-commit");
	expect(trial, !strstr(trial->outcome.out, "REACHED"), "a new repository's configuration is writable");
	make_file(path_of("%s/plain.txt", world->project), world->token, 0644);
	INSIDE(trial, "$ATTACK", "read", "plain.txt");
	expect(trial, strstr(trial->outcome.out, "REACHED") != NULL, "control: a plain file is hidden");
	make_file(path_of("%s/berm.yml", world->project), "version: 1\nfiles:\n  deny: [plain.txt]\n", 0644);
	expect(trial, is_hidden(trial, "plain.txt"), "a changed policy is not honoured");
	unlink(path_of("%s/berm.yml", world->project));
	BERM(trial, "run", "--deny=plain.txt", "--", "$ATTACK", "read", "plain.txt");
	expect(trial, !strstr(trial->outcome.out, "REACHED"), "another flag is not honoured");
	/* A file becomes a directory, a directory a link. */
	unlink(path_of("%s/.env", world->project));
	make_directory(path_of("%s/.env", world->project), 0755);
	make_filef(world->token, 0644, "%s/.env/inner", world->project);
	expect(trial, is_hidden(trial, ".env/inner"), "a directory in place of a denied file is readable");
	rename(directory, path_of("%s/src/moved", world->project));
	make_link(world->outside, directory);
	INSIDE(trial, "$ATTACK", "read", "src/moved/.env.3", "src/deep/secret");
	expect(trial, !strstr(trial->outcome.out, "REACHED"), "after a swap something is readable: %s", trial->outcome.out);
}

/* The promise in one line, as a user would try it: in a home of the case's own, so that the real
 * one keeps its keys. */
static void must_show(struct trial *trial)
{
	struct world world = { 0 };
	if (!own_home(&trial->world)) {
		skip(trial, "the host refuses a mount namespace of the case's own");
		return;
	}
	world_make(&world, trial->world.home, trial->world.created);
	trial->world = world;
	make_directory(path_of("%s/.ssh", world.home), 0700);
	make_file(path_of("%s/.ssh/id_rsa", world.home), world.token, 0600);
	make_file(path_of("%s/berm-escape-visible", world.home), world.token, 0600);
	trial_variable(trial, "AWS_SECRET_ACCESS_KEY=$TOKEN");
	trial_victim(trial);
	BARE(trial, "/bin/sh", "-c", "cat ~/.ssh/id_rsa; ls ~; ps -e");
	expect(trial, strstr(trial->outcome.out, world.token) != NULL, "control: the key cannot be read");
	expect(trial, strstr(trial->outcome.out, "berm-escape-visible") != NULL, "control: the home is not listed");
	expect(trial, strstr(trial->outcome.out, path_of("%d ", trial->victim)) != NULL,
	       "control: ps does not show the process");
	INSIDE(trial, "/bin/sh", "-c",
	       "cat ~/.ssh/id_rsa .env /etc/shadow; echo $AWS_SECRET_ACCESS_KEY; ls ~; ps -e; kill -9 1; echo still here");
	const char *out = trial->outcome.out;
	expect(trial, strstr(out, "still here") != NULL, "the command did not get to its end: %.300s", trial->outcome.err);
	expect(trial, !strstr(out, world.token) && !strstr(trial->outcome.err, world.token), "a secret came out");
	expect(trial, !strstr(out, "root:"), "/etc/shadow came out");
	expect(trial, !strstr(out, "berm-escape-visible"), "the home's listing shows the host's files");
	expect(trial, !strstr(out, path_of("%d ", trial->victim)), "ps shows a host process");
	expect(trial, is_alive(trial->victim), "a host process is gone");
	world_remove(&world);
}

const struct escape_case cases_launch[] = {
	{ 36, "the state directory replaced by a symlink", 0, NULL, { NULL }, NULL, state_is_link, 15 },
	{ 37, "a state directory made by another user", NEED_ROOT, NULL, { NULL }, NULL, foreign_state, 0 },
	{ 103, "a required mechanism is absent: refused", 0, NULL, { NULL }, NULL, mechanism_absent, 60 },
	{ 114, "project = home, /, an ancestor, a system directory", 0, NULL, { NULL }, NULL, unfit_projects, 0 },
	{ 115, "as root: shadow, core_pattern, root-only files", NEED_ROOT, NULL, { NULL }, NULL, root_reach, 20 },
	{ 59, "a project policy that widens", 0, NULL, { NULL }, NULL, widening_policy, 0 },
	{ 155, "FIFOs, huge files and loops where a launch reads", ABOUT_LAUNCHER, NULL, { NULL }, NULL, special_files, 20 },
	{ 156, "state reset on a home that the command prepared", NEED_WALL, NULL, { NULL }, NULL, hostile_home, 0 },
	{ 157, "grants of /, /proc, /sys, /dev, /run and of berm's state", 0, NULL, { NULL }, NULL, kernel_trees, 0 },
	{ 158, "a project in a denied place", 0, NULL, { NULL }, NULL, project_in_denied_place, 0 },
	{ 118, "what changed since the last run", 0, NULL, { NULL }, NULL, stored_plan, 15 },
	{ 142, "the promise in one line: cat, ls, ps, kill", NEED_WALL, NULL, { NULL }, NULL, must_show, 0 },
	{ 143, "a starved launcher fails closed", 0, NULL, { NULL }, NULL, starved, 40 },
	{ 144, "state, policy or HOME inside the writable set", 0, NULL, { NULL }, NULL, own_directories_in_project, 0 },
	{ 145, "the project in the home and in /tmp", 0, NULL, { NULL }, NULL, usual_places, 0 },
	{ 146, "the project entered through a symlink", 0, NULL, { NULL }, NULL, by_symlink, 0 },
	{ 147, "state with an open umask or mode", 0, NULL, { NULL }, NULL, open_state, 0 },
	{ 0 },
};
