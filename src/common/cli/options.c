/* SPDX-License-Identifier: Apache-2.0 */
/* Options from one table. Names are matched by full length: a prefix is never taken for an option. Never prints. */
#include "common/cli/options.h"

#include <assert.h>
#include <fcntl.h>
#include <string.h>

#include "common/policy/guarantee.h"
#include "common/base/text.h"

enum option_id {
	OPTION_PROJECT,
	OPTION_POLICY,
	OPTION_ALLOW_READ,
	OPTION_ALLOW_WRITE,
	OPTION_ALLOW_NET,
	OPTION_DENY,
	OPTION_ENV,
	OPTION_STRICT,
	OPTION_ACCEPT_WEAKER,
	OPTION_PASS_FD,
	OPTION_DRY_RUN,
	OPTION_JSON,
	OPTION_FORMAT,
	OPTION_OS,
	OPTION_CONTEXT,
	OPTION_WHY_REBUILT,
	OPTION_SHOW,
	OPTION_SCHEMA,
	OPTION_KEYS,
	OPTION_LIST,
	OPTION_REVOKE,
	OPTION_PRINT,
	OPTION_WRITE,
	OPTION_UNDO,
	OPTION_SETUP_CHECK,
	OPTION_FILE,
	OPTION_HOST,
	OPTION_ALL,
	OPTION_GLOBAL,
	OPTION_REPOSITORY,
	OPTION_UNINSTALL,
	OPTION_YES,
	OPTION_INSTALL_APPARMOR,
	OPTION_VERBOSE,
	OPTION_HELP,
};

struct option_row {
	enum option_id id;
	const char *name;
	char letter; /* 0 if it has none */
	const char *argument; /* NULL: takes none; in brackets: optional */
	unsigned commands;
	const char *help;
};

enum { POLICY_COMMANDS = COMMAND_RUN | COMMAND_PLAN | COMMAND_CHECK | COMMAND_STATE_PATH | COMMAND_SHELL };

static const struct option_row option_table[] = {
	{ OPTION_PROJECT, "project", 0, "DIR", POLICY_COMMANDS, "the project (default: nearest berm.yml or .git)" },
	{ OPTION_POLICY, "policy", 0, "FILE", POLICY_COMMANDS, "this policy instead of the project's berm.yml" },
	{ OPTION_ALLOW_READ, "allow-read", 0, "PATH,...", POLICY_COMMANDS, "also readable" },
	{ OPTION_ALLOW_WRITE, "allow-write", 0, "PATH,...", POLICY_COMMANDS, "also writable" },
	{ OPTION_ALLOW_NET, "allow-net", 0, "[HOST:PORT,...]", POLICY_COMMANDS,
	  "allow these destinations (all without a value)" },
	{ OPTION_DENY, "deny", 0, "PATTERN,...", POLICY_COMMANDS, "also denied" },
	{ OPTION_ENV, "env", 0, "NAME[=VALUE]", POLICY_COMMANDS, "pass or set an environment variable" },
	{ OPTION_STRICT, "strict", 0, NULL, POLICY_COMMANDS, "files.guard: strict" },
	{ OPTION_ACCEPT_WEAKER, "accept-weaker", 0, "GUARANTEE", POLICY_COMMANDS,
	  "run although this guarantee is weaker here" },
	{ OPTION_PASS_FD, "pass-fd", 0, "N", COMMAND_RUN | COMMAND_SHELL, "keep this open file descriptor" },
	{ OPTION_DRY_RUN, "dry-run", 0, NULL, COMMAND_RUN, "show the plan, run nothing" },
	{ OPTION_JSON, "json", 0, NULL,
	  COMMAND_PLAN | COMMAND_CHECK | COMMAND_STATE | COMMAND_STATE_PATH | COMMAND_DOCTOR | COMMAND_SETUP, "for programs" },
	{ OPTION_FORMAT, "format", 0, "text|json|sbpl", COMMAND_PLAN, "as text, JSON or a macOS profile" },
	{ OPTION_OS, "os", 0, "linux|macos", COMMAND_PLAN | COMMAND_CHECK, "answer for this system" },
	{ OPTION_CONTEXT, "context", 0, "FILE", COMMAND_PLAN | COMMAND_CHECK, "answer for the machine described in FILE" },
	{ OPTION_WHY_REBUILT, "why-rebuilt", 0, NULL, COMMAND_PLAN, "would `run` use the stored plan?" },
	{ OPTION_SHOW, "show", 0, "POLICY", COMMAND_POLICIES, "print one built-in policy" },
	{ OPTION_SCHEMA, "schema", 0, NULL, COMMAND_POLICIES, "print the JSON Schema of policy files" },
	{ OPTION_KEYS, "keys", 0, NULL, COMMAND_POLICIES, "list every key of the language" },
	{ OPTION_LIST, "list", 0, NULL, COMMAND_TRUST, "list what is trusted" },
	{ OPTION_REVOKE, "revoke", 0, NULL, COMMAND_TRUST, "take the trust back" },
	{ OPTION_PRINT, "print", 0, NULL, COMMAND_INIT | COMMAND_SETUP, "print what would be written, nothing else" },
	{ OPTION_WRITE, "write", 0, NULL, COMMAND_SETUP, "make the change" },
	{ OPTION_UNDO, "undo", 0, NULL, COMMAND_SETUP, "take the change back" },
	{ OPTION_SETUP_CHECK, "check", 0, NULL, COMMAND_SETUP, "is it in force?" },
	{ OPTION_FILE, "file", 0, "FILE", COMMAND_SETUP, "the host's settings, if they lie elsewhere" },
	{ OPTION_HOST, "host", 0, "claude-code|codex|gemini|cursor", COMMAND_HOOK, "whose JSON it is" },
	{ OPTION_ALL, "all", 0, NULL, COMMAND_STATE, "reset every project" },
	{ OPTION_REPOSITORY, "repo", 0, NULL, COMMAND_HOOKS, "this repository (default)" },
	{ OPTION_GLOBAL, "global", 0, NULL, COMMAND_HOOKS, "every repository without a core.hooksPath" },
	{ OPTION_UNINSTALL, "uninstall", 0, NULL, COMMAND_HOOKS, "the same as the word" },
	{ OPTION_YES, "yes", 'y', NULL, COMMAND_TRUST | COMMAND_STATE, "do not ask" },
	{ OPTION_INSTALL_APPARMOR, "install-apparmor", 0, NULL, COMMAND_DOCTOR, "let berm make user namespaces (root)" },
	{ OPTION_VERBOSE, "verbose", 'v', NULL, POLICY_COMMANDS | COMMAND_DOCTOR, "say more" },
	{ OPTION_HELP, "help", 'h', NULL, ~0u, "this text" },
};

enum { OPTION_TABLE_COUNT = sizeof option_table / sizeof option_table[0] };

static struct rule command_line_rule(struct arena *arena, const char *key, const char *text, size_t length)
{
	return (struct rule){
		.key = key,
		.text = arena_copy_n(arena, text, length),
		.origin = { .source = "command line" },
		.layer = LAYER_COMMAND_LINE,
	};
}

/* --allow-read=a,b: one rule per part, as Deno's users know it. */
static int add_list(struct arena *arena, struct rules *rules, const char *key, const char *option, const char *value,
		    struct error *err)
{
	const char *part = value;
	assert(value);
	for (;;) {
		size_t length = strcspn(part, ",");
		if (length == 0)
			return error_set(err, "--%s: empty entry in \"%s\"", option, value);
		*arena_push(arena, rules) = command_line_rule(arena, key, part, length);
		if (part[length] == '\0')
			return 0;
		part += length + 1;
	}
}

static void set_scalar(struct arena *arena, struct setting *setting, const char *key, const char *text, uint64_t value)
{
	setting->is_set = true;
	setting->value = value;
	setting->rule = command_line_rule(arena, key, text, strlen(text));
}

static int take_net(struct arena *arena, struct options *options, const char *value, struct error *err)
{
	struct policy *policy = &options->command_line;
	if (!value) {
		set_scalar(arena, &policy->network.mode, "network", "all", NETWORK_ALL);
		return 0;
	}
	if (!policy->network.mode.is_set)
		set_scalar(arena, &policy->network.mode, "network", "allow", NETWORK_ALLOW);
	return add_list(arena, &policy->network.allow, "network.allow", "allow-net", value, err);
}

static bool is_variable_name(const char *name, size_t length)
{
	if (length == 0 || (name[0] >= '0' && name[0] <= '9'))
		return false;
	for (size_t i = 0; i < length; i++) {
		char c = name[i];
		if (!((c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_' || c == '*'))
			return false;
	}
	return true;
}

static int take_env(struct arena *arena, struct options *options, const char *value, struct error *err)
{
	struct policy *policy = &options->command_line;
	assert(value);
	size_t length = strcspn(value, "=");
	if (!is_variable_name(value, length) || (value[length] == '=' && memchr(value, '*', length)))
		return error_set(err, "--env=%s: not a variable name", value);
	if (value[length] == '\0') {
		*arena_push(arena, &policy->environment.pass) = command_line_rule(arena, "environment.pass", value, length);
		return 0;
	}
	struct assignment *assignment = arena_push(arena, &policy->environment.set);
	assignment->rule = command_line_rule(arena, "environment.set", value, length);
	assignment->value = arena_copy(arena, value + length + 1);
	return 0;
}

static int hint_guarantees(struct arena *arena, struct error *err)
{
	const char *names = guarantee_table[0].name;
	for (size_t i = 1; i < GUARANTEE_COUNT; i++)
		names = arena_printf(arena, "%s, %s", names, guarantee_table[i].name);
	return error_hint(err, "one of: %s", names);
}

static int take_weaker(struct arena *arena, struct options *options, const char *value, struct error *err)
{
	enum guarantee guarantee;
	assert(value);
	if (!guarantee_parse(value, &guarantee)) {
		error_set(err, "--accept-weaker=%s: no such guarantee", value);
		for (size_t i = 0; i < GUARANTEE_COUNT; i++) {
			const char *name = guarantee_table[i].name;
			if (text_nearest(value, &name, 1))
				return error_hint(err, "did you mean `%s`?", name);
		}
		return hint_guarantees(arena, err);
	}
	*arena_push(arena, &options->command_line.accept_weaker) =
		command_line_rule(arena, "accept_weaker", value, strlen(value));
	return 0;
}

/* Ascending and without repetition, which is what closing the rest needs. */
static int take_fd(struct options *options, const char *value, struct error *err)
{
	uint64_t number;
	size_t at = options->pass_fd_count;
	if (!text_parse_u64(value, 65535, &number))
		return error_set(err, "--pass-fd=%s: not a file descriptor number", value);
	if (number <= 2)
		return error_set(err, "--pass-fd=%s: 0, 1 and 2 are always passed", value);
	if (fcntl((int)number, F_GETFD) < 0)
		return error_set(err, "--pass-fd=%s: that file descriptor is not open", value);
	if (options->pass_fd_count == OPTIONS_PASS_FD_MAX)
		return error_set(err, "--pass-fd: more than %d", OPTIONS_PASS_FD_MAX);
	while (at > 0 && options->pass_fds[at - 1] >= (int)number) {
		if (options->pass_fds[at - 1] == (int)number)
			return 0;
		at--;
	}
	memmove(options->pass_fds + at + 1, options->pass_fds + at, (options->pass_fd_count - at) * sizeof *options->pass_fds);
	options->pass_fds[at] = (int)number;
	options->pass_fd_count++;
	return 0;
}

/* `value` is NULL only for an option whose argument is none or in brackets; options_parse sees to that, the asserts say it. */
static int take(struct arena *arena, const struct option_row *row, const char *value, struct options *options,
		struct error *err)
{
	struct policy *policy = &options->command_line;
	switch (row->id) {
	case OPTION_PROJECT:
		options->project = value;
		return 0;
	case OPTION_POLICY:
		options->policy_file = value;
		return 0;
	case OPTION_ALLOW_READ:
		return add_list(arena, &policy->files.read, "files.read", row->name, value, err);
	case OPTION_ALLOW_WRITE:
		return add_list(arena, &policy->files.write, "files.write", row->name, value, err);
	case OPTION_ALLOW_NET:
		return take_net(arena, options, value, err);
	case OPTION_DENY:
		return add_list(arena, &policy->files.deny, "files.deny", row->name, value, err);
	case OPTION_ENV:
		return take_env(arena, options, value, err);
	case OPTION_STRICT:
		set_scalar(arena, &policy->files.guard, "files.guard", "strict", LEVEL_STRICT);
		return 0;
	case OPTION_ACCEPT_WEAKER:
		return take_weaker(arena, options, value, err);
	case OPTION_PASS_FD:
		return take_fd(options, value, err);
	case OPTION_DRY_RUN:
		options->is_dry_run = true;
		return 0;
	case OPTION_JSON:
		options->wants_json = true;
		return 0;
	case OPTION_FORMAT:
		assert(value);
		if (strcmp(value, "text") != 0 && strcmp(value, "json") != 0 && strcmp(value, "sbpl") != 0)
			return error_set(err, "--format=%s: text, json or sbpl", value);
		options->wants_json = strcmp(value, "json") == 0;
		options->wants_sbpl = strcmp(value, "sbpl") == 0;
		return 0;
	case OPTION_OS:
		assert(value);
		if (strcmp(value, "linux") != 0 && strcmp(value, "macos") != 0)
			return error_set(err, "--os=%s: linux or macos", value);
		options->os = value;
		return 0;
	case OPTION_CONTEXT:
		options->context_file = value;
		return 0;
	case OPTION_WHY_REBUILT:
		options->wants_why_rebuilt = true;
		return 0;
	case OPTION_SHOW:
		options->show = value;
		return 0;
	case OPTION_SCHEMA:
		options->wants_schema = true;
		return 0;
	case OPTION_KEYS:
		options->wants_keys = true;
		return 0;
	case OPTION_LIST:
		options->wants_list = true;
		return 0;
	case OPTION_REVOKE:
		options->wants_revoke = true;
		return 0;
	case OPTION_PRINT:
		options->wants_print = true;
		return 0;
	case OPTION_WRITE:
		options->wants_write = true;
		return 0;
	case OPTION_UNDO:
		options->wants_undo = true;
		return 0;
	case OPTION_SETUP_CHECK:
		options->wants_check = true;
		return 0;
	case OPTION_FILE:
		options->file = value;
		return 0;
	case OPTION_HOST:
		options->host = value;
		return 0;
	case OPTION_ALL:
		options->wants_all = true;
		return 0;
	case OPTION_GLOBAL:
		options->wants_global = true;
		return 0;
	case OPTION_REPOSITORY:
		options->wants_repository = true;
		return 0;
	case OPTION_UNINSTALL:
		options->wants_uninstall = true;
		return 0;
	case OPTION_YES:
		options->is_yes = true;
		return 0;
	case OPTION_INSTALL_APPARMOR:
		options->wants_apparmor = true;
		return 0;
	case OPTION_VERBOSE:
		options->is_verbose = true;
		return 0;
	case OPTION_HELP:
		options->wants_help = true;
		return 0;
	}
	return error_set(err, "--%s: unknown", row->name);
}

static int unknown_option(enum command command, const char *word, size_t length, struct error *err)
{
	const char *names[OPTION_TABLE_COUNT];
	size_t count = 0;
	char name[64];
	const char *nearest;

	error_set(err, "unknown option %s", word);
	for (size_t i = 0; i < OPTION_TABLE_COUNT; i++)
		if (option_table[i].commands & command)
			names[count++] = option_table[i].name;
	if (length >= sizeof name || length <= 2)
		return error_hint(err, "see --help; put -- before a command that starts with a dash");
	memcpy(name, word + 2, length - 2);
	name[length - 2] = '\0';
	nearest = text_nearest(name, names, count);
	if (nearest)
		return error_hint(err, "did you mean `--%s`?", nearest);
	return error_hint(err, "see --help");
}

static const struct option_row *find(enum command command, const char *word, size_t length)
{
	for (size_t i = 0; i < OPTION_TABLE_COUNT; i++) {
		const struct option_row *row = &option_table[i];
		if (!(row->commands & command))
			continue;
		if (length == 2 && word[0] == '-' && row->letter && word[1] == row->letter)
			return row;
		if (length > 2 && word[0] == '-' && word[1] == '-' && strlen(row->name) == length - 2 &&
		    memcmp(row->name, word + 2, length - 2) == 0)
			return row;
	}
	return NULL;
}

int options_parse(struct arena *arena, enum command command, int argc, char **argv, struct options *options, int *rest,
		  struct error *err)
{
	int at = 1;
	for (; at < argc; at++) {
		const char *word = argv[at];
		size_t length = strcspn(word, "=");
		const char *value = word[length] == '=' ? word + length + 1 : NULL;
		const struct option_row *row;

		if (strcmp(word, "--") == 0) {
			at++;
			break;
		}
		if (word[0] != '-' || word[1] == '\0')
			break;
		row = find(command, word, length);
		if (!row)
			return unknown_option(command, word, length, err);
		if (value && !row->argument)
			return error_set(err, "--%s takes no value", row->name);
		if (!value && row->argument && row->argument[0] != '[') {
			if (at + 1 >= argc)
				return error_set(err, "--%s needs a value: --%s=%s", row->name, row->name, row->argument);
			value = argv[++at];
		}
		if (value && value[0] == '\0')
			return error_set(err, "--%s: empty value", row->name);
		if (take(arena, row, value, options, err) < 0)
			return -1;
	}
	*rest = at;
	return 0;
}

void options_help(enum command command, struct text *out)
{
	for (size_t i = 0; i < OPTION_TABLE_COUNT; i++) {
		const struct option_row *row = &option_table[i];
		struct text left = { 0 };
		if (!(row->commands & command))
			continue;
		if (row->letter)
			text_add(&left, "-%c, ", row->letter);
		text_add(&left, "--%s", row->name);
		if (row->argument && row->argument[0] == '[')
			text_add(&left, "[=%.*s]", (int)strlen(row->argument) - 2, row->argument + 1);
		else if (row->argument)
			text_add(&left, "=%s", row->argument);
		text_add(out, "  %-29s %s\n", left.data, row->help);
		text_free(&left);
	}
}

bool options_at(size_t index, struct option_info *info)
{
	if (index >= OPTION_TABLE_COUNT)
		return false;
	const struct option_row *row = &option_table[index];
	*info = (struct option_info){ row->name, row->letter, row->argument, row->commands, row->help };
	return true;
}
