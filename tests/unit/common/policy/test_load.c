/* SPDX-License-Identifier: Apache-2.0 */
/* The layers of a run: their order, and which of them may only narrow. */
#include <greatest.h>

#include <stdio.h>
#include <string.h>

#include "common/policy/policy.h"
#include "unit/support/policy_fixture.h"

#define USER_FILE "/home/ann/.config/berm/berm.yml"
#define PROJECT_FILE "/home/ann/app/berm.yml"

static struct policy_request request_for(bool is_trusted)
{
	return (struct policy_request){
		.user_file = USER_FILE, .project_file = PROJECT_FILE, .project_is_trusted = is_trusted, .home = "/home/ann"
	};
}

/* A command line of one deny, one write, one accept_weaker. */
static struct policy command_line_policy(struct arena *arena)
{
	struct policy policy = { 0 };
	struct origin origin = { "command line", 0, 0 };

	*arena_push(arena, &policy.files.deny) = (struct rule){ "files.deny", "cl-deny", origin, LAYER_COMMAND_LINE, NULL };
	*arena_push(arena, &policy.files.write) = (struct rule){ "files.write", "cl-write", origin, LAYER_COMMAND_LINE, NULL };
	*arena_push(arena, &policy.accept_weaker) =
		(struct rule){ "accept_weaker", "kernel", origin, LAYER_COMMAND_LINE, NULL };
	return policy;
}

TEST without_files_it_is_floor_and_default(void)
{
	struct policy_fixture f;

	fixture_load(&f, (struct policy_request){ 0 }, NULL);
	ASSERT_EQm(fixture_complaints(&f), 0, f.status);
	ASSERT_EQ(2, f.policy.source_count);
	ASSERT_STR_EQ("built-in floor", f.policy.sources[0].shown);
	ASSERT_EQ(LAYER_FLOOR, f.policy.sources[0].layer);
	ASSERT_STR_EQ("built-in default", f.policy.sources[1].shown);
	ASSERT_STR_EQ("default", f.policy.extends.rule.text);
	ASSERT_EQ(LAYER_FLOOR, fixture_rule(&f.policy.files.deny, "/etc/shadow")->layer);
	ASSERT_EQ(LAYER_BASE, fixture_rule(&f.policy.files.deny, ".env")->layer);
	ASSERT_EQ(NETWORK_NONE, f.policy.network.mode.value);
	fixture_free(&f);
	PASS();
}

TEST absent_files_are_no_error_but_named_ones_are(void)
{
	static const struct fixture_file unreadable[] = { { USER_FILE, NULL }, { 0 } };
	struct policy_fixture f;

	fixture_load(&f, request_for(false), NULL);
	ASSERT_EQm(fixture_complaints(&f), 0, f.status);
	fixture_free(&f);
	fixture_load(&f, (struct policy_request){ .explicit_file = "p.yml" }, NULL);
	ASSERT_EQ(-1, f.status);
	ASSERT_STR_EQ("p.yml", f.diagnostics.items[0].origin.source);
	fixture_free(&f);
	fixture_load(&f, request_for(false), unreadable);
	ASSERT_EQ(-1, f.status);
	ASSERT_STR_EQ("~/.config/berm/berm.yml", f.diagnostics.items[0].origin.source);
	fixture_free(&f);
	PASS();
}

TEST an_untrusted_project_only_narrows(void)
{
	static const struct fixture_file files[] = {
		{ PROJECT_FILE, "version: 1\nextends: none\nuse: [registry-npm]\nfiles: {deny: [secret], write: [/srv]}\n"
				"network: all\nhome: empty\n" },
		{ 0 },
	};
	struct policy_fixture f;

	fixture_load(&f, request_for(false), files);
	ASSERT_EQm(fixture_complaints(&f), 0, f.status);
	ASSERT(fixture_rule(&f.policy.files.deny, "secret"));
	ASSERT(fixture_rule(&f.policy.files.deny, ".env"));
	ASSERT_EQ(NULL, fixture_rule(&f.policy.files.write, "/srv"));
	ASSERT_EQ(NETWORK_NONE, f.policy.network.mode.value);
	ASSERT_EQ(0, f.policy.network.allow.count);
	ASSERT_EQ(HOME_EMPTY, f.policy.home.value);
	ASSERT_EQ(4, f.policy.ignored.count);
	ASSERT(fixture_rule(&f.policy.ignored, "none"));
	ASSERT(fixture_rule(&f.policy.ignored, "registry-npm"));
	ASSERT(fixture_rule(&f.policy.ignored, "/srv"));
	ASSERT(fixture_rule(&f.policy.ignored, "all"));
	ASSERT_FALSE(f.policy.sources[2].is_trusted);
	ASSERT_STR_EQ("~/app/berm.yml", f.policy.sources[2].shown);
	ASSERT_STR_EQ(PROJECT_FILE, f.policy.sources[2].path);
	fixture_free(&f);

	/* The control: the same file, trusted, gets all of it. */
	fixture_load(&f, request_for(true), files);
	ASSERT_EQm(fixture_complaints(&f), 0, f.status);
	ASSERT_EQ(0, f.policy.ignored.count);
	ASSERT(fixture_rule(&f.policy.files.write, "/srv"));
	ASSERT_EQ(NETWORK_ALL, f.policy.network.mode.value);
	ASSERT(fixture_rule(&f.policy.use, "registry-npm"));
	ASSERT_EQ(NULL, fixture_rule(&f.policy.files.deny, ".env"));
	ASSERT(fixture_rule(&f.policy.files.deny, "/etc/shadow"));
	fixture_free(&f);
	PASS();
}

/* An enclosing project's file only narrows, even the project's own trusted file, and its relative
 * patterns keep their directory. */
TEST an_enclosing_project_only_narrows(void)
{
	static const char *const enclosing[] = { "/home/ann/berm.yml", "/home/berm.yml", NULL };
	static const struct fixture_file files[] = {
		{ USER_FILE, "version: 1\nfiles: {deny: [a/b]}\n" },
		{ PROJECT_FILE, "version: 1\nfiles: {deny: [a/b, ./c, name, ~/d, \"**/e/f\"], except: [x/y]}\nnetwork: all\n"
				"limits: {memory: 2G}\n" },
		{ "/home/ann/berm.yml",
		  "version: 1\nextends: ./other.yml\nfiles: {deny: [a/b], protect: [p/q], write: [/srv]}\n"
		  "network: none\nlimits: {memory: 1G}\nhome: empty\n" },
		{ 0 },
	};
	struct policy_request request = request_for(true);
	struct policy_fixture f;
	const char *bases = "";

	fixture_load(&f, request, files);
	ASSERT_EQm(fixture_complaints(&f), 0, f.status);
	ASSERT_EQ(NETWORK_ALL, f.policy.network.mode.value);
	fixture_free(&f);

	request.enclosing_files = enclosing;
	fixture_load(&f, request, files);
	ASSERT_EQm(fixture_complaints(&f), 0, f.status);
	ASSERT_EQ(NETWORK_NONE, f.policy.network.mode.value);
	ASSERT_EQ(LAYER_ENCLOSING, f.policy.network.mode.rule.layer);
	ASSERT_EQ(1u << 30, f.policy.limits[LIMIT_MEMORY].value);
	ASSERT_EQ(HOME_EMPTY, f.policy.home.value);
	ASSERT_EQ(NULL, fixture_rule(&f.policy.files.write, "/srv"));
	ASSERT(fixture_rule(&f.policy.ignored, "/srv"));
	ASSERT(fixture_rule(&f.policy.ignored, "./other.yml"));
	ASSERT_STR_EQ("/home/ann", fixture_rule(&f.policy.files.protect, "p/q")->base);
	ASSERT_STR_EQ("/home/ann/app", fixture_rule(&f.policy.files.except, "x/y")->base);
	ASSERT_STR_EQ("/home/ann/app", fixture_rule(&f.policy.files.deny, "./c")->base);
	ASSERT_EQ(NULL, fixture_rule(&f.policy.files.deny, "name")->base);
	ASSERT_EQ(NULL, fixture_rule(&f.policy.files.deny, "~/d")->base);
	ASSERT_EQ(NULL, fixture_rule(&f.policy.files.deny, "**/e/f")->base);
	for (size_t i = 0; i < f.policy.files.deny.count; i++) {
		const struct rule *rule = &f.policy.files.deny.items[i];
		if (strcmp(rule->text, "a/b") == 0)
			bases = arena_printf(&f.arena, "%s %s", bases, rule->base ? rule->base : "-");
	}
	ASSERT_STR_EQ(" - /home/ann/app /home/ann", bases);
	fixture_free(&f);
	PASS();
}

TEST an_enclosing_file_is_judged_like_a_projects(void)
{
	static const char *const enclosing[] = { "/home/ann/berm.yml", NULL };
	static const struct fixture_file wrong[] = { { "/home/ann/berm.yml", "version: 1\naccept_weaker: [kernel]\n" }, { 0 } };
	struct policy_request request = request_for(false);
	struct policy_fixture f;

	request.enclosing_files = enclosing;
	fixture_load(&f, request, wrong);
	ASSERT_EQ(-1, f.status);
	ASSERT(strstr(fixture_complaints(&f), "accept_weaker"));
	fixture_free(&f);
	PASS();
}

TEST later_layers_win(void)
{
	static const struct fixture_file files[] = {
		{ USER_FILE, "version: 1\nhome: host\nlimits: {processes: 7}\nuse: [rust]\n" },
		{ PROJECT_FILE, "version: 1\nhome: empty\nnetwork: {allow: [a.example.org]}\n" },
		{ 0 },
	};
	struct arena arena = { 0 };
	struct policy options = command_line_policy(&arena);
	struct policy_request request = request_for(true);
	struct policy_fixture f;

	request.command_line = &options;
	fixture_load(&f, request, files);
	ASSERT_EQm(fixture_complaints(&f), 0, f.status);
	ASSERT_EQ(HOME_EMPTY, f.policy.home.value);
	ASSERT_EQ(7, f.policy.limits[LIMIT_PROCESSES].value);
	ASSERT_EQ(NETWORK_ALLOW, f.policy.network.mode.value);
	ASSERT(fixture_rule(&f.policy.environment.pass, "RUST_BACKTRACE"));
	ASSERT(fixture_rule(&f.policy.files.write, "cl-write"));
	ASSERT_EQ(1, f.policy.accept_weaker.count);
	fixture_free(&f);
	arena_free(&arena);
	PASS();
}

TEST the_base_is_the_projects_then_the_users_then_default(void)
{
	static const struct {
		const char *user, *project;
		bool is_trusted;
		const char *base, *source;
	} rows[] = {
		{ "version: 1\n", "version: 1\n", true, "default", "built-in default" },
		{ "version: 1\nextends: strict\n", "version: 1\n", true, "strict", "built-in strict" },
		{ "version: 1\nextends: strict\n", "version: 1\nextends: default\n", true, "default", "built-in default" },
		{ "version: 1\nextends: default\n", "version: 1\nextends: strict\n", true, "strict", "built-in strict" },
		{ "version: 1\nextends: default\n", "version: 1\nextends: strict\n", false, "default", "built-in default" },
		{ "version: 1\n", "version: 1\nextends: none\n", false, "default", "built-in default" },
		{ "version: 1\n", "version: 1\nextends: none\n", true, "none", "built-in floor" },
	};

	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		struct fixture_file files[] = { { USER_FILE, rows[i].user }, { PROJECT_FILE, rows[i].project }, { 0 } };
		struct policy_fixture f;
		size_t last_built_in = 0;

		fixture_load(&f, request_for(rows[i].is_trusted), files);
		ASSERT_EQm(fixture_complaints(&f), 0, f.status);
		ASSERT_STR_EQ(rows[i].base, f.policy.extends.rule.text);
		for (size_t j = 0; j < f.policy.source_count; j++) {
			if (!f.policy.sources[j].path)
				last_built_in = j;
		}
		ASSERT_STR_EQ(rows[i].source, f.policy.sources[last_built_in].shown);
		fixture_free(&f);
	}
	PASS();
}

TEST extends_by_path(void)
{
	static const struct fixture_file files[] = {
		{ USER_FILE, "version: 1\nextends: ./team/base.yml\n" },
		{ "/home/ann/.config/berm/team/base.yml",
		  "version: 1\nextends: ../more.yml\nhome: empty\nfiles: {deny: [team]}\n" },
		{ "/home/ann/.config/berm/team/../more.yml",
		  "version: 1\nextends: strict\nuse: [go]\nhome: host\nlimits: {processes: 3}\n" },
		{ 0 },
	};
	struct policy_fixture f;

	fixture_load(&f, request_for(false), files);
	ASSERT_EQm(fixture_complaints(&f), 0, f.status);
	ASSERT_EQ(HOME_EMPTY, f.policy.home.value);
	ASSERT_EQ(3, f.policy.limits[LIMIT_PROCESSES].value);
	ASSERT(fixture_rule(&f.policy.files.deny, ".env"));
	ASSERT(fixture_rule(&f.policy.environment.pass, "GOOS"));
	/* It has the authority of the file that extends it, not that of a built-in policy. */
	ASSERT_EQ(LAYER_USER, fixture_rule(&f.policy.files.deny, "team")->layer);
	ASSERT_STR_EQ("./team/base.yml", f.policy.extends.rule.text);
	fixture_free(&f);
	PASS();
}

TEST a_path_file_starts_from_default_too(void)
{
	static const struct fixture_file files[] = {
		{ USER_FILE, "version: 1\nextends: ~/policies/a.yml\n" },
		{ "/home/ann/policies/a.yml", "version: 1\n" },
		{ 0 },
	};
	struct policy_fixture f;

	fixture_load(&f, request_for(false), files);
	ASSERT_EQm(fixture_complaints(&f), 0, f.status);
	ASSERT(fixture_rule(&f.policy.files.deny, ".env"));
	fixture_free(&f);
	PASS();
}

struct failure_row {
	const char *user, *project, *other; /* other: /home/ann/.config/berm/other.yml */
	bool is_trusted;
	const char *source;
	unsigned line, column;
	const char *part;
};

TEST failures(void)
{
	static const struct failure_row rows[] = {
		{ "version: 1\nextends: strct\n", NULL, NULL, false, "~/.config/berm/berm.yml", 2, 10,
		  "did you mean `strict`?" },
		{ "version: 1\nextends: node\n", NULL, NULL, false, "~/.config/berm/berm.yml", 2, 10, "`use: [node]`" },
		{ "version: 1\nextends: floor\n", NULL, NULL, false, "~/.config/berm/berm.yml", 2, 10, "no built-in policy" },
		{ "version: 1\nextends: qqqqqqq\n", NULL, NULL, false, "~/.config/berm/berm.yml", 2, 10,
		  "a path with a slash" },
		{ "version: 1\nextends: ./missing.yml\n", NULL, NULL, false, "~/.config/berm/berm.yml", 2, 10, "cannot open" },
		{ "version: 1\nextends: ./other.yml\n", NULL, "version: 1\nhome: x\n", false, "~/.config/berm/other.yml", 2, 7,
		  "not one of" },
		{ "version: 1\nextends: ./other.yml\n", NULL, "version: 1\nextends: ./other.yml\n", false,
		  "~/.config/berm/other.yml", 2, 10, "leads back to itself" },
		{ "version: 1\nextends: /home/ann/.config/berm/berm.yml\n", NULL, NULL, false, "~/.config/berm/berm.yml", 2, 10,
		  "leads back to itself" },
		{ "version: 1\nextends: ./other.yml\n", NULL, "version: 1\nextends: /home/ann/.config/berm/berm.yml\n", false,
		  "~/.config/berm/other.yml", 2, 10, "leads back to itself" },
		{ "version: 1\nextends: ./other.yml\n", NULL, "version: 1\ncommand_line: widen\n", false,
		  "~/.config/berm/other.yml", 2, 15, "`command_line` is not allowed" },
		{ "version: 1\nuse: [nod]\n", NULL, NULL, false, "~/.config/berm/berm.yml", 2, 7, "did you mean `node`?" },
		{ "version: 1\nuse: [strict]\n", NULL, NULL, false, "~/.config/berm/berm.yml", 2, 7, "`extends: strict`" },
		{ "version: 1\nuse: [floor]\n", NULL, NULL, false, "~/.config/berm/berm.yml", 2, 7, "no built-in piece" },
		{ "version: 1\nuse: [../x]\n", NULL, NULL, false, "~/.config/berm/berm.yml", 2, 7, "no built-in piece" },
		{ NULL, "version: 1\nextends: ./evil.yml\n", NULL, true, "~/app/berm.yml", 2, 10, "built-in policies only" },
		{ NULL, "version: 1\nextends: ./evil.yml\n", NULL, false, "~/app/berm.yml", 2, 10, "built-in policies only" },
		{ NULL, "version: 1\naccept_weaker: [writes]\n", NULL, true, "~/app/berm.yml", 2, 1, "project's file" },
		{ NULL, "version: 1\ncommand_line: widen\n", NULL, false, "~/app/berm.yml", 2, 1, "project's file" },
		{ "version: 1\n", "version: 1\ndenny: []\n", NULL, false, "~/app/berm.yml", 2, 1, "did you mean" },
	};

	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		const struct failure_row *row = &rows[i];
		struct fixture_file files[] = { { USER_FILE, row->user ? row->user : "version: 1\n" },
						{ PROJECT_FILE, row->project ? row->project : "version: 1\n" },
						{ "/home/ann/.config/berm/other.yml", row->other },
						{ 0 } };
		struct policy_fixture f;
		bool is_there = false;

		if (!row->other)
			files[2].path = NULL;
		fixture_load(&f, request_for(row->is_trusted), files);
		ASSERT_EQm(row->part, -1, f.status);
		for (size_t j = 0; j < f.diagnostics.count; j++)
			is_there |= strcmp(f.diagnostics.items[j].origin.source, row->source) == 0;
		ASSERTm(fixture_complaints(&f), is_there && fixture_complained(&f, row->line, row->column, row->part));
		fixture_free(&f);
	}
	PASS();
}

/* Every path leads to the same file, as with symlinks and `..`. */
static int read_same(void *self, struct arena *arena, const char *path, char **text, size_t *length, struct error *err)
{
	(void)self;
	(void)path;
	(void)err;
	*text = arena_copy(arena, "version: 1\nextends: ../berm/other.yml\n");
	*length = strlen(*text);
	return 0;
}

TEST a_cycle_in_disguise_ends(void)
{
	struct policy_request request = { .user_file = USER_FILE, .read = read_same };
	struct policy_fixture f = { 0 };

	ASSERT_EQ(-1, policy_load(&f.arena, &request, &f.policy, &f.diagnostics));
	ASSERTm(fixture_complaints(&f), fixture_complained(&f, 2, 10, "extend each other"));
	fixture_free(&f);
	PASS();
}

TEST errors_of_all_files_come_together(void)
{
	static const struct fixture_file files[] = { { USER_FILE, "version: 1\nhoem: x\n" },
						     { PROJECT_FILE, "version: 3\n" },
						     { 0 } };
	struct policy_fixture f;

	fixture_load(&f, request_for(false), files);
	ASSERT_EQ(-1, f.status);
	ASSERT_EQ(2, f.diagnostics.count);
	fixture_free(&f);
	PASS();
}

TEST an_explicit_file_is_the_users_word_in_the_projects_place(void)
{
	static const struct fixture_file files[] = {
		{ USER_FILE, "version: 1\n" },
		{ PROJECT_FILE, "version: 1\nfiles: {deny: [from-project]}\n" },
		{ "p.yml", "version: 1\nextends: sub/x.yml\nfiles: {write: [/srv]}\naccept_weaker: [kernel]\n" },
		{ "sub/x.yml", "version: 1\n" },
		{ 0 },
	};
	struct policy_request request = request_for(false);
	struct policy_fixture f;

	request.explicit_file = "p.yml";
	fixture_load(&f, request, files);
	ASSERT_EQm(fixture_complaints(&f), 0, f.status);
	ASSERT(fixture_rule(&f.policy.files.write, "/srv"));
	ASSERT_EQ(1, f.policy.accept_weaker.count);
	ASSERT_EQ(NULL, fixture_rule(&f.policy.files.deny, "from-project"));
	fixture_free(&f);
	PASS();
}

TEST narrowing_takes_options_and_explicit_files_at_less_than_their_word(void)
{
	static const struct fixture_file files[] = {
		{ USER_FILE, "version: 1\ncommand_line: narrow\n" },
		{ "p.yml", "version: 1\nextends: none\ncommand_line: widen\nfiles: {write: [/srv], deny: [x]}\n" },
		{ 0 },
	};
	const struct fixture_file silent[] = { { USER_FILE, "version: 1\n" }, { "p.yml", files[1].text }, { 0 } };
	struct arena arena = { 0 };
	struct policy options = command_line_policy(&arena);

	/* Narrowed by the user's file, and by a shim; the control is neither. */
	for (int i = 0; i < 3; i++) {
		struct policy_request request = request_for(false);
		struct policy_fixture f;
		bool is_narrow = i < 2;

		request.explicit_file = "p.yml";
		request.command_line = &options;
		request.is_narrowing = i == 1;
		fixture_load(&f, request, i == 0 ? files : silent);
		ASSERT_EQm(fixture_complaints(&f), 0, f.status);
		ASSERT(fixture_rule(&f.policy.files.deny, "x"));
		ASSERT(fixture_rule(&f.policy.files.deny, "cl-deny"));
		ASSERT_EQ(is_narrow, fixture_rule(&f.policy.files.deny, ".env") != NULL);
		ASSERT_EQ(!is_narrow, fixture_rule(&f.policy.files.write, "/srv") != NULL);
		ASSERT_EQ(!is_narrow, fixture_rule(&f.policy.files.write, "cl-write") != NULL);
		ASSERT_EQ(is_narrow ? 0u : 1u, f.policy.accept_weaker.count);
		ASSERT_EQ(is_narrow ? 5u : 0u, f.policy.ignored.count);
		fixture_free(&f);
	}
	arena_free(&arena);
	PASS();
}

TEST options_are_judged_like_files(void)
{
	static const struct {
		struct rule deny, allow;
		const char *part;
	} rows[] = {
		{ .deny = { "files.deny", "a[", { "command line", 0, 0 }, LAYER_COMMAND_LINE }, .part = "files.deny" },
		{ .allow = { "network.allow", "a b", { "command line", 0, 0 }, LAYER_COMMAND_LINE }, .part = "network.allow" },
	};

	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		struct arena arena = { 0 };
		struct policy options = { 0 };
		struct policy_fixture f;

		if (rows[i].deny.text)
			*arena_push(&arena, &options.files.deny) = rows[i].deny;
		if (rows[i].allow.text)
			*arena_push(&arena, &options.network.allow) = rows[i].allow;
		fixture_load(&f, (struct policy_request){ .command_line = &options }, NULL);
		ASSERT_EQm(rows[i].part, -1, f.status);
		ASSERT_EQ(1, f.diagnostics.count);
		ASSERT_STR_EQ("command line", f.diagnostics.items[0].origin.source);
		ASSERT(fixture_complained(&f, 0, 0, rows[i].part));
		fixture_free(&f);
		arena_free(&arena);
	}
	PASS();
}

GREATEST_MAIN_DEFS();

int main(int argc, char **argv)
{
	GREATEST_MAIN_BEGIN();
	RUN_TEST(without_files_it_is_floor_and_default);
	RUN_TEST(absent_files_are_no_error_but_named_ones_are);
	RUN_TEST(an_untrusted_project_only_narrows);
	RUN_TEST(an_enclosing_project_only_narrows);
	RUN_TEST(an_enclosing_file_is_judged_like_a_projects);
	RUN_TEST(later_layers_win);
	RUN_TEST(the_base_is_the_projects_then_the_users_then_default);
	RUN_TEST(extends_by_path);
	RUN_TEST(a_path_file_starts_from_default_too);
	RUN_TEST(failures);
	RUN_TEST(a_cycle_in_disguise_ends);
	RUN_TEST(errors_of_all_files_come_together);
	RUN_TEST(an_explicit_file_is_the_users_word_in_the_projects_place);
	RUN_TEST(narrowing_takes_options_and_explicit_files_at_less_than_their_word);
	RUN_TEST(options_are_judged_like_files);
	GREATEST_MAIN_END();
}
