/* SPDX-License-Identifier: Apache-2.0 */
/* Writes random machines and policies to stdout for `sbpl.scm compare`: each as a profile, and as
 * queries with the verdict of `berm check`:
 *
 *   PROFILE bytes                 followed by the text
 *   QUERY allow|deny CLASSES operation key=value...
 *
 * CLASSES names the differences of docs/macos.md that could explain a mismatch (`-`: none). With
 * the name of a mutation the profile is damaged, and the comparison must fail. A seed gives the
 * same stream on every machine. */
#include "macos/cases.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/format/unicode.h"

static struct cases cases;

static void add_byte(struct text *out, unsigned char c)
{
	bool is_plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || strchr("/._-", c);
	if (is_plain)
		text_add(out, "%c", c);
	else
		text_add(out, "%%%02X", (unsigned)c);
}

static void print_query(bool is_allowed, const char *classes, const char *operation, const char *path, const char *type)
{
	struct text encoded = { 0 };
	for (const char *at = path; *at; at++)
		add_byte(&encoded, (unsigned char)*at);
	printf("QUERY %s %s %s path=%s type=%s\n", is_allowed ? "allow" : "deny", classes, operation, encoded.data, type);
	text_free(&encoded);
	cases.questions++;
}

static bool has_high(const char *path)
{
	for (; *path; path++)
		if (*path < ' ' || *path > '~')
			return true;
	return false;
}

/* True if the name has U+200C or another character that HFS+ ignores. */
static bool has_ignored(const char *path)
{
	return strstr(path, "\xe2\x80\x8c") != NULL;
}

static bool is_odd(const char *text)
{
	return strpbrk(text, "^[]{}\"\\") != NULL || has_high(text);
}

/* True if a rule has wildcards and characters that the regular expressions cannot express. */
static bool has_odd_pattern(const struct plan *plan)
{
	const struct plan_patterns *lists[] = { &plan->deny, &plan->protect, &plan->except };
	for (size_t i = 0; i < sizeof lists / sizeof lists[0]; i++)
		for (size_t k = 0; k < lists[i]->count; k++)
			if (is_odd(lists[i]->items[k].pattern.text))
				return true;
	return false;
}

/* True if an exception matches below a name that a denial matches. */
static bool has_deep_exception(const struct plan *plan, const char *path)
{
	for (size_t i = 0; i < plan->deny.count; i++) {
		size_t covered = pattern_covers(&plan->deny.items[i].pattern, path, true, true);
		char *end;
		if (covered == 0)
			continue;
		for (size_t k = 0; k < plan->except.count; k++) {
			for (end = strchr(path + covered, '/'); end; end = strchr(end + 1, '/')) {
				char *prefix = arena_copy_n(&cases.arena, path, (size_t)(end - path));
				if (strlen(prefix) > covered &&
				    pattern_matches(&plan->except.items[k].pattern, prefix, true, true))
					return true;
			}
			if (strlen(path) > covered && (pattern_matches(&plan->except.items[k].pattern, path, true, true) ||
						       pattern_matches(&plan->except.items[k].pattern, path, false, true)))
				return true;
		}
	}
	return false;
}

/* True if an exception of several names covers the path. It may share a name with a denial. */
static bool has_long_exception(const struct plan *plan, const char *path)
{
	for (size_t i = 0; i < plan->except.count; i++)
		if (!plan->except.items[i].pattern.is_base_name &&
		    pattern_covers(&plan->except.items[i].pattern, path, true, true) > 0)
			return true;
	return false;
}

/* True if the path is in a private directory and its name could be that of a carried file. */
static bool is_carried(const char *path)
{
	const struct plan_matches *masked = &cases.plan.scan->masked;
	if (!plan_is_own_place(&cases.plan, path))
		return false;
	for (size_t i = 0; i < masked->count; i++) {
		const char *name = path_base_name(masked->items[i].path);
		struct pattern pattern = { .text = name, .is_literal = true, .is_base_name = true, .is_anywhere = true };
		pattern.literal_prefix = strlen(name);
		if (pattern_covers(&pattern, path, true, true))
			return true;
	}
	return false;
}

/* True if a denial for directories only matches the path itself: a directory cannot be executed. */
static bool is_denied_directory(const char *path)
{
	for (size_t i = 0; i < cases.plan.deny.count; i++) {
		const struct pattern *pattern = &cases.plan.deny.items[i].pattern;
		if (pattern->is_directory_only && pattern_matches(pattern, path, true, true))
			return true;
	}
	return false;
}

static const char *classes_of(const char *path, bool is_new_directory, bool is_link, bool is_executed)
{
	static char classes[256];
	snprintf(classes, sizeof classes, "%s%s%s%s%s%s%s%s",
		 is_executed && is_denied_directory(path) ? "weaker:executed," : "",
		 is_carried(path) ? "stricter:carried," : "", has_high(path) ? "stricter:spelling," : "",
		 has_ignored(path) ? "weaker:ignored," : "",
		 has_deep_exception(&cases.plan, path) || has_long_exception(&cases.plan, path) ? "stricter:exception," : "",
		 is_link ? "weaker:link," : "", is_new_directory ? "stricter:directory," : "",
		 cases.has_odd ? "stricter:odd," : "");
	if (classes[0] == '\0')
		return "-";
	classes[strlen(classes) - 1] = '\0';
	return classes;
}

static void ask_path(const char *spelled, enum access access, bool needs_directory)
{
	static const char *const types[] = { [FILE_DIRECTORY] = "DIRECTORY", [FILE_SOCKET] = "SOCKET" };
	const struct filesystem *fs = cases.plan.context.fs;
	const char *canonical, *operation = "file-read-data";
	struct file_info info = { 0 };
	struct verdict verdict;
	struct error err;
	bool is_directory, is_socket, is_link;

	if (plan_check_spelling(&cases.plan, access, spelled, needs_directory, &canonical, &verdict, &err) < 0)
		return;
	fs->inspect(fs, canonical, &info);
	is_directory = info.type == FILE_DIRECTORY || (info.type == FILE_ABSENT && needs_directory);
	is_socket = info.type == FILE_SOCKET;
	if (access == ACCESS_EXECUTE)
		operation = "process-exec*";
	else if (access == ACCESS_WRITE && is_socket)
		operation = "network-outbound";
	else if (access == ACCESS_WRITE)
		operation = info.type == FILE_ABSENT ? "file-write-create" : "file-write-data";
	is_link = !verdict.is_allowed && plan_check_path(&cases.plan, access, canonical, is_directory).is_allowed;
	print_query(verdict.is_allowed,
		    classes_of(canonical, is_directory && info.type == FILE_ABSENT, is_link, access == ACCESS_EXECUTE),
		    operation, canonical,
		    is_directory ? types[FILE_DIRECTORY]
		    : is_socket	 ? types[FILE_SOCKET]
				 : "REGULAR-FILE");
}

/* True if a denied, protected or matched name is below the path, which must not be renamed then. */
static void ask_ancestors(const char *path)
{
	for (;;) {
		const struct plan_grant *grant;
		path = path_parent(&cases.arena, path);
		grant = plan_grant_for(&cases.plan, path);
		if (!grant || grant->kind != GRANT_WRITE)
			return;
		print_query(false, "-", "file-write-unlink", path, "DIRECTORY");
	}
}

static void ask_pins(void)
{
	const struct plan *plan = &cases.plan;
	const struct plan_patterns *lists[] = { &plan->deny, &plan->protect };
	const struct plan_matches *matches[] = { &plan->scan->masked, &plan->scan->locked };
	for (size_t i = 0; i < 2; i++) {
		for (size_t k = 0; k < lists[i]->count; k++)
			if (lists[i]->items[k].pattern.is_literal && !lists[i]->items[k].pattern.is_base_name)
				ask_ancestors(lists[i]->items[k].pattern.text);
		for (size_t k = 0; k < matches[i]->count; k++)
			ask_ancestors(matches[i]->items[k].path);
	}
}

/* Queries direct connections of the command, not those through the proxy. */
static void ask_connect(const char *host, unsigned port)
{
	const struct plan *plan = &cases.plan;
	bool is_loopback = strcmp(host, "127.0.0.1") == 0 || strcmp(host, "[::1]") == 0;
	bool is_allowed = plan_check_connect(plan, host, (uint16_t)port).is_allowed;

	if (profile_needs_proxy(plan)) {
		bool is_local = false;
		for (size_t i = 0; i < plan->network.local.count; i++)
			is_local |= port >= plan->network.local.items[i].low && port <= plan->network.local.items[i].high;
		is_allowed = is_loopback &&
			     (port == CASES_PROXY_PORT ||
			      (is_local && is_allowed && plan_check_connect(plan, "localhost", (uint16_t)port).is_allowed &&
			       plan_check_connect(plan, "127.0.0.1", (uint16_t)port).is_allowed &&
			       plan_check_connect(plan, "::1", (uint16_t)port).is_allowed));
	}
	printf("QUERY %s - network-outbound remote=tcp%%20%s:%u\n", is_allowed ? "allow" : "deny", host, port);
	cases.questions++;
}

static void ask_network(void)
{
	static const char *const hosts[] = { "127.0.0.1", "[::1]", "192.0.2.7", "10.0.0.5", "169.254.169.254" };
	static const unsigned ports[] = { 80, 443, 5432, 5433, CASES_PROXY_PORT };
	for (int i = 0; i < 2; i++)
		ask_connect(hosts[cases_below(&cases, 5)], ports[cases_below(&cases, 5)]);
}

static int print_profile(const char *mutation)
{
	const struct profile_run run = { .tag = "berm:test", .proxy_port = CASES_PROXY_PORT };
	struct profile profile;
	struct text printed = { 0 };
	struct error err;

	if (profile_write(&cases.arena, &cases.plan, &run, &profile, &err) < 0) {
		fprintf(stderr, "%s\n", err.message);
		return -1;
	}
	profile_print(&profile, &printed);
	if (mutation[0])
		cases_mutate(&cases, mutation, &profile, &printed);
	printf("PROFILE %zu\n", printed.length);
	fwrite(printed.data, 1, printed.length, stdout);
	text_free(&printed);
	return 0;
}

static int print_random(const char *mutation, size_t wanted)
{
	while (cases.questions < wanted) {
		if (!cases_make(&cases))
			continue;
		cases.has_odd = has_odd_pattern(&cases.plan);
		if (print_profile(mutation) < 0)
			return 1;
		for (int i = 0; i < 40; i++)
			ask_path(cases_path(&cases), (enum access)cases_below(&cases, 3), cases_below(&cases, 4) == 0);
		ask_pins();
		ask_network();
	}
	fprintf(stderr, "%zu policies were refused\n", cases.refused);
	return 0;
}

/* Profiles only, for lint. */
static int print_profiles(size_t wanted)
{
	for (size_t count = 0; count < wanted;) {
		if (!cases_make(&cases))
			continue;
		if (print_profile("") < 0)
			return 1;
		count++;
	}
	return 0;
}

/* The same policy with and without a hostile name: for other paths the profile with the name gives
 * the verdict of `berm check` without it. */
static int print_hostile(const char *mutation)
{
	for (size_t i = 0; cases_make_plain(&cases, i); i++) {
		struct plan plain = cases.plan;
		struct arena arena = cases.arena;
		cases.arena = (struct arena){ 0 };
		if (!cases_make_hostile(&cases, i) || print_profile(mutation) < 0)
			return 1;
		arena_free(&cases.arena);
		cases.plan = plain;
		cases.arena = arena;
		for (const char *const *path = cases_plain_paths; *path; path++)
			for (int access = ACCESS_READ; access <= ACCESS_EXECUTE; access++)
				ask_path(*path, (enum access)access, false);
		arena_free(&cases.arena);
	}
	return 0;
}

int main(int argc, char **argv)
{
	const char *mutation = argc > 4 ? argv[4] : "";
	if (argc < 2)
		return 2;
	if (strcmp(argv[1], "hostile") == 0)
		return print_hostile(argc > 2 ? argv[2] : "");
	if (argc < 4)
		return 2;
	cases.state = strtoull(argv[2], NULL, 10) * 2654435761U + 1;
	if (strcmp(argv[1], "profiles") == 0)
		return print_profiles(strtoull(argv[3], NULL, 10));
	return print_random(mutation, strtoull(argv[3], NULL, 10));
}
