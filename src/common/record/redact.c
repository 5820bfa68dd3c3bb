/* SPDX-License-Identifier: Apache-2.0 */
/* Takes secrets out of command lines by their form. Prefers to take out too much: a record is read
 * by more people than a command line. It cannot know a secret that looks like any other word. */
#include "common/record/record.h"

#include <ctype.h>
#include <string.h>

enum {
	NAME_BYTES = 64, /* of an option, header or variable */
	TOKEN_MIN = 16, /* bytes of a token with a well-known prefix */
	VALUE_MIN = 8, /* bytes of a variable's value that is searched for */
};

static const char mark[] = "[redacted]";

/* Parts of names whose values are secrets, in lower case, with - and _ left out. */
static const char *const secret_parts[] = { "token",	  "secret",	"password",   "passwd",		"passphrase",
					    "apikey",	  "credential", "privatekey", "accesskey",	"authorization",
					    "sessionkey", "cookie",	"bearer",     "clientassertion" };
static const char *const secret_names[] = { "auth", "pass", "pwd", "pw" };

/* Prefixes of tokens that services document. */
static const char *const token_prefixes[] = { "ghp_", "gho_",  "ghu_",	  "ghs_",  "ghr_",  "github_pat_", "glpat-", "sk-",
					      "sk_",  "rk_",   "xoxb-",	  "xoxp-", "xoxa-", "xapp-",	   "AKIA",   "ASIA",
					      "npm_", "pypi-", "dop_v1_", "hf_",   "eyJ",   "AIza",	   "ya29.",  "shpat_" };

/* Options whose names say nothing. */
static const struct {
	const char *program, *option;
	bool is_attached; /* its value is in the same word */
} program_options[] = {
	{ "curl", "-u", false },	   { "curl", "--user", false },	 { "curl", "-U", false },
	{ "curl", "--proxy-user", false }, { "mysql", "-p", true },	 { "mysqldump", "-p", true },
	{ "mysqladmin", "-p", true },	   { "mariadb", "-p", true },	 { "sshpass", "-p", false },
	{ "sshpass", "-p", true },	   { "redis-cli", "-a", false }, { "ldapsearch", "-w", false },
	{ "docker", "-p", false },	   { "podman", "-p", false },
};

static const char separators[] = " \t\n\r\"'`;|&()<>?,{}[]";
static const char name_characters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-.";

struct scan {
	struct text *out;
	const char *program; /* of program_options, that came last; or NULL */
	bool is_value; /* the value of a secret option follows */
	bool is_line; /* the word is a command line, as after `sh -c` */
};

static bool is_secret_name(const char *name, size_t length)
{
	char plain[NAME_BYTES + 1];
	size_t count = 0;
	for (size_t i = 0; i < length && count < NAME_BYTES; i++)
		if (name[i] != '-' && name[i] != '_' && name[i] != '.')
			plain[count++] = (char)tolower((unsigned char)name[i]);
	plain[count] = '\0';
	for (size_t i = 0; i < sizeof secret_names / sizeof secret_names[0]; i++)
		if (strcmp(plain, secret_names[i]) == 0)
			return true;
	for (size_t i = 0; i < sizeof secret_parts / sizeof secret_parts[0]; i++)
		if (strstr(plain, secret_parts[i]))
			return true;
	return false;
}

static void put(struct scan *scan, const char *bytes, size_t length)
{
	text_add_n(scan->out, bytes, length);
}

static void put_mark(struct scan *scan)
{
	put(scan, mark, sizeof mark - 1);
}

/* Redacts a value and returns its length: to the end of its quotes or of its piece of a command
 * line; otherwise to the end of the word, which may have blanks. */
static size_t put_value(struct scan *scan, const char *at, bool is_whole)
{
	size_t quoted = at[0] == '"' || at[0] == '\'' ? strcspn(at + 1, at[0] == '"' ? "\"" : "'") + 1 : 0;
	size_t length = quoted > 0 ? quoted + (at[quoted] != '\0') : is_whole ? strlen(at) : strcspn(at, " \t\n\r\"'`;|&,})");
	if (length > 0)
		put_mark(scan);
	return length;
}

/* Name and value in one: `--token=x`, `TOKEN=x`, `password: x`, `"password":"x"`, and headers. A
 * header ends with its quotes or line. Returns 0 if it is none. */
static size_t put_assignment(struct scan *scan, const char *at, size_t name, bool is_first)
{
	size_t between = name;

	if (!is_secret_name(at, name))
		return 0;
	if (at[between] == '"' || at[between] == '\'')
		between++;
	if (at[between] != '=' && at[between] != ':')
		return 0;
	if (at[between] == ':' && between == name && at[between + 1] == ' ') {
		put(scan, at, between + 2);
		put_mark(scan);
		return between + strcspn(at + between, "\"'\n\r");
	}
	between++;
	between += strspn(at + between, " ");
	put(scan, at, between);
	return between + put_value(scan, at + between, is_first && !scan->is_line);
}

/* The userinfo of a URL, whose password may have an @ of its own. Returns 0 if there is none. */
static size_t put_userinfo(struct scan *scan, const char *at, size_t scheme)
{
	size_t start = scheme + 3, length, user = 0;
	if (strncmp(at + scheme, "://", 3) != 0)
		return 0;
	length = strcspn(at + start, "/#?\"' \t\n\r");
	for (size_t i = 0; i < length; i++)
		if (at[start + i] == '@')
			user = i;
	if (user == 0)
		return 0;
	put(scan, at, start);
	put_mark(scan);
	return start + user;
}

/* Returns 0 if it is none. */
static size_t put_token(struct scan *scan, const char *at, size_t length)
{
	for (size_t i = 0; length >= TOKEN_MIN && i < sizeof token_prefixes / sizeof token_prefixes[0]; i++)
		if (text_starts_with(at, token_prefixes[i])) {
			put_mark(scan);
			return length;
		}
	return 0;
}

static void note_program(struct scan *scan, const char *at, size_t length)
{
	for (size_t i = 0; i < sizeof program_options / sizeof program_options[0]; i++) {
		const char *name = program_options[i].program;
		if (strlen(name) == length && memcmp(at, name, length) == 0)
			scan->program = name;
	}
}

/* An option of the program that came last. Returns 0 if it is none. */
static size_t put_program_option(struct scan *scan, const char *at, size_t piece)
{
	for (size_t i = 0; scan->program && i < sizeof program_options / sizeof program_options[0]; i++) {
		size_t size = strlen(program_options[i].option);
		if (strcmp(program_options[i].program, scan->program) != 0 || piece < size ||
		    memcmp(at, program_options[i].option, size) != 0 || program_options[i].is_attached != (piece > size))
			continue;
		put(scan, at, size);
		if (piece > size)
			put_mark(scan);
		scan->is_value = piece == size;
		return piece;
	}
	return 0;
}

/* An option with a secret value. Returns 0 if it is none. */
static size_t put_option(struct scan *scan, const char *at, size_t name)
{
	size_t piece = strcspn(at, separators), done;
	if (at[0] != '-' || piece < 2)
		return 0;
	done = put_program_option(scan, at, piece);
	if (done > 0 || name != piece || !is_secret_name(at, name))
		return done;
	scan->is_value = true;
	put(scan, at, piece);
	return piece;
}

/* Adds what starts with a name, and returns its length. */
static size_t put_name(struct scan *scan, const char *at, bool is_first)
{
	size_t name = strspn(at, name_characters), done = put_userinfo(scan, at, name);
	if (done == 0)
		done = put_assignment(scan, at, name, is_first);
	if (done == 0)
		done = put_token(scan, at, name);
	if (done == 0)
		done = put_option(scan, at, name);
	if (done > 0)
		return done;
	note_program(scan, at, name);
	put(scan, at, name);
	return name;
}

static void put_word(struct scan *scan, const char *word)
{
	const char *start = word;

	/* Of `--password --verbose` the value is missing. */
	if (scan->is_value && !scan->is_line && !(word[0] == '-' && word[1] == '-')) {
		put_mark(scan);
		scan->is_value = false;
		return;
	}
	scan->is_value = scan->is_value && scan->is_line;
	while (*word) {
		bool is_quote = *word == '"' || *word == '\'';
		size_t length = 1;
		if (scan->is_value && (is_quote || !strchr(separators, *word)) && !(word[0] == '-' && word[1] == '-')) {
			scan->is_value = false;
			length = put_value(scan, word, false);
		} else if (strchr(name_characters, *word)) {
			scan->is_value = false;
			length = put_name(scan, word, word == start);
		} else {
			put(scan, word, 1);
		}
		word += length > 0 ? length : 1;
	}
}

/* Replaces each occurrence of the value. */
static const char *without_value(struct arena *arena, const char *word, const char *value, const char *name, size_t length)
{
	struct text out = { 0 };
	const char *found, *result;
	while ((found = strstr(word, value))) {
		text_add_n(&out, word, (size_t)(found - word));
		text_add(&out, "[redacted:%.*s]", (int)length, name);
		word = found + strlen(value);
	}
	if (!out.data)
		return word;
	text_add(&out, "%s", word);
	result = arena_copy(arena, out.data);
	text_free(&out);
	return result;
}

/* Replaces values of variables that are secrets. */
static const char *without_values(struct arena *arena, const char *word, char *const *variables)
{
	for (; variables && *variables; variables++) {
		size_t name = strcspn(*variables, "=");
		const char *value = (*variables)[name] ? *variables + name + 1 : "";
		if (strlen(value) >= VALUE_MIN && is_secret_name(*variables, name))
			word = without_value(arena, word, value, *variables, name);
	}
	return word;
}

/* True for the option of a shell after which a command line follows: -c, -lc. */
static bool announces_line(const char *word)
{
	size_t length = strlen(word);
	return length > 1 && word[0] == '-' && word[1] != '-' && word[length - 1] == 'c';
}

char *const *record_redact(struct arena *arena, char *const *words, char *const *variables)
{
	struct {
		char **items;
		size_t count;
	} result = { 0 };
	struct text out = { 0 };
	struct scan scan = { .out = &out };

	for (size_t i = 0; words[i]; i++) {
		scan.is_line = i > 0 && announces_line(words[i - 1]);
		out.length = 0;
		text_add(&out, "%s", "");
		put_word(&scan, without_values(arena, words[i], variables));
		*arena_push(arena, &result) = arena_copy_n(arena, out.length > 0 ? out.data : "", out.length);
	}
	*arena_push(arena, &result) = NULL;
	text_free(&out);
	return result.items;
}

/* Returns at most `maximum` bytes of the word: its start and end. Never cuts a character. */
static const char *shortened(struct arena *arena, const char *word, size_t maximum)
{
	size_t length = strlen(word), head = maximum / 2, tail = length - maximum / 2;
	while (head > 0 && ((unsigned char)word[head] & 0xc0) == 0x80)
		head--;
	while (tail < length && ((unsigned char)word[tail] & 0xc0) == 0x80)
		tail++;
	return arena_printf(arena, "%.*s[%zu bytes left out]%s", (int)head, word, tail - head, word + tail);
}

void record_argv(struct arena *arena, struct json *json, char *const *words, char *const *variables)
{
	char *const *redacted = record_redact(arena, words, variables);
	size_t total = 0, left = RECORD_ARGV_MAX, count = 0;
	char hash[SHA256_HEX + 1];
	struct sha256 state;

	sha256_start(&state);
	json_list(json, "argv");
	for (; redacted[count]; count++) {
		const char *word = redacted[count];
		size_t length = strlen(word);
		total += length + 1;
		sha256_add(&state, word, length + 1);
		if (left > 0)
			record_bytes(json, NULL, length < left ? word : shortened(arena, word, left));
		left -= length < left ? length + 1 : left;
	}
	json_list_end(json);
	if (total <= RECORD_ARGV_MAX)
		return;
	sha256_finish_hex(&state, hash);
	json_object(json, "argv_cut");
	json_number(json, "words", count);
	json_number(json, "bytes", total);
	json_string(json, "sha256", hash);
	json_object_end(json);
}
