/* SPDX-License-Identifier: Apache-2.0 */
/* Checks single values of a policy. A value that passes is well-formed; the plan resolves its
 * meaning on this machine. Reads only the text. */
#include "common/policy/value.h"

#include <string.h>

#include "common/net/destination.h"
#include "common/format/yaml.h"
#include "common/fs/pattern.h"
#include "common/policy/ports.h"
#include "common/base/text.h"

enum { CHOICE_COUNT_MAX = 32 };

static const char digits[] = "0123456789";
static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz_";

const struct key_choice *policy_value_choice(const struct key *key, const char *name)
{
	for (const struct key_choice *choice = key->choices; choice && choice->name; choice++) {
		if (strcmp(choice->name, name) == 0)
			return choice;
	}
	return NULL;
}

/* Refuses an unquoted string that has another type in YAML, because other tools would read it
 * differently. The exception is `~` in lists of paths, which can only mean the home. */
static int check_string(const char *text, bool is_plain, bool is_path, struct error *err)
{
	const char *type = is_plain ? yaml_plain_type(text) : NULL;

	if (text[0] == '\0')
		return error_set(err, "the value is empty");
	if (!type || (is_path && strcmp(text, "~") == 0))
		return 0;
	error_set(err, "`%s` is %s in YAML, not text", text, type);
	return error_hint(err, "quote it: \"%s\"", text);
}

static bool is_path_variable(const char *name, size_t length)
{
	for (size_t i = 0; policy_path_variables[i]; i++) {
		if (strlen(policy_path_variables[i]) == length && memcmp(policy_path_variables[i], name, length) == 0)
			return true;
	}
	return false;
}

static int unknown_variable(const char *text, struct error *err)
{
	struct text names = { 0 };

	for (size_t i = 0; policy_path_variables[i]; i++)
		text_add(&names, "%s$%s", i > 0 ? ", " : "", policy_path_variables[i]);
	error_set(err, "`%s` starts with an unknown variable", text);
	error_hint(err, "known variables: %s; write `./$name` for a name that starts with `$`", names.data);
	text_free(&names);
	return -1;
}

/* Checks the prefix of `~`, `~/x`, `$NAME` and `$NAME/x`, which the plan replaces. *rest is the
 * text after it, or the whole text if there is no prefix. */
static int check_prefix(const char *text, const char **rest, struct error *err)
{
	*rest = text;
	if (text[0] == '~') {
		if (text[1] != '\0' && text[1] != '/') {
			error_set(err, "`%s`: `~` cannot name the home of another user", text);
			return error_hint(err, "write the full path, or `./~name` for a name that starts with `~`");
		}
		*rest = text + 1;
	} else if (text[0] == '$') {
		size_t length = strcspn(text + 1, "/");
		if (!is_path_variable(text + 1, length))
			return unknown_variable(text, err);
		*rest = text + 1 + length;
	}
	return 0;
}

static int check_path(const char *text, struct error *err)
{
	const char *rest;

	if (check_prefix(text, &rest, err) < 0)
		return -1;
	if (strchr(text, '*')) {
		error_set(err, "`%s` is a pattern, not a path", text);
		return error_hint(err, "name the directory: it includes its contents");
	}
	return 0;
}

/* Compiles the pattern with placeholders for the home and the project, which the parser does not
 * know. */
static int check_pattern(struct arena *arena, const char *text, struct error *err)
{
	struct pattern pattern;
	const char *rest;

	if (check_prefix(text, &rest, err) < 0)
		return -1;
	return pattern_compile(arena, rest == text ? text : arena_printf(arena, "/home%s", rest), "/project", &pattern, err);
}

static int check_destination(struct arena *arena, const char *text, struct error *err)
{
	struct destination destination;
	return destination_parse(arena, text, &destination, err);
}

static int check_ports(const char *text, struct error *err)
{
	struct port_range range;
	return port_range_parse(text, &range, err);
}

static int check_publish(const char *text, struct error *err)
{
	struct published_port published;
	return published_port_parse(text, &published, err);
}

bool policy_value_is_variable(const char *name, size_t length, bool allows_wildcards)
{
	if (length == 0 || strchr(digits, name[0]))
		return false;
	for (size_t i = 0; i < length; i++) {
		bool is_wildcard = allows_wildcards && name[i] == '*';
		if (name[i] == '\0' || (!is_wildcard && !strchr(letters, name[i]) && !strchr(digits, name[i])))
			return false;
	}
	return true;
}

static int check_variable_pattern(const char *text, struct error *err)
{
	size_t length = strcspn(text, "=");

	if (text[length] == '\0' && policy_value_is_variable(text, length, true))
		return 0;
	error_set(err, "`%s` is not a variable name", text);
	return text[length] == '=' ? error_hint(err, "write a value under environment.set") : -1;
}

static bool is_clean_device(const char *text)
{
	if (!text_starts_with(text, "/dev/") || text[5] == '\0' || text_ends_with(text, "/"))
		return false;
	return !strstr(text, "//") && !strstr(text, "/./") && !strstr(text, "/../") && !text_ends_with(text, "/..") &&
	       !text_ends_with(text, "/.");
}

static int check_device(const struct key *key, const char *text, struct error *err)
{
	if (policy_value_choice(key, text) || is_clean_device(text))
		return 0;
	return error_set(err, "`%s` is neither `gpu` nor a path below /dev", text);
}

static int unknown_choice(const struct key *key, const char *text, struct error *err)
{
	const char *names[CHOICE_COUNT_MAX];
	struct text list = { 0 };
	const char *nearest;
	size_t count = 0;

	for (const struct key_choice *choice = key->choices; choice->name && count < CHOICE_COUNT_MAX; choice++)
		names[count++] = choice->name;
	for (size_t i = 0; i < count; i++)
		text_add(&list, "%s%s", i == 0 ? "" : i + 1 == count ? " or " : ", ", names[i]);
	if (key->kind == KEY_MAP)
		text_add(&list, ", nor a mapping");
	error_set(err, "`%s` is not %s%s", text, count > 1 ? "one of " : "", list.data);
	text_free(&list);
	nearest = text_nearest(text, names, count);
	return nearest ? error_hint(err, "did you mean `%s`?", nearest) : -1;
}

static int check_choice(const struct key *key, const char *text, uint64_t *value, struct error *err)
{
	const struct key_choice *choice = policy_value_choice(key, text);

	if (!choice)
		return unknown_choice(key, text, err);
	if (choice->is_unbuilt)
		return error_set(err, "`%s` is not yet supported", text);
	*value = choice->value;
	return 0;
}

static int check_size(const char *text, uint64_t *value, struct error *err)
{
	if (!text_parse_size(text, value)) {
		error_set(err, "`%s` is not a size", text);
		return error_hint(err, "write a whole number with K, M, G or T, for example 512M");
	}
	return *value > 0 ? 0 : error_set(err, "must be more than 0");
}

static int check_duration(const char *text, uint64_t *value, struct error *err)
{
	if (!text_parse_duration(text, value)) {
		error_set(err, "`%s` is not a duration", text);
		return error_hint(err, "write a whole number with ms, s, m, h or d, for example 30m");
	}
	return *value > 0 ? 0 : error_set(err, "must be more than 0");
}

static int check_count(const char *text, bool is_plain, uint64_t *value, struct error *err)
{
	if (!is_plain)
		return error_set(err, "a number is expected, without quotes");
	if (!text_parse_u64(text, UINT32_MAX, value))
		return error_set(err, "`%s` is not a whole number", text);
	return *value > 0 ? 0 : error_set(err, "must be more than 0");
}

static int check_boolean(const char *text, bool is_plain, uint64_t *value, struct error *err)
{
	const char *type = yaml_plain_type(text);
	bool is_true = strcmp(text, "true") == 0;

	if (is_plain && (is_true || strcmp(text, "false") == 0)) {
		*value = is_true;
		return 0;
	}
	error_set(err, "`%s` is not `true` or `false`", text);
	if (!is_plain && type && strcmp(type, "a boolean") == 0)
		return error_hint(err, "write it without quotes");
	return -1;
}

static int check_version(const char *text, bool is_plain, uint64_t *value, struct error *err)
{
	if (!is_plain || !text_parse_u64(text, UINT32_MAX, value))
		return error_set(err, "a number is expected: `version: 1`");
	if (*value != 1)
		return error_set(err, "version %s is unknown: this berm reads version 1", text);
	return 0;
}

static int check_text(struct arena *arena, const struct key *key, const char *text, bool is_plain, uint64_t *value,
		      struct error *err)
{
	bool is_path = key->kind == KEY_PATHS || key->kind == KEY_PATTERNS;

	/* The value of a variable may be empty if it is quoted. */
	if (key->kind == KEY_ASSIGNMENTS && !is_plain)
		return 0;
	if (check_string(text, is_plain, is_path, err) < 0)
		return -1;
	if (key->kind == KEY_PATHS)
		return check_path(text, err);
	if (key->kind == KEY_PATTERNS)
		return check_pattern(arena, text, err);
	if (key->kind == KEY_VARIABLES)
		return check_variable_pattern(text, err);
	if (key->kind == KEY_DESTINATIONS)
		return check_destination(arena, text, err);
	if (key->kind == KEY_DEVICES)
		return check_device(key, text, err);
	if (key->kind == KEY_NAMES && key->choices)
		return check_choice(key, text, value, err);
	return 0;
}

int policy_value_check(struct arena *arena, const struct key *key, const char *text, bool is_plain, uint64_t *value,
		       struct error *err)
{
	uint64_t ignored;

	if (!value)
		value = &ignored;
	switch (key->kind) {
	case KEY_SIZE:
		return check_size(text, value, err);
	case KEY_DURATION:
		return check_duration(text, value, err);
	case KEY_COUNT:
		return check_count(text, is_plain, value, err);
	case KEY_BOOLEAN:
		return check_boolean(text, is_plain, value, err);
	case KEY_VERSION:
		return check_version(text, is_plain, value, err);
	case KEY_PORTS:
		return check_ports(text, err);
	case KEY_PUBLISH:
		return check_publish(text, err);
	case KEY_CHOICE:
	case KEY_MAP:
		return check_choice(key, text, value, err);
	case KEY_PATHS:
	case KEY_PATTERNS:
	case KEY_NAMES:
	case KEY_VARIABLES:
	case KEY_ASSIGNMENTS:
	case KEY_DESTINATIONS:
	case KEY_NAME:
	case KEY_DEVICES:
		return check_text(arena, key, text, is_plain, value, err);
	case KEY_RESERVED:
		break;
	}
	return error_set(err, "not yet supported");
}
