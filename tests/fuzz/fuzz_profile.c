/* SPDX-License-Identifier: Apache-2.0 */
/* Profiles for macOS. Input: one byte that says where the words go, a pattern, a newline, a path.
 * The regular expression of a denial matches wherever the pattern does, that of an exception
 * nowhere else; and whatever the words are, the profile stays ASCII, has the forms that berm writes
 * and no others, and comes out the same twice. */
#include <regex.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "common/plan/plan.h"
#include "common/base/text.h"
#include "common/format/unicode.h"
#include "fuzz/property.h"
#include "macos/profile/profile.h"
#include "macos/profile/regex.h"
#include "common/scan/scan.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { INPUT_MAX = 300 };

static const char machine[] = "os: macos\nuser: ann\nuid: 501\nhome: /Users/ann\nproject: /Users/ann/app\n"
			      "files: [/usr/bin/sh, /opt/tool/x, /Users/ann/app/sub/]\n";
static const char rules[] =
	"version: 1\nfiles: {system: [/usr], read: [/opt/tool], write: [.], deny: [.env], except: ['*.x']}\n";

struct input {
	unsigned where;
	char pattern[INPUT_MAX + 1];
	char path[INPUT_MAX + 8];
};

static void make_canonical(const char *text, char *path)
{
	size_t used = 0;
	while (*text) {
		size_t length = strcspn(text, "/");
		bool is_dots = (length == 1 && text[0] == '.') || (length == 2 && memcmp(text, "..", 2) == 0);
		if (length > 0 && !is_dots) {
			path[used++] = '/';
			memcpy(path + used, text, length);
			used += length;
		}
		text += length + (text[length] == '/');
	}
	if (used == 0)
		path[used++] = '/';
	path[used] = '\0';
}

static bool read_input(const uint8_t *data, size_t size, struct input *input)
{
	const uint8_t *newline;
	size_t length;
	char rest[INPUT_MAX + 1];

	if (size < 3 || size > INPUT_MAX || memchr(data, '\0', size))
		return false;
	newline = memchr(data + 1, '\n', size - 1);
	if (!newline)
		return false;
	input->where = data[0];
	length = (size_t)(newline - data - 1);
	memcpy(input->pattern, data + 1, length);
	input->pattern[length] = '\0';
	length = size - length - 2;
	memcpy(rest, newline + 1, length);
	rest[length] = '\0';
	make_canonical(rest, input->path);
	return true;
}

static bool has_ignored(const char *path)
{
	const char *end = path + strlen(path);
	while (path != end) {
		uint32_t character;
		path += unicode_decode(path, end, &character);
		if (unicode_is_ignored(character))
			return true;
	}
	return false;
}

/* The expression as profile_patterns.c would write it. False if it cannot be said. */
static bool make_regex(struct arena *arena, const struct pattern *pattern, enum regex_width width, struct text *out)
{
	struct regex_shape shape = regex_shape(arena, pattern);
	text_add(out, "%s", shape.is_anchored ? "^" : "");
	if (!regex_add_parts(out, &shape, 0, shape.count, width))
		return false;
	text_add(out, "($|/)");
	return true;
}

static bool regex_matches(const char *expression, const char *path)
{
	regex_t compiled;
	bool result;
	PROPERTY(regcomp(&compiled, expression, REG_EXTENDED | REG_NOSUB) == 0);
	result = regexec(&compiled, path, 0, NULL, 0) == 0;
	regfree(&compiled);
	return result;
}

static void check_regexes(struct arena *arena, const struct pattern *pattern, const char *path)
{
	struct text wide = { 0 }, narrow = { 0 };
	bool covers = pattern_covers(pattern, path, true, true) > 0;

	PROPERTY(make_regex(arena, pattern, REGEX_WIDE, &wide));
	for (size_t i = 0; i < wide.length; i++)
		PROPERTY(wide.data[i] >= ' ' && wide.data[i] <= '~' && !strchr("\\\"{}", wide.data[i]));
	/* The expression of a very long pattern takes the C library very long. */
	if (wide.length < 4096 && !has_ignored(path) && covers)
		PROPERTY(regex_matches(wide.data, path));
	if (make_regex(arena, pattern, REGEX_NARROW, &narrow) && narrow.length < 4096 && regex_matches(narrow.data, path))
		PROPERTY(covers);
	text_free(&wide);
	text_free(&narrow);
}

/* Words that may stand in a profile outside of strings. */
static bool is_known_word(const char *word, size_t length)
{
	static const char known[] =
		" version 1 allow deny default with message param require-all require-any require-not subpath literal prefix "
		"regex "
		"vnode-type DIRECTORY file-read* file-write* file-link file-clone file-map-executable file-ioctl "
		"file-read-metadata "
		"file-write-unlink file-write-create process-exec* process-fork process-info* nvram* signal target "
		"same-sandbox "
		"mach-priv-task-port mach-lookup mach-register global-name sysctl-read sysctl-write sysctl-name "
		"sysctl-name-prefix "
		"ipc-posix-sem* ipc-posix-shm* ipc-posix-shm-read-data ipc-posix-name ipc-posix-name-prefix system-fsctl "
		"fsctl-command FSIOC_CAS_BSDFLAGS iokit-open iokit-registry-entry-class system-socket socket-domain AF_UNIX "
		"pseudo-tty extension ioctl-command _IO 114 network-inbound network-outbound appleevent-send lsopen "
		"job-creation "
		"authorization-right-obtain remote local ip tcp ";
	char framed[64];
	if (length + 3 > sizeof framed)
		return false;
	framed[0] = ' ';
	memcpy(framed + 1, word, length);
	framed[length + 1] = ' ';
	framed[length + 2] = '\0';
	return strstr(known, framed) != NULL;
}

/* Reads the text as the language does: comments, strings, parentheses, words. */
static void check_structure(const struct profile *profile)
{
	unsigned depth = 0, defaults = 0, forms = 0;
	for (const char *at = profile->text; *at;) {
		size_t length;
		PROPERTY((*at >= ' ' && *at <= '~') || *at == '\n');
		if (*at == ';') {
			for (; *at != '\n'; at++)
				PROPERTY(*at >= ' ' && *at <= '~');
		} else if (*at == '"' || (at[0] == '#' && at[1] == '"')) {
			at += *at == '#' ? 2 : 1;
			length = strcspn(at, "\"");
			PROPERTY(at[length] == '"' && !memchr(at, '\\', length) && !memchr(at, '\n', length));
			at += length + 1;
		} else if (*at == '(' || *at == ')') {
			PROPERTY(*at == '(' || depth > 0);
			forms += *at == '(' && depth == 0;
			if (*at == '(' && depth == 0)
				PROPERTY(text_starts_with(at, "(allow ") || text_starts_with(at, "(deny ") ||
					 text_starts_with(at, "(version 1)"));
			depth += *at == '(' ? 1 : -1U;
			at++;
		} else if (*at == ' ' || *at == '\n') {
			at++;
		} else {
			length = strcspn(at, " \n()\";");
			PROPERTY(depth > 0 && length > 0 && is_known_word(at, length));
			defaults += length == strlen("default") && strncmp(at, "default", length) == 0;
			at += length;
		}
	}
	PROPERTY(depth == 0 && defaults == 1 && forms > 10);
}

static void add_pattern(struct plan *plan, struct plan_patterns *patterns, const struct pattern *pattern,
			const struct rule *rule)
{
	struct plan_patterns copy = { 0 };
	for (size_t i = 0; i < patterns->count; i++)
		*arena_push(plan->arena, &copy) = patterns->items[i];
	*arena_push(plan->arena, &copy) = (struct plan_pattern){ *pattern, rule };
	*patterns = copy;
}

static void add_grant(struct plan *plan, const char *path, unsigned where, const struct rule *rule)
{
	struct plan_grants copy = { 0 };
	for (size_t i = 0; i < plan->grants.count; i++)
		*arena_push(plan->arena, &copy) = plan->grants.items[i];
	*arena_push(plan->arena, &copy) = (struct plan_grant){ .path = path,
							       .kind = (enum grant_kind)(where % 3),
							       .type = where & 4 ? FILE_DIRECTORY : FILE_REGULAR,
							       .rule = rule };
	plan->grants = copy;
}

static void check_profile(struct arena *arena, const struct plan *base, const struct pattern *pattern,
			  const struct input *input)
{
	struct rule rule = {
		"files.deny", input->pattern, { input->path, 1, 2 }, (enum layer)(input->where % (LAYER_COMMAND_LINE + 1)), NULL
	};
	struct pattern literal = { .text = input->path, .is_literal = true, .literal_prefix = strlen(input->path) };
	struct plan plan = *base;
	struct plan_patterns *lists[] = { &plan.deny, &plan.protect, &plan.except, &plan.lifted };
	struct profile_run run = { .tag = "berm:fuzz", .proxy_port = 1234 };
	const char *terminal = input->path;
	struct profile profile, again;
	struct error err;

	plan.arena = arena;
	add_pattern(&plan, lists[(input->where >> 3) % 3], pattern, &rule);
	add_pattern(&plan, lists[(input->where >> 5) % 4], &literal, &rule);
	add_grant(&plan, input->path, input->where, &rule);
	run.helper = input->path;
	run.terminals = &terminal;
	run.terminal_count = 1;
	PROPERTY(profile_write(arena, &plan, &run, &profile, &err) == 0);
	PROPERTY(profile.length == strlen(profile.text));
	check_structure(&profile);
	PROPERTY(profile_write(arena, &plan, &run, &again, &err) == 0);
	PROPERTY(strcmp(profile.text, again.text) == 0 && profile.parameters.count == again.parameters.count);
}

static const struct plan *base_plan(void)
{
	static struct arena arena;
	static struct context context;
	static struct policy policy;
	static struct plan plan;
	struct diagnostics diagnostics = { .arena = &arena };
	struct error err;

	if (plan.arena)
		return &plan;
	PROPERTY(context_parse(&arena, "machine.yml", machine, strlen(machine), &context, &err) == 0);
	PROPERTY(policy_parse(&arena, "p.yml", LAYER_USER, rules, strlen(rules), &policy, &diagnostics) == 0);
	PROPERTY(plan_resolve(&arena, &policy, &context, &plan, &diagnostics) == 0);
	PROPERTY(plan_scan(&plan, &err) == 0);
	return &plan;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct arena arena = { 0 };
	struct pattern pattern;
	struct input input;
	struct error err;

	if (!read_input(data, size, &input))
		return 0;
	if (pattern_compile(&arena, input.pattern, "/Users/ann/app", &pattern, &err) == 0) {
		check_regexes(&arena, &pattern, input.path);
		check_profile(&arena, base_plan(), &pattern, &input);
	}
	arena_free(&arena);
	return 0;
}
