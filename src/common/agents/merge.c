/* SPDX-License-Identifier: Apache-2.0 */
/* Takes values of a private copy back to the host's file. The copy comes from commands that may be
 * hostile: only fields of the table are read, each must have the expected shape, and only values
 * that the host's file has already are replaced. Everything else of the copy is ignored.
 * Never opens a file.
 *
 * A limit: a command that has another account could put the tokens of that one into a file that
 * names no account (Claude Code, Qwen). docs/whole-agent.md describes it. */
#include "common/agents/agents.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "common/base/text.h"

enum {
	TOKEN_MIN = 16,
	TOKEN_MAX = 8192,
	NUMBER_MAX = 15, /* digits: below 2^53 */
	VERSION_MAX = 24,
	DATE_MIN = 20, /* 2026-01-31T12:34:56Z */
	DATE_MAX = 35,
	DATE_SECONDS = 19, /* the part that is compared */
	FIELDS_MAX = 8,
	SKEW_MS = 86400000, /* a clock inside cannot differ, but a server's may */
};

static const char token_bytes[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._~+/=-";
static const char openai_claims[] = "https://api.openai.com/auth";

/* One login, or all counters of a file. */
struct group {
	struct arena *arena;
	const struct agent_copy *copy;
	int64_t now_ms;
	const struct jsonc_value *host, *inside;
	const char *member; /* of the root; NULL: the root itself */
	const struct agent_field *changed[FIELDS_MAX];
	size_t changed_count;
	bool is_newer; /* an expiry or a date has grown */
	bool is_older; /* or it has not, so that the host's values are as good */
};

static bool is_made_of(const struct jsonc_value *value, const char *bytes, size_t least, size_t most)
{
	return value->type == JSONC_STRING && value->length >= least && value->length <= most &&
	       strlen(value->string) == value->length && strspn(value->string, bytes) == value->length;
}

static bool is_token(const struct agent_field *field, const struct jsonc_value *value)
{
	return is_made_of(value, token_bytes, TOKEN_MIN, TOKEN_MAX) &&
	       (!field->prefix || text_starts_with(value->string, field->prefix));
}

/* Integers only, without sign, fraction and exponent. */
static bool read_number(const struct jsonc_value *value, int64_t *number)
{
	size_t length = value->end - value->start;
	*number = 0;
	if (value->type != JSONC_NUMBER || length > NUMBER_MAX)
		return false;
	for (size_t i = 0; i < length; i++) {
		if (value->raw[i] < '0' || value->raw[i] > '9')
			return false;
		*number = *number * 10 + (value->raw[i] - '0');
	}
	return true;
}

static int digit_of(char byte)
{
	static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
	const char *at = byte ? strchr(digits, byte) : NULL;
	return at ? (int)(at - digits) : -1;
}

/* Decodes base64url without padding. Returns NULL for anything else. */
static char *decode(struct arena *arena, const char *text, size_t length, size_t *decoded)
{
	char *out = arena_alloc(arena, length + 1);
	unsigned bits = 0, count = 0;
	*decoded = 0;
	for (size_t i = 0; i < length; i++) {
		int digit = digit_of(text[i]);
		if (digit < 0)
			return NULL;
		bits = bits << 6 | (unsigned)digit;
		count += 6;
		if (count >= 8) {
			count -= 8;
			out[(*decoded)++] = (char)(bits >> count & 0xff);
		}
	}
	return out;
}

/* The claims of a token; the signature is not checked: a command cannot make a token that the API
 * accepts and that names another account than its own. */
static bool read_claims(struct arena *arena, const struct jsonc_value *token, struct jsonc_value *claims)
{
	const char *start = strchr(token->string, '.'), *end = start ? strchr(start + 1, '.') : NULL;
	struct jsonc_text text;
	struct error ignored;
	if (!end || strchr(end + 1, '.'))
		return false;
	text.data = decode(arena, start + 1, (size_t)(end - start - 1), &text.length);
	return text.data && jsonc_parse(arena, JSONC_STRICT, "claims", text, claims, &ignored) == 0 &&
	       claims->type == JSONC_OBJECT;
}

static bool is_same_claim(const struct jsonc_value *a, const struct jsonc_value *b, const char *const *path)
{
	const struct jsonc_value *left = jsonc_find(a, path), *right = jsonc_find(b, path);
	return left && right && left->type == JSONC_STRING && left->length > 0 && jsonc_equal(left, right);
}

/* The host's token must name an account, or nothing can be compared. */
static bool is_same_account(struct arena *arena, const struct jsonc_value *host, const struct jsonc_value *inside)
{
	static const char *const account[] = { openai_claims, "chatgpt_account_id", NULL };
	static const char *const subject[] = { "sub", NULL };
	struct jsonc_value old, new;
	return read_claims(arena, host, &old) && read_claims(arena, inside, &new) && is_same_claim(&old, &new, account) &&
	       is_same_claim(&old, &new, subject);
}

static bool is_date(const struct jsonc_value *value)
{
	static const char shape[] = "0000-00-00T00:00:00";
	if (!is_made_of(value, "0123456789T:.Z-", DATE_MIN, DATE_MAX) || value->string[value->length - 1] != 'Z')
		return false;
	for (size_t i = 0; shape[i]; i++) {
		bool is_digit = value->string[i] >= '0' && value->string[i] <= '9';
		if (shape[i] == '0' ? !is_digit : value->string[i] != shape[i])
			return false;
	}
	return true;
}

static bool judge_date(struct group *group, const struct jsonc_value *host, const struct jsonc_value *inside)
{
	char now[32];
	time_t seconds = (time_t)((group->now_ms + SKEW_MS) / 1000);
	struct tm broken;
	int order;

	if (!is_date(host) || !is_date(inside) || !gmtime_r(&seconds, &broken) ||
	    strftime(now, sizeof now, "%Y-%m-%dT%H:%M:%S", &broken) == 0)
		return false;
	order = strncmp(inside->string, host->string, DATE_SECONDS);
	group->is_newer |= order > 0;
	group->is_older |= order <= 0;
	return order <= 0 || strncmp(inside->string, now, DATE_SECONDS) <= 0;
}

static bool judge_expiry(struct group *group, const struct jsonc_value *host, const struct jsonc_value *inside)
{
	int64_t old, new, last = group->now_ms + (int64_t)AGENT_EXPIRY_DAYS * 86400 * 1000;
	if (!read_number(host, &old) || !read_number(inside, &new))
		return false;
	group->is_newer |= new > old;
	group->is_older |= new <= old;
	return new <= last;
}

static bool judge_count(const struct jsonc_value *host, const struct jsonc_value *inside)
{
	int64_t old, new;
	return read_number(host, &old) && read_number(inside, &new) && new > old &&new - old <= AGENT_COUNT_STEP;
}

/* True if the inside value, which differs from the host's, may replace it. */
static bool judge(struct group *group, const struct agent_field *field, const struct jsonc_value *host,
		  const struct jsonc_value *inside)
{
	switch (field->kind) {
	case AGENT_TOKEN:
		return host->type == JSONC_STRING && is_token(field, inside);
	case AGENT_JWT:
		return is_token(field, host) && is_token(field, inside) && is_same_account(group->arena, host, inside);
	case AGENT_EXPIRY:
		return judge_expiry(group, host, inside);
	case AGENT_DATE:
		return judge_date(group, host, inside);
	case AGENT_COUNT:
		return judge_count(host, inside);
	case AGENT_TRUE:
		return host->type == JSONC_FALSE && inside->type == JSONC_TRUE;
	case AGENT_VERSION:
		return host->type == JSONC_STRING && is_made_of(inside, "0123456789.", 1, VERSION_MAX);
	case AGENT_SAME:
		break;
	}
	return false;
}

static const char *name_of(const struct group *group, const struct agent_field *field)
{
	struct text name = { 0 };
	const char *result;
	if (group->member)
		text_add(&name, "%s.", text_visible(group->arena, group->member));
	for (size_t i = 0; field->path[i]; i++)
		text_add(&name, "%s%s", i > 0 ? "." : "", field->path[i]);
	result = arena_copy(group->arena, name.data);
	text_free(&name);
	return result;
}

/* A field that only one side has: of a login that is another login. */
static int judge_absent(const struct group *group, const struct agent_field *field, const struct jsonc_value *host,
			const struct jsonc_value *inside, struct error *err)
{
	if (!group->copy->is_login || (!host && !inside))
		return 0;
	if (!host)
		return field->kind == AGENT_SAME ? error_set(err, "%s is new", name_of(group, field)) : 0;
	return error_set(err, "%s is gone", name_of(group, field));
}

/* Collects the changed fields of one group. -1 with err: none of them goes back. */
static int collect(struct group *group, struct error *err)
{
	for (const struct agent_field *field = group->copy->fields; field->path[0]; field++) {
		const struct jsonc_value *host = jsonc_find(group->host, field->path);
		const struct jsonc_value *inside = jsonc_find(group->inside, field->path);
		if (!host || !inside) {
			if (judge_absent(group, field, host, inside, err) < 0)
				return -1;
			continue;
		}
		if (jsonc_equal(host, inside)) {
			group->is_older |= field->kind == AGENT_EXPIRY || field->kind == AGENT_DATE;
			continue;
		}
		if (judge(group, field, host, inside))
			group->changed[group->changed_count++] = field;
		else if (group->copy->is_login)
			return error_set(err, "%s is not what a refreshed login has there", name_of(group, field));
	}
	return 0;
}

static void write_value(const struct jsonc_value *value, struct text *out)
{
	if (value->type == JSONC_STRING)
		text_add_json(out, value->string);
	else
		text_add_n(out, value->raw, value->end - value->start);
}

/* Replaces one value in *text. */
static int apply(const struct group *group, const struct agent_field *field, struct jsonc_text *text, struct error *err)
{
	struct jsonc_edit edit = { 0 };
	struct text value = { 0 }, out = { 0 };
	size_t depth = 0;
	int status;

	if (group->member)
		edit.path[depth++] = group->member;
	for (size_t i = 0; field->path[i]; i++)
		edit.path[depth++] = field->path[i];
	write_value(jsonc_find(group->inside, field->path), &value);
	edit.value = value.data;
	status = jsonc_set(group->arena, group->copy->path, *text, &edit, &out, err);
	if (status == 0) {
		text->length = out.length;
		text->data = arena_copy_n(group->arena, out.data, out.length);
	}
	text_free(&value);
	text_free(&out);
	return status;
}

/* A login goes back only if it is newer: another program of the host may have refreshed it too. */
static int merge_group(struct group *group, struct jsonc_text *text, struct error *err)
{
	if (collect(group, err) < 0)
		return -1;
	if (group->copy->is_login && group->is_older)
		return 0;
	if (group->copy->is_login && group->changed_count > 0 && !group->is_newer)
		return error_set(err, "nothing says that its login is newer than the host's");
	for (size_t i = 0; i < group->changed_count; i++)
		if (apply(group, group->changed[i], text, err) < 0)
			return -1;
	return group->changed_count > 0;
}

static int parse(struct arena *arena, const char *what, struct jsonc_text text, struct jsonc_value *root, struct error *err)
{
	struct error why = { 0 };
	if (jsonc_parse(arena, JSONC_STRICT, what, text, root, &why) < 0)
		return error_set(err, "%s", why.message);
	return root->type == JSONC_OBJECT ? 0 : error_set(err, "%s is not an object", what);
}

/* Each member of the host's file is a login of its own; further ones inside are ignored. */
static int merge_members(struct group *group, const struct jsonc_value *host, const struct jsonc_value *inside,
			 struct jsonc_text *text, struct error *err)
{
	int result = 0;
	for (size_t i = 0; i < host->count; i++) {
		struct group one = *group;
		const struct jsonc_child *child = &host->children[i];
		int status;
		if (strlen(child->key) != child->key_length || child->value.type != JSONC_OBJECT)
			continue;
		one.member = child->key;
		one.host = &child->value;
		one.inside = jsonc_member(inside, child->key);
		if (!one.inside || one.inside->type != JSONC_OBJECT)
			continue;
		status = merge_group(&one, text, err);
		if (status < 0)
			return -1;
		result |= status;
	}
	return result;
}

int agent_merge(struct arena *arena, const struct agent_copy *copy, int64_t now_ms, struct jsonc_text host,
		struct jsonc_text inside, struct text *out, struct error *err)
{
	struct jsonc_value old, new;
	struct jsonc_text text = host;
	struct group group = { .arena = arena, .copy = copy, .now_ms = now_ms, .host = &old, .inside = &new };
	int status;

	if (parse(arena, "the host's file", host, &old, err) < 0 || parse(arena, "the private copy", inside, &new, err) < 0)
		return -1;
	status = copy->is_per_member ? merge_members(&group, &old, &new, &text, err) : merge_group(&group, &text, err);
	if (status > 0)
		text_add_n(out, text.data, text.length);
	return status;
}
