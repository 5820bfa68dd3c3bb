/* SPDX-License-Identifier: Apache-2.0 */
/* The table of options and its parser. Names match by full length: a prefix is never
 * accepted. Never prints. */
#include "common/cli/options.h"

#include <assert.h>
#include <fcntl.h>
#include <stddef.h>
#include <string.h>

#include "common/copies/copies.h"
#include "common/policy/guarantee.h"
#include "common/policy/ports.h"
#include "common/policy/value.h"
#include "common/base/sha256.h"
#include "common/base/text.h"

enum { CONTENT_MIN = 8 }; /* characters of a hash that a user types */

static struct rule command_line_rule(struct arena *arena, const char *key, const char *text, size_t length)
{
	return (struct rule){
		.key = key,
		.text = arena_copy_n(arena, text, length),
		.origin = { .source = "command line" },
		.layer = LAYER_COMMAND_LINE,
	};
}

/* Adds one rule per part of --allow-read=a,b, the syntax of Deno. */
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

static int take_publish(struct arena *arena, struct options *options, const char *value, struct error *err)
{
	struct rules *rules = &options->command_line.network.publish;
	size_t known = rules->count;
	if (add_list(arena, rules, "network.publish", "publish", value, err) < 0)
		return -1;
	for (; known < rules->count; known++) {
		struct published_port published;
		if (published_port_parse(rules->items[known].text, &published, err) < 0)
			return error_hint(err, "--publish=5173, --publish=8080:5173, or --publish=auto:5173 for a free port");
	}
	return 0;
}

static int take_read(struct arena *arena, struct options *options, const char *value, struct error *err)
{
	return add_list(arena, &options->command_line.files.read, "files.read", "allow-read", value, err);
}

static int take_write(struct arena *arena, struct options *options, const char *value, struct error *err)
{
	return add_list(arena, &options->command_line.files.write, "files.write", "allow-write", value, err);
}

static int take_deny(struct arena *arena, struct options *options, const char *value, struct error *err)
{
	return add_list(arena, &options->command_line.files.deny, "files.deny", "deny", value, err);
}

static int take_strict(struct arena *arena, struct options *options, const char *value, struct error *err)
{
	(void)value;
	(void)err;
	set_scalar(arena, &options->command_line.files.guard, "files.guard", "strict", LEVEL_STRICT);
	return 0;
}

static int take_env(struct arena *arena, struct options *options, const char *value, struct error *err)
{
	struct policy *policy = &options->command_line;
	assert(value);
	size_t length = strcspn(value, "=");
	if (!policy_value_is_variable(value, length, value[length] == '\0'))
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

/* Keeps the list sorted and free of duplicates, as closing all other descriptors requires. */
static int take_fd(struct arena *arena, struct options *options, const char *value, struct error *err)
{
	uint64_t number;
	size_t at = options->pass_fd_count;
	(void)arena;
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

int options_set_copy(struct arena *arena, struct options *options, const char *name, struct error *err)
{
	if (!copy_name_is_valid(name)) {
		error_set(err, "`%s` is not the name of a copy", name);
		return error_hint(err, "at most %d of A-Z, a-z, 0-9, dot, dash and underscore", COPY_NAME_MAX);
	}
	options->copy = name;
	set_scalar(arena, &options->command_line.workspace.copy, "workspace.copy", "always", COPY_ALWAYS);
	return 0;
}

static int take_older(struct arena *arena, struct options *options, const char *value, struct error *err)
{
	enum { DAYS_MAX = 36500 };
	size_t length = strlen(value);
	const char *number = length > 1 && value[length - 1] == 'd' ? arena_copy_n(arena, value, length - 1) : value;
	if (text_parse_u64(number, DAYS_MAX, &options->older_days) && options->older_days > 0)
		return 0;
	return error_set(err, "--older: not a number of days (30d): %s", text_visible(arena, value));
}

static int take_copy(struct arena *arena, struct options *options, const char *value, struct error *err)
{
	return options_set_copy(arena, options, value ? value : COPY_NAME_DEFAULT, err);
}

static int take_undoable(struct arena *arena, struct options *options, const char *value, struct error *err)
{
	(void)value;
	(void)err;
	set_scalar(arena, &options->command_line.workspace.undo, "workspace.undo", "true", true);
	return 0;
}

static int take_format(struct arena *arena, struct options *options, const char *value, struct error *err)
{
	(void)arena;
	assert(value);
	if (strcmp(value, "text") != 0 && strcmp(value, "json") != 0 && strcmp(value, "sbpl") != 0)
		return error_set(err, "--format=%s: text, json or sbpl", value);
	options->wants_json = strcmp(value, "json") == 0;
	options->wants_sbpl = strcmp(value, "sbpl") == 0;
	return 0;
}

static int take_drop(struct arena *arena, struct options *options, const char *value, struct error *err)
{
	(void)arena;
	if (value && (strlen(value) < CONTENT_MIN || strlen(value) > SHA256_HEX || value[strspn(value, "0123456789abcdef")]))
		return error_set(err, "--drop=%s: a hash as --list shows it, at least %d characters", value, CONTENT_MIN);
	options->wants_drop = true;
	options->content = value;
	return 0;
}

static int take_idle(struct arena *arena, struct options *options, const char *value, struct error *err)
{
	(void)arena;
	assert(value);
	if (!text_parse_duration(value, &options->idle_ms) || options->idle_ms == 0)
		return error_set(err, "--idle=%s: not a duration, for example 30s, 5m or 2h", value);
	return 0;
}

static int take_os(struct arena *arena, struct options *options, const char *value, struct error *err)
{
	(void)arena;
	assert(value);
	if (strcmp(value, "linux") != 0 && strcmp(value, "macos") != 0)
		return error_set(err, "--os=%s: linux or macos", value);
	options->os = value;
	return 0;
}

static int take_schema(struct arena *arena, struct options *options, const char *value, struct error *err)
{
	(void)arena;
	options->schema = value ? value : "policy";
	if (strcmp(options->schema, "policy") != 0 && strcmp(options->schema, "log") != 0)
		return error_set(err, "--schema=%s: policy or log", value);
	return 0;
}

static int take_since(struct arena *arena, struct options *options, const char *value, struct error *err)
{
	(void)arena;
	assert(value);
	if (!text_parse_duration(value, &options->since_ms) || options->since_ms == 0)
		return error_set(err, "--since=%s: a duration such as 30m, 12h or 2d", value);
	return 0;
}

static int take_ours(struct arena *arena, struct options *options, const char *value, struct error *err)
{
	(void)err;
	*arena_push(arena, &options->ours) = value;
	return 0;
}

static int take_theirs(struct arena *arena, struct options *options, const char *value, struct error *err)
{
	(void)err;
	*arena_push(arena, &options->theirs) = value;
	return 0;
}

/* A row either sets a member of struct options (a bool without an argument, a string with one) or
 * calls `take`. `value` is NULL only for an option whose argument is none or in brackets. */
struct option_row {
	const char *name;
	char letter; /* 0: none */
	const char *argument; /* NULL: takes none; in brackets: optional */
	const char *help;
	int (*take)(struct arena *arena, struct options *options, const char *value, struct error *err);
	size_t member;
};

#define SET(member_name) NULL, offsetof(struct options, member_name)

static const struct option_row option_table[OPTION_COUNT] = {
	[OPTION_PROJECT] = { "project", 0, "DIR", "the project (default: nearest berm.yml or .git)", SET(project) },
	[OPTION_POLICY] = { "policy", 0, "FILE", "use this policy, not the project's berm.yml", SET(policy_file) },
	[OPTION_ALLOW_READ] = { "allow-read", 0, "PATH,...", "make these paths readable", take_read, 0 },
	[OPTION_ALLOW_WRITE] = { "allow-write", 0, "PATH,...", "make these paths writable", take_write, 0 },
	[OPTION_ALLOW_NET] = { "allow-net", 0, "[HOST:PORT,...]", "allow these destinations (no value: all)", take_net, 0 },
	[OPTION_PUBLISH] = { "publish", 0, "PORT,...", "let this machine reach ports of the command", take_publish, 0 },
	[OPTION_DENY] = { "deny", 0, "PATTERN,...", "hide what these patterns match", take_deny, 0 },
	[OPTION_ENV] = { "env", 0, "NAME[=VALUE]", "pass or set an environment variable", take_env, 0 },
	[OPTION_STRICT] = { "strict", 0, NULL, "set files.guard: strict", take_strict, 0 },
	[OPTION_ACCEPT_WEAKER] = { "accept-weaker", 0, "GUARANTEE", "run although this guarantee is weaker here", take_weaker,
				   0 },
	[OPTION_PASS_FD] = { "pass-fd", 0, "N", "pass this open file descriptor", take_fd, 0 },
	[OPTION_DRY_RUN] = { "dry-run", 0, NULL, "show what would happen, do nothing", SET(is_dry_run) },
	[OPTION_COPY] = { "copy", 0, "[NAME]", "change a copy of the project (berm diff, apply)", take_copy, 0 },
	[OPTION_UNDOABLE] = { "undo", 0, NULL, "let `berm undo` take the changes back", take_undoable, 0 },
	[OPTION_PLAN] = { "plan", 0, NULL, "show the plan and the agent's files, run nothing", SET(wants_plan) },
	[OPTION_COMMANDS] = { "commands", 0, NULL, "keep login and API key from its shell commands", SET(wants_wall) },
	[OPTION_JSON] = { "json", 0, NULL, "print JSON", SET(wants_json) },
	[OPTION_FORMAT] = { "format", 0, "text|json|sbpl", "print text, JSON or a macOS profile", take_format, 0 },
	[OPTION_OS] = { "os", 0, "linux|macos", "answer for this system", take_os, 0 },
	[OPTION_CONTEXT] = { "context", 0, "FILE", "answer for the machine described in FILE", SET(context_file) },
	[OPTION_WHY_REBUILT] = { "why-rebuilt", 0, NULL, "report whether `run` uses the cached plan", SET(wants_why_rebuilt) },
	[OPTION_SHOW] = { "show", 0, "POLICY", "print one built-in policy", SET(show) },
	[OPTION_SCHEMA] = { "schema", 0, "[policy|log]", "print the JSON Schema of policies or records", take_schema, 0 },
	[OPTION_KEYS] = { "keys", 0, NULL, "list every policy key", SET(wants_keys) },
	[OPTION_LIST] = { "list", 0, NULL, "list what there is, change nothing", SET(wants_list) },
	[OPTION_DROP] = { "drop", 0, "[CONTENT]", "withdraw the trust (no value: of every content)", take_drop, 0 },
	[OPTION_PRINT] = { "print", 0, NULL, "print the result, write nothing", SET(wants_print) },
	[OPTION_WRITE] = { "write", 0, NULL, "make the change", SET(wants_write) },
	[OPTION_UNDO] = { "undo", 0, NULL, "undo the change", SET(wants_undo) },
	[OPTION_CHECK] = { "check", 0, NULL, "report whether it is in force", SET(wants_check) },
	[OPTION_FILE] = { "file", 0, "FILE", "the host's settings file, if not the default", SET(file) },
	[OPTION_HOW] = { "how", 0, "WAY", "another way: prefix (claude-code)", SET(how) },
	[OPTION_MANAGED] = { "managed", 0, NULL, "settings that no project overrides (root)", SET(wants_managed) },
	[OPTION_PROVE] = { "prove", 0, NULL, "with --check: run a command through the host", SET(wants_prove) },
	[OPTION_DEBUGGER] = { "debugger", 0, NULL, "let the host's debugger attach (vscode)", SET(wants_debugger) },
	[OPTION_HOST] = { "host", 0, "HOST", "the agent whose JSON is on stdin", SET(host) },
	[OPTION_SINCE] = { "since", 0, "DURATION", "only runs that started since then (2d)", take_since, 0 },
	[OPTION_DENIED] = { "denied", 0, NULL, "only runs in which something was refused", SET(wants_denied) },
	[OPTION_NET_HOST] = { "host", 0, "NAME", "only runs that asked for this host", SET(net_host) },
	[OPTION_EXPORT] = { "format", 0, "ndjson|csv|otlp-json|ocsf", "the format (ndjson)", SET(export_format) },
	[OPTION_OUTPUT] = { "output", 'o', "FILE", "write to this file", SET(output) },
	[OPTION_FOLLOW] = { "follow", 'f', NULL, "wait for further events", SET(is_following) },
	[OPTION_ALL] = { "all", 0, NULL, "take all of them", SET(wants_all) },
	[OPTION_IDLE] = { "idle", 0, "DURATION", "end after this time without a command (5m)", take_idle, 0 },
	[OPTION_REPOSITORY] = { "repo", 0, NULL, "this repository (default)", SET(wants_repository) },
	[OPTION_GLOBAL] = { "global", 0, NULL, "every repository without a core.hooksPath", SET(wants_global) },
	[OPTION_UNINSTALL] = { "uninstall", 0, NULL, "same as `berm hooks uninstall`", SET(wants_uninstall) },
	[OPTION_STAT] = { "stat", 0, NULL, "only count the changed lines of each file", SET(wants_stat) },
	[OPTION_NAME_ONLY] = { "name-only", 0, NULL, "only print the paths", SET(wants_names) },
	[OPTION_EXIT_CODE] = { "exit-code", 0, NULL, "exit with 1 if there are changes", SET(wants_exit_code) },
	[OPTION_OURS] = { "ours", 0, "PATH", "leave conflicts there as they are in the project", take_ours, 0 },
	[OPTION_THEIRS] = { "theirs", 0, "PATH", "resolve conflicts there with the copy's version", take_theirs, 0 },
	[OPTION_FORCE] = { "force", 0, NULL, "apply a copy that a restart may have damaged", SET(is_forced) },
	[OPTION_OLDER] = { "older", 0, "DAYS", "also what was not used for so long (30d)", take_older, 0 },
	[OPTION_YES] = { "yes", 'y', NULL, "do not ask", SET(is_yes) },
	[OPTION_INSTALL_APPARMOR] = { "install-apparmor", 0, NULL, "allow berm user namespaces (needs root)",
				      SET(wants_apparmor) },
	[OPTION_REMOVE_APPARMOR] = { "remove-apparmor", 0, NULL, "undo --install-apparmor (needs root)",
				     SET(wants_no_apparmor) },
	[OPTION_VERBOSE] = { "verbose", 'v', NULL, "print details", SET(is_verbose) },
	[OPTION_HELP] = { "help", 'h', NULL, "print this text", SET(wants_help) },
};

_Static_assert(OPTION_COUNT <= 64, "a set of options fits in 64 bits");

static int take(struct arena *arena, const struct option_row *row, const char *value, struct options *options,
		struct error *err)
{
	char *member = (char *)options + row->member;
	if (row->take)
		return row->take(arena, options, value, err);
	if (row->argument)
		memcpy(member, &value, sizeof value);
	else
		*(bool *)member = true;
	return 0;
}

static int unknown_option(uint64_t accepted, const char *word, size_t length, struct error *err)
{
	const char *names[OPTION_COUNT];
	size_t count = 0;
	char name[64];
	const char *nearest;

	error_set(err, "unknown option %s", word);
	for (size_t i = 0; i < OPTION_COUNT; i++)
		if (accepted >> i & 1)
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

static bool is_spelled(const struct option_row *row, const char *word, size_t length)
{
	if (length == 2)
		return word[0] == '-' && row->letter && word[1] == row->letter;
	return length > 2 && word[0] == '-' && word[1] == '-' && strlen(row->name) == length - 2 &&
	       memcmp(row->name, word + 2, length - 2) == 0;
}

static const struct option_row *find(uint64_t accepted, const char *word, size_t length)
{
	for (size_t i = 0; i < OPTION_COUNT; i++)
		if ((accepted >> i & 1) && is_spelled(&option_table[i], word, length))
			return &option_table[i];
	return NULL;
}

/* Finds the value of the option at argv[*at]: after its `=`, or in the next word, to which
 * *at then moves. */
static int find_value(const struct option_row *row, int argc, char **argv, int *at, const char **value, struct error *err)
{
	const char *equals = strchr(argv[*at], '=');

	*value = equals ? equals + 1 : NULL;
	if (*value && !row->argument)
		return error_set(err, "--%s takes no value", row->name);
	if (!*value && row->argument && row->argument[0] != '[') {
		if (*at + 1 >= argc || strcmp(argv[*at + 1], "--") == 0)
			return error_set(err, "--%s needs a value: --%s=%s", row->name, row->name, row->argument);
		*value = argv[++*at];
	}
	return *value && (*value)[0] == '\0' ? error_set(err, "--%s: empty value", row->name) : 0;
}

int options_parse(struct arena *arena, uint64_t accepted, int argc, char **argv, struct options *options, int *rest,
		  struct error *err)
{
	int at = 1;
	for (; at < argc && argv[at][0] == '-' && argv[at][1] != '\0'; at++) {
		size_t length = strcspn(argv[at], "=");
		const struct option_row *row;
		const char *value;

		if (strcmp(argv[at], "--") == 0) {
			at++;
			break;
		}
		row = find(accepted, argv[at], length);
		if (!row)
			return unknown_option(accepted, argv[at], length, err);
		if (find_value(row, argc, argv, &at, &value, err) < 0 || take(arena, row, value, options, err) < 0)
			return -1;
	}
	*rest = at;
	return 0;
}

void options_help(uint64_t accepted, struct text *out)
{
	for (size_t i = 0; i < OPTION_COUNT; i++) {
		const struct option_row *row = &option_table[i];
		struct text left = { 0 };
		if (!(accepted >> i & 1))
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
	if (index >= OPTION_COUNT)
		return false;
	const struct option_row *row = &option_table[index];
	*info = (struct option_info){ row->name, row->letter, row->argument, UINT64_C(1) << index, row->help };
	return true;
}
