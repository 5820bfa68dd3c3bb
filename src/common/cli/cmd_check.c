/* SPDX-License-Identifier: Apache-2.0 */
/* `berm check`: evaluates single accesses on the plan that `berm run` enforces, and prints
 * the deciding rule. */
#include "common/cli/commands.h"

#include <stdio.h>
#include <string.h>

#include "common/backend.h"
#include "common/base/json_write.h"
#include "common/cli/progress.h"
#include "common/cli/session.h"
#include "common/base/text.h"

enum { EXIT_NO = 1 };

enum question { QUESTION_READ, QUESTION_WRITE, QUESTION_EXEC, QUESTION_CONNECT, QUESTION_ENV, QUESTION_COUNT };

static const char *const question_names[QUESTION_COUNT] = {
	[QUESTION_READ] = "read",	[QUESTION_WRITE] = "write", [QUESTION_EXEC] = "exec",
	[QUESTION_CONNECT] = "connect", [QUESTION_ENV] = "env",
};

static const char *question_name(enum question question)
{
	return question < QUESTION_COUNT ? question_names[question] : "?";
}

struct answer {
	const char *asked;
	const char *path; /* canonical; NULL for connect and env */
	struct verdict verdict;
};

static int print_help(void)
{
	return report_help("berm check [options] read|write|exec PATH...\n"
			   "berm check [options] connect HOST:PORT...\n"
			   "berm check [options] env NAME...\n\n"
			   "Reports whether a command could do this, and the rule that decides.\n",
			   COMMAND_CHECK, "Exit status: 0 if all are allowed, 1 if one is not, 125 on errors.\n");
}

static int parse_question(const char *word, enum question *question, struct error *err)
{
	const char *nearest = text_nearest(word, question_names, QUESTION_COUNT);
	for (int i = 0; i < QUESTION_COUNT; i++) {
		if (strcmp(word, question_names[i]) == 0) {
			*question = (enum question)i;
			return 0;
		}
	}
	error_set(err, "unknown check `%s`: read, write, exec, connect or env", word);
	return nearest ? error_hint(err, "did you mean `%s`?", nearest) : -1;
}

/* Expands ~ as a shell would. It matters with --context, where the home directory differs. */
static const char *absolute(struct session *session, const char *path)
{
	const struct context *context = &session->context;
	struct arena *arena = &session->arena;
	if (path[0] == '~' && (path[1] == '/' || path[1] == '\0'))
		path = arena_printf(arena, "%s%s", context->home, path + 1);
	return path_absolute(arena, context->working_directory ? context->working_directory : context->project, path);
}

static int answer_path(struct session *session, enum question question, struct answer *answer, struct error *err)
{
	static const enum access accesses[] = {
		[QUESTION_READ] = ACCESS_READ, [QUESTION_WRITE] = ACCESS_WRITE, [QUESTION_EXEC] = ACCESS_EXECUTE
	};
	if (answer->asked[0] == '\0')
		return error_set(err, "an empty path");
	return plan_check_spelling(&session->plan, accesses[question], absolute(session, answer->asked),
				   text_ends_with(answer->asked, "/"), &answer->path, &answer->verdict, err);
}

static int answer_connect(struct session *session, struct answer *answer, struct error *err)
{
	const char *colon = strrchr(answer->asked, ':');
	uint64_t port;
	if (!colon || !text_parse_u64(colon + 1, UINT16_MAX, &port) || port == 0 || colon == answer->asked) {
		error_set(err, "`%s` is not HOST:PORT", answer->asked);
		return error_hint(err, "write an IPv6 address in brackets: [2001:db8::1]:443");
	}
	answer->verdict = plan_check_connect(
		&session->plan, arena_copy_n(&session->arena, answer->asked, (size_t)(colon - answer->asked)), (uint16_t)port);
	return 0;
}

static int answer_one(struct session *session, enum question question, struct answer *answer, struct error *err)
{
	switch (question) {
	case QUESTION_READ:
	case QUESTION_WRITE:
	case QUESTION_EXEC:
		return answer_path(session, question, answer, err);
	case QUESTION_CONNECT:
		return answer_connect(session, answer, err);
	case QUESTION_ENV:
		answer->verdict = plan_check_variable(&session->plan, answer->asked);
		return 0;
	case QUESTION_COUNT:
		break;
	}
	return error_set(err, "unknown check");
}

enum { RULE_INDENT = 5 }; /* below the words of an answer */

static void print_rule(struct arena *arena, const struct rule *rule)
{
	const struct origin *origin = &rule->origin;
	const char *place =
		origin->line ? arena_printf(arena, "%s:%u:%u", origin->source, origin->line, origin->column) : origin->source;
	report_detail(RULE_INDENT, text_visible(arena, arena_printf(arena, "%s: %s  (%s)", rule->key, rule->text, place)));
}

/* A path that is wider than the screen is shortened, unless -v is given. */
static const char *shown_path(struct session *session, const char *path)
{
	/* The mark, a parenthesis and a colon. */
	size_t taken = RULE_INDENT + 5, columns = session->options.is_verbose ? 0 : report_width(stdout) - taken;
	return report_path(&session->arena, session->context.home, text_visible(&session->arena, path), columns);
}

static void print_answer(struct session *session, enum question question, const struct answer *answer)
{
	struct arena *arena = &session->arena;
	const struct verdict *verdict = &answer->verdict;
	bool has_other_path = answer->path && strcmp(answer->path, answer->asked) != 0;
	const char *path = has_other_path ? arena_printf(arena, " (%s)", shown_path(session, answer->path)) : "";

	report_item(verdict->is_allowed ? MARK_GOOD : MARK_BAD, verdict->is_allowed ? "yes  " : "no   ",
		    arena_printf(arena, "%s %s%s: %s", question_name(question), shown_path(session, answer->asked), path,
				 verdict->reason));
	if (verdict->rule)
		print_rule(arena, verdict->rule);
}

static void add_json(struct text *out, enum question question, const struct answer *answers, size_t count, bool is_allowed)
{
	struct json json = { .out = out };
	json_object(&json, NULL);
	json_number(&json, "schema", 1);
	json_boolean(&json, "allowed", is_allowed);
	json_list(&json, "answers");
	for (size_t i = 0; i < count; i++) {
		json_object(&json, NULL);
		json_string(&json, "question", question_name(question));
		json_string(&json, "asked", answers[i].asked);
		json_string(&json, "path", answers[i].path);
		json_boolean(&json, "allowed", answers[i].verdict.is_allowed);
		json_string(&json, "reason", answers[i].verdict.reason);
		plan_json_rule(&json, "rule", answers[i].verdict.rule);
		json_object_end(&json);
	}
	json_list_end(&json);
	json_object_end(&json);
}

static int check(struct session *session, enum question question, char *const *asked, size_t count)
{
	struct answer *answers = arena_alloc(&session->arena, count * sizeof *answers);
	struct text out = { 0 };
	struct error err = { 0 };
	bool is_allowed = true;

	if (session_open_here(session, &err) < 0)
		return session->diagnostics.count ? report_diagnostics(&session->diagnostics) : report_error(&err);
	/* Hard links and symlink targets are denied by inode, not by name: only a
	 * scan finds them. */
	if (question <= QUESTION_EXEC && progress_scan(&session->plan, &err) < 0)
		return report_error(&err);
	for (size_t i = 0; i < count; i++) {
		answers[i] = (struct answer){ .asked = asked[i] };
		if (answer_one(session, question, &answers[i], &err) < 0)
			return report_error(&err);
		is_allowed = is_allowed && answers[i].verdict.is_allowed;
		if (!session->options.wants_json)
			print_answer(session, question, &answers[i]);
	}
	if (session->options.wants_json)
		add_json(&out, question, answers, count, is_allowed);
	report_text(&out);
	return is_allowed ? 0 : EXIT_NO;
}

int cmd_check(int argc, char **argv)
{
	struct session session = { 0 };
	struct error err = { 0 };
	enum question question = QUESTION_READ;
	int rest, more = 0, status;

	if (options_parse(&session.arena, COMMAND_CHECK, argc, argv, &session.options, &rest, &err) < 0)
		return report_error(&err);
	if (session.options.wants_help)
		return print_help();
	if (rest < argc && parse_question(argv[rest], &question, &err) < 0)
		return report_error(&err);
	/* Options are accepted after the name of the check, too. */
	if (rest < argc &&
	    options_parse(&session.arena, COMMAND_CHECK, argc - rest, argv + rest, &session.options, &more, &err) < 0)
		return report_error(&err);
	if (session.options.wants_help)
		return print_help();
	if (rest >= argc || rest + more >= argc) {
		error_set(&err, "nothing to check");
		error_hint(&err, "berm check read|write|exec PATH..., connect HOST:PORT..., env NAME...");
		return report_error(&err);
	}
	rest += more;
	status = check(&session, question, argv + rest, (size_t)(argc - rest));
	session_close(&session);
	return status;
}
