/* SPDX-License-Identifier: Apache-2.0 */
/* The escape suite's program: `escape [--user NAME] [--case N] [--part host|project] [--list]
 * [--verbose] [--self-test]`. With --user it becomes that user first, so that one ctest run covers
 * root and an unprivileged user. Exit 77: cannot run here (a failure with BERM_MUST_RUN=1). */
#include "harness.h"

#include <grp.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

enum { EXIT_SKIPPED = 77 };

static bool must_run(void)
{
	const char *value = getenv("BERM_MUST_RUN");
	return value && strcmp(value, "1") == 0;
}

static int skipped(const char *reason)
{
	fprintf(stderr, "escape: skipped: %s\n", reason);
	return must_run() ? 1 : EXIT_SKIPPED;
}

static int become_user(const char *name)
{
	struct passwd *user = getpwnam(name);
	if (!user)
		return -1;
	if (initgroups(name, user->pw_gid) || setresgid(user->pw_gid, user->pw_gid, user->pw_gid) ||
	    setresuid(user->pw_uid, user->pw_uid, user->pw_uid))
		return -1;
	/* The kernel closed /proc/self to a process that changed its user; the tests write their
	 * own uid maps. */
	if (prctl(PR_SET_DUMPABLE, 1, 0, 0, 0))
		return -1;
	return chdir("/");
}

static const char *required(const char *variable)
{
	const char *value = getenv(variable);
	if (!value || value[0] != '/' || access(value, X_OK)) {
		fprintf(stderr, "escape: %s must name a program by its absolute path\n", variable);
		exit(2);
	}
	return value;
}

static int usage(void)
{
	fputs("usage: escape [--root | --user NAME] [--case N] [--part host|project] [--list] [--verbose] [--self-test]\n"
	      "BERM and BERM_ATTACK name the program under test and the attacker.\n",
	      stderr);
	return 2;
}

static enum part part_named(const char *name)
{
	if (strcmp(name, "host") == 0)
		return PART_HOST;
	if (strcmp(name, "project") == 0)
		return PART_PROJECT;
	fprintf(stderr, "escape: --part is host or project\n");
	exit(2);
}

int main(int argc, char **argv)
{
	struct suite_options options = { .must_run = must_run() };
	const char *user = NULL;
	bool is_root_asked = false;
	for (int i = 1; i < argc; i++) {
		if (strcmp(argv[i], "--user") == 0 && i + 1 < argc)
			user = argv[++i];
		else if (strcmp(argv[i], "--root") == 0)
			is_root_asked = true;
		else if (strcmp(argv[i], "--case") == 0 && i + 1 < argc)
			options.only = atoi(argv[++i]);
		else if (strcmp(argv[i], "--part") == 0 && i + 1 < argc)
			options.part = part_named(argv[++i]);
		else if (strcmp(argv[i], "--verbose") == 0)
			options.is_verbose = true;
		else if (strcmp(argv[i], "--self-test") == 0)
			is_self_test = true;
		else if (strcmp(argv[i], "--list") == 0)
			return suite_list(), 0;
		else
			return usage();
	}
	if (is_root_asked && geteuid() != 0)
		return skipped("not root");
	if (user && geteuid() == 0 && become_user(user))
		return skipped("the test user does not exist; script/test makes it");
	own_mounts();
	berm_path = required("BERM");
	attack_path = required("BERM_ATTACK");
	return suite_run(&options);
}
