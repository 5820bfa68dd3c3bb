/* SPDX-License-Identifier: Apache-2.0 */
/* Cases on berm's own statements: `plan` names the gaps of a guarantee, and only the files that it
 * names are visible. Then the cases that are open. */
#include "harness.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MAX_PATHS = 512 };

/* The level that `plan --json` gives a guarantee, "" if it names none. */
static const char *level_of(const char *json, const char *guarantee)
{
	static char level[32];
	char *name = path_of("\"name\":\"%s\"", guarantee);
	char *compact = calloc(1, strlen(json) + 1), *out = compact;
	bool is_string = false;
	for (const char *c = json; *c; c++) {
		if (*c == '"')
			is_string = !is_string;
		if (is_string || !isspace((unsigned char)*c))
			*out++ = *c;
	}
	const char *place = strstr(compact, name);
	const char *value = place ? strstr(place, "\"level\":\"") : NULL;
	snprintf(level, sizeof level, "%.*s", value ? (int)strcspn(value + 9, "\"") : 0, value ? value + 9 : "");
	free(compact);
	return level;
}

/* Names that do not exist at launch, and files that the host replaces: repaired, and said. */
static void says_repair(struct trial *trial)
{
	bool is_strict;
	BERM(trial, "plan", "--json");
	expect(trial, trial->outcome.exit_code == 0, "plan --json ends with %d: %.200s", trial->outcome.exit_code,
	       trial->outcome.err);
	expect(trial, strcmp(level_of(trial->outcome.out, "secrets"), "repair") == 0, "secrets: %s, not repair",
	       level_of(trial->outcome.out, "secrets"));
	is_strict = strcmp(level_of(trial->outcome.out, "planting"), "strict") == 0;
	expect(trial, is_strict || strcmp(level_of(trial->outcome.out, "planting"), "repair") == 0, "planting: %s",
	       level_of(trial->outcome.out, "planting"));
	BERM(trial, "run", "--", "/bin/mkdir", ".zed");
	expect(trial, (trial->outcome.exit_code != 0) == is_strict, "planting is %s, and mkdir ends with %d",
	       is_strict ? "strict" : "repair", trial->outcome.exit_code);
	make_file(path_of("%s/repair.yml", trial->world.base), "version: 1\nfiles: {guard: repair}\n", 0600);
	BERM(trial, "plan", "--json", "--policy=$BASE/repair.yml");
	expect(trial, strcmp(level_of(trial->outcome.out, "planting"), "repair") == 0, "planting: %s, not repair",
	       level_of(trial->outcome.out, "planting"));
	BERM(trial, "plan");
	expect(trial, strstr(trial->outcome.out, "repair") != NULL, "plan does not say repair");
	/* Where strict cannot be had, nothing runs. */
	make_file(path_of("%s/nesting.yml", trial->world.base), "version: 1\nnesting: true\n", 0600);
	BERM(trial, "run", "--strict", "--policy=$BASE/nesting.yml", "--", "/bin/echo", "ran");
	expect(trial, trial->outcome.exit_code == 125 && !strstr(trial->outcome.out, "ran"),
	       "strict is asked for and not refused");
	BERM(trial, "run", "--strict", "--", "/bin/echo", "ran");
	if (trial->outcome.exit_code == 125) {
		expect(trial, !strstr(trial->outcome.out, "ran"), "refused, and run");
		return;
	}
	BERM(trial, "plan", "--strict", "--json");
	expect(trial, strcmp(level_of(trial->outcome.out, "planting"), "strict") == 0,
	       "strict is asked for and neither refused nor held");
}

static void linked_from_outside(struct trial *trial)
{
	char *store = path_of("%s/store.js", trial->world.outside), *file = path_of("%s/lib.js", trial->world.project);
	make_file(store, "shared\n", 0644);
	if (link(store, file))
		die("link");
	BARE(trial, "$ATTACK", "write", "lib.js");
	expect(trial, file_contains(store, "PLANTED"), "control: the store is not changed by writing in place");
	BERM(trial, "plan", "-v");
	expect(trial, strstr(trial->outcome.out, "lib.js") != NULL,
	       "plan does not report the file that is linked from outside");
	unlink(file);
	unlink(store);
}

struct paths {
	char *items[MAX_PATHS];
	size_t count;
};

/* Every "path" between two members of the JSON. */
static void collect_paths(const char *json, const char *from, const char *to, struct paths *paths)
{
	const char *place = strstr(json, from), *end = place ? strstr(place, to) : NULL;
	while (place && (place = strstr(place, "\"path\"")) && (!end || place < end) && paths->count < MAX_PATHS) {
		place += 6;
		place += strcspn(place, "\"") + 1;
		paths->items[paths->count++] = strndup(place, strcspn(place, "\""));
	}
}

static bool is_below(const char *path, const char *directory)
{
	size_t length = strlen(directory);
	return strncmp(path, directory, length) == 0 &&
	       (path[length] == '\0' || path[length] == '/' || strcmp(directory, "/") == 0);
}

static bool is_named(const struct paths *paths, const char *path)
{
	for (size_t i = 0; i < paths->count; i++)
		if (is_below(path, paths->items[i]) || is_below(paths->items[i], path))
			return true;
	return false;
}

/* Everything that a walk sees is named by the plan, leads to something named, or is one of the
 * fixed parts of every view. */
static void only_named(struct trial *trial)
{
	struct paths paths = { .count = 0 };
	const char *argv[40] = { "$ATTACK", "walk", "4", "/proc", "/dev", "/tmp", NULL };
	size_t count = 6;
	BERM(trial, "plan", "--json");
	collect_paths(trial->outcome.out, "\"grants\"", "\"deny\"", &paths);
	collect_paths(trial->outcome.out, "\"sockets\"", "\"environment\"", &paths);
	if (!expect(trial, paths.count > 3, "plan --json names no paths"))
		return;
	for (size_t i = 0; i < paths.count && count + 1 < 40; i++)
		argv[count++] = paths.items[i];
	/* /run/berm: what berm itself tells git and others inside. */
	static const char *const fixed[] = { "/proc", "/dev", "/tmp", "/var/tmp", "/run/berm" };
	for (size_t i = 0; i < sizeof fixed / sizeof *fixed; i++)
		paths.items[paths.count++] = strdup(fixed[i]);
	paths.items[paths.count++] = strdup(trial->world.home);
	run_bare(trial, argv);
	int seen = 0, unnamed = 0;
	for (int half = 0; half < 2; half++) {
		char *rest = NULL;
		for (char *line = strtok_r(trial->outcome.out, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest)) {
			if (strncmp(line, "SEE ", 4) != 0)
				continue;
			seen++;
			bool is_fine = is_named(&paths, line + 4);
			unnamed += !is_fine;
			if (half == 1)
				expect(trial, is_fine, "visible, but not named by the plan: %s", line + 4);
		}
		if (half == 1)
			break;
		expect(trial, unnamed > 0, "control: the host holds nothing beyond the plan");
		seen = 0;
		run_inside(trial, argv);
	}
	expect(trial, seen > 5, "the walk saw %d names only", seen);
}

/* Mount flags, as the kernel reports them inside: only the plan's writable paths are writable, and
 * no mount allows set-user-ID or devices. */
static void mount_flags(struct trial *trial)
{
	char *copy = path_of("%s/mountinfo", trial->world.project), *rest = NULL;
	BARE(trial, "/bin/sh", "-c", "cat /proc/self/mountinfo > mountinfo");
	expect(trial, file_contains(copy, " / rw"), "control: the host's root is not writable");
	INSIDE(trial, "/bin/sh", "-c", "cat /proc/self/mountinfo > mountinfo");
	char *text = strdup(file_text(copy));
	int count = 0;
	for (char *line = strtok_r(text, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest)) {
		char root[1024], point[1024], options[1024];
		if (sscanf(line, "%*s %*s %*s %1023s %1023s %1023s", root, point, options) != 3)
			continue;
		bool is_node = is_below(point, "/dev") && strcmp(root, "/") != 0; /* one device, no place for programs */
		count++;
		bool is_writable = strncmp(options, "rw", 2) == 0;
		bool is_expected = is_below(point, trial->world.project) || is_below(point, trial->world.home) ||
				   is_below(point, "/tmp") || is_below(point, "/var/tmp") || is_below(point, "/dev") ||
				   strcmp(point, "/proc") == 0;
		expect(trial, !is_writable || is_expected, "writable inside: %s", line);
		expect(trial, strstr(options, "nosuid") != NULL || is_node, "set-user-ID works on %s", line);
		expect(trial, strstr(options, "nodev") != NULL || is_below(point, "/dev"), "devices work on %s", line);
	}
	expect(trial, count > 3, "only %d mounts are seen", count);
}

static void doctor_targets(struct trial *trial)
{
	trial_victim(trial);
	unlink(path_of("%s/doctor", trial->world.outside));
	make_filef("version: 1\n", 0644, "%s/berm.yml", trial->world.project);
}

/* Returns the result of one attempt or guarantee in `doctor --json`: the member after its name. */
static bool says(const char *json, const char *name, const char *member)
{
	char *needle = path_of("\"name\": \"%s\"", name);
	const char *place = strstr(json, needle);
	const char *end = place ? strchr(place, '}') : NULL;
	const char *found = place ? strstr(place, member) : NULL;
	return found && end && found < end;
}

/* Each claim that doctor verified by its own attempts, attacked by this suite's attacker. */
static void doctor_claims(struct trial *trial)
{
	static const struct {
		const char *attempt;
		const char *attack[4];
	} rows[] = {
		{ "write-outside", { "create", "$OUTSIDE/doctor" } },
		{ "write-visible", { "open-write", "$READONLY/file" } },
		{ "read-denied", { "read", ".env" } },
		{ "plant-config", { "open-write", ".git/config" } },
		{ "see-process", { "proc-cmdline", "$VICTIM" } },
		{ "change-policy", { "open-write", "berm.yml" } },
		{ "namespace", { "namespaces" } },
		{ "keyring", { "keys" } },
		{ "io-uring", { "uring" } },
	};
	static char json[sizeof trial->outcome.out];
	trial_option(trial, "--allow-read=$READONLY");
	BERM(trial, "doctor", "--json");
	expect(trial, trial->outcome.exit_code == 0, "doctor ends with %d", trial->outcome.exit_code);
	memcpy(json, trial->outcome.out, sizeof json);
	expect(trial, !strstr(json, "disproved") && strstr(json, "\"verified\": \"held\""), "doctor did not verify its claims");
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		expect(trial, says(json, rows[i].attempt, "\"outcome\": \"stopped\""), "doctor does not say that %s is stopped",
		       rows[i].attempt);
		contain(trial, rows[i].attack);
	}
}

const struct escape_case cases_honesty[] = {
	{ 55, "protected names that are absent at launch: plan says so", 0, NULL, { NULL }, NULL, says_repair, 0 },
	{ 104, "each claim of doctor equals a probe inside", 0, doctor_targets, { NULL }, NULL, doctor_claims, 30 },
	{ 111, "a project file that is hard-linked outside: reported", 0, NULL, { NULL }, NULL, linked_from_outside, 0 },
	{ 148, "a walk of / sees only what the plan names", 0, NULL, { NULL }, NULL, only_named, 0 },
	{ 149, "mount flags: read-only, nosuid, nodev", 0, NULL, { NULL }, NULL, mount_flags, 0 },
	{ 0 },
};

#define LATER "not yet"
const struct open_case cases_open[] = {
	{ 5, "control bytes in the audit log", LATER, "there is no audit log" },
	{ 20, "SCM_RIGHTS over an allowed socket", LATER, "verdict to be documented with the sockets key" },
	{ 43, "case variants on a case-insensitive file system", "model-checked", "patterns are folded in tests/unit" },
	{ 54, "a bare repository created in the project", LATER, "repositories born in a run are not reported" },
	{ 79, "host names with NUL, look-alikes", "run here", "cli-network-attacks; look-alikes in tests/unit" },
	{ 80, "an allowed name that resolves to a private address", "run here", "cli-network-attacks" },
	{ 81, "connect(AF_UNSPEC) on an allowed connection", "run here", "cli-network-attacks" },
	{ 82, "the policy file is edited during the run", "run here", "cli-network-attacks" },
	{ 83, "a thread rewrites the sockaddr", LATER, "needs notification" },
	{ 84, "the argument is unmapped", LATER, "needs notification" },
	{ 85, "out of descriptors, slow resolver, full queue", "run here",
	  "the proxy's: cli-network-attacks, unit-proxy-proxy" },
	{ 86, "a symlink swapped during an on-behalf operation", LATER, "needs the deputy" },
	{ 88, "100 shell pipelines under notification", LATER, "needs notification" },
	{ 89, "a second notify filter", LATER, "needs notification" },
	{ 91, "SIGKILL the launcher: nothing is left", "run here", "escape-kills, 200 times" },
	{ 92, "double fork on macOS", "unverified", "macOS" },
	{ 93, "fork bomb", LATER, "limits" },
	{ 94, "memory bomb", LATER, "limits" },
	{ 95, "disk, inode and log fill", LATER, "quota" },
	{ 98, "open, launchctl", "unverified", "macOS" },
	{ 99, "osascript", "unverified", "macOS" },
	{ 100, "security, pbpaste", "unverified", "macOS" },
	{ 101, "docker socket as network-outbound", "unverified", "macOS" },
	{ 102, "SBPL injection by path", "unverified", "macOS" },
	{ 105, "the host replaces a denied file by rename", "run here", "cases 280 to 283" },
	{ 106, "the host creates a denied name during the run", "run here", "case 284" },
	{ 108, "kill -9 at any moment: the project holds nothing new", "run here", "escape-kills, 200 times" },
	{ 109, "the host rewrites a protected file", "run here", "case 285" },
	{ 112, "flags and variables that widen", "run here", "tests/cli/shell/shell.sh, git-hooks-kinds.sh" },
	{ 117, "the proxy's port on another host", LATER, "tier landlock" },
	{ 0 },
};
