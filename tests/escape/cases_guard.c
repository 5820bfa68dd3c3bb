/* SPDX-License-Identifier: Apache-2.0 */
/* Cases on protected names that do not exist at launch, with `--strict`. */
#include "harness.h"

#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static char *project_path(struct trial *trial, const char *name)
{
	return path_of("%s/%s", trial->world.project, name);
}

static void be_strict(struct trial *trial)
{
	trial_option(trial, "--strict");
}

static bool is_on_host(struct trial *trial, const char *name)
{
	struct stat info;
	return lstat(project_path(trial, name), &info) == 0;
}

static void names_in_root(struct trial *trial)
{
	be_strict(trial);
	CONTAIN(trial, "make", ".vscode", ".mcp.json", ".claude", ".codex", ".gemini");
	CONTAIN(trial, "make", "opencode.json", "berm.yml", ".envrc", ".husky", ".idea", "x.code-workspace");
	CONTAIN(trial, "make", "mise.toml", ".devcontainer", "lefthook.yml", ".pre-commit-config.yaml", ".exrc");
}

static void empty_git(struct trial *trial)
{
	remove_tree(project_path(trial, ".git/hooks"));
	unlink(project_path(trial, ".git/info/attributes"));
	mkdir(project_path(trial, ".git/info"), 0755);
}

static void names_in_git(struct trial *trial)
{
	be_strict(trial);
	CONTAIN(trial, "make", ".git/commondir", ".git/config.worktree", ".git/hooks", ".git/info/attributes");
	expect(trial, !is_on_host(trial, ".git/commondir") && !is_on_host(trial, ".git/hooks"), "a name is in .git");
}

static void nest_project(struct trial *trial)
{
	make_directory(project_path(trial, "packages"), 0755);
	make_directory(project_path(trial, "packages/a"), 0755);
	make_directory(project_path(trial, "packages/a/.vscode"), 0755);
	make_file(project_path(trial, "packages/a/.vscode/tasks.json"), "{}\n", 0644);
}

/* A subproject that holds such a name is looked into too; one that holds none is not. */
static void names_in_subprojects(struct trial *trial)
{
	be_strict(trial);
	CONTAIN(trial, "make", "packages/a/.mcp.json", "packages/a/.claude");
	INSIDE(trial, "/bin/sh", "-c", "mkdir -p template/.vscode && echo x >template/.mcp.json && echo made");
	expect(trial, strstr(trial->outcome.out, "made") != NULL, "a template cannot be made: %.300s", trial->outcome.err);
}

static void holders(struct trial *trial)
{
	be_strict(trial);
	CONTAIN(trial, "holder", ".github", "hooks");
	CONTAIN(trial, "holder", ".hg", "hgrc");
	CONTAIN(trial, "holder", ".claude", "settings.json");
	CONTAIN(trial, "make", ".github/hooks", ".hg/hgrc");
}

/* The control stops at the first win of each kind, however long a busy machine takes for it. */
static void races(struct trial *trial)
{
	const char *tries = getenv("BERM_LONG") ? "15000" : getenv("CI") ? "1000" : "200";
	trial_renew(trial);
	BARE(trial, "$ATTACK", "race", "1000000");
	expect(trial, strstr(trial->outcome.out, "REACHED race:path-open\n") && strstr(trial->outcome.out, "END\n"),
	       "control: it ended early: %.300s", trial->outcome.out);
	expect(trial, !strstr(trial->outcome.out, "DENIED"), "control: a race is never won: %.1500s", trial->outcome.out);
	trial_renew(trial);
	be_strict(trial);
	INSIDE(trial, "$ATTACK", "race", tries);
	expect(trial, strstr(trial->outcome.out, "END\n") != NULL, "it ended early: %.300s", trial->outcome.err);
	expect(trial, !strstr(trial->outcome.out, "REACHED"), "a race was won: %.1500s", trial->outcome.out);
	expect(trial, !is_on_host(trial, ".mcp.json") && !is_on_host(trial, ".vscode") && !is_on_host(trial, ".git/commondir"),
	       "a name is left");
}

/* Everyday tools make the names; a process of the host looks for them all the time. */
static const char tools[] =
	"mkdir -p src/d/.vscode; echo x >src/f; tar cf src/t.tar -C src/d .vscode; "
	"for i in 1 2 3 4 5; do echo x >.mcp.json; mkdir .vscode; mv src/f .envrc; ln src/f opencode.json; ln -s src .claude; "
	"cp -r src/d/.vscode .; tar xf src/t.tar; cp src/f berm.yml; install -m 644 src/f .exrc; "
	"python3 -c 'import os; os.makedirs(\".codex\"); open(\".codex/config.toml\", \"w\")'; "
	"rm -rf .mcp.json .vscode .envrc opencode.json .claude berm.yml .exrc .codex; echo x >src/f; done 2>/dev/null; echo "
	"END";

static bool poll_for_names(struct trial *trial, pid_t until)
{
	static const char *const names[] = { ".mcp.json", ".vscode",  ".envrc", "opencode.json",
					     ".claude",	  "berm.yml", ".exrc",	".codex" };
	bool is_seen = false;
	while (waitpid(until, NULL, WNOHANG) == 0)
		for (size_t i = 0; i < sizeof names / sizeof *names; i++)
			is_seen |= is_on_host(trial, names[i]);
	return is_seen;
}

static void seen_by_host(struct trial *trial)
{
	pid_t pid = fork();
	if (pid == 0) {
		BARE(trial, "/bin/sh", "-c", tools);
		_exit(0);
	}
	expect(trial, poll_for_names(trial, pid), "control: no name was seen without berm");
	trial_renew(trial);
	be_strict(trial);
	pid = fork();
	if (pid == 0) {
		INSIDE(trial, "/bin/sh", "-c", tools);
		_exit(strstr(trial->outcome.out, "END") ? 0 : 1);
	}
	expect(trial, !poll_for_names(trial, pid), "a name was seen on the host");
}

/* Landlock of the program's own: without it the deputy makes the names, with it Landlock
 * refuses. */
static void own_restriction(struct trial *trial)
{
	be_strict(trial);
	INSIDE(trial, "$ATTACK", "make", "plain");
	expect(trial, strstr(trial->outcome.out, "REACHED exclusive") != NULL, "control: the deputy makes nothing: %.300s",
	       trial->outcome.out);
	BARE(trial, "$ATTACK", "self-restricted", "plain");
	expect(trial, strstr(trial->outcome.out, "DENIED exclusive") && !strstr(trial->outcome.out, "REACHED"),
	       "control: Landlock does not refuse: %.300s", trial->outcome.out);
	INSIDE(trial, "$ATTACK", "self-restricted", "plain");
	expect(trial, strstr(trial->outcome.out, "DENIED exclusive") && !strstr(trial->outcome.out, "REACHED"),
	       "served past its own Landlock: %.300s", trial->outcome.out);
	INSIDE(trial, "/bin/sh", "-c", "$ATTACK self-restricted plain >/dev/null; mkdir later && echo made");
	expect(trial, strstr(trial->outcome.out, "made") != NULL, "its parent is not served any more");
}

/* Landlock that allows names in one directory: they are made there, and nowhere else, however the
 * program tries to look like another one. */
static void own_narrowing(struct trial *trial)
{
	static const char *const everyone[] = { "self", "thread", "orphan", "sibling", "limits" };
	be_strict(trial);
	INSIDE(trial, "$ATTACK", "narrowed", "src", "free");
	for (size_t i = 0; i < sizeof everyone / sizeof *everyone; i++)
		expect(trial, strstr(trial->outcome.out, path_of("REACHED %s-exclusive", everyone[i])) != NULL,
		       "control: %s makes nothing without rules: %.600s", everyone[i], trial->outcome.out);
	BARE(trial, "$ATTACK", "narrowed", "src");
	expect(trial, strstr(trial->outcome.out, "DENIED self-exclusive") && !strstr(trial->outcome.out, "REACHED"),
	       "control: Landlock does not refuse: %.300s", trial->outcome.out);
	INSIDE(trial, "$ATTACK", "narrowed", "src");
	expect(trial, !strstr(trial->outcome.out, "REACHED"), "served past its own Landlock: %.600s",
	       strstr(trial->outcome.out, "REACHED"));
	for (size_t i = 0; i < sizeof everyone / sizeof *everyone; i++) {
		expect(trial, strstr(trial->outcome.out, path_of("DENIED %s-exclusive", everyone[i])) != NULL,
		       "%s did not try: %.600s", everyone[i], trial->outcome.out);
		expect(trial, strstr(trial->outcome.out, path_of("%s works inside", everyone[i])) != NULL,
		       "%s cannot make what its rules allow: %.600s", everyone[i], trial->outcome.out);
	}
	expect(trial, strstr(trial->outcome.out, "widened works inside") != NULL, "a second layer makes nothing");
	INSIDE(trial, "/bin/sh", "-c",
	       "i=0; while [ $i -lt 60 ]; do i=$((i+1)); $ATTACK narrowed src; done >/dev/null; mkdir later && echo made");
	expect(trial, strstr(trial->outcome.out, "made") != NULL, "after many layers nothing is made");
}

static void own_rules(struct trial *trial)
{
	be_strict(trial);
	make_file(path_of("%s/own.yml", trial->world.base), "version: 1\nfiles: {protect: [own.cfg, ci/steps]}\n", 0600);
	trial_option(trial, "--policy=$BASE/own.yml");
	CONTAIN(trial, "make", "src/own.cfg", "own.cfg");
	CONTAIN(trial, "holder", "ci", "steps");
}

static void with_own_rules(struct trial *trial)
{
	be_strict(trial);
	make_file(path_of("%s/own.yml", trial->world.base), "version: 1\nfiles: {protect: [own.cfg, \"**/ci/steps\"]}\n", 0600);
	trial_option(trial, "--policy=$BASE/own.yml");
}

/* A pattern that begins with two stars holds wherever it matches, whatever is moved there. */
static void own_rules_below(struct trial *trial)
{
	with_own_rules(trial);
	CONTAIN(trial, "holder", "ci", "steps");
	CONTAIN(trial, "holder", "src/ci", "steps");
	CONTAIN(trial, "make", "src/own.cfg");
}

enum { KERNEL_TELLS = 4095, PLACE_LENGTH = 3900, COMPONENT = 200 };

/* A subproject whose path the kernel tells, but not that of a name in it. */
static void nest_deep(struct trial *trial)
{
	char name[COMPONENT + 3];
	size_t left = PLACE_LENGTH - strlen(trial->world.project);
	int at = open(trial->world.project, O_PATH | O_DIRECTORY | O_CLOEXEC);
	while (at >= 0 && left > 0) {
		size_t bytes = left > COMPONENT + 2 ? COMPONENT : left - 1;
		int below;
		memset(name, 'd', bytes);
		name[bytes] = '\0';
		mkdirat(at, name, 0755);
		below = openat(at, name, O_PATH | O_DIRECTORY | O_CLOEXEC);
		close(at);
		at = below;
		left -= bytes + 1;
	}
	expect(trial, at >= 0 && mkdirat(at, ".pi", 0755) == 0, "control: the deep subproject is not there");
	close(at);
}

static void long_paths(struct trial *trial)
{
	static const char ending[] = ".code-workspace";
	char place[16], below[16], name[NAME_MAX + 1];
	memset(name, 'w', NAME_MAX);
	memcpy(name + NAME_MAX - (sizeof ending - 1), ending, sizeof ending);
	snprintf(place, sizeof place, "%d", PLACE_LENGTH);
	snprintf(below, sizeof below, "%d", 2 * KERNEL_TELLS);
	with_own_rules(trial);
	CONTAIN(trial, "long", place, "make", name, ".mcp.json");
	CONTAIN(trial, "long", place, "holder", ".github", "hooks");
	CONTAIN(trial, "long", below, "make", "own.cfg");
	CONTAIN(trial, "long", below, "holder", "ci", "steps");
	/* Names that no rule is about are made, as without a sandbox. */
	trial_renew(trial);
	INSIDE(trial, "$ATTACK", "long", below, "make", "plain", ".vscode");
	expect(trial, strstr(trial->outcome.out, "REACHED exclusive") && !strstr(trial->outcome.out, "DENIED"),
	       "an ordinary name is refused: %.600s", trial->outcome.out);
	CONTAIN(trial, "long-race", getenv("BERM_LONG") ? "15000" : "400");
}

/* Names that another run has made fall under the same rules. */
static void two_runs(struct trial *trial)
{
	pid_t pid;
	be_strict(trial);
	pid = START(
		trial, "/bin/sh", "-c",
		"while :; do mkdir .github; rmdir .github; mkdir h; mv h .github; mv .github h; rm -rf h; done 2>/dev/null");
	INSIDE(trial, "/bin/sh", "-c",
	       "i=0; while [ $i -lt 300 ]; do i=$((i+1)); mkdir .github/hooks h/hooks; done 2>/dev/null; echo END");
	expect(trial, strstr(trial->outcome.out, "END") != NULL, "it ended with %d", trial->outcome.exit_code);
	kill(pid, SIGKILL);
	wait_exit(pid, 5000);
	expect(trial, !is_on_host(trial, ".github/hooks"), ".github/hooks exists");
	/* Each run looks for what the other might have made. */
	trial_renew(trial);
	pid = START(trial, "$ATTACK", "race", "1000000");
	INSIDE(trial, "$ATTACK", "race", getenv("BERM_LONG") ? "15000" : "100");
	expect(trial, strstr(trial->outcome.out, "END\n") && !strstr(trial->outcome.out, "REACHED"),
	       "a race of two runs was won: %.1500s", trial->outcome.out);
	kill(pid, SIGKILL);
	wait_exit(pid, 5000);
}

/* The deputy cannot be ended, read or traced from inside; without init nothing runs. */
static void deputy_is_shielded(struct trial *trial)
{
	be_strict(trial);
	INSIDE(trial, "/bin/sh", "-c",
	       "kill -9 1; kill -STOP 1; cat /proc/1/environ /proc/1/maps; ls /proc/1/fd; echo x >.mcp.json; mkdir ok && echo "
	       "made");
	expect(trial, strstr(trial->outcome.out, "made") != NULL, "the guard does not serve any more: %.300s",
	       trial->outcome.err);
	expect(trial, !is_on_host(trial, ".mcp.json"), "a name was made");
	expect(trial, !strstr(trial->outcome.out, "/"), "init can be read: %.300s", trial->outcome.out);
}

/* berm and init are killed at various moments while names are tried: none is ever made. */
static void killed(struct trial *trial)
{
	be_strict(trial);
	for (int i = 0; i < 12; i++) {
		pid_t pid = START(trial, "/bin/sh", "-c",
				  "while :; do echo x >.mcp.json; mkdir .vscode; mv src/main.c .envrc; done 2>/dev/null");
		usleep(3000 * (unsigned)i + 5000);
		kill(pid, SIGKILL);
		wait_exit(pid, 5000);
		expect(trial, !is_on_host(trial, ".mcp.json") && !is_on_host(trial, ".vscode") && !is_on_host(trial, ".envrc"),
		       "a name was made when berm was killed");
	}
}

/* Creating calls do what they do without the guard. */
static void faithful(struct trial *trial)
{
	static char plain[sizeof trial->outcome.out];
	INSIDE(trial, "$ATTACK", "faithful");
	memcpy(plain, trial->outcome.out, sizeof plain);
	expect(trial, strstr(plain, "umask afterwards") != NULL, "control: it ended early: %.300s", plain);
	trial_renew(trial);
	be_strict(trial);
	INSIDE(trial, "$ATTACK", "faithful");
	if (expect(trial, strcmp(plain, trial->outcome.out) == 0, "creating calls differ"))
		return;
	for (char *left = strtok(plain, "\n"), *right = trial->outcome.out; left; left = strtok(NULL, "\n")) {
		size_t length = strcspn(right, "\n");
		expect(trial, strlen(left) == length && memcmp(left, right, length) == 0, "without: %s; with: %.*s", left,
		       (int)length, right);
		right += length + (right[length] != '\0');
	}
}

static const char everyday[] =
	"set -e; export GIT_CONFIG_GLOBAL=/dev/null GIT_AUTHOR_DATE='2026-01-01T00:00:00Z' "
	"GIT_COMMITTER_DATE='2026-01-01T00:00:00Z';"
	"G='git -c user.name=n -c user.email=e@example.org'; rm -rf w; mkdir w; cd w; git init -q -b main r; cd r;"
	"mkdir -p a/b; for i in 1 2 3 4 5 6 7 8; do echo $i >a/b/$i; done; ln -s a/b l; $G add .; $G commit -qm one;"
	"git checkout -qb side; echo x >a/b/1; git mv a/b/2 a/two; $G commit -qam two; git checkout -q main; echo y >a/b/3;"
	"$G commit -qam three; $G merge -q side -m merged; echo z >a/b/4; $G stash -q; $G stash pop -q; $G commit -qam four;"
	"git worktree add -q ../wt side; git worktree remove ../wt; git checkout -qb r2 side; $G rebase -q main;"
	"git clone -q . ../c; cd ..; tar cf t.tar -C r a l; mkdir x; tar xf t.tar -C x; cp -a x y; cp -al x z; mv y y2; rm -rf "
	"x;"
	"sed -i s/z/q/ y2/a/b/5; touch y2/{1,2}; mkdir -p y2/m/n; mv y2/m y2/a/; find . -name .git -prune -o -print | sort | "
	"xargs ls -ld "
	"--time-style=+ | awk '{print $1,$NF}'; git -C r log --oneline | wc -l; git -C c status --short; echo END";

static void programs(struct trial *trial)
{
	static char bare[sizeof trial->outcome.out];
	if (access("/usr/bin/git", X_OK)) {
		skip(trial, "git is not installed");
		return;
	}
	BARE(trial, "/bin/bash", "-c", everyday);
	expect(trial, strstr(trial->outcome.out, "END") != NULL, "control: %.500s", trial->outcome.err);
	memcpy(bare, trial->outcome.out, sizeof bare);
	trial_renew(trial);
	be_strict(trial);
	INSIDE(trial, "/bin/bash", "-c", everyday);
	expect(trial, strcmp(bare, trial->outcome.out) == 0,
	       "everyday programs differ: %.400s\nbare:\n%.1500s\ninside:\n%.1500s", trial->outcome.err, bare,
	       trial->outcome.out);
}

static const char threads[] =
	"import threading, os, sqlite3\n"
	"def work(n):\n"
	"    for i in range(40):\n"
	"        os.makedirs('t/%d/%d' % (n, i)); open('t/%d/%d/f' % (n, i), 'w').write('x')\n"
	"        os.rename('t/%d/%d/f' % (n, i), 't/%d/%d/g' % (n, i))\n"
	"ts = [threading.Thread(target=work, args=(n,)) for n in range(64)]\n"
	"[t.start() for t in ts]; [t.join() for t in ts]\n"
	"db = sqlite3.connect('db'); db.execute('pragma journal_mode=wal'); db.execute('create table t(x)')\n"
	"for i in range(50): db.execute('insert into t values(1)'); db.commit()\n"
	"print(sum(len(f) for _, _, f in os.walk('t')), db.execute('select count(*) from t').fetchone()[0])\n";

/* Files and directories that another thread makes and removes all the time: errors are those of the
 * kernel, never a refusal. */
static const char coming_and_going[] =
	"import collections, errno, os, threading, time\n"
	"over = False; seen = collections.Counter()\n"
	"def quietly(call, *arguments):\n"
	"    try: call(*arguments)\n"
	"    except OSError as e: seen[errno.errorcode[e.errno]] += 1\n"
	"    else: seen['ok'] += 1\n"
	"def make(name, flags): os.close(os.open(name, flags | os.O_CREAT | os.O_RDWR))\n"
	"def directory():\n"
	"    while not over:\n"
	"        quietly(os.mkdir, 'p')\n"
	"        for name in ('x', 'f', 'g', 'l'): quietly(os.rmdir, 'p/' + name); quietly(os.unlink, 'p/' + name)\n"
	"        quietly(os.rmdir, 'p')\n"
	"def file():\n"
	"    while not over: quietly(make, 'f', 0); quietly(os.unlink, 'f')\n"
	"threads = [threading.Thread(target=directory), threading.Thread(target=file)]\n"
	"[t.start() for t in threads]; open('s', 'w').close(); end = time.time() + 2\n"
	"while time.time() < end:\n"
	"    quietly(os.mkdir, 'p/x'); quietly(make, 'p/f', os.O_EXCL); quietly(os.link, 's', 'p/l')\n"
	"    quietly(make, 'r', 0); quietly(os.rename, 'r', 'p/g'); quietly(make, 'f', 0); quietly(make, 'f', os.O_EXCL)\n"
	"over = True; [t.join() for t in threads]\n"
	"with open('out', 'w') as out: os.write(os.open('/dev/fd/%d' % out.fileno(), os.O_CREAT | os.O_WRONLY), b'x')\n"
	"print('busy' if seen['ok'] > 100 and seen['ENOENT'] > 10 else 'idle', seen['EACCES'], os.stat('out').st_size)\n";

static void names_come_and_go(struct trial *trial)
{
	if (access("/usr/bin/python3", X_OK)) {
		skip(trial, "python3 is not installed");
		return;
	}
	be_strict(trial);
	INSIDE(trial, "/usr/bin/python3", "-c", coming_and_going);
	expect(trial, strcmp(trial->outcome.out, "busy 0 1\n") == 0, "refused although allowed: %.100s %.300s",
	       trial->outcome.out, trial->outcome.err);
}

static void many_threads(struct trial *trial)
{
	if (access("/usr/bin/python3", X_OK)) {
		skip(trial, "python3 is not installed");
		return;
	}
	be_strict(trial);
	INSIDE(trial, "/usr/bin/python3", "-c", threads);
	expect(trial, strcmp(trial->outcome.out, "2560 50\n") == 0, "64 threads made %.100s %.300s", trial->outcome.out,
	       trial->outcome.err);
}

/* The refusal is said, once, with the program that obeys the name and the next step. */
static void refusal_is_said(struct trial *trial)
{
	be_strict(trial);
	INSIDE(trial, "/bin/sh", "-c", "mkdir .vscode; mkdir .vscode; echo x >.mcp.json; exit 0");
	expect(trial,
	       strstr(trial->outcome.err, "not created: .vscode (obeyed by VS Code") != NULL &&
		       strstr(trial->outcome.err, "--allow-write=.vscode"),
	       "the refusal is not said: %.300s", trial->outcome.err);
	trial_option(trial, "--allow-write=.vscode");
	INSIDE(trial, "/bin/sh", "-c", "mkdir .vscode && echo x >.vscode/tasks.json && echo made");
	expect(trial, strstr(trial->outcome.out, "made") != NULL, "the option does not help: %.300s", trial->outcome.err);
}

const struct escape_case cases_guard[] = {
	{ 250, "absent names in the project's root, in every way", 0, NULL, { NULL }, NULL, names_in_root, 30 },
	{ 251, "absent names in .git", 0, empty_git, { NULL }, NULL, names_in_git, 20 },
	{ 252, "absent names in a subproject", 0, nest_project, { NULL }, NULL, names_in_subprojects, 20 },
	{ 253, "a directory with the name is put where a host looks", 0, NULL, { NULL }, NULL, holders, 20 },
	{ 254, "races between the look at a name and its making", 0, nest_project, { NULL }, NULL, races, 600 },
	{ 255, "a process of the host looks for the names meanwhile", 0, NULL, { NULL }, NULL, seen_by_host, 30 },
	{ 256,
	  "a program with its own Landlock is not served past it",
	  ABOUT_LAUNCHER,
	  NULL,
	  { NULL },
	  NULL,
	  own_restriction,
	  20 },
	{ 257, "a user's own entry, wherever it matches", 0, NULL, { NULL }, NULL, own_rules, 20 },
	{ 258, "two runs in one project", NEED_WALL, nest_project, { NULL }, NULL, two_runs, 600 },
	{ 259, "the deputy is out of reach", NEED_WALL, NULL, { NULL }, NULL, deputy_is_shielded, 0 },
	{ 260, "berm is killed while names are tried", NEED_WALL, NULL, { NULL }, NULL, killed, 60 },
	{ 261, "creating calls are the kernel's own, line by line", ABOUT_LAUNCHER, NULL, { NULL }, NULL, faithful, 20 },
	{ 262, "everyday programs, bare and inside", ABOUT_LAUNCHER, NULL, { NULL }, NULL, programs, 60 },
	{ 263, "64 threads and a database", ABOUT_LAUNCHER, NULL, { NULL }, NULL, many_threads, 60 },
	{ 264, "the refusal is said, and what to do", NEED_WALL, NULL, { NULL }, NULL, refusal_is_said, 0 },
	{ 270,
	  "a program with its own Landlock makes what that allows, and nothing else",
	  ABOUT_LAUNCHER,
	  NULL,
	  { NULL },
	  NULL,
	  own_narrowing,
	  60 },
	{ 273, "names that come and go while others are made", ABOUT_LAUNCHER, NULL, { NULL }, NULL, names_come_and_go, 60 },
	{ 271, "a user's own entry with two stars, and what is moved there", 0, NULL, { NULL }, NULL, own_rules_below, 20 },
	{ 272, "paths that are longer than the kernel tells", 0, nest_deep, { NULL }, NULL, long_paths, 120 },
	{ 0 },
};
