/* SPDX-License-Identifier: Apache-2.0 */
/* Cases on what git obeys, wherever it is. In each the host has a repository, the command plants
 * something, and then the host uses git: the plant must run without berm, and not with it. */
#include "harness.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* Shell scripts in the project. `evil` makes a program of that path that leaves a trace, and
 * `hook FILE` puts one in place of a hook. */
struct plant {
	const char *made; /* by the host */
	const char *planted; /* by the command */
	const char *used; /* by the host, afterwards */
};

static const char prelude[] =
	"evil() { mkdir -p \"$(dirname \"$1\")\"; printf '#!/bin/sh\\ntouch \"%s/ran\"\\n' \"$OUTSIDE\" >\"$1\""
	" && chmod 755 \"$1\"; }\n"
	"repository() { git init -q \"$1\" && git -C \"$1\" commit -q --allow-empty -m first; }\n";

static void shell(struct trial *trial, bool is_inside, const char *script)
{
	char *text = path_of("%s%s", prelude, script);
	if (is_inside)
		INSIDE(trial, "/bin/sh", "-c", text);
	else
		BARE(trial, "/bin/sh", "-c", text);
}

static bool has_run(struct trial *trial, const struct plant *plant, bool is_inside)
{
	char *trace = path_of("%s/ran", trial->world.outside);
	bool result;
	trial_renew(trial);
	remove_tree(path_of("%s/sep.git", trial->world.base));
	shell(trial, false, path_of("set -e; rm -rf .git; %s", plant->made));
	expect(trial, trial->outcome.exit_code == 0, "the host's part fails: %s: %.300s", plant->made, trial->outcome.err);
	unlink(trace);
	shell(trial, is_inside, plant->planted);
	shell(trial, false, plant->used);
	result = access(trace, F_OK) == 0;
	unlink(trace);
	return result;
}

static void try_plants(struct trial *trial, const struct plant *plants)
{
	if (access("/usr/bin/git", X_OK)) {
		skip(trial, "git is not installed");
		return;
	}
	trial_variable(trial, "GIT_CONFIG_GLOBAL=/dev/null");
	trial_variable(trial, "GIT_CONFIG_SYSTEM=/dev/null");
	trial_variable(trial, "GIT_AUTHOR_NAME=a");
	trial_variable(trial, "GIT_AUTHOR_EMAIL=a@example.org");
	trial_variable(trial, "GIT_COMMITTER_NAME=a");
	trial_variable(trial, "GIT_COMMITTER_EMAIL=a@example.org");
	trial_variable(trial, path_of("OUTSIDE=%s", trial->world.outside));
	for (; plants->made; plants++) {
		expect(trial, has_run(trial, plants, false), "control: git on the host does not run it: %s: %.300s",
		       plants->planted, trial->outcome.err);
		expect(trial, !has_run(trial, plants, true), "git on the host ran what was planted: %s", plants->planted);
	}
}

#define COMMIT "git commit -q --allow-empty -m x"

static void bare_beside(struct trial *trial)
{
#define MADE "repository x; mv x/.git .bare; rm -rf x; echo 'gitdir: ./.bare' >.git; git status"
	static const struct plant plants[] = {
		{ MADE, "evil .bare/hooks/post-commit", COMMIT },
		{ MADE, "evil e; git config core.fsmonitor ./e", "git status" },
		{ MADE, "evil e; printf '[core]\\nfsmonitor=./e\\n' >>.bare/config", "git status" },
		{ MADE, "cp -r .bare b; evil b/hooks/post-commit; mv .bare c; mv b .bare", COMMIT },
		{ MADE, "cp -r .bare b; evil b/hooks/post-commit; echo 'gitdir: b' >.git", COMMIT },
		{ MADE, "cp -r .bare b; evil b/hooks/post-commit; mv .git g; echo 'gitdir: b' >.git", COMMIT },
		{ 0 },
	};
#undef MADE
	try_plants(trial, plants);
}

static void separate_inside(struct trial *trial)
{
#define MADE "mkdir -p store/deep; repository x; git init -q --separate-git-dir=store/deep/g x; mv x/.git .git; git status"
#define NESTED "mkdir -p sub/node_modules; repository sub/x; git init -q --separate-git-dir=sub/node_modules/g sub/x"
	static const struct plant plants[] = {
		{ MADE, "evil store/deep/g/hooks/post-commit", COMMIT },
		{ MADE, "evil e; printf '[core]\\nfsmonitor=./e\\n' >>store/deep/g/config", "git status" },
		{ MADE, "cp -r store s2; evil s2/deep/g/hooks/post-commit; mv store s3; mv s2 store", COMMIT },
		{ NESTED, "evil sub/node_modules/g/hooks/post-commit", "cd sub/x && " COMMIT },
		{ NESTED, "rm -r sub/x/.git; git init -q sub/x; evil sub/x/.git/hooks/post-commit", "cd sub/x && " COMMIT },
		{ 0 },
	};
#undef MADE
#undef NESTED
	try_plants(trial, plants);
}

static void separate_outside(struct trial *trial)
{
#define MADE "repository x; git init -q --separate-git-dir=../sep.git x; mv x/.git .git; git status"
	static const struct plant plants[] = {
		{ MADE, "evil ../sep.git/hooks/post-commit", COMMIT },
		{ MADE, "evil e; printf '[core]\\nfsmonitor=%s/e\\n' \"$PWD\" >>../sep.git/config", "git status" },
		{ MADE, "cp -r ../sep.git b; evil b/hooks/post-commit; echo 'gitdir: b' >.git", COMMIT },
		{ 0 },
	};
#undef MADE
	trial_option(trial, path_of("--allow-write=%s/sep.git", trial->world.base));
	try_plants(trial, plants);
}

static void symlinked(struct trial *trial)
{
#define MADE "repository x; mv x/.git real; rm -rf x; ln -s real .git; git status"
#define PRUNED "mkdir node_modules; repository sub; mv sub/.git node_modules/g; ln -s ../way sub/.git; ln -s node_modules/g way"
	static const struct plant plants[] = {
		{ MADE, "evil real/hooks/post-commit", COMMIT },
		{ MADE, "evil e; printf '[core]\\nfsmonitor=./e\\n' >>real/config", "git status" },
		{ MADE, "cp -r real b; evil b/hooks/post-commit; rm .git; ln -s b .git", COMMIT },
		{ MADE, "cp -r real b; evil b/hooks/post-commit; mv real c; mv b real", COMMIT },
		{ PRUNED, "evil node_modules/g/hooks/post-commit", "cd sub && " COMMIT },
		{ PRUNED, "cp -r way/ b; evil b/hooks/post-commit; rm way; ln -s b way", "cd sub && " COMMIT },
		{ 0 },
	};
#undef MADE
#undef PRUNED
	try_plants(trial, plants);
}

/* A worktree outside of a repository in the project: the pointers are in the project. */
static void worktree_elsewhere(struct trial *trial)
{
#define MADE                                                                                                                   \
	"rm -rf \"$OUTSIDE/w\" x; repository x; mv x/.git .bare; rm -rf x; echo 'gitdir: .bare' >.git; git worktree add -q "   \
	"\"$OUTSIDE/w\""
#define USED "cd \"$OUTSIDE/w\" && " COMMIT
	static const struct plant plants[] = {
		{ MADE, "cp -r .bare b; evil b/hooks/post-commit; echo ../../../b >.bare/worktrees/w/commondir", USED },
		{ MADE,
		  "cp -r .bare b; evil b/hooks/post-commit; mv .bare/worktrees/w .bare/worktrees/v; cp -r b/worktrees/w "
		  ".bare/worktrees/w;"
		  "echo ../../../b >.bare/worktrees/w/commondir",
		  USED },
		{ MADE "; git config extensions.worktreeConfig true; git -C \"$OUTSIDE/w\" config --worktree a.b c",
		  "evil e; printf '[core]\\nfsmonitor=%s/e\\n' \"$PWD\" >>.bare/worktrees/w/config.worktree", USED },
		{ 0 },
	};
#undef MADE
#undef USED
	try_plants(trial, plants);
}

static void bare_repositories(struct trial *trial)
{
#define MADE "repository .; git init -q --bare remotes/r.git"
#define PUSH "git push -q remotes/r.git HEAD:refs/heads/m"
	static const struct plant plants[] = {
		{ MADE, "evil remotes/r.git/hooks/post-update", PUSH },
		{ MADE, "evil h/post-update; git -C remotes/r.git config core.hooksPath \"$PWD/h\"", PUSH },
		{ MADE, "evil h/post-update; printf '[core]\\nhooksPath=%s/h\\n' \"$PWD\" >>remotes/r.git/config", PUSH },
		{ MADE, "cp -r remotes/r.git b; evil b/hooks/post-update; mv remotes/r.git c; mv b remotes/r.git", PUSH },
		{ MADE, "cp -r remotes r2; evil r2/r.git/hooks/post-update; mv remotes c; mv r2 remotes", PUSH },
		{ MADE "; echo a >a; git add a; git commit -qm a; " PUSH
		       "; evil t; git -C remotes/r.git config diff.d.textconv \"$PWD/t\";"
		       " echo '* -diff' >remotes/r.git/info/attributes",
		  "echo '* diff=d' >remotes/r.git/info/attributes", "git -C remotes/r.git show m >/dev/null" },
		{ 0 },
	};
#undef MADE
#undef PUSH
	try_plants(trial, plants);
}

static void submodules(struct trial *trial)
{
#define MADE                                                                                                                   \
	"repository \"$OUTSIDE/lib$$\"; repository .; git -c protocol.file.allow=always submodule --quiet add "                \
	"\"$OUTSIDE/lib$$\" a/sub; "                                                                                           \
	"git commit -qm s; rm -rf \"$OUTSIDE/lib$$\""
#define COMMON                                                                                                                 \
	"; m=.git/modules/a/sub; mkdir .git/common; mv $m/objects $m/refs $m/config $m/hooks .git/common; echo "               \
	"../../../common "                                                                                                     \
	">$m/commondir; git -C a/sub status"
	static const struct plant plants[] = {
		{ MADE, "evil .git/modules/a/sub/hooks/post-commit", "cd a/sub && " COMMIT },
		{ MADE, "evil e; git -C a/sub config core.fsmonitor \"$PWD/e\"", "git status" },
		{ MADE,
		  "cp -r .git/modules/a/sub b; evil b/hooks/post-commit; git config -f b/config core.worktree \"$PWD/a/sub\"; "
		  "echo 'gitdir: ../../b' >a/sub/.git",
		  "cd a/sub && " COMMIT },
		{ MADE COMMON, "evil .git/common/hooks/post-commit", "cd a/sub && " COMMIT },
		{ MADE COMMON,
		  "cp -r .git/common b; evil b/hooks/post-commit; echo ../../../../b >.git/modules/a/sub/commondir",
		  "cd a/sub && " COMMIT },
		{ 0 },
	};
#undef MADE
#undef COMMON
	try_plants(trial, plants);
}

static void hooks_path(struct trial *trial)
{
#define MADE(value) "repository .; mkdir -p t/h node_modules/h; git config core.hooksPath " value
	static const struct plant plants[] = {
		{ MADE("t/h"), "evil t/h/post-commit", COMMIT },
		{ MADE("\"$PWD/t/h\""), "evil t/h/post-commit", COMMIT },
		{ MADE("node_modules/h"), "evil node_modules/h/post-commit", COMMIT },
		{ MADE("t/h"), "evil t2/h/post-commit; mv t t3; mv t2 t", COMMIT },
		{ MADE("way") "; ln -s t/h way", "evil t2/post-commit; rm way; ln -s t2 way", COMMIT },
		{ MADE("way") "; ln -s t/h way", "evil t/h/post-commit", COMMIT },
		/* Of a worktree and of a bare repository. */
		{ MADE("t/h") "; git worktree add -q w; mkdir -p w/t/h", "evil w/t/h/post-commit", "cd w && " COMMIT },
		{ "repository .; git init -q --bare r; mkdir r/t; git -C r config core.hooksPath t", "evil r/t/post-update",
		  "git push -q r HEAD:refs/heads/m" },
		{ 0 },
	};
#undef MADE
	try_plants(trial, plants);
}

static void includes(struct trial *trial)
{
#define MONITOR "evil e; printf '[core]\\nfsmonitor=./e\\n' "
	static const struct plant plants[] = {
		{ "repository .; echo >inc; git config include.path ../inc", MONITOR ">inc", "git status" },
		{ "repository .; echo >inc; git config include.path \"$PWD/inc\"", MONITOR ">n; mv n inc", "git status" },
		{ "repository .; echo >inc; git config includeIf.onbranch:\\*\\*.path ../inc", MONITOR ">>inc", "git status" },
		{ "repository .; echo >two; git config include.path ../inc; printf '[include]\\npath=two\\n' >inc",
		  MONITOR ">two", "git status" },
		{ "repository .; mkdir t; git config include.path ../inc; printf '[core]\\nhooksPath=t\\n' >inc",
		  "evil t/post-commit", COMMIT },
		{ "repository .; mkdir c; mv .git/config c/real; ln -s ../c/real .git/config; git status", MONITOR ">>c/real",
		  "git status" },
		{ 0 },
	};
#undef MONITOR
	try_plants(trial, plants);
}

static void other_files(struct trial *trial)
{
	static const struct plant plants[] = {
		{ "repository .; evil \"$OUTSIDE/f\"; git config filter.f.clean \"$OUTSIDE/f\"; echo >attr; git config "
		  "core.attributesFile attr; "
		  "echo a >a",
		  "echo '* filter=f' >attr", "git add a" },
		{ "repository .; echo e >ex; git config core.excludesFile ex; touch e", "rm ex; touch ex",
		  "git status --porcelain | grep -q '?? e$' && touch \"$OUTSIDE/ran\"" },
		{ 0 },
	};
	try_plants(trial, plants);
}

static void programs(struct trial *trial)
{
#define TOOL "repository .; mkdir t; printf '#!/bin/sh\\ncat\\n' >t/x; chmod 755 t/x; "
#define FILE_A "echo '* diff=d merge=d filter=d' >.gitattributes; echo a >a; git add a; git commit -qm a; echo b >a; "
	static const struct plant plants[] = {
		{ TOOL "git config core.fsmonitor t/x", "evil t/x", "git status" },
		{ TOOL "git config core.fsmonitor t/x", "evil t2/x; mv t t3; mv t2 t", "git status" },
		{ TOOL "git config core.editor ./t/x", "evil t/x", "git commit -q --allow-empty" },
		{ TOOL FILE_A "git config diff.external t/x", "evil t/x", "git diff" },
		{ TOOL FILE_A "git config diff.d.textconv 'sh t/x'", "evil t/x", "git diff" },
		{ TOOL FILE_A "git config filter.d.clean 't/x %f'", "evil t/x", "git add a" },
		{ TOOL "git config gpg.program t/x", "evil t/x", "git commit -q -S --allow-empty -m x" },
		{ TOOL FILE_A "git config merge.d.driver 't/x %A'; git commit -qam b; git branch o; echo c >a; git commit -qam "
			      "c; git checkout -q o; echo "
			      "d >a; git commit -qam d",
		  "evil t/x", "git merge -q -" },
		{ 0 },
	};
#undef TOOL
#undef FILE_A
	try_plants(trial, plants);
}

/* Relative names count from the working tree, which core.worktree chooses. */
static void other_worktree(struct trial *trial)
{
	static const struct plant plants[] = {
		{ "repository .; mkdir -p tree/t; git config core.worktree ../tree; git config core.hooksPath t",
		  "evil tree/t/post-commit", COMMIT },
		{ 0 },
	};
	try_plants(trial, plants);
}

/* The project itself cannot be locked: nothing runs, unless the user accepts it. */
static void names_the_root(struct trial *trial)
{
	trial_variable(trial, "GIT_CONFIG_GLOBAL=/dev/null");
	for (int i = 0; i < 2; i++) {
		trial_renew(trial);
		INSIDE(trial, "/bin/sh", "-c", "echo STARTED");
		expect(trial, strstr(trial->outcome.out, "STARTED") != NULL, "control: nothing runs: %.300s",
		       trial->outcome.err);
		BARE(trial, "/usr/bin/git", "config", "core.hooksPath", i == 0 ? "." : "..");
		INSIDE(trial, "/bin/sh", "-c", "echo STARTED");
		expect(trial, trial->outcome.exit_code == 125 && !strstr(trial->outcome.out, "STARTED"), "it ran");
		expect(trial, strstr(trial->outcome.err, "core.hooksPath in ") && strstr(trial->outcome.err, "/.git/config:4 "),
		       "the setting is not named: %.500s", trial->outcome.err);
		BERM(trial, "run", "--accept-weaker=planting", "--", "/bin/sh", "-c", "echo STARTED");
		expect(trial, strstr(trial->outcome.out, "STARTED") != NULL, "it does not run although accepted: %.300s",
		       trial->outcome.err);
	}
}

const struct escape_case cases_git[] = {
	{ 220, "git: .bare beside a pointer", 0, NULL, { NULL }, NULL, bare_beside, 30 },
	{ 221, "git: a separate git directory in the project", 0, NULL, { NULL }, NULL, separate_inside, 30 },
	{ 222, "git: a separate git directory elsewhere", 0, NULL, { NULL }, NULL, separate_outside, 30 },
	{ 223, "git: .git as a symlink", 0, NULL, { NULL }, NULL, symlinked, 30 },
	{ 224, "git: pointers of a worktree elsewhere", 0, NULL, { NULL }, NULL, worktree_elsewhere, 30 },
	{ 225, "git: bare repositories", 0, NULL, { NULL }, NULL, bare_repositories, 30 },
	{ 226, "git: submodules, with a commondir", 0, NULL, { NULL }, NULL, submodules, 30 },
	{ 227, "git: core.hooksPath", 0, NULL, { NULL }, NULL, hooks_path, 30 },
	{ 228, "git: included configurations", 0, NULL, { NULL }, NULL, includes, 30 },
	{ 229, "git: files of attributes and ignores", 0, NULL, { NULL }, NULL, other_files, 30 },
	{ 230, "git: programs that settings name", 0, NULL, { NULL }, NULL, programs, 30 },
	{ 231, "git: core.worktree", 0, NULL, { NULL }, NULL, other_worktree, 30 },
	{ 232, "git: a setting that names the project", ABOUT_LAUNCHER, NULL, { NULL }, NULL, names_the_root, 30 },
	{ 0 },
};
