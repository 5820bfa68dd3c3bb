/* SPDX-License-Identifier: Apache-2.0 */
/* Cases on which rules hold: a command must not choose them for the next launch. */
#include "harness.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* A subdirectory with a file that a rule of the outer project hides, one that it locks, and the
 * attacker's program. */
static void make_inner(struct trial *trial, const char *name)
{
	const char *project = trial->world.project;
	make_directory(path_of("%s/%s", project, name), 0755);
	make_filef(trial->world.token, 0644, "%s/%s/hidden", project, name);
	make_filef("locked", 0644, "%s/%s/locked", project, name);
	copy_file(attack_path, path_of("%s/%s/attack", project, name), 0755);
}

static void make_user_policy(struct trial *trial, const char *text)
{
	make_directory(path_of("%s/berm", trial->world.config), 0755);
	make_file(path_of("%s/berm/berm.yml", trial->world.config), text, 0600);
}

static void enter(struct trial *trial, const char *name)
{
	trial->directory = strdup(path_of("%s/%s", trial->world.project, name));
}

/* The files of the current directory are reached without berm. */
static void expect_reached(struct trial *trial)
{
	BARE(trial, "./attack", "read", "hidden");
	expect(trial, strstr(trial->outcome.out, "REACHED") != NULL, "control: the file cannot be read");
	BARE(trial, "./attack", "write", "locked");
	expect(trial, strstr(trial->outcome.out, "REACHED") != NULL, "control: the file cannot be written");
}

static void expect_kept(struct trial *trial, const char *situation)
{
	INSIDE(trial, "./attack", "read", "hidden");
	expect(trial, strstr(trial->outcome.out, "END") != NULL, "%s: the command did not run: %.300s", situation,
	       trial->outcome.err);
	expect(trial, !strstr(trial->outcome.out, "REACHED"), "%s: the hidden file is readable", situation);
	INSIDE(trial, "./attack", "write", "locked");
	expect(trial, !strstr(trial->outcome.out, "REACHED"), "%s: the locked file is writable", situation);
}

/* True if a launch here would take this directory for the project. */
static bool is_project(struct trial *trial)
{
	BERM(trial, "plan", "--json");
	return strstr(trial->outcome.out, path_of("\"project\": \"%s\"", trial->directory)) != NULL;
}

/* One command plants a marker in a subdirectory; the next is launched there. */
static void plant_and_return(struct trial *trial, const char *name, const char *plant)
{
	make_inner(trial, name);
	trial->directory = NULL;
	INSIDE(trial, "/bin/sh", "-c", plant);
	expect(trial, trial->outcome.exit_code == 0, "control: `%s` ended with %d: %.200s", plant, trial->outcome.exit_code,
	       trial->outcome.err);
	enter(trial, name);
	expect_reached(trial);
	expect(trial, is_project(trial), "control: after `%s` the subdirectory is not the project", plant);
	expect_kept(trial, plant);
}

static void rules_of_the_user(struct trial *trial)
{
	make_user_policy(trial, "version: 1\nfiles:\n  deny: [a/hidden, b/hidden, c/hidden, d/hidden]\n"
				"  protect: [a/locked, b/locked, c/locked, d/locked]\n"
				"  write: [locked]\n  except: [./hidden]\n");
	plant_and_return(trial, "a", "mkdir a/.git");
	plant_and_return(trial, "b", "echo 'gitdir: ../.git' > b/.git");
	plant_and_return(trial, "c", "ln -s nowhere c/.git");
	plant_and_return(trial, "d", "echo 'version: 1' > d/berm.yml");
}

static void rules_of_the_outer_project(struct trial *trial)
{
	make_file(path_of("%s/berm.yml", trial->world.project),
		  "version: 1\nfiles:\n  deny: [a/hidden, d/hidden]\n  protect: [a/locked, d/locked]\n", 0644);
	plant_and_return(trial, "a", "mkdir a/.git");
	plant_and_return(trial, "d", "printf 'version: 1\\nfiles: {except: [hidden], write: [locked]}\\n' > d/berm.yml");
}

/* More markers than are looked at: the outermost project is not the one that is left out. */
static void many_markers(struct trial *trial)
{
	char name[64] = "n";
	make_user_policy(trial, "version: 1\nfiles:\n  deny: [\"n/**/hidden\"]\n  protect: [\"n/**/locked\"]\n");
	make_directory(path_of("%s/n", trial->world.project), 0755);
	for (int i = 0; i < 19; i++) {
		strcat(name, "/n");
		make_directory(path_of("%s/%s", trial->world.project, name), 0755);
	}
	strcat(name, "/x");
	plant_and_return(trial, name,
			 "d=n; for i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19; do mkdir $d/.git; d=$d/n; done; "
			 "mkdir $d/x/.git");
}

/* Trusts a policy in a directory, deletes it, and lets a command write it again with its
 * content. */
static void expect_dropped(struct trial *trial, const char *name, const char *rewrite)
{
	const char *project = trial->world.project;
	char *policy = strdup(path_of("%s/%sberm.yml", project, name));
	char *text = strdup(path_of("version: 1\nfiles:\n  read: [%s]\n", trial->world.outside));

	BARE(trial, "$ATTACK", "read", "$SECRET");
	expect(trial, strstr(trial->outcome.out, "REACHED") != NULL, "control: the secret cannot be read");
	make_file(policy, text, 0644);
	make_filef(text, 0644, "%s/copy", project);
	BERM(trial, "trust", "--yes", path_of("%s/%s.", project, name));
	BERM(trial, "run", path_of("--project=%s/%s.", project, name), "--", "/bin/cat", "$SECRET");
	expect(trial, strstr(trial->outcome.out, trial->world.token) != NULL,
	       "control: the trusted policy grants nothing: %.200s", trial->outcome.err);
	unlink(policy);
	if (name[0])
		rmdir(path_of("%s/%s", project, name));
	INSIDE(trial, "/bin/sh", "-c", rewrite);
	expect(trial, strcmp(file_text(policy), text) == 0, "control: the command could not write it again");
	BERM(trial, "run", path_of("--project=%s/%s.", project, name), "--", "/bin/cat", "$SECRET");
	expect(trial, !strstr(trial->outcome.out, trial->world.token), "the content counts as trusted");
	unlink(policy);
}

static void trust_of_the_deleted(struct trial *trial)
{
	/* At any other level the sweep takes what the command wrote. */
	make_user_policy(trial, "version: 1\nfiles: {guard: launch}\n");
	expect_dropped(trial, "", "cp copy berm.yml");
	make_directory(path_of("%s/sub", trial->world.project), 0755);
	expect_dropped(trial, "sub/", "mkdir sub && cp copy sub/berm.yml");
}

/* The outer project loses its marker: then nothing would say that it encloses the inner one. */
static void removed_marker(struct trial *trial)
{
	static const char *const makers[] = { "mkdir .git", "echo x > .git", "ln -s nowhere .git" };
	make_user_policy(trial, "version: 1\nfiles:\n  deny: [a/hidden]\n  protect: [a/locked]\n");
	for (size_t i = 0; i < sizeof makers / sizeof makers[0]; i++) {
		trial->directory = NULL;
		trial_renew(trial);
		BARE(trial, "/bin/sh", "-c", path_of("rm -rf .git && %s && rm -r .git && %s", makers[i], makers[i]));
		expect(trial, trial->outcome.exit_code == 0, "control: the marker cannot be removed");
		make_inner(trial, "a");
		INSIDE(trial, "/bin/sh", "-c", "rm -rf .git; mv .git x; mkdir y && mv -T y .git; mkdir a/.git");
		expect(trial, trial->outcome.exit_code == 0, "control: no marker could be planted: %.200s", trial->outcome.err);
		enter(trial, "a");
		expect_reached(trial);
		expect_kept(trial, makers[i]);
	}
}

const struct escape_case cases_rules[] = {
	{ 160, "a planted marker: the user's relative rules", 0, NULL, { NULL }, NULL, rules_of_the_user, 40 },
	{ 161, "a planted marker: the rules of the outer project", 0, NULL, { NULL }, NULL, rules_of_the_outer_project, 20 },
	{ 162, "more planted markers than are looked at", 0, NULL, { NULL }, NULL, many_markers, 20 },
	{ 164, "the outer project's marker is removed", 0, NULL, { NULL }, NULL, removed_marker, 30 },
	{ 163, "a trusted policy that was deleted and is written again", 0, NULL, { NULL }, NULL, trust_of_the_deleted, 20 },
	{ 0 },
};
